//! The writer: one connection, waiting jobs committed as a group.
//!
//! A commit that must survive a loss of power costs a wait for the disk, whatever is in it. So whoever drives the writer takes
//! what is waiting, runs it in one transaction, and commits once (`writer/group.rs`). A job that fails or panics is undone
//! alone. Nobody hears of success before the commit.
//!
//! A thread drives it (`queue.rs`), and so does a caller that waits for its write while nobody else does: handing one small job
//! to a thread and its result back costs as much as the job.

mod group;

use super::checkpoint::{Bounds, Log};
use super::errno::explained;
use super::pace::{Machine, Pace, World};
use super::queue::{Item, Queue};
use super::removed::Removed;
use super::side::Side;
use super::supersede::Cache;
use super::watcher::data_version;
use super::{File, Options, error, open};
use crate::backend::{Durability, Job, Settle};
use crate::error::Error;
use crate::log::Listener;
use rusqlite::{Connection, ErrorCode};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Jobs in one commit.
const GROUP: usize = 64;
/// A group takes no further job once its transaction is this old: while it is open OpenCode stands still.
const HOLD: Duration = Duration::from_millis(20);

/// The handle of the writer. Dropping it lets what is queued be finished, and waits for that.
pub(super) struct Writer {
    queue: Arc<Queue>,
    thread: super::queue::Thread,
}

impl Writer {
    pub(super) fn start(
        file: Arc<File>,
        side: Arc<Side>,
        options: Options,
        listener: Arc<OnceLock<Arc<dyn Listener>>>,
    ) -> Result<Self, Error> {
        // Failing costs only that others of our kind take this process for OpenCode, and are more careful.
        side.announce().ok();
        Writer::start_in(file, options, Bounds::default(), Box::new(Machine::new(side)), listener)
    }

    /// The same, with other bounds and on another machine.
    fn start_in(
        file: Arc<File>,
        options: Options,
        bounds: Bounds,
        world: Box<dyn World + Send>,
        listener: Arc<OnceLock<Arc<dyn Listener>>>,
    ) -> Result<Self, Error> {
        let mut db = open::writer(&file.path)?;
        let log = Log::start(&mut db, &file, bounds)?;
        let path = file.path.clone();
        let driver = Driver {
            db,
            file,
            patience: options.patience,
            synchronous: None,
            pace: Pace::default(),
            world,
            log,
            listener,
            version: None,
            foreign: true,
            superseded: options.empty_superseded.then(Cache::default),
            removed: Removed::default(),
            careful: false,
        };
        let queue = Arc::new(Queue::new(driver));
        let thread = super::queue::Thread::start(&queue).map_err(|source| Error::Io { file: path, source })?;
        Ok(Writer { queue, thread })
    }

    pub(super) fn queue(&self, durability: Durability, job: Job, settle: Settle) {
        self.queue.push(Item { durability, job, settle, queued: Instant::now() });
    }

    /// For those who wait for what they queued.
    pub(super) fn shared(&self) -> Arc<Queue> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.thread.end(&self.queue);
    }
}

/// What it takes to commit.
pub(super) struct Driver {
    db: Connection,
    file: Arc<File>,
    patience: Duration,
    /// What `PRAGMA synchronous` was last set to.
    synchronous: Option<Durability>,
    pace: Pace,
    world: Box<dyn World + Send>,
    log: Log,
    /// Who hears of commits.
    listener: Arc<OnceLock<Arc<dyn Listener>>>,
    /// What `data_version` was at the last `BEGIN`.
    version: Option<i64>,
    /// Somebody else may have committed since the listener last heard of a commit.
    foreign: bool,
    /// Where the snapshots stand that the next appends supersede.
    superseded: Option<Cache>,
    /// What others removed.
    removed: Removed,
    /// The next group's jobs get a savepoint each: one of the last group's failed without.
    careful: bool,
}

impl Driver {
    /// Commits what waits, as a group; gives back what it did not get to.
    pub(super) fn turn(&mut self, mut waiting: Vec<Item>, more: &Queue) -> Vec<Item> {
        self.pace.wait(&*self.world);
        self.log.keep_short(&self.db);
        // What came during a rest goes along.
        more.take(&mut waiting, GROUP);
        self.group(waiting)
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
                    explained(&self.db, error(&self.file.path, &failure))
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
        run(&self.db, "BEGIN IMMEDIATE")?;
        // A failure here says nothing about the write: then others are taken to have been here.
        let version = data_version(&self.db).ok();
        if version.is_none() || self.version != version {
            self.foreign = true;
            self.removed.doubt();
        }
        self.version = version;
        Ok(())
    }
}

/// A statement that is said again and again.
fn run(db: &Connection, sql: &str) -> rusqlite::Result<()> {
    db.prepare_cached(sql)?.execute([]).map(drop)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::super::open::Create;
    use super::*;
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    /// A machine on which every look at the clock takes 10 ms, somebody else has the file open, and uses each rest.
    struct Crowded {
        file: PathBuf,
        now: Mutex<Duration>,
        rests: Arc<Mutex<Vec<Result<(), rusqlite::Error>>>>,
    }

    impl World for Crowded {
        fn now(&self) -> Duration {
            let mut now = self.now.lock().unwrap();
            *now += Duration::from_millis(10);
            *now
        }

        fn wall_ms(&self) -> u64 {
            u64::try_from(self.now.lock().unwrap().as_millis()).unwrap()
        }

        fn anybody(&self) -> bool {
            true
        }

        fn sleep(&self, time: Duration) {
            *self.now.lock().unwrap() += time;
            let other = Connection::open(&self.file).unwrap();
            other.busy_timeout(Duration::ZERO).unwrap();
            self.rests.lock().unwrap().push(other.execute_batch("BEGIN IMMEDIATE; ROLLBACK"));
        }
    }

    #[test]
    fn beside_somebody_else_it_rests_between_transactions() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("opencode.db");
        let (file, _reader) = open::open(&path, Create::IfMissing).unwrap();
        let rests = Arc::new(Mutex::new(Vec::new()));
        let world = Crowded { file: path, now: Mutex::default(), rests: Arc::clone(&rests) };
        let writer =
            Writer::start_in(Arc::new(file), Options::default(), Bounds::default(), Box::new(world), Arc::default()).unwrap();
        for _ in 0..500 {
            let (tell, told) = channel();
            writer.queue(Durability::Process, Job::Once(Box::new(|_| Ok(()))), Box::new(move |result| tell.send(result).unwrap()));
            // One transaction a job.
            told.recv().unwrap().unwrap();
        }
        drop(writer);
        let rests = rests.lock().unwrap();
        // Some 25 ms a transaction: 12 seconds.
        assert!(rests.len() >= 10, "{} rests", rests.len());
        assert!(rests.iter().all(Result::is_ok), "the lock was not free: {rests:?}");
    }
}
