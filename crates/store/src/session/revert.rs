//! Undoing the end of a conversation, in two steps (reference-storage 6.4): a mark hides it and can be taken back, a commit
//! removes it for good.
//!
//! The boundary is found by position, never by comparing ids. Files are not touched here: [`Reverted::files`] says which ones
//! the undone part of *this* session changed, and whoever runs tools undoes those.

use super::patch::updated;
use super::{change, expected};
use crate::backend::{Durability, Snapshot, Transaction};
use crate::error::Error;
use crate::message::{remove_message, remove_part};
use crate::pending::Pending;
use crate::query::MessageRange;
use crate::store::Store;
use crate::transcript::{Batches, Rows};
use annalist_schema::raw::Object;
use annalist_schema::session::SessionRevert;
use annalist_schema::{Part, Session, id};
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

    /// Removes what is marked, for good: the messages behind the boundary, each with an event, and the mark. Answers what
    /// was removed. The next prompt does this; a person may ask for it earlier.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn commit_revert(&self, session: &str) -> Pending<Vec<String>> {
        let session = session.to_owned();
        self.write(Durability::Power, move |tx| commit(tx, &session))
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
        // A snapshot taken by an earlier mark is still the one to go back to.
        let mut revert = info.revert().ok().flatten().map(SessionRevert::into_static).unwrap_or_default();
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
pub(crate) fn commit(tx: &mut dyn Transaction, session: &str) -> Result<Vec<String>, Error> {
    let info = expected(tx, session)?;
    let Some(revert) = info.revert().ok().flatten() else { return Ok(Vec::new()) };
    let text = |key: &str| revert.object().text(key).map(Cow::into_owned);
    let (message, part) = (text("messageID").unwrap_or_default(), text("partID"));

    let mut removed = Vec::new();
    // Ids first, then removals: the reading must not see half of them.
    let (mut messages, mut parts) = (Vec::new(), Vec::new());
    let mut behind = false;
    let mut batches = Batches::new(MessageRange::oldest_first(session));
    while let Some(batch) = batches.next(tx)? {
        for (row, own) in batch {
            if behind {
                messages.push(row.id.into_owned());
            } else if row.id == message.as_str() {
                behind = true;
                match &part {
                    None => messages.push(row.id.into_owned()),
                    Some(part) => {
                        let from = own.iter().skip_while(|row| row.id != part.as_str());
                        parts.extend(from.map(|row| row.id.to_string()));
                    }
                }
            }
        }
    }
    for id in messages {
        remove_message(tx, session, &id)?;
        removed.push(id);
    }
    for id in parts {
        remove_part(tx, session, &message, &id)?;
        removed.push(id);
    }
    clear(tx, session)?;
    Ok(removed)
}

/// The boundary that a request means, and the files changed behind it.
fn find(
    view: &(impl Snapshot + ?Sized),
    session: &str,
    message: &str,
    part: Option<&str>,
) -> Result<Option<(Boundary, Vec<String>)>, Error> {
    let mut search = Search { message, part, last_user: None, boundary: None, files: Vec::new() };
    let mut batches = Batches::new(MessageRange::oldest_first(session));
    while let Some(batch) = batches.next(view)? {
        for rows in &batch {
            search.visit(rows);
        }
    }
    Ok(search.boundary.map(|boundary| (boundary, search.files)))
}

struct Search<'s> {
    message: &'s str,
    part: Option<&'s str>,
    last_user: Option<String>,
    boundary: Option<Boundary>,
    files: Vec<String>,
}

impl Search<'_> {
    fn visit(&mut self, (row, parts): &Rows) {
        if object(&row.data).is_some_and(|info| info.text("role").as_deref() == Some("user")) {
            self.last_user = Some(row.id.to_string());
        }
        // Without parts there is nothing to visit in the reference; here such a message is found all the same.
        if parts.is_empty() && self.boundary.is_none() && self.part.is_none() && row.id == self.message {
            self.found(&row.id, None);
        }
        let mut kept = false;
        for part in parts {
            let Some(data) = object(&part.data) else { continue };
            let view = Part::from_object(data);
            if self.boundary.is_some() {
                self.collect(&view);
                continue;
            }
            let hit = match self.part {
                None => row.id == self.message,
                Some(wanted) => part.id == wanted,
            };
            if hit {
                let part = self.part.filter(|_| kept).map(str::to_owned);
                self.found(&row.id, part);
                // The part that was asked for is undone too, whatever it is.
                self.collect(&view);
            }
            kept |= matches!(view, Part::Text(_) | Part::Tool(_));
        }
    }

    fn found(&mut self, message: &str, part: Option<String>) {
        let message = match (&part, &self.last_user) {
            (None, Some(user)) => user.clone(),
            _ => message.to_owned(),
        };
        self.boundary = Some(Boundary { message, part });
    }

    fn collect(&mut self, part: &Part<'_>) {
        if let Part::Patch(patch) = part {
            for file in patch.files().unwrap_or_default() {
                if !self.files.iter().any(|known| *known == file) {
                    self.files.push(file.into_owned());
                }
            }
        }
    }
}

fn object(data: &[u8]) -> Option<Object<'_>> {
    Object::parse(std::str::from_utf8(data).ok()?).ok()
}
