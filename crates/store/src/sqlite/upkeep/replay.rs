//! Projecting a log again, event by event, with the projectors that appended it.

use super::super::{File, error, project};
use crate::error::Error;
use crate::row::EventRow;
use annalist_schema::raw::Object;
use annalist_schema::{Json, id};
use rusqlite::{Connection, ErrorCode};

/// Why an event had no effect.
pub(super) enum Skip {
    Undecodable(String),
    Refused(String),
}

/// An event's data as an object.
pub(super) fn decodable(data: &[u8]) -> Result<Object<'_>, String> {
    let text = annalist_schema::raw::utf8(data).map_err(|e| e.to_string())?;
    Object::parse(text).map_err(|e| e.to_string())
}

/// A replay of one session into `db`, inside the caller's transaction.
pub(super) struct Replay<'c> {
    db: &'c Connection,
    file: &'c File,
    /// A time near the next event's, to tell its id's time by.
    near: i64,
    /// Make rows of projects that an event names and the database does not have.
    stand_ins: bool,
}

impl<'c> Replay<'c> {
    pub(super) fn new(db: &'c Connection, file: &'c File, stand_ins: bool) -> Self {
        Replay { db, file, near: id::now_ms(), stand_ins }
    }

    /// Projects one event. One that is refused leaves no trace; types without rows do nothing.
    pub(super) fn event(&mut self, session: &str, event: &EventRow<'_>) -> Result<Result<(), Skip>, Error> {
        if !project::projected().any(|kind| kind == event.kind) {
            return Ok(Ok(()));
        }
        let data = match decodable(&event.data) {
            Ok(data) => data,
            Err(problem) => return Ok(Err(Skip::Undecodable(problem))),
        };
        if event.kind.starts_with("session.") {
            self.session_event(&event.kind, &data)?;
        }
        self.near = id::time_near(&event.id, self.near).unwrap_or(self.near);
        let context = project::Context { db: self.db, file: self.file, session, at: self.near };
        self.run("SAVEPOINT event")?;
        let refused = match project::project(&context, &event.kind, &data) {
            Ok(()) => None,
            Err(refused @ (Error::Invalid { .. } | Error::NotFound { .. } | Error::IdTaken { .. })) => Some(refused.to_string()),
            Err(Error::Sqlite { source, .. }) if source.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                // A foreign key: the session or the project is not there.
                Some("what it belongs to is not there".to_owned())
            }
            Err(failed) => return Err(failed),
        };
        if refused.is_some() {
            self.run("ROLLBACK TO event")?;
        }
        self.run("RELEASE event")?;
        Ok(refused.map_or(Ok(()), |problem| Err(Skip::Refused(problem))))
    }

    fn session_event(&mut self, kind: &str, data: &Object<'_>) -> Result<(), Error> {
        let Some(info) = data.get("info").and_then(Json::as_object) else { return Ok(()) };
        if kind == "session.created.1" {
            let time = info.get("time").and_then(Json::as_object);
            let created = time.as_ref().and_then(|time| time.get("created")).and_then(Json::as_number);
            self.near = created.and_then(|number| number.as_i64()).unwrap_or(self.near);
        }
        if let Some(project) = info.text("projectID").filter(|_| self.stand_ins) {
            self.db
                .prepare_cached(
                    "INSERT OR IGNORE INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES (?1, '/', 0, 0, '[]')",
                )
                .and_then(|mut s| s.execute([project]))
                .map_err(|e| error(&self.file.path, &e))?;
        }
        Ok(())
    }

    fn run(&self, sql: &str) -> Result<(), Error> {
        self.db.prepare_cached(sql).and_then(|mut s| s.execute([])).map(drop).map_err(|e| error(&self.file.path, &e))
    }
}
