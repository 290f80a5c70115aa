//! Which of a file's old logs give its rows.
//!
//! The reference drops all logs in three of its migrations, since the second generation's events changed their shape. The
//! events of sessions, messages and parts did not: a log that replays to exactly the rows there are is the truth about its
//! session and stays, with the events this version does not project. A log that does not (it starts late, has partial
//! updates as before 1.16, or a row was written past it) would be a trap for `rebuild`, so it goes, as in the reference.

use super::super::columns::{Columns, SESSION};
use super::super::open::SCHEMA;
use super::super::value::cell;
use super::super::{File, error, project};
use super::ledger::has_column;
use super::same::same;
use crate::error::Error;
use crate::row::Cell;
use annalist_schema::id;
use annalist_schema::raw::Object;
use rusqlite::{Connection, params};
use std::path::Path;

/// The columns of a session that hold JSON.
const JSON: &[&str] = &["summary_diffs", "metadata", "revert", "permission", "model"];

/// The verdict over every log of a file.
#[derive(Debug, Default)]
pub(super) struct Logs {
    pub(super) kept: u64,
    /// aggregate and reason
    pub(super) dropped: Vec<(String, String)>,
}

/// Replays each log into a scratch database and compares.
pub(super) fn judge(path: &Path, file: &Connection) -> Result<Logs, Error> {
    let failed = |e: rusqlite::Error| error(path, &e);
    let mut logs = Logs::default();
    if !has_column(file, "event_sequence", "seq").map_err(failed)? || !has_column(file, "event", "data").map_err(failed)? {
        return Ok(logs);
    }
    let scratch = Scratch::new(path, file).map_err(failed)?;
    let mut statement = file.prepare("SELECT aggregate_id, seq FROM event_sequence ORDER BY aggregate_id").map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        let (session, last): (String, i64) = row.get(0).and_then(|id| Ok((id, row.get(1)?))).map_err(failed)?;
        match scratch.differs(file, &session, last)? {
            None => logs.kept += 1,
            Some(reason) => logs.dropped.push((session, reason)),
        }
    }
    Ok(logs)
}

struct Scratch {
    db: Connection,
    file: File,
}

impl Scratch {
    fn new(path: &Path, file: &Connection) -> rusqlite::Result<Self> {
        // A database without a name lives in memory and moves to a temporary file when it grows.
        let db = Connection::open("")?;
        db.execute_batch(SCHEMA)?;
        db.pragma_update(None, "foreign_keys", true)?;
        db.set_prepared_statement_cache_capacity(64);
        {
            let mut statement = file.prepare("SELECT id FROM project")?;
            let mut rows = statement.query([])?;
            let mut insert = db.prepare(
                "INSERT OR IGNORE INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES (?1, '/', 0, 0, '[]')",
            )?;
            while let Some(row) = rows.next()? {
                insert.execute([row.get::<_, String>(0)?])?;
            }
        }
        let columns = Columns::of(&db)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
        Ok(Scratch { db, file: File { path: path.to_owned(), columns } })
    }

    /// Why a log is no good, if it is not.
    fn differs(&self, file: &Connection, session: &str, last: i64) -> Result<Option<String>, Error> {
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        self.db.execute_batch("BEGIN").map_err(failed)?;
        let verdict = match self.replay(file, session, last) {
            Ok(None) => self.compare(file, session).map_err(failed),
            other => other,
        };
        self.db.execute_batch("ROLLBACK").map_err(failed)?;
        verdict
    }

