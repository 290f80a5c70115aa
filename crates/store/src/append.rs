//! What goes into the log.

use crate::backend::Transaction;
use crate::error::Error;
use annalist_schema::event::DurableEvent;
use annalist_schema::id;
use annalist_schema::raw::Object;

/// Where the caller believes a session's log to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Anywhere.
    Any,
    /// Nothing was ever logged for this session.
    NoStream,
    /// The last event has this number.
    At(i64),
}

impl Expect {
    /// Whether a log whose last number is `last` is where it was expected.
    #[must_use]
    pub fn holds(self, last: Option<i64>) -> bool {
        match self {
            Expect::Any => true,
            Expect::NoStream => last.is_none(),
            Expect::At(seq) => last == Some(seq),
        }
    }
}

impl std::fmt::Display for Expect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Expect::Any => f.write_str("anything"),
            Expect::NoStream => f.write_str("no log"),
            Expect::At(seq) => write!(f, "event {seq}"),
        }
    }
}

/// An event to be recorded.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// `evt_...`; its millisecond is the time written into the rows that the event touches.
    pub id: String,
    /// The versioned type, such as `message.updated.1`.
    pub kind: String,
    /// The JSON text of the event's data, an object.
    pub data: String,
}

impl NewEvent {
    /// An event of now.
    #[must_use]
    pub fn of(event: DurableEvent<'_>) -> Self {
        NewEvent::new(event.versioned_type(), event.data().to_text())
    }

    /// An event of now, of any type.
    #[must_use]
    pub fn new(kind: &str, data: String) -> Self {
        NewEvent { id: id::new(id::Kind::Event), kind: kind.to_owned(), data }
    }
}

/// An event that has its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// `evt_...`
    pub id: String,
    /// Its place in the session's log: 0, 1, 2 ... without gaps.
    pub seq: i64,
}

/// Times for the parts of a message that are written one after the other: parts are read by first write, then id, so where
/// the order of writing is not that of the ids, a later millisecond says so.
pub(crate) struct PartTimes {
    time: i64,
    previous: String,
}

impl PartTimes {
    /// All at `now` (ms), as long as the ids rise.
    pub(crate) fn from(now: i64) -> Self {
        PartTimes { time: now, previous: String::new() }
    }

    /// The time of the next part.
    pub(crate) fn of(&mut self, id: &str) -> i64 {
        if *id < *self.previous {
            self.time += 1;
        }
        id.clone_into(&mut self.previous);
        self.time
    }
}

/// Appends an event of now whose data is `{sessionID, [key]: value, time?}`, for those who copy values they do not look into.
pub(crate) fn record(
    tx: &mut dyn Transaction,
    session: &str,
    kind: &str,
    key: &str,
    value: Object<'_>,
    time: Option<i64>,
) -> Result<Recorded, Error> {
    let mut data = Object::new();
    data.set_text("sessionID", session);
    data.set(key, value);
    if let Some(time) = time {
        data.set("time", time);
    }
    tx.append(session, Expect::Any, NewEvent::new(kind, data.to_text()))
}
