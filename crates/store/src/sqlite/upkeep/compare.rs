//! The rows of a session against those that its log gives.

use super::super::columns::SESSION;
use super::super::supersede::Step;
use super::super::{File, error, value};
use super::json::{self, Compared};
use super::log::{self, Mentioned};
use crate::backend::Flow;
use crate::error::Error;
use annalist_schema::id;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

/// The reference looks at its clock again when it writes a row, so `time_updated` may be later than the event, by the wait for
/// a lock or, after a replay of its own, by any time. Earlier it can only be by a step of the clock.
const CLOCK_STEP_MS: i64 = 60_000;
const DAY_MS: i64 = 86_400_000;
/// Sums of costs depend on the order of additions: the reference takes the old one off and adds the new one in two steps.
const SUM_TOLERANCE: f64 = 1e-9;

/// What a stored value is, without its text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// NULL
    Null,
    /// a whole number
    Int(i64),
    /// any other number
    Real(f64),
    /// a text of so many bytes
    Text(usize),
    /// a blob of so many bytes
    Bytes(usize),
}

impl Shape {
    fn of(value: ValueRef<'_>) -> Self {
        match value {
            ValueRef::Null => Shape::Null,
            ValueRef::Integer(i) => Shape::Int(i),
            ValueRef::Real(r) => Shape::Real(r),
            ValueRef::Text(text) => Shape::Text(text.len()),
            ValueRef::Blob(bytes) => Shape::Bytes(bytes.len()),
        }
    }
}

/// How a row differs from what the log says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What {
    /// The log gives the row, the file lacks it.
    Missing,
    /// The file has the row, the log gives none: an event removed it.
    Extra,
    /// A column holds something else.
    Value {
        /// the column
        column: &'static str,
        /// what the log gives
        wanted: Shape,
        /// what the file holds
        found: Shape,
    },
    /// A column holds all that the event says, and members that no event has. A rebuild would lose them.
    More {
        /// the column
        column: &'static str,
    },
}

/// The first difference between a session's rows and its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// the session
    pub session: String,
    /// `session`, `message` or `part`
    pub table: &'static str,
    /// the row
    pub id: String,
    /// what is different
    pub what: What,
    /// the last event that touched the row
    pub seq: Option<i64>,
}

/// Rows of the file that no event of the session's log ever mentions, as an import by OpenCode into a session with a log
/// leaves them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Unmentioned {
    pub(super) messages: u64,
    pub(super) parts: u64,
}

enum Like {
    Same,
    Json,
    Sum,
    Count,
    /// The reference stores the empty value that clears the field, we store NULL: `docs/compatibility.md`.
    Cleared,
    Written,
}

/// A table, how its rows of one session are found, and its columns, the id first.
struct Table {
    name: &'static str,
    of_session: &'static str,
    columns: Vec<&'static str>,
}

fn like(table: &str, column: &str) -> Like {
    match column {
        "data" | "summary_diffs" | "metadata" | "revert" | "permission" | "model" => Like::Json,
        "cost" => Like::Sum,
        "share_url" | "time_archived" => Like::Cleared,
        name if name.starts_with("tokens_") => Like::Count,
        // A session's is its info's own.
        "time_updated" if table != "session" => Like::Written,
        _ => Like::Same,
    }
}

/// A file beside a database that its logs are replayed into.
pub(super) struct Compare<'c> {
    live: &'c Connection,
    file: &'c File,
    scratch: &'c Connection,
    tables: [Table; 3],
}

impl<'c> Compare<'c> {
    pub(super) fn new(live: &'c Connection, file: &'c File, scratch: &'c Connection) -> Result<Self, Error> {
        // An older file is compared by the columns it has.
        let has = |column: &&str| -> rusqlite::Result<bool> {
            live.prepare_cached("SELECT 1 FROM pragma_table_info('session') WHERE name = ?1")?.exists([column])
        };
        let mut columns = Vec::new();
        for column in SESSION {
            if has(column).map_err(|e| error(&file.path, &e))? {
                columns.push(*column);
            }
        }
        let tables = [
            Table { name: "session", of_session: "id = ?1", columns },
            Table {
                name: "message",
                of_session: "session_id = ?1",
                columns: vec!["id", "session_id", "time_created", "time_updated", "data"],
            },
            Table {
                name: "part",
                of_session: "session_id = ?1",
                columns: vec!["id", "message_id", "session_id", "time_created", "time_updated", "data"],
            },
        ];
        Ok(Compare { live, file, scratch, tables })
    }

