//! What a store offers to those who listen.

use crate::backend::Backend;
use crate::bus::{Interest, Passing, delta};
use crate::catch_up::Subscription;
use crate::error::Error;
use crate::feed::Feed;
use crate::log::Watcher;
use crate::position::Start;
use crate::store::Store;
use crate::trail::Step;
use crate::trail::kept::{self, Kept};
use crate::watch::Watch;
use std::sync::{Arc, Mutex, PoisonError};

/// The bus of one store, and the connection that looks at what others write.
pub(crate) struct Live {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) feed: Arc<Feed>,
    pub(crate) watch: Watch,
    /// Opened by the first subscriber.
    watcher: Mutex<Option<Box<dyn Watcher>>>,
    kept: Mutex<Known>,
}

impl Live {
    pub(crate) fn new(backend: Arc<dyn Backend>) -> Arc<Self> {
        let feed = Arc::new(Feed::default());
        backend.listen(Arc::clone(&feed) as _);
        Arc::new(Live { backend, feed, watch: Watch::default(), watcher: Mutex::new(None), kept: Mutex::default() })
    }

    pub(crate) fn with_watcher<T>(&self, look: impl FnOnce(&mut dyn Watcher) -> Result<T, Error>) -> Result<T, Error> {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let watcher = match &mut *watcher {
            Some(watcher) => watcher,
            none => none.insert(self.backend.watcher()?),
        };
        look(&mut **watcher)
    }

    pub(crate) fn poll(&self) -> Result<(), Error> {
        self.with_watcher(|watcher| self.feed.poll(watcher))
    }
}

impl Store {
    /// What happens from now on. See [`Store::catch_up`].
    ///
    /// # Errors
    /// Those of the backend.
    pub fn subscribe(&self, interest: Interest) -> Result<Subscription, Error> {
        self.catch_up(interest, Start::Now)
    }

    /// The durable events from a position on: history first, then live, each once and in the order of the log, whoever
    /// writes them; and between the live ones what is told and not stored. However much it is, it is read from the log in
    /// pages.
    ///
    /// Events that were emptied are left out: what replaced them comes later. A position that is not known any more is
    /// answered with [`Delivery::Reset`](crate::Delivery::Reset).
    ///
    /// The first subscriber starts a thread that looks every 100 ms for what other processes write.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn catch_up(&self, interest: Interest, start: Start) -> Result<Subscription, Error> {
        Subscription::open(&self.live, interest, start)
    }

    /// Tells those who listen of something that is not stored.
    pub fn publish(&self, passing: impl Into<Passing>) {
        self.live.feed.publish(passing.into());
    }

    /// Text that a field of a part grows by: told as `message.part.delta`, never stored. `field` is mostly `text`.
    pub fn update_part_delta(&self, session: &str, message: &str, part: &str, field: &str, text: &str) {
        self.publish(delta(session, message, part, field, text));
    }

    /// Looks now for what other processes wrote, as the watching thread does by itself: when this returns, all of it was
    /// passed on to the subscribers.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn poll(&self) -> Result<(), Error> {
        self.live.poll()
    }

    /// The newest positions of the log and the newest deletions: the way back for a reader whose event was erased.
    #[must_use]
    pub fn trail(&self) -> Vec<Step> {
        self.live.feed.steps()
    }

    /// Keeps the trail beside the record, so that a position which a client has from this process still leads on in the next
    /// one, also if its event was erased meanwhile. For servers: called at the start, before the first write or subscription,
    /// it takes up what an earlier process kept; called every so often and at the end, it writes what is new. Blocks: not for
    /// async tasks.
    ///
    /// The trail is a hint of at most 2 MB. Where there is none, or one that was damaged, a position is answered as it is
    /// without: it leads on, or there is a [`Reset`](crate::Reset). What came or went without an event while nobody watched
    /// is told as far as the trail speaks of it.
    ///
    /// # Errors
    /// [`Error::Io`] if it can be neither read nor written. The store works on all the same.
    pub fn keep_trail(&self) -> Result<(), Error> {
        let mut known = self.live.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut known.asked, true) {
            if let Some((kept, version)) = self.live.feed.kept(known.version) {
                self.live.backend.keep_hint(kept::NAME, &kept.to_bytes())?;
                known.version = Some(version);
            }
        } else if let Some(bytes) = self.live.backend.hint(kept::NAME, kept::MOST)?
            && let Some(kept) = Kept::from_bytes(&bytes)
        {
            known.version = self.live.feed.restore(kept);
        }
        Ok(())
    }
}

/// What this process knows of the trail beside the record.
#[derive(Debug, Default)]
struct Known {
    /// It was asked for what an earlier process kept.
    asked: bool,
    /// The version that stands there.
    version: Option<u64>,
}
