//! How far a longer piece of work is.

use std::io::{self, IsTerminal as _, Write};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Work that is done sooner says nothing.
const QUIET: Duration = Duration::from_secs(1);
/// Between two lines: a terminal's is written over, others stay.
const ON_A_TERMINAL: Duration = Duration::from_millis(200);
const ELSEWHERE: Duration = Duration::from_secs(10);
/// Work may tell of each of its steps; this often it is listened to.
const HEARD: Duration = Duration::from_millis(100);

/// Lines on standard error about work that takes over a second, also while it stands still, as when another program holds
/// the file's lock.
pub(crate) struct Progress {
    latest: Arc<Mutex<Option<String>>>,
    next: Instant,
    /// Until the work has ended.
    going: Option<Sender<()>>,
    printer: Option<JoinHandle<()>>,
}

impl Progress {
    /// `what` is being done, as `deleting`.
    pub(crate) fn start(what: &'static str) -> Self {
        let latest: Arc<Mutex<Option<String>>> = Arc::default();
        let (going, ended) = mpsc::channel::<()>();
        let told = Arc::clone(&latest);
        let print = move || {
            let begun = Instant::now();
            let terminal = io::stderr().is_terminal();
            let mut lines = Lines { to: io::stderr(), terminal, shown: false };
            let mut wait = QUIET;
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                wait = if terminal { ON_A_TERMINAL } else { ELSEWHERE };
                let latest = told.lock().unwrap_or_else(PoisonError::into_inner).clone();
                lines.say(&latest.unwrap_or_else(|| format!("{what}, {} s", begun.elapsed().as_secs())));
            }
        };
        // Where no thread is to be had the work is done in silence.
        let printer = thread::Builder::new().name("progress".to_owned()).spawn(print).ok();
        Progress { latest, next: Instant::now(), going: Some(going), printer }
    }

    /// Does work that does not tell how far it is.
    pub(crate) fn during<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
        let progress = Progress::start(what);
        let done = work();
        drop(progress);
        done
    }

    /// Where the work is.
    pub(crate) fn at(&mut self, line: impl FnOnce() -> String) {
        let now = Instant::now();
        if now >= self.next {
            self.next = now + HEARD;
            *self.latest.lock().unwrap_or_else(PoisonError::into_inner) = Some(line());
        }
    }
}

impl Drop for Progress {
    /// What is said next stands below the last of these lines.
    fn drop(&mut self) {
        drop(self.going.take());
        if let Some(printer) = self.printer.take() {
            printer.join().ok();
        }
    }
}

struct Lines<W: Write> {
    to: W,
    terminal: bool,
    shown: bool,
}

impl<W: Write> Lines<W> {
    fn say(&mut self, line: &str) {
        self.shown = true;
        let line = super::line(line);
        // If nobody can hear it, the work goes on.
        if self.terminal { write!(self.to, "\r\x1b[K{line}") } else { writeln!(self.to, "{line}") }.ok();
    }
}

impl<W: Write> Drop for Lines<W> {
    fn drop(&mut self) {
        if self.shown && self.terminal {
            write!(self.to, "\r\x1b[K").ok();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn said(terminal: bool, lines: &[&str]) -> String {
        let mut to = Vec::new();
        let mut printed = Lines { to: &mut to, terminal, shown: false };
        lines.iter().for_each(|line| printed.say(line));
        drop(printed);
        String::from_utf8(to).unwrap()
    }

    #[test]
    fn a_terminals_line_is_written_over_and_wiped() {
        assert_eq!(said(true, &["one\u{1b} of two", "two"]), "\r\x1b[Kone\u{fffd} of two\r\x1b[Ktwo\r\x1b[K");
        assert_eq!(said(true, &[]), "");
        assert_eq!(said(false, &["one\u{1b} of two", "two"]), "one\u{fffd} of two\ntwo\n");
    }

    #[test]
    fn work_gives_what_it_gives() {
        assert_eq!(Progress::during("counting", || 7), 7);
    }
}
