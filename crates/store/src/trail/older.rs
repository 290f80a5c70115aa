//! The newest forgotten event of each of the sessions forgotten last.

use super::Step;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Found by session and in their order, without going through them: each event that leaves the trail comes here.
#[derive(Debug, Default)]
pub(super) struct Older {
    steps: BTreeMap<u64, Step>,
    places: HashMap<Arc<str>, u64>,
    next: u64,
}

impl Older {
    /// Takes the place of an older event of its session. Answers whether a session had to be forgotten for it.
    pub(super) fn push(&mut self, step: Step, most: usize) -> bool {
        self.next += 1;
        if let Some(before) = self.places.insert(Arc::clone(&step.session), self.next) {
            self.steps.remove(&before);
        }
        self.steps.insert(self.next, step);
        let forgotten = if self.steps.len() > most { self.steps.pop_first() } else { None };
        forgotten.is_some_and(|(_, step)| self.places.remove(&step.session).is_some())
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.places.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Oldest first.
    pub(super) fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.values()
    }
}
