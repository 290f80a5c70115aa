//! A stretch of a session's messages.

use super::Cursor;

/// Which end of a session comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// by (`time_created`, `id`) upwards
    OldestFirst,
    /// by (`time_created`, `id`) downwards
    NewestFirst,
}

/// Messages of one session, ordered by (`time_created`, `id`): design G1.
#[derive(Debug, Clone)]
pub struct MessageRange<'q> {
    /// the session
    pub session: &'q str,
    /// which end comes first
    pub direction: Direction,
    /// beyond this position, seen in the direction of reading
    pub beyond: Option<Cursor>,
    /// at most so many
    pub limit: Option<u32>,
}

impl<'q> MessageRange<'q> {
    /// All of a session, oldest first.
    #[must_use]
    pub fn oldest_first(session: &'q str) -> Self {
        MessageRange { session, direction: Direction::OldestFirst, beyond: None, limit: None }
    }

    /// All of a session, newest first.
    #[must_use]
    pub fn newest_first(session: &'q str) -> Self {
        MessageRange { session, direction: Direction::NewestFirst, beyond: None, limit: None }
    }
}
