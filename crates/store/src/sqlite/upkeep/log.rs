//! Walking the log of one session, and what can be wrong with it.

use super::super::supersede::Step;
use super::super::{File, error, read};
use crate::backend::Flow;
use crate::error::Error;
use crate::row::EventRow;
use rusqlite::{Connection, OptionalExtension as _};
use std::collections::HashSet;

/// Something in a session's log that is not as it should be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogProblem {
    /// Numbers are missing.
    Gap {
        /// the last number before it
        after: i64,
        /// the first number behind it
        next: i64,
    },
    /// A number stands twice.
    Repeat {
        /// the number
        seq: i64,
    },
    /// The session's counter is not its last number: the next event would leave a gap, or fail.
    Counter {
        /// what the counter says; nothing if it is missing
        says: Option<i64>,
        /// the last event; nothing if there is none
        last: Option<i64>,
    },
    /// The data is no JSON object. The event is skipped.
    Undecodable {
        /// the event
        seq: i64,
        /// its type
        kind: String,
        /// where and why
        problem: String,
    },
    /// The event does not fit what the log says before it. It is skipped.
    Refused {
        /// the event
        seq: i64,
        /// its type
        kind: String,
        /// why
        problem: String,
    },
}

/// Why a session's rows cannot be compared with its log.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unchecked {
    /// It has none: OpenCode imported it, or a migration wiped the log.
    NoLog,
    /// The log does not start at 0.
    StartsAt {
        /// its first number
        seq: i64,
    },
    /// The log starts at 0, but not with the session's creation: it was begun late, or wiped and begun again.
    StartsWith {
        /// the type of its first event
        kind: String,
    },
}

/// Whether a log that starts with this event tells all of its session.
pub(super) fn late(first: &EventRow<'_>) -> Option<Unchecked> {
    if first.seq != 0 {
        return Some(Unchecked::StartsAt { seq: first.seq });
    }
    (first.kind != "session.created.1").then(|| Unchecked::StartsWith { kind: first.kind.clone().into_owned() })
}

/// The numbers of a log, seen one by one.
#[derive(Default)]
pub(super) struct Numbers {
    last: Option<i64>,
}

impl Numbers {
    pub(super) fn see(&mut self, seq: i64) -> Option<LogProblem> {
        let before = self.last.replace(seq)?;
        if seq == before {
            return Some(LogProblem::Repeat { seq });
        }
        (seq != before + 1).then_some(LogProblem::Gap { after: before, next: seq })
    }

    /// At the end: compares with the session's counter.
    pub(super) fn counter(&self, db: &Connection, session: &str) -> rusqlite::Result<Option<LogProblem>> {
        let says: Option<i64> = db
            .prepare_cached("SELECT seq FROM event_sequence WHERE aggregate_id = ?1")?
            .query_row([session], |row| row.get(0))
            .optional()?;
        Ok((says != self.last).then_some(LogProblem::Counter { says, last: self.last }))
    }
}

/// Visits a session's events in order. What the visitor fails with ends the walk.
pub(super) fn walk<E>(
    db: &Connection,
    session: &str,
    failed: impl Fn(rusqlite::Error) -> E,
    mut visit: impl FnMut(EventRow<'_>) -> Result<Flow, E>,
) -> Result<(), E> {
    let mut result = Ok(());
    read::events(db, session, i64::MIN, &mut |event| match visit(event) {
        Ok(flow) => flow,
        Err(error) => {
            result = Err(error);
            Flow::Stop
        }
    })
    .map_err(failed)?;
    result
}

/// Every session that the file knows of: those with rows, in the order they came, then those with a log alone.
pub(super) fn sessions(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(
        "SELECT id FROM (SELECT id, 0 AS which, rowid AS place FROM session
         UNION ALL SELECT aggregate_id, 1, rowid FROM event_sequence WHERE aggregate_id NOT IN (SELECT id FROM session))
         ORDER BY which, place",
    )?;
    let ids = statement.query_map([], |row| Ok(super::super::value::text(row.get_ref(0)?).into_owned()))?;
    ids.collect()
}

/// The ids that the events of a session speak of. Of a row that is in the file and not in its replay this tells whether an
/// event removed it, or none ever made it.
#[derive(Default)]
pub(super) struct Mentioned {
    messages: HashSet<String>,
    parts: HashSet<String>,
}

impl Mentioned {
    pub(super) fn of(db: &Connection, file: &File, session: &str) -> Result<Self, Error> {
        let mut mentioned = Mentioned::default();
        walk(
            db,
            session,
            |e| error(&file.path, &e),
            |event| {
                mentioned.see(Step::of_bytes(session, &event.kind, &event.data));
                Ok(Flow::Continue)
            },
        )?;
        Ok(mentioned)
    }

    pub(super) fn see(&mut self, step: Option<Step>) {
        match step {
            Some(Step::Message { id } | Step::MessageRemoved { id }) => self.messages.insert(id),
            Some(Step::Part { id, .. } | Step::PartRemoved { id }) => self.parts.insert(id),
            _ => false,
        };
    }

    /// Whether an event speaks of this row. The session's own row is spoken of by all.
    pub(super) fn holds(&self, table: &str, id: &str) -> bool {
        match table {
            "message" => self.messages.contains(id),
            "part" => self.parts.contains(id),
            _ => true,
        }
    }
}
