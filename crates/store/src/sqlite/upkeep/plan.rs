//! Which events of a session's log can be emptied: the rules of [`supersede`](super::super::supersede) over a whole log.

use super::super::supersede::{Carries, EMPTIED, NOBODY, Step, emptied};
use super::super::{File, error};
use super::log::{self, LogProblem, Numbers};
use crate::backend::Flow;
use crate::error::Error;
use rusqlite::Connection;
use std::collections::HashMap;

/// The types that can be emptied.
const KINDS: [&str; 3] = ["message.updated.1", "message.part.updated.1", "session.updated.1"];

/// What was emptied, or would be, of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Emptied {
    /// the versioned type that the events had
    pub kind: &'static str,
    /// how many
    pub events: u64,
    /// the bytes of data that they lose
    pub bytes: u64,
}

impl Emptied {
    pub(super) fn none() -> [Emptied; 3] {
        KINDS.map(|kind| Emptied { kind, events: 0, bytes: 0 })
    }
}

/// Why a session's log was left as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Skipped {
    /// Numbers are missing or stand twice: what replays to the same rows nobody can say.
    Numbers(LogProblem),
    /// An event is no JSON object.
    Undecodable {
        /// its number
        seq: i64,
    },
    /// A version of an event that only a newer program knows.
    Newer {
        /// its number
        seq: i64,
        /// its type
        kind: String,
    },
    /// A real part has the id that emptied events remove.
    NameTaken,
}

/// One event to be emptied: what it was when it was planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Planned {
    pub(super) seq: i64,
    pub(super) bytes: u32,
    kind: u8,
}

impl Planned {
    pub(super) fn kind(&self) -> &'static str {
        KINDS[usize::from(self.kind)]
    }

    pub(super) fn place(&self) -> usize {
        usize::from(self.kind)
    }
}

/// What to empty in one log.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) events: Vec<Planned>,
    /// The newest event that was seen. While it stands in its place, all before it is what was seen.
    pub(super) newest: Option<(i64, String)>,
    pub(super) skipped: Option<Skipped>,
}

/// The snapshots of one message or part.
#[derive(Default)]
struct Span {
    /// The first since it was last removed, and the newest.
    first: Option<i64>,
    newest: Option<Planned>,
    message: Option<String>,
    /// A `step-finish` at any time, or a part under two messages.
    never: bool,
    /// Those in between.
    inner: Vec<Planned>,
}

impl Span {
    fn snapshot(&mut self, event: Planned) {
        if self.first.is_none() {
            self.first = Some(event.seq);
        }
        if let Some(before) = self.newest.replace(event).filter(|before| Some(before.seq) != self.first) {
            self.inner.push(before);
        }
    }

    /// The next one is a first one again.
    fn removed(&mut self) {
        self.first = None;
        self.newest = None;
    }
}

#[derive(Default)]
struct Planner {
    messages: HashMap<String, Span>,
    parts: HashMap<String, Span>,
    of_message: HashMap<String, Vec<String>>,
    updates: Vec<(Planned, Carries)>,
    name_taken: bool,
}

impl Planner {
    fn see(&mut self, step: Step, event: Planned) {
        match step {
            Step::Message { id } => self.messages.entry(id).or_default().snapshot(event),
            Step::Part { id, message, finish } => {
                self.name_taken |= id == NOBODY;
                let span = self.parts.entry(id.clone()).or_default();
                span.never |= finish || span.message.as_ref().is_some_and(|before| *before != message);
                if span.message.as_ref() != Some(&message) {
                    span.message = Some(message.clone());
                    self.of_message.entry(message).or_default().push(id);
                }
                span.snapshot(event);
            }
            Step::MessageRemoved { id } => {
                for part in self.of_message.get(&id).into_iter().flatten() {
                    if let Some(span) = self.parts.get_mut(part) {
                        span.removed();
                    }
                }
                if let Some(span) = self.messages.get_mut(&id) {
                    span.removed();
                }
            }
            Step::PartRemoved { id } => {
                if let Some(span) = self.parts.get_mut(&id) {
                    span.removed();
                }
            }
            Step::Session(carries) => self.updates.push((event, carries)),
            Step::Boundary => self.messages.values_mut().chain(self.parts.values_mut()).for_each(Span::removed),
            Step::Nothing | Step::Unknown => {}
        }
    }

    fn finish(self, smallest: u32) -> Vec<Planned> {
        let spans = self.messages.into_values().chain(self.parts.into_values());
        let mut events: Vec<Planned> = spans.filter(|span| !span.never).flat_map(|span| span.inner).collect();
        let mut kept: Vec<Carries> = Vec::new();
        for (event, carries) in self.updates.into_iter().rev() {
            if kept.iter().any(|later| later.covers(carries)) {
                events.push(event);
            } else {
                kept.push(carries);
            }
        }
        events.retain(|event| event.bytes > smallest);
        events.sort_unstable_by_key(|event| event.seq);
        events
    }
}

/// Reads a log and plans; `tell` hears of each event's bytes and may stop it.
pub(super) fn plan(db: &Connection, file: &File, session: &str, tell: &mut dyn FnMut(u64) -> Flow) -> Result<Plan, Error> {
    let failed = |e: rusqlite::Error| error(&file.path, &e);
    let mut planner = Planner::default();
    let mut plan = Plan::default();
    let mut numbers = Numbers::default();
    let mut stopped = false;
    log::walk(db, session, failed, |event| {
        if tell(event.data.len() as u64) == Flow::Stop {
            stopped = true;
            return Ok(Flow::Stop);
        }
        let Some(step) = Step::of_bytes(session, &event.kind, &event.data) else {
            plan.skipped = Some(Skipped::Undecodable { seq: event.seq });
            return Ok(Flow::Stop);
        };
        plan.skipped = match (numbers.see(event.seq), &step) {
            (Some(problem), _) => Some(Skipped::Numbers(problem)),
            (None, Step::Unknown) => Some(Skipped::Newer { seq: event.seq, kind: event.kind.clone().into_owned() }),
            (None, _) => None,
        };
        if plan.skipped.is_some() {
            return Ok(Flow::Stop);
        }
        plan.newest = Some((event.seq, event.id.clone().into_owned()));
        let kind = KINDS.iter().position(|kind| *kind == event.kind).unwrap_or_default();
        // An event over 4 GB cannot be in a file of SQLite's.
        let bytes = u32::try_from(event.data.len()).unwrap_or(u32::MAX);
        planner.see(step, Planned { seq: event.seq, bytes, kind: u8::try_from(kind).unwrap_or_default() });
        Ok(Flow::Continue)
    })?;
    if planner.name_taken {
        plan.skipped = Some(Skipped::NameTaken);
    }
    if plan.skipped.is_none() && !stopped {
        plan.events = planner.finish(u32::try_from(emptied(session).len()).unwrap_or(u32::MAX));
    }
    Ok(plan)
}

/// Empties a planned event, if it is still what it was.
pub(super) fn apply(db: &Connection, session: &str, event: &Planned) -> rusqlite::Result<bool> {
    let changed = db
        .prepare_cached(
            "UPDATE event SET type = ?1, data = ?2 WHERE aggregate_id = ?3 AND seq = ?4 AND type = ?5 AND octet_length(data) = ?6",
        )?
        .execute((EMPTIED, emptied(session), session, event.seq, event.kind(), event.bytes))?;
    Ok(changed == 1)
}