    fn replay(&self, file: &Connection, session: &str, last: i64) -> Result<Option<String>, Error> {
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        let now = id::now_ms();
        let mut statement =
            file.prepare_cached("SELECT id, seq, type, data FROM event WHERE aggregate_id = ?1 ORDER BY seq").map_err(failed)?;
        let mut rows = statement.query([session]).map_err(failed)?;
        let mut expected = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let seq: i64 = row.get(1).map_err(failed)?;
            if seq != expected {
                return Ok(Some(format!("event {expected} is missing")));
            }
            expected += 1;
            let text = |at: usize| row.get_ref(at).ok().and_then(|v| v.as_str().ok());
            let (Some(id), Some(kind), Some(data)) = (text(0), text(2), text(3)) else {
                return Ok(Some(format!("event {seq} is no text")));
            };
            let data = match Object::parse(data) {
                Ok(data) => data,
                Err(problem) => return Ok(Some(format!("event {seq} is no JSON object: {problem}"))),
            };
            let at = id::time_near(id, now).unwrap_or(now);
            let context = project::Context { db: &self.db, file: &self.file, session, at };
            match project::project(&context, kind, &data) {
                Ok(()) => {}
                Err(Error::Sqlite { source, .. })
                    if source.sqlite_error_code() != Some(rusqlite::ErrorCode::ConstraintViolation) =>
                {
                    return Err(error(&self.file.path, &source));
                }
                Err(problem @ (Error::Sqlite { .. } | Error::Invalid { .. } | Error::IdTaken { .. } | Error::NotFound { .. })) => {
                    return Ok(Some(format!("event {seq} cannot be replayed: {}", brief(&problem))));
                }
                Err(other) => return Err(other),
            }
        }
        Ok((expected != last + 1).then(|| format!("it ends at event {}, where {last} is recorded", expected - 1)))
    }

    /// The first row that the log gives otherwise. Rows' `time_updated` is left out: the reference's is a further look at
    /// the clock.
    fn compare(&self, file: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
        if let Some(column) = self.session_differs(file, session)? {
            return Ok(Some(column));
        }
        let messages = "SELECT id, time_created, data FROM message WHERE session_id = ?1 ORDER BY id";
        if let Some(id) = first_difference(file, &self.db, messages, session)? {
            return Ok(Some(format!("message {id} is another by the log")));
        }
        let parts = "SELECT id, time_created, data, message_id FROM part WHERE session_id = ?1 ORDER BY id";
        Ok(first_difference(file, &self.db, parts, session)?.map(|id| format!("part {id} is another by the log")))
    }

    fn session_differs(&self, file: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
        for column in SESSION {
            if !has_column(file, "session", column)? {
                return Ok(Some(format!("it is older than the column {column} of its session")));
            }
        }
        let sql = format!("SELECT {} FROM session WHERE id = ?1", SESSION.join(", "));
        let read = |db: &Connection| -> rusqlite::Result<Option<Vec<Cell>>> {
            let mut statement = db.prepare_cached(&sql)?;
            let mut rows = statement.query([session])?;
            let Some(row) = rows.next()? else { return Ok(None) };
            (0..SESSION.len()).map(|at| row.get_ref(at).map(cell)).collect::<rusqlite::Result<_>>().map(Some)
        };
        let (row, log) = match (read(file)?, read(&self.db)?) {
            (Some(row), Some(log)) => (row, log),
            (None, _) => return Ok(Some("there is no such session".to_owned())),
            (_, None) => return Ok(Some("it makes no session".to_owned())),
        };
        for ((column, row), log) in SESSION.iter().zip(row).zip(log) {
            let equal = match (&row, &log) {
                // Workspaces are reset: only a log that knows none gives the row that will be.
                _ if *column == "workspace_id" => log == Cell::Null,
                (Cell::Text(row), Cell::Text(log)) if JSON.contains(column) => same(row, log),
                // Sums of the same numbers in another order.
                (Cell::Real(row), Cell::Real(log)) => (row - log).abs() <= 1e-9 * row.abs().max(log.abs()),
                (Cell::Int(whole), Cell::Real(real)) | (Cell::Real(real), Cell::Int(whole)) => *whole as f64 == *real,
                _ => row == log,
            };
            if !equal {
                return Ok(Some(format!("{column} of the session is another by the log")));
            }
        }
        Ok(None)
    }
}

/// Walks two lists of rows that start with an id; the first id whose row is not the same in both.
fn first_difference(a: &Connection, b: &Connection, sql: &str, session: &str) -> rusqlite::Result<Option<String>> {
    let (mut a, mut b) = (a.prepare_cached(sql)?, b.prepare_cached(sql)?);
    let columns = a.column_count();
    let (mut a, mut b) = (a.query(params![session])?, b.query(params![session])?);
    loop {
        let (a, b) = match (a.next()?, b.next()?) {
            (Some(a), Some(b)) => (a, b),
            (None, None) => return Ok(None),
            (Some(row), None) | (None, Some(row)) => return row.get(0).map(Some),
        };
        for at in 0..columns {
            let (a_value, b_value) = (cell(a.get_ref(at)?), cell(b.get_ref(at)?));
            let equal = a_value == b_value
                || at == 2 && a_value.text().zip(b_value.text()).is_some_and(|(a_text, b_text)| same(a_text, b_text));
            if !equal {
                return a.get(0).map(Some);
            }
        }
    }
}

/// Without the file's name, which the reader knows.
fn brief(problem: &Error) -> String {
    match problem {
        Error::Sqlite { source, .. } => source.to_string(),
        other => other.to_string(),
    }
}
