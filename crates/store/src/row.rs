//! Rows as a backend reads them: columns, and JSON that nobody has looked into yet.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A time column, in ms. A user message's time may be fractional (reference-storage 2.1), and then its column holds a real.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Stamp {
    /// whole milliseconds
    Whole(i64),
    /// a fractional time, as some client sent it
    Real(f64),
}

impl Stamp {
    /// Whole milliseconds, fractions cut off.
    #[must_use]
    pub fn ms(self) -> i64 {
        match self {
            Stamp::Whole(ms) => ms,
            // A float cast saturates at both ends.
            Stamp::Real(ms) => ms as i64,
        }
    }

    fn float(self) -> f64 {
        match self {
            // Exact for every time before the year 287396.
            Stamp::Whole(ms) => ms as f64,
            Stamp::Real(ms) => ms,
        }
    }
}

impl PartialOrd for Stamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Stamp::Whole(a), Stamp::Whole(b)) => Some(a.cmp(b)),
            _ => self.float().partial_cmp(&other.float()),
        }
    }
}

/// A value of a column that should have one type and may hold anything.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Cell {
    /// absent: NULL, or a column this file does not have
    #[default]
    Null,
    /// an integer
    Int(i64),
    /// a real
    Real(f64),
    /// text
    Text(String),
    /// bytes, or text that is not UTF-8
    Bytes(Vec<u8>),
}

impl Cell {
    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Cell::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The columns of a session (reference-storage 4.2), in the order in which they are read.
#[derive(Debug, Clone, Default, PartialEq)]
#[allow(missing_docs, reason = "each field is the column of its name")]
pub struct SessionRow {
    pub id: String,
    pub project_id: Cell,
    pub workspace_id: Cell,
    pub parent_id: Cell,
    pub slug: Cell,
    pub directory: Cell,
    pub path: Cell,
    pub title: Cell,
    pub version: Cell,
    pub share_url: Cell,
    pub summary_additions: Cell,
    pub summary_deletions: Cell,
    pub summary_files: Cell,
    pub summary_diffs: Cell,
    pub metadata: Cell,
    pub cost: Cell,
    pub tokens_input: Cell,
    pub tokens_output: Cell,
    pub tokens_reasoning: Cell,
    pub tokens_cache_read: Cell,
    pub tokens_cache_write: Cell,
    pub revert: Cell,
    pub permission: Cell,
    pub agent: Cell,
    pub model: Cell,
    pub time_created: Cell,
    pub time_updated: Cell,
    pub time_compacting: Cell,
    pub time_archived: Cell,
}

/// A message. `data` is the info without `id` and `sessionID`.
#[derive(Debug, Clone)]
pub struct MessageRow<'r> {
    /// the column `id`
    pub id: Cow<'r, str>,
    /// the column `session_id`
    pub session: Cow<'r, str>,
    /// the column `time_created`, the first half of the order
    pub created: Stamp,
    /// the stored bytes, which should be a JSON object
    pub data: Cow<'r, [u8]>,
}

/// A part. `data` is the part without `id`, `sessionID` and `messageID`.
#[derive(Debug, Clone)]
pub struct PartRow<'r> {
    /// the column `id`
    pub id: Cow<'r, str>,
    /// the column `message_id`
    pub message: Cow<'r, str>,
    /// the column `session_id`
    pub session: Cow<'r, str>,
    /// the column `time_created`: the time of the first write, the first half of the order
    pub created: Stamp,
    /// the stored bytes, which should be a JSON object
    pub data: Cow<'r, [u8]>,
}

impl MessageRow<'_> {
    /// The same row with bytes of its own.
    #[must_use]
    pub fn into_static(self) -> MessageRow<'static> {
        MessageRow {
            id: Cow::Owned(self.id.into_owned()),
            session: Cow::Owned(self.session.into_owned()),
            created: self.created,
            data: Cow::Owned(self.data.into_owned()),
        }
    }
}

impl PartRow<'_> {
    /// The order of parts in a message (design G1): by first write, then id. Ids alone are no order.
    #[must_use]
    pub fn order(&self, other: &Self) -> Ordering {
        let by_time = self.created.partial_cmp(&other.created).unwrap_or(Ordering::Equal);
        by_time.then_with(|| self.id.cmp(&other.id))
    }

    /// The same row with bytes of its own.
    #[must_use]
    pub fn into_static(self) -> PartRow<'static> {
        PartRow {
            id: Cow::Owned(self.id.into_owned()),
            message: Cow::Owned(self.message.into_owned()),
            session: Cow::Owned(self.session.into_owned()),
            created: self.created,
            data: Cow::Owned(self.data.into_owned()),
        }
    }
}

/// An entry of a todo list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TodoRow {
    /// what to do
    pub content: String,
    /// `pending`, `in_progress`, `completed`, `cancelled`, or any other word
    pub status: String,
    /// `high`, `medium`, `low`, or any other word
    pub priority: String,
}

/// A project.
#[derive(Debug, Clone, PartialEq)]
pub struct ProjectRow {
    /// a git root commit, a hash of the remote, or `global`
    pub id: String,
    /// the work tree it was first seen in
    pub worktree: String,
    /// the name a person gave it
    pub name: Option<String>,
}

/// An event of the log.
#[derive(Debug, Clone)]
pub struct EventRow<'r> {
    /// `evt_...`
    pub id: Cow<'r, str>,
    /// 0, 1, 2 ... in its session
    pub seq: i64,
    /// the versioned type, such as `message.updated.1`
    pub kind: Cow<'r, str>,
    /// the stored bytes, which should be a JSON object
    pub data: Cow<'r, [u8]>,
}
