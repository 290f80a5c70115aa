//! What can be done to messages (reference-storage 2.3), under the reference's names.
//!
//! *Create* is for what is new: an id that exists with other content is a conflict, the same content again is no event at
//! all. *Update* writes a value whole, new or not. A late write to something that was deleted is told so and brings nothing
//! back.

use crate::append::{Expect, NewEvent, PartTimes, record};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::hydrate;
use crate::part;
use crate::pending::Pending;
use crate::session::incomplete;
use crate::store::Store;
use crate::tombs::Tombs;
use crate::transcript::{self, WithParts};
use annalist_schema::event::MessageRemoved;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Message, Part, Problem, id};

/// What names a message.
pub(crate) struct MessageKey {
    pub(crate) session: String,
    pub(crate) id: String,
}

impl MessageKey {
    fn of(message: &Message<'_>) -> Result<Self, Error> {
        let failed = |problem: Problem| incomplete("message", &problem);
        Ok(MessageKey {
            session: message.session_id().map_err(failed)?.into_owned(),
            id: message.id().map_err(failed)?.into_owned(),
        })
    }
}

impl Store {
    /// Adds a message with its parts, which keep their order; parts without an id get one. The same message with the same
    /// parts again records nothing.
    ///
    /// Fails with [`Error::IdTaken`] if the id exists with other content or elsewhere, [`Error::Gone`] if it was removed, and
    /// [`Error::NotFound`] if there is no such session.
    pub fn create_message(&self, message: Message<'static>, parts: Vec<Part<'static>>) -> Pending<WithParts> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = MessageKey::of(&message)?;
            if exists(tx, &key, &tombs)? {
                let there = transcript::message(tx, &key.session, &key.id)?;
                same(&key, &there, message, parts)?;
                return Ok(there);
            }
            record(tx, &key.session, "message.updated.1", "info", message.into_object(), None)?;
            write_parts(tx, &key, parts)?;
            transcript::message(tx, &key.session, &key.id)
        })
    }

    /// Writes a message whole, new or not.
    ///
    /// Fails with [`Error::IdTaken`] if the id belongs to another session, [`Error::Gone`] if the message or its session was
    /// deleted, and [`Error::NotFound`] if there is no such session.
    pub fn update_message(&self, message: Message<'static>) -> Pending<Message<'static>> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = MessageKey::of(&message)?;
            exists(tx, &key, &tombs)?;
            record(tx, &key.session, "message.updated.1", "info", message.object().borrowed(), None)?;
            Ok(message)
        })
    }

    /// Reads a message, changes it and writes it in one transaction: two updates never lose each other. A change that
    /// changes nothing records nothing.
    ///
    /// Fails with [`Error::NotFound`] or [`Error::Gone`] if the message is not there, and with [`Error::Invalid`] if the
    /// change gives it another id or session.
    pub fn update_message_with(
        &self,
        session: &str,
        message: &str,
        change: impl FnOnce(&mut Message<'static>) + Send + 'static,
    ) -> Pending<Message<'static>> {
        let key = MessageKey { session: session.to_owned(), id: message.to_owned() };
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            exists(tx, &key, &tombs)?;
            let mut before = None;
            tx.message(&key.session, &key.id, &mut |row| before = Some(hydrate::message_object(&row).into_static()))?;
            let before = Message::from_object(before.ok_or_else(|| not_found("Message", &key.id))?);
            let mut after = before.clone();
            change(&mut after);
            keeps("message", before.object(), after.object(), &["id", "sessionID"])?;
            if after != before {
                record(tx, &key.session, "message.updated.1", "info", after.object().borrowed(), None)?;
            }
            Ok(after)
        })
    }

    /// Removes a message and its parts. Answers whether it was there.
    ///
    /// Fails with [`Error::NotFound`] if there is no such session.
    pub fn remove_message(&self, session: &str, message: &str) -> Pending<bool> {
        let (session, message) = (session.to_owned(), message.to_owned());
        self.write(Durability::Power, move |tx| {
            crate::session::expected(tx, &session)?;
            remove(tx, &session, &message)
        })
    }
}

pub(crate) fn not_found(what: &'static str, id: &str) -> Error {
    Error::NotFound { what, id: id.to_owned() }
}

