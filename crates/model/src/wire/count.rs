//! How large a request is, without writing it anywhere.

use super::{Options, write};
use crate::describe::Model;
use crate::neutral::ModelMessage;
use std::io;

/// The size of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes of the body.
    pub bytes: u64,
    /// UTF-16 units of it: what the reference calls its length.
    pub units: u64,
}

impl Count {
    /// Tokens, as the reference guesses them: a quarter of the length, rounded.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.units.saturating_add(2) / 4
    }
}

/// Counts what [`write()`] would write.
#[must_use]
pub fn count(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>) -> Count {
    let mut counting = Counting(Count::default());
    // A writer that never fails.
    write(messages, model, options, &mut counting).ok();
    counting.0
}

struct Counting(Count);

impl io::Write for Counting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.bytes += bytes.len() as u64;
        // Each character has one byte that continues nothing; those of four bytes are two units.
        self.0.units += bytes.iter().map(|byte| u64::from(byte & 0xc0 != 0x80) + u64::from(*byte >= 0xf0)).sum::<u64>();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
