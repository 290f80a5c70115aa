//! One transaction: the jobs of a group, and what becomes of each.
//!
//! A job that fails is undone alone. A savepoint around each would do that, but SQLite then copies every page that a job is
//! the first to touch, for each job again: a third of what a small append costs. So the jobs run without one as long as all
//! that the transaction holds could be done again ([`Job::Again`]). If then a job fails after it has changed something, the
//! transaction is undone, those that had succeeded go back to the head of the queue, and the next group has its savepoints. A
//! job that is alone in its transaction never needs one.

use super::super::errno::explained;
use super::super::error;
use super::super::queue::Item;
use super::super::view::View;
use super::super::watcher::one_view;
use super::{Driver, HOLD, run};
use crate::backend::{Durability, Job, Settle, Snapshot};
use crate::error::Error;
use crate::log::{Appended, Commit};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// A job that has run in the open transaction.
struct Done {
    durability: Durability,
    queued: Instant,
    settle: Settle,
    result: Result<(), Error>,
    /// The job, if it succeeded and can be run again.
    again: Option<Job>,
}

impl Driver {
    /// Commits some of the waiting jobs; gives back those it did not get to, or that are to be run again.
    pub(super) fn group(&mut self, waiting: Vec<Item>) -> Vec<Item> {
        // Nobody hears of a job before its commit, so a group that must survive a loss of power does so as a whole.
        let durability = waiting.iter().map(|item| item.durability).max().unwrap_or(Durability::Power);
        let mut waiting = match self.begin(waiting, durability) {
            Ok(waiting) => waiting.into_iter(),
            Err(nobody_left) => return nobody_left,
        };
        let begun = Instant::now();
        if let Some(cache) = &mut self.superseded {
            cache.group_begun(self.version);
        }
        let mut done: Vec<Done> = Vec::with_capacity(waiting.len());
        let mut appended: Vec<Appended> = Vec::new();
        // Whether all that the transaction holds can be done again.
        let mut again = !std::mem::take(&mut self.careful);
        while let Some(item) = waiting.next() {
            let changes = self.db.total_changes();
            let one = self.one(item, !again, &mut appended);
            let kept = one.result.is_ok();
            if let Some(cache) = &mut self.superseded {
                cache.job_done(kept);
            }
            let left_something = !kept && again && self.db.total_changes() != changes;
            again &= !kept || one.again.is_some();
            done.push(one);
            if self.db.is_autocommit() {
                // A failure such as a full disk makes SQLite undo the whole transaction: the neighbours' work is gone too.
                let cause = done.last().and_then(|one| one.result.as_ref().err()).map(ToString::to_string).unwrap_or_default();
                for one in done.iter_mut().filter(|one| one.result.is_ok()) {
                    one.result = Err(Error::RolledBack { cause: cause.clone() });
                }
                break;
            }
            if left_something {
                return self.start_over(done, waiting);
            }
            if begun.elapsed() > HOLD {
                break;
            }
        }
        let committed = self.end(&mut done, appended);
        self.pace.released(&*self.world);
        if let Some(cache) = &mut self.superseded {
            cache.group_done(committed);
        }
        for one in done {
            // Nothing of a job is left when its caller hears of it.
            drop(one.again);
            (one.settle)(one.result);
        }
        waiting.collect()
    }

    /// Undoes the transaction in which a job failed without a savepoint, and tells that one. Gives back the others.
    fn start_over(&mut self, done: Vec<Done>, waiting: impl Iterator<Item = Item>) -> Vec<Item> {
        self.undo();
        self.pace.released(&*self.world);
        if let Some(cache) = &mut self.superseded {
            cache.group_done(false);
        }
        let mut left = Vec::new();
        for Done { durability, queued, settle, result, again } in done {
            match (result, again) {
                (Ok(()), Some(job)) => left.push(Item { durability, job, settle, queued }),
                // There is none: behind a job that cannot be run again savepoints are taken.
                (Ok(()), None) => settle(Err(Error::RolledBack { cause: "a neighbour failed".to_owned() })),
                (failed, _) => settle(failed),
            }
        }
        left.extend(waiting);
        self.careful = !left.is_empty();
        left
    }

