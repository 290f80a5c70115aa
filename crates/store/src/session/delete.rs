//! Deleting a session (reference-storage 1.7): its children first, then itself, then its log.

use super::expected;
use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Flow, Snapshot, Transaction};
use crate::error::Error;
use crate::query::SessionFilter;
use crate::store::Store;
use annalist_schema::event::SessionDeleted;

/// Bytes of a log that are erased at a time: the file is not ours alone, and its lock must not be held for long.
const ERASED_AT_ONCE: u64 = 1 << 20;

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The sessions, in the order in which they went: children before their parents.
    pub sessions: Vec<String>,
}

impl Store {
    /// A session and all that came of it, children before their parents, itself last: what deleting it takes along.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn with_children(&self, session: &str) -> Result<Vec<String>, Error> {
        self.read(|view| {
            expected(view, session)?;
            let mut order = Vec::new();
            descend(view, session, &mut order)?;
            Ok(order)
        })
    }

    /// Deletes a session and all that came of it. Of each session first the rows go, in one transaction with the event that
    /// says so; then its log is erased in small steps. Nothing of it stays in any table.
    ///
    /// Blocks until all is gone.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend. What was deleted until then stays deleted.
    pub fn delete_session(&self, session: &str) -> Result<Deleted, Error> {
        let mut deleted = Deleted::default();
        for session in self.with_children(session)? {
            let id = session.clone();
            self.write(Durability::Power, move |tx| remove(tx, &id)).wait()?;
            loop {
                let id = session.clone();
                let started = std::time::Instant::now();
                let more = self.write(Durability::Process, move |tx| tx.erase_log(&id, ERASED_AT_ONCE)).wait()?;
                if !more {
                    break;
                }
                // As long a pause as the step took: others on the file get their turn.
                std::thread::sleep(started.elapsed());
            }
            self.tombs().bury(&session);
            deleted.sessions.push(session);
        }
        Ok(deleted)
    }
}

fn remove(tx: &mut dyn Transaction, session: &str) -> Result<(), Error> {
    let info = expected(tx, session)?;
    let event = SessionDeleted::new(&info).map_err(|problem| super::incomplete("session", &problem))?;
    tx.append(session, Expect::Any, NewEvent::of(event.into())).map(drop)
}

/// Depth first. A session that is its own ancestor (no key forbids it) is met once.
fn descend(view: &dyn Snapshot, session: &str, order: &mut Vec<String>) -> Result<(), Error> {
    let mut seen = vec![session.to_owned()];
    let mut open = vec![(session.to_owned(), false)];
    while let Some((session, done)) = open.pop() {
        if done {
            order.push(session);
            continue;
        }
        let filter = SessionFilter { parent: Some(session.clone()), ..SessionFilter::default() };
        open.push((session, true));
        view.sessions(&filter, &mut |row| {
            if !seen.contains(&row.id) {
                seen.push(row.id.clone());
                open.push((row.id, false));
            }
            Flow::Continue
        })?;
    }
    Ok(())
}
