//! Events of another copy of a session (reference-storage 3.3): taken under the ids and numbers they have there.
//!
//! The checks and their order are the reference's. Better than there: each outcome has a type, a batch is one transaction,
//! and a type that is not known is kept like any other event instead of refused (design G3).

mod same;

use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::log::{LogRange, Take};
use crate::pending::Pending;
use crate::store::Store;
use annalist_schema::Problem;
use annalist_schema::event::SyncEvent;
use annalist_schema::id;

/// An event as another copy has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignEvent {
    /// `evt_...`
    pub id: String,
    /// the session (aggregate)
    pub session: String,
    /// its number there
    pub seq: i64,
    /// the versioned type
    pub kind: String,
    /// the JSON text of its data, an object
    pub data: String,
}

impl ForeignEvent {
    /// Out of its frame on the wire.
    ///
    /// # Errors
    /// The first field that is missing or of another shape.
    pub fn of(frame: &SyncEvent<'_>) -> Result<Self, Problem> {
        Ok(ForeignEvent {
            id: frame.id()?.into_owned(),
            session: frame.aggregate_id()?.into_owned(),
            // What no log can reach is ahead of every log.
            seq: i64::try_from(frame.seq()?).unwrap_or(i64::MAX),
            kind: frame.versioned_type()?.into_owned(),
            data: frame.data()?.to_text(),
        })
    }
}

/// How events of another copy are taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Replay {
    /// Whether those who listen in this process now are told. The log has the events in any case, for who reads it later
    /// and for other processes.
    pub publish: bool,
    /// Who sends them. A log without an owner becomes theirs.
    pub owner: Option<String>,
    /// A log of another owner is an error instead of a reason to ignore the event.
    pub strict_owner: bool,
}

/// What became of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was recorded.
    Applied,
    /// The log has it already; nothing was projected.
    Known,
    /// The log is another owner's.
    Ignored,
}

/// What became of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// the session (aggregate)
    pub session: String,
    /// of each event, in order
    pub outcomes: Vec<Outcome>,
}

/// Why an event of another copy does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The log is another owner's, and that was said to matter.
    #[error("the log of session {session} belongs to {owner}")]
    OwnerMismatch {
        /// the aggregate
        session: String,
        /// whose it is
        owner: String,
    },
    /// The log has something else at this number. An event that was emptied here (`compact`) counts as something else.
    #[error("the log of session {session} has another event {seq}: its {differs} differs")]
    Diverged {
        /// the aggregate
        session: String,
        /// the number
        seq: i64,
        /// "id", "type" or "data"; "presence" if nothing stands there
        differs: &'static str,
    },
    /// Events between the log's last and this one are missing.
    #[error("the log of session {session} goes on with event {expected}, not {found}")]
    Gap {
        /// the aggregate
        session: String,
        /// the next number
        expected: i64,
        /// the event's
        found: i64,
    },
    /// A batch with events of several sessions.
    #[error("the events are of several sessions: {session} and {other}")]
    Mixed {
        /// that of the first
        session: String,
        /// another
        other: String,
    },
    /// A batch whose numbers do not follow each other.
    #[error("event {found} of session {session} stands where {expected} should")]
    NotConsecutive {
        /// the aggregate
        session: String,
        /// the number that should stand there
        expected: i64,
        /// the one that does
        found: i64,
    },
    /// A batch of nothing.
    #[error("there are no events")]
    Empty,
}

impl Store {
    /// Takes an event of another copy.
    ///
    /// Fails with [`ReplayError`] (in [`Error::Replay`]) if it does not fit the log, [`Error::Invalid`] if its data or id is
    /// none, [`Error::IdTaken`] if its id is another event's, [`Error::NotFound`] if what it belongs to is not here.
    pub fn replay(&self, event: ForeignEvent, how: Replay) -> Pending<Outcome> {
        self.write(Durability::Power, move |tx| {
            tx.tell(how.publish);
            let outcome = replay(tx, event, &how);
            tx.tell(true);
            outcome
        })
    }

    /// Takes consecutive events of one session: all or none, in one transaction. That they are is checked first.
    ///
    /// The file is locked meanwhile, for everybody: a long log is better sent in several batches.
    ///
    /// Fails as [`Store::replay`], and with [`ReplayError::Mixed`], [`ReplayError::NotConsecutive`], [`ReplayError::Empty`].
    pub fn replay_all(&self, events: Vec<ForeignEvent>, how: Replay) -> Pending<Replayed> {
        self.write(Durability::Power, move |tx| {
            let session = check(&events)?;
            tx.tell(how.publish);
            let outcomes = events.into_iter().map(|event| replay(tx, event, &how)).collect::<Result<Vec<_>, _>>();
            tx.tell(true);
            Ok(Replayed { session, outcomes: outcomes? })
        })
    }

