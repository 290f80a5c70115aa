//! Moving the log (`-wal`) into the file, beside the writer instead of inside its commits.
//!
//! A thread with a connection of its own runs PASSIVE checkpoints: they take no lock that anybody waits for. It runs one when
//! the log has grown by [`Bounds::grown`] and when writing pauses. A passive checkpoint that runs beside dense writing always
//! ends a little short of the log's end, and then the log is never begun anew; so once it is longer than
//! [`Bounds::longest`] the writer holds still for a moment until it can be ([`rewind`]).
//!
//! Only a reader that keeps its view open for long, ours or another's, makes the log grow beyond that; SQLite cannot begin
//! it anew under such a reader. On closing SQLite does what it always does: who closes last takes the log in and removes it.

use super::{File, error, open};
use crate::error::Error;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Sizes of the log, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// A checkpoint is due after so much growth.
    pub(super) grown: u64,
    /// From this size on the writer waits until the log can be begun anew. The log's file is cut down to it.
    pub(super) longest: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        // SQLite's own is 4 MB too (1,000 pages), and the reference's.
        Bounds { grown: 4 << 20, longest: 16 << 20 }
    }
}

/// Without a commit for so long, writing has paused.
const PAUSE: Duration = Duration::from_millis(250);
/// How long [`rewind`] waits for readers at [`Bounds::longest`]. At twice the size four times as long, up to [`MOVING`]: reads
/// of 100 ms, one after the other, are worth a log of 16 MB, those of 400 ms one of 32.
const STILL: Duration = Duration::from_millis(100);
/// And, at most, for readers and for another connection that moves the log.
const MOVING: Duration = Duration::from_secs(1);

#[derive(Default)]
struct State {
    /// Commits so far, and how many of them the last pass saw.
    commits: u64,
    seen: u64,
    /// The log's size after the last commit.
    size: u64,
    /// Its size when the last pass began.
    passed: u64,
    closing: bool,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    bounds: Bounds,
}

/// The log, as the writer sees it.
pub(super) struct Log {
    checkpointer: Checkpointer,
    bounds: Bounds,
    /// Its size after the last commit.
    size: Arc<AtomicU64>,
    /// The size at which [`rewind`] is tried next.
    rewind_at: u64,
}

impl Log {
    /// Takes the log of the writer's connection into care.
    pub(super) fn start(db: &mut Connection, file: &Arc<File>, bounds: Bounds) -> Result<Self, Error> {
        let checkpointer = Checkpointer::start(file, bounds)?;
        let size = Arc::new(AtomicU64::new(0));
        (|| {
            let page: u32 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
            db.pragma_update_and_check(None, "journal_size_limit", i64::try_from(bounds.longest).unwrap_or(i64::MAX), |_| Ok(()))?;
            let size = Arc::clone(&size);
            // Takes the place of SQLite's own hook, which is the automatic checkpoint.
            db.wal_hook(Some(move |_: &mut Wal, pages: c_int| {
                // Each page has a header of 24 bytes, the log one of 32.
                size.store(32 + u64::from(pages.unsigned_abs()) * u64::from(page + 24), Ordering::Relaxed);
                Ok(())
            }))
        })()
        .map_err(|e| error(&file.path, &e))?;
        Ok(Log { checkpointer, bounds, size, rewind_at: bounds.longest })
    }

    /// To be called after a commit.
    pub(super) fn committed(&self) {
        self.checkpointer.committed(self.size.load(Ordering::Relaxed));
    }

    /// To be called between two transactions: keeps the log from growing beyond its bound.
    pub(super) fn keep_short(&mut self, db: &Connection) {
        let size = self.size.load(Ordering::Relaxed);
        if size < self.bounds.longest {
            self.rewind_at = self.bounds.longest;
        } else if size >= self.rewind_at {
            // Under a long reader each attempt costs time for nothing: the next one only after a quarter more.
            let times = size as f64 / self.bounds.longest as f64;
            let still = STILL.mul_f64(times * times).min(MOVING);
            self.rewind_at = if rewind(db, still) { self.bounds.longest } else { size + size / 4 };
        }
    }
}