    /// One job, in a savepoint of its own if it is to be guarded.
    fn one(&mut self, item: Item, guarded: bool, appended: &mut Vec<Appended>) -> Done {
        let Item { durability, job, settle, queued } = item;
        let before = appended.len();
        let (result, again) = self.in_savepoint(job, guarded, appended);
        if result.is_err() {
            self.removed.undone();
            appended.truncate(before);
        }
        Done { durability, queued, settle, result, again }
    }

    fn in_savepoint(&mut self, job: Job, guarded: bool, appended: &mut Vec<Appended>) -> (Result<(), Error>, Option<Job>) {
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        if guarded && let Err(failure) = run(&self.db, "SAVEPOINT job").map_err(failed) {
            return (Err(failure), None);
        }
        let mut view = View::writing(&self.db, &self.file, self.superseded.as_mut(), &self.removed, std::mem::take(appended));
        let ran = catch_unwind(AssertUnwindSafe(|| match job {
            Job::Once(job) => (job(&mut view), None),
            Job::Again(mut job) => (job(&mut view), Some(Job::Again(job))),
        }));
        let (result, again) = ran.unwrap_or_else(|panic| (Err(Error::Panicked { message: panic_text(&*panic) }), None));
        let spoilt = view.is_spoilt();
        *appended = view.into_appended();
        let result = match result {
            Ok(()) if spoilt => Err(Error::RolledBack { cause: "one of its appends failed".to_owned() }),
            result => result.map_err(|failure| explained(&self.db, failure)),
        };
        if guarded && !self.db.is_autocommit() {
            let undone = if result.is_err() { run(&self.db, "ROLLBACK TO job") } else { Ok(()) };
            if let Err(failure) = undone.and_then(|()| run(&self.db, "RELEASE job")) {
                return (Err(failed(failure)), None);
            }
        }
        (result, again)
    }

    /// Commits, unless nothing is worth it; says whether it did. A failed commit fails every job that had succeeded.
    fn end(&mut self, done: &mut [Done], appended: Vec<Appended>) -> bool {
        if self.db.is_autocommit() {
            return false;
        }
        if done.iter().all(|one| one.result.is_err()) {
            self.undo();
            return false;
        }
        let listener = Arc::clone(&self.listener);
        match listener.get().filter(|_| !appended.is_empty()) {
            None => {
                self.commit(done);
            }
            Some(listener) => {
                let foreign = std::mem::replace(&mut self.foreign, false);
                listener.commit(&mut Ready { driver: self, done }, appended, foreign);
            }
        }
        // A failed commit has failed them all.
        done.iter().any(|one| one.result.is_ok())
    }

    fn commit(&mut self, done: &mut [Done]) -> bool {
        let Err(failure) = run(&self.db, "COMMIT") else {
            self.log.committed();
            return true;
        };
        // Asked once for each, before anything else is tried.
        for one in done.iter_mut().filter(|one| one.result.is_ok()) {
            one.result = Err(explained(&self.db, error(&self.file.path, &failure)));
        }
        self.undo();
        // The listener did not hear of what came before this group either.
        self.foreign = true;
        false
    }

    fn undo(&mut self) {
        self.removed.undone();
        if !self.db.is_autocommit() {
            // Nothing better is left if this fails too: the next BEGIN will say so to its jobs.
            self.db.execute_batch("ROLLBACK").ok();
        }
    }
}

/// A group whose jobs are done, ready for its commit.
struct Ready<'t> {
    driver: &'t mut Driver,
    done: &'t mut [Done],
}

impl Commit for Ready<'_> {
    fn commit(&mut self) -> bool {
        self.driver.commit(self.done)
    }

    fn read(&mut self, look: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        one_view(&self.driver.db, &self.driver.file, look)
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
