//! A transaction, seen from above: reading for everybody, writing for the writer's jobs.

use super::removed::Removed;
use super::supersede::{Cache, Step};
use super::{File, erase, error, legacy, log, project, projects, read, spent, todo};
use crate::append::{Expect, NewEvent, Recorded};
use crate::backend::{Flow, Snapshot, Transaction};
use crate::error::Error;
use crate::folder::Folder;
use crate::log::{Appended, DELETED, LogHead, LogRange, Take};
use crate::query::{MessageRange, SessionFilter};
use crate::row::{EventRow, MessageRow, PartRow, ProjectRow, SessionRow, TodoRow};
use crate::session::Spent;
use annalist_schema::id;
use annalist_schema::raw::Object;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use std::sync::Arc;

/// An open transaction of one connection.
pub(super) struct View<'c> {
    db: &'c Connection,
    file: &'c File,
    /// An append failed halfway. A job that carries on all the same must not keep what the projector had written.
    spoilt: bool,
    /// The log that was appended to last, and its last number. Others write only between transactions.
    last: Option<(String, i64)>,
    /// What was appended, in order, for those who listen.
    appended: Vec<Appended>,
    told: bool,
    /// Finds what an append supersedes; nothing if superseded events are to stay.
    superseded: Option<&'c mut Cache>,
    /// What other processes removed; the writer knows.
    removed: Option<&'c Removed>,
}

impl<'c> View<'c> {
    pub(super) fn new(db: &'c Connection, file: &'c File) -> Self {
        View { db, file, spoilt: false, last: None, appended: Vec::new(), told: true, superseded: None, removed: None }
    }

    /// The writer's view: its appends empty what they supersede, and it knows what others removed.
    /// What it appends goes behind what the jobs before it appended.
    pub(super) fn writing(
        db: &'c Connection,
        file: &'c File,
        superseded: Option<&'c mut Cache>,
        removed: &'c Removed,
        appended: Vec<Appended>,
    ) -> Self {
        View { superseded, removed: Some(removed), appended, ..View::new(db, file) }
    }

    /// Whether this view's writes must not be kept.
    pub(super) fn is_spoilt(&self) -> bool {
        self.spoilt
    }

