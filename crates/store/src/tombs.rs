//! What was deleted through this store, so that a late write does not bring it back.
//!
//! A removed message is known from the log and a deleted session from its missing row. A removed part is not: its removal
//! looks like an emptied event, of which a log may hold many. So the newest ids are remembered here; those that others removed,
//! in `sqlite/removed.rs`.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

/// Writes that are under way when something is deleted come within seconds; this many deletions do not.
const REMEMBERED: usize = 4_096;

#[derive(Debug, Default)]
pub(crate) struct Tombs(Mutex<(HashSet<String>, VecDeque<String>)>);

impl Tombs {
    pub(crate) fn bury(&self, id: &str) {
        let mut guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (ids, order) = &mut *guard;
        if ids.insert(id.to_owned()) {
            order.push_back(id.to_owned());
        }
        if order.len() > REMEMBERED
            && let Some(oldest) = order.pop_front()
        {
            ids.remove(&oldest);
        }
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.contains(id)
    }
}
