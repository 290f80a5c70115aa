//! From events to rows: one file a durable event, one registry.
//!
//! A projector gets the event's data as it was given and writes the rows of reference-storage 4.4. It runs inside the
//! transaction that stores the event; if it fails, neither exists.

pub(super) mod folder;
mod message_part_removed;
mod message_part_updated;
mod message_removed;
mod message_updated;
mod session_columns;
mod session_created;
mod session_deleted;
mod session_updated;
mod usage;

pub(super) use usage::Usage;

use super::{File, error};
use crate::error::Error;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Number};
use rusqlite::types::Value;
use rusqlite::{Connection, Params};
use std::borrow::Cow;

/// What a projector works with.
pub(super) struct Context<'c> {
    pub(super) db: &'c Connection,
    pub(super) file: &'c File,
    /// the aggregate the event belongs to
    pub(super) session: &'c str,
    /// the millisecond of the event's id
    pub(super) at: i64,
}

type Projector = fn(&Context<'_>, &Object<'_>) -> Result<(), Error>;

/// The durable events that have rows, by versioned type. Others are stored and touch nothing.
const PROJECTORS: &[(&str, Projector)] = &[
    ("session.created.1", session_created::project),
    ("session.updated.1", session_updated::project),
    ("session.deleted.1", session_deleted::project),
    ("message.updated.1", message_updated::project),
    ("message.removed.1", message_removed::project),
    ("message.part.updated.1", message_part_updated::project),
    ("message.part.removed.1", message_part_removed::project),
];

/// The versioned types of the events that become rows.
pub fn projected() -> impl Iterator<Item = &'static str> {
    PROJECTORS.iter().map(|(kind, _)| *kind)
}

/// Runs the projector of an event, if it has one.
pub(super) fn project(context: &Context<'_>, kind: &str, data: &Object<'_>) -> Result<(), Error> {
    let Some((_, projector)) = PROJECTORS.iter().find(|(name, _)| *name == kind) else { return Ok(()) };
    let named = text(kind, data, "sessionID")?;
    if named != context.session {
        return Err(invalid(kind, format!("its sessionID is {named}, in the log of {}", context.session)));
    }
    projector(context, data)
}

/// Which optional columns a session's info writes: see `supersede`. An error if the projector would refuse the info.
pub(super) fn session_carries(kind: &str, info: &Object<'_>) -> Result<u32, Error> {
    session_columns::carried(kind, info)
}

impl Context<'_> {
    /// Runs one statement.
    fn run(&self, sql: &str, params: impl Params) -> Result<usize, Error> {
        self.db.prepare_cached(sql).and_then(|mut s| s.execute(params)).map_err(self.failed())
    }

    /// The same for a row that hangs on another; that one is named if it is not there.
    fn run_below(&self, what: &'static str, id: &str, sql: &str, params: impl Params) -> Result<usize, Error> {
        self.db.prepare_cached(sql).and_then(|mut s| s.execute(params)).map_err(|e| {
            let code = e.sqlite_error().map(|code| code.extended_code);
            if code == Some(rusqlite::ffi::SQLITE_CONSTRAINT_FOREIGNKEY) {
                Error::NotFound { what, id: id.to_owned() }
            } else {
                self.failed()(e)
            }
        })
    }

    fn failed(&self) -> impl Fn(rusqlite::Error) -> Error + '_ {
        |e| error(&self.file.path, &e)
    }
}

fn invalid(what: &str, problem: impl Into<String>) -> Error {
    Error::Invalid { what: format!("event {what}"), problem: problem.into() }
}

/// A string that an event must have.
fn text<'o>(kind: &str, object: &'o Object<'_>, name: &str) -> Result<Cow<'o, str>, Error> {
    object.text(name).ok_or_else(|| invalid(kind, format!("{name} is missing or no string")))
}

/// An object that an event must have.
fn object<'o>(kind: &str, data: &'o Object<'_>, name: &str) -> Result<Object<'o>, Error> {
    data.get(name).and_then(Json::as_object).ok_or_else(|| invalid(kind, format!("{name} is missing or no object")))
}

/// A number as the column gets it: an integer wherever it is whole.
fn number(kind: &str, name: &str, number: &Number<'_>) -> Result<Value, Error> {
    match number.as_i64() {
        Some(whole) => Ok(Value::Integer(whole)),
        None if number.as_f64().is_finite() => Ok(Value::Real(number.as_f64())),
        None => Err(invalid(kind, format!("{name} is out of range"))),
    }
}
