//! What goes to the terminal: data to standard output, everything else to standard error.

mod text;
mod time;

pub(crate) use text::{one_line, printable};
pub(crate) use time::local;

use std::io::{self, BufWriter, StdoutLock, Write};

/// Standard output, buffered. Whoever writes passes the errors on; `main` knows what a closed pipe means.
pub(crate) struct Out(BufWriter<StdoutLock<'static>>);

impl Out {
    pub(crate) fn stdout() -> Self {
        Out(BufWriter::with_capacity(64 * 1024, io::stdout().lock()))
    }

    /// Everything must have arrived before the command may claim success.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// A line about the work, on standard error. If nobody can hear it, the work goes on.
pub(crate) fn status(line: &str) {
    writeln!(io::stderr(), "{line}").ok();
}
