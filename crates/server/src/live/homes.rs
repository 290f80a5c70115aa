//! Which folder and project a session is of: an event of the log does not say, and who listens to a folder asks for each.

use annalist_schema::raw::{Json, Object};
use annalist_store::{Error, Store};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Sessions remembered; beyond that all are looked up anew.
const MOST: usize = 16_384;

/// A session's folder and project.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) folder: Box<str>,
    pub(crate) project: Box<str>,
}

/// What is known of sessions that were heard of.
#[derive(Default)]
pub(crate) struct Homes(Mutex<HashMap<Box<str>, Arc<Home>>>);

impl Homes {
    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Home>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known without a look at the record.
    pub(crate) fn get(&self, session: &str) -> Option<Arc<Home>> {
        self.known().get(session).map(Arc::clone)
    }

    pub(crate) fn learn(&self, session: &str, folder: &str, project: &str) -> Arc<Home> {
        let home = Arc::new(Home { folder: folder.into(), project: project.into() });
        let mut known = self.known();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(session.into(), Arc::clone(&home));
        home
    }

    /// The home that a session's info names.
    pub(crate) fn of_info(&self, session: &str, info: &Object<'_>) -> Option<Arc<Home>> {
        let folder = info.text("directory")?;
        let project = info.text("projectID").unwrap_or_default();
        match self.get(session).filter(|home| *home.folder == *folder && *home.project == *project) {
            Some(home) => Some(home),
            None => Some(self.learn(session, &folder, &project)),
        }
    }

    /// The home of an event with this data: what its `info` names, what is known, or what the record has. Blocks.
    pub(crate) fn of_event(&self, store: &Store, session: &str, data: &Object<'_>) -> Result<Option<Arc<Home>>, Error> {
        let info = data.get("info").and_then(Json::as_object);
        if let Some(home) = info.and_then(|info| self.of_info(session, &info)) {
            return Ok(Some(home));
        }
        self.of(store, session)
    }

    /// The home that is known or that the record has. Blocks.
    pub(crate) fn of(&self, store: &Store, session: &str) -> Result<Option<Arc<Home>>, Error> {
        if let Some(home) = self.get(session) {
            return Ok(Some(home));
        }
        match store.session(session) {
            Ok(info) => Ok(self.of_info(session, info.object())),
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