/// The handle of the thread. Dropping it ends the thread.
struct Checkpointer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    fn start(file: &Arc<File>, bounds: Bounds) -> Result<Self, Error> {
        let db = open::checkpointer(&file.path)?;
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new(), bounds });
        let thread = std::thread::Builder::new().name("annalist-checkpoint".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || run(&db, &shared)
        });
        let thread = thread.map_err(|source| Error::Io { file: file.path.clone(), source })?;
        Ok(Checkpointer { shared, thread: Some(thread) })
    }

    /// Tells of a commit after which the log has this size.
    fn committed(&self, size: u64) {
        let mut state = self.shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        let first = state.commits == state.seen;
        state.commits += 1;
        // Begun anew: what was seen of the old one says nothing.
        if size < state.size {
            state.passed = 0;
        }
        state.size = size;
        // A thread that waits for a pause need not be woken for each commit.
        if first || state.size - state.passed.min(state.size) >= self.shared.bounds.grown {
            self.shared.changed.notify_one();
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner).closing = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // It cannot panic on anything that is stored; and nothing is lost if it did.
            thread.join().ok();
        }
    }
}

fn run(db: &Connection, shared: &Shared) {
    while due(shared) {
        // Busy: another process is at it. Failed (a full disk): the log stays as it is, and commits say what is wrong.
        checkpoint(db, "PASSIVE").ok();
    }
}

/// Waits for the next reason for a pass; `false` at the end.
fn due(shared: &Shared) -> bool {
    let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
    let mut quiet_since = None;
    loop {
        if state.closing {
            return false;
        }
        let grown = state.size.saturating_sub(state.passed) >= shared.bounds.grown;
        let paused = quiet_since == Some(state.commits);
        if state.commits > state.seen && (grown || paused) {
            state.seen = state.commits;
            state.passed = state.size;
            return true;
        }
        if state.commits == state.seen {
            state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let commits = state.commits;
        let (guard, waited) = shared.changed.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner);
        state = guard;
        quiet_since = waited.timed_out().then_some(commits);
    }
}

/// What a checkpoint came to.
struct Done {
    busy: bool,
    /// Pages in the log, and those of them that are in the file too.
    log: i64,
    moved: i64,
}

fn checkpoint(db: &Connection, mode: &str) -> rusqlite::Result<Done> {
    db.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        Ok(Done { busy: row.get::<_, i64>(0)? != 0, log: row.get(1)?, moved: row.get(2)? })
    })
}

/// Brings the whole log into the file and has the next commit begin it anew; whether it worked. Called by the writer between
/// two transactions. Gives up after waiting for `still` if readers stand on the log.
///
/// The long part is passive. RESTART then has next to nothing left to move, and takes the write lock for that alone: it does
/// not wait with it, since the writer's connection has no busy handler.
fn rewind(db: &Connection, still: Duration) -> bool {
    let begun = Instant::now();
    let mut moved_at = None;
    loop {
        // A failure (a full disk) leaves the log as it is, and the commits will say what is wrong.
        let Ok(done) = checkpoint(db, "PASSIVE") else { return false };
        // Busy: another connection moves the log, which is as good, and is waited for.
        if !done.busy {
            moved_at.get_or_insert_with(Instant::now);
            if done.log == done.moved && checkpoint(db, "RESTART").is_ok_and(|done| !done.busy) {
                return true;
            }
        }
        if moved_at.is_some_and(|at| at.elapsed() > still) || begun.elapsed() > MOVING {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn shared() -> Shared {
        let bounds = Bounds { grown: 100, longest: 400 };
        Shared { state: Mutex::default(), changed: Condvar::new(), bounds }
    }

    #[test]
    fn a_pass_is_due_when_writing_pauses_and_not_again_before_the_next_commit() {
        let shared = Arc::new(shared());
        let handle = Checkpointer { shared: Arc::clone(&shared), thread: None };
        handle.committed(1);
        // Returns by the pause alone: the log has hardly grown.
        assert!(due(&shared));
        assert_eq!(shared.state.lock().unwrap().seen, 1);
        drop(handle);
        assert!(!due(&shared), "closed");
    }

    #[test]
    fn growth_counts_from_the_last_pass_and_from_the_logs_new_begin() {
        let shared = Arc::new(shared());
        let handle = Checkpointer { shared: Arc::clone(&shared), thread: None };
        let grown = |size| {
            handle.committed(size);
            let state = shared.state.lock().unwrap();
            state.size.saturating_sub(state.passed) >= shared.bounds.grown
        };
        assert!(!grown(99));
        assert!(grown(100));
        assert!(due(&shared));
        assert!(!grown(199));
        assert!(grown(200));
        assert!(due(&shared));
        // Begun anew.
        assert!(!grown(20));
        assert!(grown(100));
    }
}