    /// Makes a session's log belong to `owner`, whoever it belonged to. Nothing else changes hands: local writes are not
    /// bound by it.
    ///
    /// Fails with [`Error::NotFound`] if the session has no log.
    pub fn claim_log(&self, session: &str, owner: &str) -> Pending<()> {
        let (session, owner) = (session.to_owned(), owner.to_owned());
        self.write(Durability::Power, move |tx| match tx.own_log(&session, &owner, false)? {
            true => Ok(()),
            false => Err(Error::NotFound { what: "Log of session", id: session }),
        })
    }
}

/// One session, consecutive numbers. Answers the session.
fn check(events: &[ForeignEvent]) -> Result<String, ReplayError> {
    let first = events.first().ok_or(ReplayError::Empty)?;
    for (expected, event) in (first.seq..).zip(events) {
        if event.session != first.session {
            return Err(ReplayError::Mixed { session: first.session.clone(), other: event.session.clone() });
        }
        if event.seq != expected {
            return Err(ReplayError::NotConsecutive { session: first.session.clone(), expected, found: event.seq });
        }
    }
    Ok(first.session.clone())
}

fn replay(tx: &mut dyn Transaction, event: ForeignEvent, how: &Replay) -> Result<Outcome, Error> {
    id::check(id::Kind::Event, &event.id)
        .map_err(|wrong| Error::Invalid { what: format!("id of an event {}", event.kind), problem: wrong.to_string() })?;
    let owner = tx.log_owner(&event.session)?;
    let elses = owner.filter(|owner| how.owner.as_ref() != Some(owner));
    if let Some(owner) = elses.as_ref().filter(|_| how.strict_owner) {
        return Err(ReplayError::OwnerMismatch { session: event.session, owner: owner.clone() }.into());
    }
    let last = tx.sequence(&event.session)?;
    if last.is_some_and(|last| event.seq <= last) {
        if let Some(differs) = difference(tx, &event)? {
            return Err(ReplayError::Diverged { session: event.session, seq: event.seq, differs }.into());
        }
        own(tx, &event.session, how)?;
        return Ok(Outcome::Known);
    }
    if elses.is_some() {
        return Ok(Outcome::Ignored);
    }
    let expected = last.map_or(0, |last| last + 1);
    if event.seq != expected {
        return Err(ReplayError::Gap { session: event.session, expected, found: event.seq }.into());
    }
    let ForeignEvent { id, session, kind, data, .. } = event;
    let missing = kind.starts_with("session.").then(|| project_of(&data)).flatten();
    let applied = tx.append(&session, last.map_or(Expect::NoStream, Expect::At), NewEvent { id, kind, data });
    applied.map_err(|error| reason(tx, &session, missing, error))?;
    own(tx, &session, how)?;
    Ok(Outcome::Applied)
}

/// A log without an owner becomes the sender's.
fn own(tx: &mut dyn Transaction, session: &str, how: &Replay) -> Result<(), Error> {
    how.owner.as_ref().map_or(Ok(()), |owner| tx.own_log(session, owner, true).map(drop))
}

/// What differs between an event and the one that the log has at its number.
fn difference(tx: &dyn Transaction, event: &ForeignEvent) -> Result<Option<&'static str>, Error> {
    let mut differs = Some("presence");
    let range = LogRange { session: Some(&event.session), after: Some(event.seq.saturating_sub(1)), upto: Some(event.seq) };
    tx.log(&range, &mut |_| Take::Row, &mut |head, data| {
        differs = if head.id != event.id {
            Some("id")
        } else if head.kind != event.kind {
            Some("type")
        } else {
            (!same::same(data, event.data.as_bytes())).then_some("data")
        };
        crate::backend::Flow::Stop
    })?;
    Ok(differs)
}

fn project_of(data: &str) -> Option<String> {
    let data = annalist_schema::Object::parse(data).ok()?;
    let info = data.get("info")?.as_object()?;
    info.text("projectID").map(std::borrow::Cow::into_owned)
}

/// A key that the database enforces failed: says what is not there.
fn reason(tx: &dyn Transaction, session: &str, project: Option<String>, error: Error) -> Error {
    if !matches!(error, Error::Sqlite { .. }) {
        return error;
    }
    match project {
        Some(id) if matches!(tx.project(&id), Ok(None)) => Error::NotFound { what: "Project", id },
        None if matches!(tx.session(session), Ok(None)) => Error::NotFound { what: "Session", id: session.to_owned() },
        _ => error,
    }
}
