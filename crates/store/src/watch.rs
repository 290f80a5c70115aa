//! The thread that notices what other processes write. It lives while somebody is subscribed.

use crate::error::Error;
use crate::live::Live;
use std::cell::Cell;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Between two looks. A look that finds nothing costs microseconds; inotify comes too early and misses some
/// (sharing-the-file.md).
const TICK: Duration = Duration::from_millis(100);
/// Looks that must fail in a row before subscribers are told: a second.
const PATIENCE: u32 = 10;

/// Whether the thread runs, and whether it is looking.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    runs: Mutex<bool>,
    looking: Arc<Looking>,
}

/// Held by the thread as long as it keeps the store alive: a store that was dropped is gone, not gone as soon as a thread
/// that nobody knows of has looked.
type Looking = Mutex<()>;

thread_local! {
    /// Whether this is such a thread.
    static WATCHES: Cell<bool> = const { Cell::new(false) };
}

/// The last of a store's handles. When it goes, what the store is made of goes with it, on the thread that drops it.
pub(crate) struct Last {
    live: Option<Arc<Live>>,
    looking: Arc<Looking>,
}

impl Last {
    pub(crate) fn of(live: &Arc<Live>) -> Arc<Self> {
        Arc::new(Last { live: Some(Arc::clone(live)), looking: Arc::clone(&live.watch.looking) })
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        // The thread itself may drop a handle, when it wakes somebody who owns one.
        let _looking = (!WATCHES.get()).then(|| self.looking.lock().unwrap_or_else(PoisonError::into_inner));
        self.live = None;
    }
}

impl Watch {
    /// Starts the thread if it does not run. Called after a subscriber was added.
    pub(crate) fn start(&self, live: &Arc<Live>) -> Result<(), Error> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if !*runs {
            // Another thread, another lock: the one before may still be at its end.
            let looking = Arc::clone(&self.looking);
            let live = Arc::downgrade(live);
            std::thread::Builder::new()
                .name("annalist-watch".to_owned())
                .spawn(move || run(&live, &looking))
                .map_err(|source| Error::Watching { cause: source.to_string() })?;
            *runs = true;
        }
        Ok(())
    }

    /// Whether nobody is left; then the next subscriber starts a new thread.
    fn ends(&self, live: &Live) -> bool {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if live.feed.is_idle() {
            *runs = false;
        }
        !*runs
    }
}

fn run(live: &Weak<Live>, looking: &Looking) {
    WATCHES.set(true);
    let mut failures = 0;
    loop {
        {
            let _looking = looking.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(live) = live.upgrade() else { return };
            if live.watch.ends(&live) {
                return;
            }
            match live.poll() {
                Ok(()) => failures = 0,
                Err(error) => {
                    failures += 1;
                    if failures == PATIENCE {
                        live.feed.trouble(&error.to_string());
                    }
                }
            }
        }
        std::thread::sleep(TICK);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;
    use crate::sqlite::{Create, Options, Sqlite};
    use std::sync::mpsc::sync_channel;

    #[test]
    fn a_store_that_is_being_looked_at_is_gone_when_it_was_dropped() {
        let room = tempfile::tempdir().unwrap();
        let backend = Sqlite::open(&room.path().join("opencode.db"), Create::IfMissing, Options::default()).unwrap();
        let live = Live::new(Arc::new(backend));
        let (last, weak) = (Last::of(&live), Arc::downgrade(&live));
        let ((looks, looking), (go, wait)) = (sync_channel(0), sync_channel::<()>(0));
        std::thread::scope(|scope| {
            let (lock, held) = (Arc::clone(&live.watch.looking), Arc::clone(&live));
            scope.spawn(move || {
                let _looking = lock.lock().unwrap();
                looks.send(()).unwrap();
                wait.recv().unwrap();
                drop(held);
            });
            looking.recv().unwrap();
            drop(live);
            let (dropped, done) = sync_channel(1);
            scope.spawn(move || {
                drop(last);
                dropped.send(weak.upgrade().is_none()).unwrap();
            });
            // Who does not wait for the thread has the time to be early.
            let early = done.recv_timeout(Duration::from_millis(100));
            go.send(()).unwrap();
            assert!(early.unwrap_or_else(|_| done.recv().unwrap()), "dropped, and still there");
        });
    }
}
