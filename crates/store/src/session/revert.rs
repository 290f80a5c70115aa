//! Undoing the end of a conversation, in two steps (reference-storage 6.4): a mark hides it and can be taken back, a commit
//! removes it for good.
//!
//! The boundary is found by position, never by comparing ids. Files are not touched here: [`Reverted::files`] says which ones
//! the undone part of *this* session changed, and whoever runs tools undoes those.
//!
//! Sessions are read from their end, no further than the boundary: what is undone is mostly recent, and the write lock is
//! held meanwhile.

mod boundary;

use super::patch::updated;
use super::{change, expected};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::pending::Pending;
use crate::query::MessageRange;
use crate::store::Store;
use crate::tombs::Tombs;
use crate::transcript::Batches;
use crate::{message, part};
use annalist_schema::session::SessionRevert;
use annalist_schema::{Session, id};
use boundary::find;
use std::borrow::Cow;

/// Where the undone part of a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// the first undone message
    pub message: String,
    /// the first undone part of it; nothing if all of it is undone
    pub part: Option<String>,
}

/// A session with its mark.
#[derive(Debug, Clone, PartialEq)]
pub struct Reverted {
    /// the session as it is now
    pub session: Session<'static>,
    /// the mark; nothing if what was asked for is not there, and then nothing was changed
    pub boundary: Option<Boundary>,
    /// files that the undone part changed, by its `patch` parts, without repetition
    pub files: Vec<String>,
}

impl Store {
    /// Marks the end of a session as undone, from a message or one of its parts on. Messages stay until the mark is
    /// committed. Reverting to an assistant's message moves to the person's message before it.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn revert_session(&self, session: &str, message: &str, part: Option<&str>) -> Pending<Reverted> {
        let (session, message, part) = (session.to_owned(), message.to_owned(), part.map(str::to_owned));
        self.write(Durability::Power, move |tx| mark(tx, &session, &message, part.as_deref()))
    }

    /// Takes the mark back. A session without one stays as it is.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn unrevert_session(&self, session: &str) -> Pending<Session<'static>> {
        let session = session.to_owned();
        self.write(Durability::Power, move |tx| clear(tx, &session))
    }

    /// Removes what is marked, for good: first the messages, then the parts of the boundary's message, each with an event
    /// and in order, then the mark. Answers the ids of what was removed. The next prompt does this; a person may ask for it
    /// earlier.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn commit_revert(&self, session: &str) -> Pending<Vec<String>> {
        let session = session.to_owned();
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| commit(tx, &session, &tombs))
    }

    /// The files that undoing from a message or part on would touch: those named by this session's own `patch` parts.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn files_of_revert(&self, session: &str, message: &str, part: Option<&str>) -> Result<Vec<String>, Error> {
        self.read(|view| {
            expected(view, session)?;
            Ok(find(view, session, message, part)?.map(|(_, files)| files).unwrap_or_default())
        })
    }
}

fn mark(tx: &mut dyn Transaction, session: &str, message: &str, part: Option<&str>) -> Result<Reverted, Error> {
    let unchanged = expected(tx, session)?;
    let Some((boundary, files)) = find(tx, session, message, part)? else {
        return Ok(Reverted { session: unchanged, boundary: None, files: Vec::new() });
    };
    let now = id::now_ms();
    let session = change(tx, session, |info| {
        // A snapshot taken by an earlier mark is still the one to go back to; its diff is that of another boundary.
        let mut revert = info.revert().ok().flatten().map(SessionRevert::into_static).unwrap_or_default();
        revert.set_diff(None);
        revert.set_message_id(boundary.message.as_str().into()).set_part_id(boundary.part.as_deref().map(Into::into));
        info.set_revert(Some(revert));
        updated(info, now);
        Ok(())
    })?;
    Ok(Reverted { session, boundary: Some(boundary), files })
}

fn clear(tx: &mut dyn Transaction, session: &str) -> Result<Session<'static>, Error> {
    let now = id::now_ms();
    change(tx, session, |info| {
        if info.object().has("revert") {
            info.set_revert(None);
            updated(info, now);
        }
        Ok(())
    })
}

/// Removes what a session's mark says, inside the caller's transaction.
pub(crate) fn commit(tx: &mut dyn Transaction, session: &str, tombs: &Tombs) -> Result<Vec<String>, Error> {
    let info = expected(tx, session)?;
    let Some(revert) = info.revert().ok().flatten() else { return Ok(Vec::new()) };
    let text = |key: &str| revert.object().text(key).map(Cow::into_owned);
    let (boundary, from) = (text("messageID").unwrap_or_default(), text("partID"));

    // Ids first, then removals: the reading must not see half of them.
    let (mut messages, mut parts) = (Vec::new(), Vec::new());
    let mut found = false;
    let mut batches = Batches::new(MessageRange::newest_first(session));
    'reading: while let Some(batch) = batches.next(tx)? {
        for (row, own) in batch {
            if row.id != boundary.as_str() {
                messages.push(row.id.into_owned());
                continue;
            }
            found = true;
            match &from {
                None => messages.push(boundary.clone()),
                Some(from) => parts = own.into_iter().map(|row| row.id.into_owned()).skip_while(|id| id != from).collect(),
            }
            break 'reading;
        }
    }
    if !found {
        messages.clear();
    }
    let mut removed = Vec::with_capacity(messages.len() + parts.len());
    for id in messages.into_iter().rev() {
        message::remove(tx, session, &id)?;
        removed.push(id);
    }
    for id in parts {
        part::remove(tx, session, &boundary, &id, tombs)?;
        removed.push(id);
    }
    clear(tx, session)?;
    Ok(removed)
}
