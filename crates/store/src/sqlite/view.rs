//! A transaction, seen from above: reading for everybody, writing for the writer's jobs.

use super::{File, erase, error, legacy, project, read, spent, todo};
use crate::append::{Expect, NewEvent, Recorded};
use crate::backend::{Flow, Snapshot, Transaction};
use crate::error::Error;
use crate::folder::Folder;
use crate::query::{MessageRange, SessionFilter};
use crate::row::{EventRow, MessageRow, PartRow, ProjectRow, SessionRow, TodoRow};
use crate::session::Spent;
use annalist_schema::id;
use annalist_schema::raw::Object;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

/// An open transaction of one connection.
pub(super) struct View<'c> {
    db: &'c Connection,
    file: &'c File,
    /// An append failed halfway. A job that carries on all the same must not keep what the projector had written.
    spoilt: bool,
}

impl<'c> View<'c> {
    pub(super) fn new(db: &'c Connection, file: &'c File) -> Self {
        View { db, file, spoilt: false }
    }

    /// Whether this view's writes must not be kept.
    pub(super) fn is_spoilt(&self) -> bool {
        self.spoilt
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> Error + '_ {
        |e| error(&self.file.path, &e)
    }
}

impl Snapshot for View<'_> {
    fn session(&self, id: &str) -> Result<Option<SessionRow>, Error> {
        read::session(self.db, &self.file.columns, id).map_err(self.failed())
    }

    fn session_ids(&self, prefix: &str, limit: usize) -> Result<Vec<String>, Error> {
        read::session_ids(self.db, prefix, limit).map_err(self.failed())
    }

    fn sessions(&self, filter: &SessionFilter, visit: &mut dyn FnMut(SessionRow) -> Flow) -> Result<(), Error> {
        read::sessions(self.db, &self.file.columns, filter, visit).map_err(self.failed())
    }

    fn count_sessions(&self, filter: &SessionFilter) -> Result<u64, Error> {
        read::count_sessions(self.db, &self.file.columns, filter).map_err(self.failed())
    }

    fn message(&self, session: &str, id: &str, visit: &mut dyn FnMut(MessageRow<'_>)) -> Result<(), Error> {
        read::message(self.db, session, id, visit).map_err(self.failed())
    }

    fn message_owner(&self, id: &str) -> Result<Option<String>, Error> {
        let sql = "SELECT session_id FROM message WHERE id = ?1";
        let mut statement = self.db.prepare_cached(sql).map_err(self.failed())?;
        statement.query_row([id], |row| row.get(0)).optional().map_err(self.failed())
    }

    fn part_owner(&self, id: &str) -> Result<Option<(String, String)>, Error> {
        let sql = "SELECT session_id, message_id FROM part WHERE id = ?1";
        let mut statement = self.db.prepare_cached(sql).map_err(self.failed())?;
        statement.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional().map_err(self.failed())
    }

    fn messages(&self, range: &MessageRange<'_>, visit: &mut dyn FnMut(MessageRow<'_>) -> Flow) -> Result<(), Error> {
        read::messages(self.db, range, visit).map_err(self.failed())
    }

    fn parts(&self, messages: &[&str], visit: &mut dyn FnMut(PartRow<'_>)) -> Result<(), Error> {
        read::parts(self.db, messages, visit).map_err(self.failed())
    }

    fn todos(&self, session: &str) -> Result<Vec<TodoRow>, Error> {
        if !self.file.columns.has_todo {
            return Ok(Vec::new());
        }
        read::todos(self.db, session).map_err(self.failed())
    }

    fn project(&self, id: &str) -> Result<Option<ProjectRow>, Error> {
        read::project(self.db, id).map_err(self.failed())
    }

    fn spent(&self, session: &str) -> Result<Spent, Error> {
        spent::spent(self.db, session).map_err(self.failed())
    }

    fn was_removed(&self, session: &str, message: &str) -> Result<bool, Error> {
        if !self.file.columns.has_log {
            return Ok(false);
        }
        // Few events are of this type, and its index finds them.
        let sql =
            "SELECT 1 FROM event WHERE aggregate_id = ?1 AND type = 'message.removed.1' AND data ->> 'messageID' = ?2 LIMIT 1";
        let mut statement = self.db.prepare_cached(sql).map_err(self.failed())?;
        statement.exists([session, message]).map_err(self.failed())
    }

    fn sequence(&self, session: &str) -> Result<Option<i64>, Error> {
        if !self.file.columns.has_log {
            return Ok(None);
        }
        let mut statement =
            self.db.prepare_cached("SELECT seq FROM event_sequence WHERE aggregate_id = ?1").map_err(self.failed())?;
        statement.query_row([session], |row| row.get(0)).optional().map_err(self.failed())
    }

    fn events(&self, session: &str, after: i64, visit: &mut dyn FnMut(EventRow<'_>) -> Flow) -> Result<(), Error> {
        if !self.file.columns.has_log {
            return Ok(());
        }
        read::events(self.db, session, after, visit).map_err(self.failed())
    }
}

impl Transaction for View<'_> {
    /// Reference-storage 3.2: the number, the projection, the sequence, the event; whatever fails, the job's savepoint takes
    /// all of it back and no number is used.
    fn append(&mut self, session: &str, expect: Expect, event: NewEvent) -> Result<Recorded, Error> {
        let last = self.sequence(session)?;
        if !expect.holds(last) {
            return Err(Error::Conflict { session: session.to_owned(), expected: expect.to_string(), found: last });
        }
        let seq = last.map_or(0, |last| last + 1);
        let data = Object::parse(&event.data)
            .map_err(|e| Error::Invalid { what: format!("event {}", event.kind), problem: e.to_string() })?;
        // Until it is done it may have failed halfway; that an earlier one did is not forgotten over it.
        let before = std::mem::replace(&mut self.spoilt, true);
        let recorded = self.record(session, seq, &event, &data)?;
        self.spoilt = before;
        Ok(recorded)
    }

    fn erase_log(&mut self, session: &str, bytes: u64) -> Result<bool, Error> {
        erase::erase(self.db, session, bytes).map_err(self.failed())
    }

    fn replace_todos(&mut self, session: &str, todos: &[TodoRow], now_ms: i64) -> Result<(), Error> {
        todo::replace(self.db, session, todos, now_ms).map_err(self.failed())
    }

    fn ensure_project(&mut self, folder: &Folder, now_ms: i64) -> Result<(), Error> {
        project::folder::ensure(self.db, folder, now_ms).map_err(self.failed())
    }

    fn put_project(&mut self, project: &crate::legacy::OldProject) -> Result<bool, Error> {
        legacy::project(self.db, project).map_err(self.failed())
    }

    fn put_beside(&mut self, session: &str, beside: &crate::legacy::Beside) -> Result<(u64, bool), Error> {
        legacy::beside(self.db, session, beside).map_err(self.failed())
    }
}

impl View<'_> {
    fn record(&self, session: &str, seq: i64, event: &NewEvent, data: &Object<'_>) -> Result<Recorded, Error> {
        // The time written into rows is the event's own, not a second look at the clock: replaying gives the same rows.
        let now = id::now_ms();
        let at = id::time_near(&event.id, now).unwrap_or(now);
        project::project(&project::Context { db: self.db, file: self.file, session, at }, &event.kind, data)?;

        let failed = self.failed();
        self.db
            .prepare_cached(
                "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2)
                 ON CONFLICT (aggregate_id) DO UPDATE SET seq = excluded.seq",
            )
            .and_then(|mut s| s.execute(params![session, seq]))
            .map_err(&failed)?;
        let stored = self
            .db
            .prepare_cached("INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?1, ?2, ?3, ?4, ?5)")
            .and_then(|mut s| s.execute(params![event.id, session, seq, event.kind, event.data]));
        match stored {
            Ok(_) => Ok(Recorded { id: event.id.clone(), seq }),
            Err(e) if e.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                Err(Error::IdTaken { what: "event", id: event.id.clone(), owner: None })
            }
            Err(e) => Err(failed(e)),
        }
    }
}
