//! The live side: what happens to the record, told to those who listen (design G8).
//!
//! The record's bus is the only source: it hears of each commit, of other processes too, and keeps what waits within a bound.

mod frames;
mod homes;
mod stream;

pub(crate) use stream::respond;

use annalist_schema::PassingEvent;
use annalist_store::{Bound, Passing, Store};
use homes::Homes;
use std::sync::Arc;

/// What a subscriber wants to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// events of this folder, as `/event` has them
    Folder(String),
    /// everything, as `/global/event` has it
    All,
}

/// The record's bus, as this server tells of it.
pub(crate) struct Live {
    store: Store,
    homes: Arc<Homes>,
    /// how far a subscriber may fall behind
    bound: Bound,
}

impl Live {
    pub(crate) fn new(store: Store, bound: Bound) -> Self {
        Live { store, homes: Arc::default(), bound }
    }

    /// Tells an event that is not stored.
    pub(crate) fn passing(&self, folder: &str, project: Option<&str>, event: PassingEvent<'static>) {
        let passing = Passing::new(event).in_folder(folder);
        if let (Some(session), Some(project)) = (&passing.session, project)
            && self.homes.get(session).is_none()
        {
            self.homes.learn(session, folder, project);
        }
        self.store.publish(passing);
    }
}
