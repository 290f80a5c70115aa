//! Small write transactions with pauses, so that an OpenCode on the same file hardly notices (sharing the file: batches of at
//! most 1 MB or 20 ms, and a pause as long as each took).

use super::super::error;
use crate::error::Error;
use rusqlite::{Connection, ErrorCode};
use std::path::Path;
use std::time::{Duration, Instant};

/// A batch takes nothing further once it has so many bytes, or is this old.
pub(super) const BYTES: u64 = 1 << 20;
pub(super) const HOLD: Duration = Duration::from_millis(20);

/// Whether a failure is only somebody else's lock.
pub(super) fn is_busy(failure: &rusqlite::Error) -> bool {
    matches!(failure.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Runs a statement that needs the write lock, asking for the lock about each millisecond: SQLite's own wait sleeps in steps
/// of up to 100 ms and has no queue.
pub(super) fn patiently<T>(path: &Path, patience: Duration, mut run: impl FnMut() -> rusqlite::Result<T>) -> Result<T, Error> {
    let since = Instant::now();
    loop {
        match run() {
            Ok(done) => return Ok(done),
            Err(failure) if !is_busy(&failure) => return Err(error(path, &failure)),
            Err(_) if since.elapsed() >= patience => {
                let waited_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
                return Err(Error::Busy { file: path.to_owned(), waited_ms });
            }
            Err(_) => std::thread::sleep(Duration::from_micros(u64::from(rand::random_range(500..1_500_u16)))),
        }
    }
}

/// A transaction of the batch's: undone unless it is committed.
pub(super) struct Batch<'c> {
    db: &'c Connection,
    path: &'c Path,
    begun: Instant,
    bytes: u64,
}

impl<'c> Batch<'c> {
    pub(super) fn begin(db: &'c Connection, path: &'c Path, patience: Duration) -> Result<Self, Error> {
        patiently(path, patience, || db.execute_batch("BEGIN IMMEDIATE"))?;
        Ok(Batch { db, path, begun: Instant::now(), bytes: 0 })
    }

    /// Counts what was done; true when the batch is full.
    pub(super) fn add(&mut self, bytes: u64) -> bool {
        self.bytes += bytes;
        self.bytes >= BYTES || self.begun.elapsed() >= HOLD
    }

    /// Commits, then leaves the lock to others for as long as it was held. Gives that time.
    pub(super) fn commit(self) -> Result<Duration, Error> {
        self.db.execute_batch("COMMIT").map_err(|e| error(self.path, &e))?;
        let held = self.begun.elapsed();
        std::thread::sleep(held);
        Ok(held)
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if !self.db.is_autocommit() {
            // What failed before says more than this could.
            self.db.execute_batch("ROLLBACK").ok();
        }
    }
}
