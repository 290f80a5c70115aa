//! Who else has the record open.

/// The other processes that have the record open at this moment.
///
/// What the operating system does not tell is never guessed: [`Neighbours::Unknown`] is to be treated as if a foreign
/// process were there, and the predicates do so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Neighbours {
    /// All of them, by process id, in ascending order.
    Known {
        /// Processes of this program: they write with the same rules and honour claims.
        ours: Vec<u32>,
        /// All others: OpenCode, or any program with SQLite in it. A process of ours that only reads is counted here too.
        foreign: Vec<u32>,
    },
    /// It cannot be told, and why.
    Unknown {
        /// for people
        reason: &'static str,
    },
}

impl Neighbours {
    /// Whether somebody else has it open, or may have.
    #[must_use]
    pub fn anybody(&self) -> bool {
        match self {
            Neighbours::Known { ours, foreign } => !ours.is_empty() || !foreign.is_empty(),
            Neighbours::Unknown { .. } => true,
        }
    }

    /// Whether a process that is not ours has it open, or may have.
    #[must_use]
    pub fn foreign(&self) -> bool {
        match self {
            Neighbours::Known { foreign, .. } => !foreign.is_empty(),
            Neighbours::Unknown { .. } => true,
        }
    }
}
