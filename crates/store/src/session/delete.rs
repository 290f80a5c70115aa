//! Deleting a session (reference-storage 1.7): its children first, then itself, then its log.

use super::{expected, incomplete};
use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Flow, Snapshot, Transaction};
use crate::document::{self, ExportError};
use crate::error::Error;
use crate::query::SessionFilter;
use crate::store::Store;
use annalist_schema::event::SessionDeleted;
use std::collections::{HashMap, HashSet};
use std::io::{self, Write};
use std::sync::Arc;

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
        self.read(|view| with_children(view, session))
    }

    /// Deletes a session and all that came of it, also what comes of it meanwhile. Of each session first the rows go, in one
    /// transaction with the event that says so; then its log is erased in small steps. Nothing of it stays in any table.
    ///
    /// A deletion that was cut short between the two is finished by asking for it again.
    ///
    /// Blocks until all is gone.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend. What was deleted until then stays deleted.
    pub fn delete_session(&self, session: &str) -> Result<Deleted, Error> {
        self.delete(session, None)
    }

    /// The same, after a document of each session was written to what `open` gives for its id. Nothing is deleted before
    /// all documents are complete.
    ///
    /// # Errors
    /// [`ExportError::Out`] if a document cannot be written; [`Error::Conflict`] if a session was changed after its document
    /// was written; those of [`Store::delete_session`].
    pub fn export_and_delete<W: Write>(
        &self,
        session: &str,
        mut open: impl FnMut(&str) -> io::Result<W>,
    ) -> Result<Deleted, ExportError> {
        let mut written = HashMap::new();
        let mut refused = None;
        self.read(|view| {
            for session in with_children(view, session)? {
                let done = open(&session).map_err(ExportError::Out);
                match done.and_then(|mut out| document::export(view, &session, false, &mut out)) {
                    Ok(_) => {}
                    Err(ExportError::Store(error)) => return Err(error),
                    Err(error) => {
                        refused = Some(error);
                        return Ok(());
                    }
                }
                let last = view.sequence(&session)?;
                written.insert(session, last.map_or(Expect::NoStream, Expect::At));
            }
            Ok(())
        })?;
        match refused {
            Some(error) => Err(error),
            None => Ok(self.delete(session, Some(written))?),
        }
    }

    /// `written` says where the logs must be; one that it does not know came later.
    fn delete(&self, session: &str, written: Option<HashMap<String, Expect>>) -> Result<Deleted, Error> {
        let mut deleted = Deleted::default();
        let order = self.read(|view| match with_children(view, session) {
            // Its log may be left of a deletion that did not get to its end.
            Err(Error::NotFound { .. }) if view.sequence(session)?.is_some() => Ok(vec![session.to_owned()]),
            order => order,
        })?;
        let planned: Arc<HashSet<String>> = Arc::new(order.iter().cloned().collect());
        let written = Arc::new(written);
        for session in order {
            let (id, planned, written, tombs) = (session, planned.clone(), written.clone(), self.tombs());
            let gone = self
                .write(Durability::Power, move |tx| {
                    let gone = remove(tx, &id, &planned, written.as_ref().as_ref())?;
                    for session in &gone {
                        // Also if the commit fails: while the session is there, nobody asks for its tomb.
                        tombs.bury(session);
                    }
                    Ok(gone)
                })
                .wait()?;
            for session in gone {
                self.erase_log(&session)?;
                deleted.sessions.push(session);
            }
        }
        Ok(deleted)
    }

    fn erase_log(&self, session: &str) -> Result<(), Error> {
        loop {
            let id = session.to_owned();
            let started = std::time::Instant::now();
            if !self.write(Durability::Process, move |tx| tx.erase_log(&id, ERASED_AT_ONCE)).wait()? {
                return Ok(());
            }
            // As long a pause as the step took: others on the file get their turn.
            std::thread::sleep(started.elapsed());
        }
    }
}

/// Removes the rows of a session, and with it those of children that came after the plan was made: in one transaction, so
/// that somebody who goes on making them cannot keep the deletion from its end. Answers what went, children first.
fn remove(
    tx: &mut dyn Transaction,
    session: &str,
    planned: &HashSet<String>,
    written: Option<&HashMap<String, Expect>>,
) -> Result<Vec<String>, Error> {
    if tx.session(session)?.is_none() {
        // Somebody else was faster; what is left is the log.
        return Ok(vec![session.to_owned()]);
    }
    let going = descend(tx, session, planned)?;
    for session in &going {
        let expect = written.map_or(Expect::Any, |written| *written.get(session).unwrap_or(&Expect::NoStream));
        let info = expected(tx, session)?;
        let event = SessionDeleted::new(&info).map_err(|problem| incomplete("session", &problem))?;
        tx.append(session, expect, NewEvent::of(event.into()))?;
    }
    Ok(going)
}

fn children(view: &(impl Snapshot + ?Sized), session: &str, visit: &mut dyn FnMut(String)) -> Result<(), Error> {
    let filter = SessionFilter { parent: Some(session.to_owned()), ..SessionFilter::default() };
    view.sessions(&filter, &mut |row| {
        visit(row.id);
        Flow::Continue
    })
}

/// Depth first. A session that is its own ancestor (no key forbids it) is met once.
pub(super) fn with_children(view: &dyn Snapshot, session: &str) -> Result<Vec<String>, Error> {
    expected(view, session)?;
    descend(view, session, &HashSet::new())
}

/// A session behind all that came of it, except what is `apart` and what came of that alone.
fn descend(view: &(impl Snapshot + ?Sized), session: &str, apart: &HashSet<String>) -> Result<Vec<String>, Error> {
    let mut order = Vec::new();
    let mut seen = HashSet::from([session.to_owned()]);
    let mut open = vec![(session.to_owned(), false)];
    while let Some((session, done)) = open.pop() {
        if done {
            order.push(session);
            continue;
        }
        open.push((session.clone(), true));
        children(view, &session, &mut |child| {
            if !apart.contains(&child) && seen.insert(child.clone()) {
                open.push((child, false));
            }
        })?;
    }
    Ok(order)
}
