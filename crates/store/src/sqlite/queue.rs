//! What waits for the writer, and who drives it.
//!
//! One at a time: a thread of its own, or a caller that waits for its write and finds nobody driving. So a single write costs
//! no change of thread, and writes of many callers, or of tasks that must not block, are committed in groups by the thread.
//!
//! While writes come densely the thread is not woken for each: it looks every [`LOOK`], and is woken by whoever gives up
//! waiting by itself (a task, somebody who finds another one driving). Else it sleeps until the next write.

use super::writer::Driver;
use crate::backend::{Durability, Job, Settle};
use crate::error::Error;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a job that nobody waits for may lie there while others are waited for.
const LOOK: Duration = Duration::from_millis(1);
/// Looks in vain before the thread goes to sleep.
const LOOKS: u32 = 10;

/// A job that waits.
pub(super) struct Item {
    pub(super) durability: Durability,
    pub(super) job: Job,
    pub(super) settle: Settle,
    pub(super) queued: Instant,
}

/// The jobs, and the right to do them.
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
    driver: Mutex<Driver>,
}

#[derive(Default)]
struct Waiting {
    items: VecDeque<Item>,
    closed: bool,
    /// The thread sleeps and has to be woken.
    asleep: bool,
    /// Something came since the thread last looked.
    fresh: bool,
    /// Somebody waits who does not drive.
    hurried: bool,
}

impl Waiting {
    /// Whether the thread is to do it: what came just now may have somebody who waits and drives, and others to come with it.
    fn due(&self) -> bool {
        self.items.front().is_some_and(|first| self.hurried || self.closed || first.queued.elapsed() >= LOOK)
    }
}

impl Queue {
    pub(super) fn new(driver: Driver) -> Self {
        Queue { waiting: Mutex::default(), arrived: Condvar::new(), driver: Mutex::new(driver) }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job, first in, first out.
    pub(super) fn push(&self, item: Item) {
        let mut waiting = self.waiting();
        if waiting.closed {
            drop(waiting);
            return (item.settle)(Err(Error::Closed));
        }
        if waiting.items.is_empty() {
            // Whoever was in a hurry was served by somebody else.
            waiting.hurried = false;
        }
        waiting.items.push_back(item);
        waiting.fresh = true;
        let asleep = waiting.asleep;
        drop(waiting);
        if asleep {
            self.arrived.notify_one();
        }
    }

    /// Takes jobs until there are `most`.
    pub(super) fn take(&self, into: &mut Vec<Item>, most: usize) {
        let mut waiting = self.waiting();
        let count = most.saturating_sub(into.len()).min(waiting.items.len());
        into.extend(waiting.items.drain(..count));
    }

    fn put_back(&self, left: Vec<Item>) {
        let mut waiting = self.waiting();
        for item in left.into_iter().rev() {
            waiting.items.push_front(item);
        }
    }

    /// For a job that nobody will drive: the thread looks at once.
    pub(super) fn hurry(&self) {
        let mut waiting = self.waiting();
        if !waiting.items.is_empty() && !std::mem::replace(&mut waiting.hurried, true) {
            drop(waiting);
            self.arrived.notify_one();
        }
    }

    /// Does jobs on the caller's thread until `done`, if nobody else is at it. Answers whether it is done.
    pub(super) fn drive(&self, done: &mut dyn FnMut() -> bool) -> bool {
        let mut driver = match self.driver.try_lock() {
            Ok(driver) => driver,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.hurry();
                return false;
            }
        };
        let mut over = done();
        while !over && self.turn(&mut driver) {
            over = done();
        }
        drop(driver);
        // What came meanwhile may have found somebody driving and gone to sleep.
        self.hurry();
        over
    }

    /// One group. Answers whether there was anything to do.
    fn turn(&self, driver: &mut Driver) -> bool {
        let mut items = Vec::new();
        self.take(&mut items, 1);
        if items.is_empty() {
            return false;
        }
        let left = driver.turn(items, self);
        self.put_back(left);
        true
    }

    fn work(&self) {
        let mut looks = 0;
        let mut waiting = self.waiting();
        loop {
            if waiting.due() {
                waiting.hurried = false;
                drop(waiting);
                self.turn(&mut self.driver.lock().unwrap_or_else(PoisonError::into_inner));
                waiting = self.waiting();
            } else if waiting.closed {
                return;
            } else if !waiting.items.is_empty() || waiting.fresh || looks < LOOKS {
                looks = if std::mem::take(&mut waiting.fresh) { 0 } else { looks + 1 };
                waiting = self.arrived.wait_timeout(waiting, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            } else {
                waiting.asleep = true;
                waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                waiting.asleep = false;
                looks = 0;
            }
        }
    }
}

/// The thread that drives when nobody else does.
pub(super) struct Thread(Option<JoinHandle<()>>);

impl Thread {
    pub(super) fn start(queue: &Arc<Queue>) -> io::Result<Self> {
        let queue = Arc::clone(queue);
        let work = move || queue.work();
        std::thread::Builder::new().name("annalist-writer".to_owned()).spawn(work).map(|thread| Thread(Some(thread)))
    }

    /// Lets what is queued be finished and waits for that.
    pub(super) fn end(&mut self, queue: &Queue) {
        queue.waiting().closed = true;
        queue.arrived.notify_one();
        // A job that owns the last handle drops it on the thread itself, which cannot wait for its own end. Not on that of a
        // caller: whoever drives holds a handle meanwhile.
        if let Some(thread) = self.0.take().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // Jobs cannot kill the thread; if something else did, its callers were told by their dropped channels.
            thread.join().ok();
        }
    }
}
