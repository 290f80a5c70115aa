//! What goes to the terminal: data to standard output, everything else to standard error.

mod patient;
mod progress;
mod size;
mod text;
mod time;

pub(crate) use progress::Progress;
pub(crate) use size::size;
pub(crate) use text::{count, line, one_line, printable, tail};
pub(crate) use time::local;

use patient::Patient;
use std::io::{self, BufWriter, StdoutLock, Write};

/// Standard output, buffered. Whoever writes passes the errors on; `main` knows what a closed pipe means.
pub(crate) struct Out {
    to: BufWriter<Patient<StdoutLock<'static>>>,
    begun: bool,
}

impl Out {
    pub(crate) fn stdout() -> Self {
        Out { to: BufWriter::with_capacity(64 * 1024, Patient(io::stdout().lock())), begun: false }
    }

    /// Everything must have arrived before the command may claim success.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.to.flush()
    }

    /// Whether anything was written.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.begun |= !bytes.is_empty();
        self.to.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Characters in a line of the terminal that standard output is; nothing if it is none.
pub(crate) fn width() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// A line about the work, on standard error. If nobody can hear it, the work goes on.
pub(crate) fn status(text: &str) {
    // Names of files and texts of the record stand in it, which may hold anything.
    writeln!(io::stderr(), "{}", line(text)).ok();
}
