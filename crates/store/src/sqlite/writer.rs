//! The writer: one thread, one connection, waiting jobs committed as a group.
//!
//! A commit that must survive a loss of power costs a wait for the disk, whatever is in it. So the thread takes what is
//! waiting, gives each job a savepoint of its own inside one transaction, and commits once. A job that fails or panics is
//! undone alone. Nobody hears of success before the commit.

use super::supersede::Cache;
use super::view::View;
use super::{File, Options, error, open};
use crate::backend::{Durability, Job, Settle};
use crate::error::Error;
use rusqlite::{Connection, ErrorCode};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Jobs in one commit.
const GROUP: usize = 64;
/// A group takes no further job once its transaction is this old: while it is open OpenCode stands still.
const HOLD: Duration = Duration::from_millis(20);

struct Item {
    durability: Durability,
    job: Job,
    settle: Settle,
    queued: Instant,
}

/// The handle of the thread. Dropping it lets the thread finish what is queued, and waits for that.
pub(super) struct Writer {
    queue: Option<Sender<Item>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(super) fn start(file: Arc<File>, options: Options) -> Result<Self, Error> {
        let db = open::writer(&file.path)?;
        let (queue, jobs) = channel();
        let path = file.path.clone();
        let thread = std::thread::Builder::new()
            .name("annalist-writer".to_owned())
            .spawn(move || {
                let superseded = options.empty_superseded.then(Cache::default);
                Thread { db, file, patience: options.patience, synchronous: None, superseded }.run(&jobs);
            })
            .map_err(|source| Error::Io { file: path, source })?;
        Ok(Writer { queue: Some(queue), thread: Some(thread) })
    }

    pub(super) fn queue(&self, durability: Durability, job: Job, settle: Settle) {
        let item = Item { durability, job, settle, queued: Instant::now() };
        let left = match &self.queue {
            Some(queue) => queue.send(item).err().map(|e| e.0),
            None => Some(item),
        };
        if let Some(item) = left {
            (item.settle)(Err(Error::Closed));
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        // A job that owns the last handle drops it on the thread itself, which cannot wait for its own end.
        if let Some(thread) = self.thread.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // Jobs cannot kill the thread; if something else did, its callers were told by their dropped channels.
            thread.join().ok();
        }
    }
}

struct Thread {
    db: Connection,
    file: Arc<File>,
    patience: Duration,
    /// What `PRAGMA synchronous` was last set to.
    synchronous: Option<Durability>,
    /// Where the snapshots stand that the next appends supersede.
    superseded: Option<Cache>,
}

/// What became of a job inside the open transaction.
type Outcome = (Settle, Result<(), Error>);

impl Thread {
    fn run(mut self, jobs: &Receiver<Item>) {
        let mut waiting: Vec<Item> = Vec::new();
        loop {
            if waiting.is_empty() {
                match jobs.recv() {
                    Ok(item) => waiting.push(item),
                    Err(_) => return,
                }
            }
            while waiting.len() < GROUP {
                let Ok(item) = jobs.try_recv() else { break };
                waiting.push(item);
            }
            waiting = self.group(waiting);
        }
    }

    /// Commits some of the waiting jobs; gives back those it did not get to.
    fn group(&mut self, waiting: Vec<Item>) -> Vec<Item> {
        let durability = waiting.iter().map(|item| item.durability).max().unwrap_or(Durability::Power);
        let mut waiting = match self.begin(waiting, durability) {
            Ok(waiting) => waiting.into_iter(),
            Err(nobody_left) => return nobody_left,
        };
        let begun = Instant::now();
        if let Some(cache) = &mut self.superseded {
            cache.group_begun(&self.db);
        }
        let mut done: Vec<Outcome> = Vec::new();
        for item in waiting.by_ref() {
            let result = self.one(item.job);
            if let Some(cache) = &mut self.superseded {
                cache.job_done(result.is_ok());
            }
            done.push((item.settle, result));
            if self.db.is_autocommit() {
                // A failure such as a full disk makes SQLite undo the whole transaction: the neighbours' work is gone too.
                let cause = done.last().and_then(|(_, r)| r.as_ref().err()).map(ToString::to_string).unwrap_or_default();
                for (_, result) in done.iter_mut().filter(|(_, r)| r.is_ok()) {
                    *result = Err(Error::RolledBack { cause: cause.clone() });
                }
                break;
            }
            if begun.elapsed() > HOLD {
                break;
            }
        }
        let committed = self.end(&mut done);
        if let Some(cache) = &mut self.superseded {
            cache.group_done(committed);
        }
        for (settle, result) in done {
            settle(result);
        }
        waiting.collect()
    }