    /// What this view and those before it appended, in order.
    pub(super) fn into_appended(self) -> Vec<Appended> {
        self.appended
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

    fn part_ids(&self, session: &str, visit: &mut dyn FnMut(&str)) -> Result<(), Error> {
        read::part_ids(self.db, session, visit).map_err(self.failed())
    }

    fn part(&self, message: &str, id: &str, visit: &mut dyn FnMut(PartRow<'_>)) -> Result<(), Error> {
        read::part(self.db, message, id, visit).map_err(self.failed())
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

    fn projects(&self, id: Option<&str>, visit: &mut dyn FnMut(annalist_schema::Project<'static>)) -> Result<(), Error> {
        projects::visit(self.db, id, visit).map_err(self.failed())
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

    fn log(
        &self,
        range: &LogRange<'_>,
        wanted: &mut dyn FnMut(&LogHead<'_>) -> Take,
        take: &mut dyn FnMut(&LogHead<'_>, &[u8]) -> Flow,
    ) -> Result<(), Error> {
        if !self.file.columns.has_log {
            return Ok(());
        }
        log::log(self.db, range, wanted, take).map_err(self.failed())
    }

    fn log_head(&self, session: Option<&str>, at: i64) -> Result<Option<LogHead<'static>>, Error> {
        if !self.file.columns.has_log {
            return Ok(None);
        }
        log::log_head(self.db, session, at).map_err(self.failed())
    }

    fn log_end(&self, session: Option<&str>, below: Option<i64>) -> Result<Option<LogHead<'static>>, Error> {
        if !self.file.columns.has_log {
            return Ok(None);
        }
        log::log_end(self.db, session, below).map_err(self.failed())
    }

    fn logs(&self, visit: &mut dyn FnMut(&str)) -> Result<(), Error> {
        if !self.file.columns.has_log {
            return Ok(());
        }
        log::logs(self.db, visit).map_err(self.failed())
    }

    fn log_owner(&self, session: &str) -> Result<Option<String>, Error> {
        if !self.file.columns.has_log {
            return Ok(None);
        }
        log::log_owner(self.db, session).map_err(self.failed())
    }

    fn each_session_id(&self, visit: &mut dyn FnMut(&str)) -> Result<(), Error> {
        log::each_session_id(self.db, visit).map_err(self.failed())
    }
}

impl Transaction for View<'_> {
    /// Reference-storage 3.2: the number, the projection, the sequence, the event; whatever fails, the writer takes
    /// all of the job back and no number is used.
    fn append_kept(&mut self, session: &str, expect: Expect, event: &NewEvent) -> Result<Recorded, Error> {
        let known = self.last.as_ref().filter(|(log, _)| log == session).map(|(_, last)| *last);
        let last = match known.or_else(|| self.superseded.as_ref()?.last(session)) {
            Some(last) => Some(last),
            None => self.sequence(session)?,
        };
        if !expect.holds(last) {
            return Err(Error::Conflict { session: session.to_owned(), expected: expect.to_string(), found: last });
        }
        let seq = last.map_or(0, |last| last + 1);
        let data = Object::parse(&event.data)
            .map_err(|e| Error::Invalid { what: format!("event {}", event.kind), problem: e.to_string() })?;
        // Until it is done it may have failed halfway; that an earlier one did is not forgotten over it.
        let before = std::mem::replace(&mut self.spoilt, true);
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        if let Some(cache) = &mut self.superseded {
            cache.catch_up(self.db, session, last).map_err(failed)?;
        }
        let recorded = self.record(session, last, event, &data)?;
        let rowid = self.db.last_insert_rowid();
        if let Some(cache) = &mut self.superseded {
            let step = Step::of(session, &event.kind, &data);
            cache.appended(self.db, session, (rowid, seq, &event.id), step).map_err(failed)?;
        }
        self.spoilt = before;
        match &mut self.last {
            Some((log, last)) if log == session => *last = seq,
            other => *other = Some((session.to_owned(), seq)),
        }
        self.remember(session, event, seq, rowid);
        Ok(recorded)
    }

    fn was_part_removed(&self, part: &str) -> Result<bool, Error> {
        self.removed.map_or(Ok(false), |removed| removed.has(self.db, part)).map_err(self.failed())
    }

    fn erase_log(&mut self, session: &str, bytes: u64) -> Result<bool, Error> {
        self.last = None;
        if let Some(cache) = &mut self.superseded {
            cache.forget(session);
        }
        erase::erase(self.db, session, bytes).map_err(self.failed())
    }

    fn replace_todos(&mut self, session: &str, todos: &[TodoRow], now_ms: i64) -> Result<(), Error> {
        todo::replace(self.db, session, todos, now_ms).map_err(self.failed())
    }

    fn tell(&mut self, told: bool) {
        self.told = told;
    }

    fn own_log(&mut self, session: &str, owner: &str, only_free: bool) -> Result<bool, Error> {
        log::own_log(self.db, session, owner, only_free).map_err(self.failed())
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
    fn remember(&mut self, session: &str, event: &NewEvent, seq: i64, rowid: i64) {
        // Most events of a job are of one session and few types: their names are shared.
        let last = self.appended.last();
        let shared = |of: Option<&Arc<str>>, name: &str| of.filter(|of| &***of == name).map_or_else(|| Arc::from(name), Arc::clone);
        let appended = Appended {
            rowid,
            id: Arc::from(&*event.id),
            session: shared(last.map(|last| &last.session), session),
            seq,
            kind: shared(last.map(|last| &last.kind), &event.kind),
            farewell: (event.kind == DELETED).then(|| Arc::from(&*event.data)),
            told: self.told,
        };
        self.appended.push(appended);
    }

    fn record(&self, session: &str, last: Option<i64>, event: &NewEvent, data: &Object<'_>) -> Result<Recorded, Error> {
        // The time written into rows is the event's own, not a second look at the clock: replaying gives the same rows.
        let now = id::now_ms();
        let at = id::time_near(&event.id, now).unwrap_or(now);
        project::project(&project::Context { db: self.db, file: self.file, session, at }, &event.kind, data)?;

        let failed = self.failed();
        let seq = last.map_or(0, |last| last + 1);
        let updated = match last {
            // Cheaper than asking whether it is there, and it is.
            Some(_) => self
                .db
                .prepare_cached("UPDATE event_sequence SET seq = ?2 WHERE aggregate_id = ?1")
                .and_then(|mut s| s.execute(params![session, seq]))
                .map_err(&failed)?,
            None => 0,
        };
        if updated == 0 {
            self.db
                .prepare_cached("INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2)")
                .and_then(|mut s| s.execute(params![session, seq]))
                .map_err(&failed)?;
        }
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