/// A change of what is there is no way to move it.
pub(crate) fn keeps(what: &str, before: &Object<'_>, after: &Object<'_>, ids: &[&str]) -> Result<(), Error> {
    match ids.iter().find(|name| before.text(name) != after.text(name)) {
        Some(name) => Err(Error::Invalid { what: what.to_owned(), problem: format!("a change cannot change its {name}") }),
        None => Ok(()),
    }
}

/// Whether a message is there or new. Deleted things answer [`Error::Gone`].
pub(crate) fn exists(tx: &dyn Transaction, key: &MessageKey, tombs: &Tombs) -> Result<bool, Error> {
    match tx.message_owner(&key.id)? {
        Some(owner) if owner == key.session => return Ok(true),
        Some(owner) => {
            return Err(Error::IdTaken { what: "message", id: key.id.clone(), owner: Some(format!("session {owner}")) });
        }
        None => {}
    }
    if tx.session(&key.session)?.is_none() {
        return Err(if tombs.has(&key.session) {
            Error::Gone { what: "session", id: key.session.clone() }
        } else {
            not_found("Session", &key.session)
        });
    }
    if tx.was_removed(&key.session, &key.id)? {
        return Err(Error::Gone { what: "message", id: key.id.clone() });
    }
    Ok(false)
}

fn write_parts(tx: &mut dyn Transaction, key: &MessageKey, parts: Vec<Part<'static>>) -> Result<(), Error> {
    let mut times = PartTimes::from(id::now_ms());
    for mut part in parts {
        let id = given_id(&part).unwrap_or_else(|| id::new(id::Kind::Part));
        part::check_id(&id)?;
        if let Some((session, message)) = tx.part_owner(&id)? {
            return Err(part::taken(id, &session, &message));
        }
        part.set_identity(&id, &key.session, &key.id);
        let time = times.of(&id);
        record(tx, &key.session, "message.part.updated.1", "part", part.into_object(), Some(time))?;
    }
    Ok(())
}

fn given_id(part: &Part<'_>) -> Option<String> {
    part.object().text("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned)
}

/// A message that is there already must be the one that is to be created.
fn same(key: &MessageKey, there: &WithParts, message: Message<'static>, parts: Vec<Part<'static>>) -> Result<(), Error> {
    let mut equal = there.parts.len() == parts.len() && there.info.same_value(&Json::from(message.into_object()));
    for (there, mut part) in there.parts.iter().zip(parts) {
        // A part given without an id got one the first time.
        let id = given_id(&part).or_else(|| Some(there.as_object()?.text("id")?.into_owned())).unwrap_or_default();
        part.set_identity(&id, &key.session, &key.id);
        equal = equal && there.same_value(&Json::from(part.into_object()));
    }
    if equal { Ok(()) } else { Err(Error::IdTaken { what: "message", id: key.id.clone(), owner: None }) }
}

/// The message under the id of another; nothing if that is new. For those who write a message inside their own transaction.
pub(crate) fn there(tx: &dyn Transaction, message: &Message<'_>, tombs: &Tombs) -> Result<Option<WithParts>, Error> {
    let key = MessageKey::of(message)?;
    if exists(tx, &key, tombs)? { transcript::message(tx, &key.session, &key.id).map(Some) } else { Ok(None) }
}

/// Writes a new message with its parts inside the caller's transaction.
pub(crate) fn write(tx: &mut dyn Transaction, message: &Message<'_>, parts: Vec<Part<'static>>) -> Result<WithParts, Error> {
    let key = MessageKey::of(message)?;
    record(tx, &key.session, "message.updated.1", "info", message.object().borrowed(), None)?;
    write_parts(tx, &key, parts)?;
    transcript::message(tx, &key.session, &key.id)
}

/// Removes a message inside the caller's transaction.
pub(crate) fn remove(tx: &mut dyn Transaction, session: &str, message: &str) -> Result<bool, Error> {
    if tx.message_owner(message)?.as_deref() != Some(session) {
        return Ok(false);
    }
    tx.append(session, Expect::Any, NewEvent::of(MessageRemoved::new(session, message).into()))?;
    Ok(true)
}
