//! Keeping a file in order: is it what its log says ([`verify`]), make it so ([`rebuild`]), make it small ([`compact`],
//! [`reclaim`]).
//!
//! They take a path, or an open [`Sqlite`], with connections of their own, and are safe beside an OpenCode
//! that goes on working. Each tells its caller how far it is and stops, at once and cleanly, when the answer is
//! [`Flow::Stop`](crate::Flow); calling it again carries on.

mod batch;
mod compact;
mod compare;
mod copy;
mod json;
mod log;
mod plan;
mod rebuild;
mod reclaim;
mod replay;
mod room;
mod verify;

pub use compact::{Compact, Compacted, compact};
pub use compare::{Difference, Shape, What};
pub use log::{LogProblem, Unchecked};
pub use plan::{Emptied, Skipped};
pub use rebuild::{Copied, Rebuilt, rebuild};
pub use reclaim::{Reclaim, Reclaimed, reclaim};
pub use verify::{Finding, News, UNLOGGED, Verified, verify};

use super::Sqlite;
use std::path::Path;

/// How far a run is. Told at least once a session, and within long ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// sessions finished
    pub sessions: u64,
    /// sessions there are
    pub of: u64,
    /// events read so far
    pub events: u64,
    /// bytes of event data read so far
    pub bytes: u64,
}

impl AsRef<Path> for Sqlite {
    fn as_ref(&self) -> &Path {
        self.path()
    }
}
