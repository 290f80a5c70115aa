//! The thread that notices what other processes write. It lives while somebody is subscribed.

use crate::error::Error;
use crate::live::Live;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

/// Between two looks. A look that finds nothing costs microseconds; inotify comes too early and misses some
/// (sharing-the-file.md).
const TICK: Duration = Duration::from_millis(100);
/// Looks that must fail in a row before subscribers are told: a second.
const PATIENCE: u32 = 10;

/// Whether the thread runs.
#[derive(Debug, Default)]
pub(crate) struct Watch(Mutex<bool>);

impl Watch {
    /// Starts the thread if it does not run. Called after a subscriber was added.
    pub(crate) fn start(&self, live: &Arc<Live>) -> Result<(), Error> {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !*runs {
            let live = Arc::downgrade(live);
            std::thread::Builder::new()
                .name("annalist-watch".to_owned())
                .spawn(move || run(&live))
                .map_err(|source| Error::Watching { cause: source.to_string() })?;
            *runs = true;
        }
        Ok(())
    }

    /// Whether nobody is left; then the next subscriber starts a new thread.
    fn ends(&self, live: &Live) -> bool {
        let mut runs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if live.feed.is_idle() {
            *runs = false;
        }
        !*runs
    }
}

fn run(live: &Weak<Live>) {
    let mut failures = 0;
    loop {
        {
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