    /// Compares one session; stops at the first difference.
    pub(super) fn session(&self, session: &str) -> Result<(Option<Difference>, Unmentioned), Error> {
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        let mut unmentioned = Unmentioned::default();
        let mut found = None;
        for table in &self.tables {
            found = wanted_rows(self.live, self.scratch, table, session).map_err(failed)?;
            if found.is_some() {
                break;
            }
            let extra = extra_rows(self.live, self.scratch, table.name, session).map_err(failed)?;
            if extra.is_empty() {
                continue;
            }
            let mentioned = Mentioned::of(self.live, self.file, session)?;
            let (removed, new): (Vec<_>, Vec<_>) = extra.into_iter().partition(|id| mentioned.holds(table.name, id));
            if let Some(id) = removed.into_iter().next() {
                found = Some((table.name, id, What::Extra));
                break;
            }
            *(if table.name == "message" { &mut unmentioned.messages } else { &mut unmentioned.parts }) += new.len() as u64;
        }
        let difference = match found {
            None => None,
            Some((table, id, what)) => {
                let seq = last_touch(self.live, self.file, session, table, &id)?;
                Some(Difference { session: session.to_owned(), table, id, what, seq })
            }
        };
        Ok((difference, unmentioned))
    }
}

type Found = Option<(&'static str, String, What)>;

/// Goes through the rows that the log gives.
fn wanted_rows(live: &Connection, scratch: &Connection, table: &Table, session: &str) -> rusqlite::Result<Found> {
    let columns = table.columns.join(", ");
    let mut wanted = scratch.prepare_cached(&format!("SELECT {columns} FROM {} WHERE {}", table.name, table.of_session))?;
    let mut lookup = live.prepare_cached(&format!("SELECT {columns} FROM {} WHERE id = ?1", table.name))?;
    let mut rows = wanted.query([session])?;
    while let Some(row) = rows.next()? {
        let id: String = row.get(0)?;
        let mut found = lookup.query([&id])?;
        let what = match found.next()? {
            None => Some(What::Missing),
            Some(found) => columns_differ(scratch, table, row, found)?,
        };
        if let Some(what) = what {
            return Ok(Some((table.name, id, what)));
        }
    }
    Ok(None)
}

fn columns_differ(scratch: &Connection, table: &Table, wanted: &Row<'_>, found: &Row<'_>) -> rusqlite::Result<Option<What>> {
    for (at, column) in table.columns.iter().copied().enumerate().skip(1) {
        let (wanted, found) = (wanted.get_ref(at)?, found.get_ref(at)?);
        let compared = match like(table.name, column) {
            Like::Same => same(wanted, found),
            Like::Json => match (wanted, found) {
                (ValueRef::Text(wanted) | ValueRef::Blob(wanted), ValueRef::Text(found) | ValueRef::Blob(found)) => {
                    json::compare(wanted, found)
                }
                _ => same(wanted, found),
            },
            Like::Sum => sums(wanted, found),
            Like::Count => counts(scratch, wanted, found)?,
            Like::Cleared => cleared(wanted, found),
            Like::Written => written(wanted, found),
        };
        match compared {
            Compared::Same => {}
            Compared::More => return Ok(Some(What::More { column })),
            Compared::Different => return Ok(Some(What::Value { column, wanted: Shape::of(wanted), found: Shape::of(found) })),
        }
    }
    Ok(None)
}

fn when(same: bool) -> Compared {
    if same { Compared::Same } else { Compared::Different }
}

fn same(wanted: ValueRef<'_>, found: ValueRef<'_>) -> Compared {
    when(match (wanted, found) {
        (ValueRef::Integer(_), ValueRef::Real(_)) | (ValueRef::Real(_), ValueRef::Integer(_)) => real(wanted) == real(found),
        _ => wanted == found,
    })
}

fn real(value: ValueRef<'_>) -> Option<f64> {
    match value {
        ValueRef::Real(r) => Some(r),
        #[expect(clippy::cast_precision_loss, reason = "compared with a tolerance, or exactly as well")]
        ValueRef::Integer(i) => Some(i as f64),
        _ => None,
    }
}

fn sums(wanted: ValueRef<'_>, found: ValueRef<'_>) -> Compared {
    let (Some(wanted), Some(found)) = (real(wanted), real(found)) else { return Compared::Different };
    when((wanted - found).abs() <= SUM_TOLERANCE * wanted.abs().max(1.0))
}

/// The reference adds negative counts as they are, we count them as 0: `docs/compatibility.md`. So its sums may be lower where
/// a step has such counts.
fn counts(scratch: &Connection, wanted: ValueRef<'_>, found: ValueRef<'_>) -> rusqlite::Result<Compared> {
    let (ValueRef::Integer(is), ValueRef::Integer(was)) = (wanted, found) else { return Ok(Compared::Different) };
    if is == was {
        return Ok(Compared::Same);
    }
    let negative = "SELECT 1 FROM part WHERE data LIKE '%step-finish%' AND json_valid(data) AND data ->> 'type' = 'step-finish'
        AND min(coalesce(data ->> '$.tokens.input', 0), coalesce(data ->> '$.tokens.output', 0), coalesce(data ->> '$.tokens.reasoning', 0),
                coalesce(data ->> '$.tokens.cache.read', 0), coalesce(data ->> '$.tokens.cache.write', 0)) < 0";
    Ok(when(was < is && scratch.prepare_cached(negative)?.exists([])?))
}

fn cleared(wanted: ValueRef<'_>, found: ValueRef<'_>) -> Compared {
    let empty = matches!(found, ValueRef::Integer(0)) || matches!(found, ValueRef::Text(text) if text.is_empty());
    when(wanted == found || (wanted == ValueRef::Null && empty))
}

fn written(wanted: ValueRef<'_>, found: ValueRef<'_>) -> Compared {
    let (ValueRef::Integer(wanted), ValueRef::Integer(found)) = (wanted, found) else { return Compared::Different };
    when(found >= wanted.saturating_sub(CLOCK_STEP_MS) && found <= id::now_ms().max(wanted).saturating_add(DAY_MS))
}

/// Rows of the file that the log does not give.
pub(super) fn extra_rows(live: &Connection, scratch: &Connection, table: &str, session: &str) -> rusqlite::Result<Vec<String>> {
    let of_session = if table == "session" { "id" } else { "session_id" };
    let mut rows = live.prepare_cached(&format!("SELECT id FROM {table} WHERE {of_session} = ?1"))?;
    let mut lookup = scratch.prepare_cached(&format!("SELECT 1 FROM {table} WHERE id = ?1"))?;
    let mut extra = Vec::new();
    let mut rows = rows.query([session])?;
    while let Some(row) = rows.next()? {
        let id = value::text(row.get_ref(0)?);
        if !lookup.exists(params![id])? {
            extra.push(id.into_owned());
        }
    }
    Ok(extra)
}

/// The last event that touched a row; looked for only when something is wrong with it.
fn last_touch(live: &Connection, file: &File, session: &str, table: &str, wanted: &str) -> Result<Option<i64>, Error> {
    let mut last = None;
    let mut message = None;
    log::walk(
        live,
        session,
        |e| error(&file.path, &e),
        |event| {
            let touches = match Step::of_bytes(session, &event.kind, &event.data) {
                Some(Step::Message { id }) => table == "message" && id == wanted,
                Some(Step::Part { id, message: of, finish }) => {
                    let it = table == "part" && id == wanted;
                    if it {
                        message = Some(of);
                    }
                    it || (table == "session" && finish)
                }
                Some(Step::MessageRemoved { id }) => match table {
                    "message" => id == wanted,
                    "part" => message.as_ref() == Some(&id),
                    _ => false,
                },
                Some(Step::PartRemoved { id }) => table == "part" && id == wanted,
                Some(Step::Session(_)) => table == "session",
                Some(Step::Boundary) => table == "session" || last.is_some(),
                Some(Step::Nothing | Step::Unknown) | None => false,
            };
            if touches {
                last = Some(event.seq);
            }
            Ok(Flow::Continue)
        },
    )?;
    Ok(last)
}
