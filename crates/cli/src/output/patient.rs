//! Waiting for a receiver that is not ready.

use std::io::{self, Write};
use std::thread;
use std::time::Duration;

/// A writer that waits where the receiver says "not now". A standard output shared with a program that made it non-blocking
/// (Node does) answers so as soon as the pipe is full, and giving up would cut the output off.
pub(super) struct Patient<W>(pub(super) W);

/// A pipe empties in less; there is no portable way to be told.
const PAUSE: Duration = Duration::from_millis(1);

impl<W: Write> Patient<W> {
    fn patiently<T>(&mut self, mut attempt: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        loop {
            match attempt(&mut self.0) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => thread::sleep(PAUSE),
                done => return done,
            }
        }
    }
}

impl<W: Write> Write for Patient<W> {
    // A failed write took nothing (the trait's promise), so that trying again repeats nothing.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.patiently(|to| to.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.patiently(Write::flush)
    }
}