    /// Takes the write lock. Jobs whose patience ends meanwhile are told so; `Err` if none is left.
    fn begin(&mut self, mut waiting: Vec<Item>, durability: Durability) -> Result<Vec<Item>, Vec<Item>> {
        loop {
            let failure = match self.try_begin(durability) {
                Ok(()) => return Ok(waiting),
                Err(failure) => failure,
            };
            let busy = matches!(failure.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked));
            let (over, left): (Vec<_>, Vec<_>) =
                waiting.into_iter().partition(|item| !busy || item.queued.elapsed() >= self.patience);
            for item in over {
                let waited_ms = u64::try_from(item.queued.elapsed().as_millis()).unwrap_or(u64::MAX);
                (item.settle)(Err(if busy {
                    Error::Busy { file: self.file.path.clone(), waited_ms }
                } else {
                    error(&self.file.path, &failure)
                }));
            }
            if left.is_empty() {
                return Err(left);
            }
            waiting = left;
            // About a millisecond, never twice the same: two waiting processes must not step in time.
            std::thread::sleep(Duration::from_micros(u64::from(rand::random_range(500..1_500_u16))));
        }
    }

    fn try_begin(&mut self, durability: Durability) -> rusqlite::Result<()> {
        if self.synchronous != Some(durability) {
            self.db.pragma_update(
                None,
                "synchronous",
                match durability {
                    // Synced at checkpoints only: survives the process, not the loss of power.
                    Durability::Process => "NORMAL",
                    // Synced at each commit.
                    Durability::Power => "FULL",
                },
            )?;
            self.synchronous = Some(durability);
        }
        self.db.execute_batch("BEGIN IMMEDIATE")
    }

    /// One job in a savepoint of its own.
    fn one(&mut self, job: Job) -> Result<(), Error> {
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        self.db.execute_batch("SAVEPOINT job").map_err(failed)?;
        let mut view = View::emptying(&self.db, &self.file, self.superseded.as_mut());
        let result = catch_unwind(AssertUnwindSafe(|| job(&mut view)))
            .unwrap_or_else(|panic| Err(Error::Panicked { message: panic_text(&*panic) }));
        let result = match result {
            Ok(()) if view.is_spoilt() => Err(Error::RolledBack { cause: "one of its appends failed".to_owned() }),
            result => result,
        };
        if result.is_err() && !self.db.is_autocommit() {
            self.db.execute_batch("ROLLBACK TO job").map_err(failed)?;
        }
        if !self.db.is_autocommit() {
            self.db.execute_batch("RELEASE job").map_err(failed)?;
        }
        result
    }

    /// Commits, unless nothing is worth it; says whether it did. A failed commit fails every job that had succeeded.
    fn end(&mut self, done: &mut [Outcome]) -> bool {
        if self.db.is_autocommit() {
            return false;
        }
        if done.iter().all(|(_, result)| result.is_err()) {
            self.undo();
            return false;
        }
        if let Err(failure) = self.db.execute_batch("COMMIT") {
            for (_, result) in done.iter_mut().filter(|(_, result)| result.is_ok()) {
                *result = Err(error(&self.file.path, &failure));
            }
            self.undo();
            return false;
        }
        true
    }

    fn undo(&mut self) {
        if !self.db.is_autocommit() {
            // Nothing better is left if this fails too: the next BEGIN will say so to its jobs.
            self.db.execute_batch("ROLLBACK").ok();
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
