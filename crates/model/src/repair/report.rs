//! What was changed, and why.

use crate::rules::Rule;
use std::fmt;

/// Everything that was changed in a conversation, in the order in which it was done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// One entry a change.
    pub repairs: Vec<Repair>,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The rule that demanded it.
    pub rule: Rule,
    /// The stored message; empty for one that was made up.
    pub message: String,
    /// The stored part; empty where it is about a whole message.
    pub part: String,
    /// What was done.
    pub change: Change,
}

/// What was done to a piece of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// It was left out.
    LeftOut,
    /// Something else stands in its place.
    Replaced {
        /// what, in short
        by: String,
    },
    /// An id or name was changed.
    Renamed {
        /// as stored
        from: String,
        /// as sent
        to: String,
    },
    /// Something was put there that nobody said.
    Added {
        /// what
        what: String,
    },
    /// Two pieces became one.
    Joined,
}

impl Report {
    /// Whether nothing had to be changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.repairs.is_empty()
    }

    pub(crate) fn add(&mut self, rule: Rule, message: &str, part: &str, change: Change) {
        self.repairs.push(Repair { rule, message: message.to_owned(), part: part.to_owned(), change });
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.part.is_empty() { &self.message } else { &self.part };
        write!(f, "{}: {}: {}", if place.is_empty() { "-" } else { place }, self.rule, self.change)
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::LeftOut => f.write_str("left out"),
            Change::Replaced { by } => write!(f, "replaced by {by}"),
            Change::Renamed { from, to } => write!(f, "{from:?} is called {to:?}"),
            Change::Added { what } => write!(f, "added {what}"),
            Change::Joined => f.write_str("joined with the one before"),
        }
    }
}
