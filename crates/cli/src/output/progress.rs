//! How far a longer piece of work is.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};

/// Work that is done sooner says nothing.
const QUIET: Duration = Duration::from_secs(1);
/// Between two lines: a terminal's is written over, others stay.
const ON_A_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(10);

/// Lines on standard error about work that takes over a second.
pub(crate) struct Progress {
    next: Instant,
    terminal: bool,
    shown: bool,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Progress { next: Instant::now() + QUIET, terminal: io::stderr().is_terminal(), shown: false }
    }

    /// Says where the work is, if it is time to.
    pub(crate) fn at(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if now < self.next {
            return;
        }
        self.next = now + if self.terminal { ON_A_TERMINAL } else { ELSEWHERE };
        self.shown = true;
        let line = super::line(&line());
        let mut err = io::stderr();
        // If nobody can hear it, the work goes on.
        if self.terminal { write!(err, "\r\x1b[K{line}") } else { writeln!(err, "{line}") }.ok();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown && self.terminal {
            write!(io::stderr(), "\r\x1b[K").ok();
        }
    }
}
