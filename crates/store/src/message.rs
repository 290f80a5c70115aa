//! What can be done to messages and parts (reference-storage 2.3), under the reference's names.
//!
//! *Create* is for what is new: an id that exists with other content is a conflict, the same content again is no event at
//! all. *Update* writes a value whole, new or not. A late write to something that was deleted is told so and brings nothing
//! back.

use crate::append::{Expect, NewEvent, record};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::pending::Pending;
use crate::session::incomplete;
use crate::store::Store;
use crate::tombs::Tombs;
use crate::transcript::{self, WithParts};
use annalist_schema::event::{MessagePartRemoved, MessageRemoved};
use annalist_schema::raw::Object;
use annalist_schema::{Message, Part, Problem, id};

/// What names a message.
struct MessageKey {
    session: String,
    id: String,
}

/// What names a part.
struct PartKey {
    session: String,
    message: String,
    id: String,
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

impl PartKey {
    fn of(part: &Part<'_>) -> Result<Self, Error> {
        let object = part.object();
        let text = |name: &str| {
            let text = object.text(name).filter(|text| !text.is_empty());
            text.map(std::borrow::Cow::into_owned)
                .ok_or_else(|| Error::Invalid { what: "part".to_owned(), problem: format!("{name} is missing or no string") })
        };
        Ok(PartKey { session: text("sessionID")?, message: text("messageID")?, id: text("id")? })
    }
}

impl Store {
    /// Adds a message with its parts. The same message with the same parts again records nothing.
    ///
    /// Fails with [`Error::IdTaken`] if the id exists with other content or elsewhere, [`Error::Gone`] if it was removed, and
    /// [`Error::NotFound`] if there is no such session.
    pub fn create_message(&self, message: Message<'static>, parts: Vec<Part<'static>>) -> Pending<WithParts> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = MessageKey::of(&message)?;
            match existing(tx, &key, &tombs)? {
                None => {
                    record(tx, &key.session, "message.updated.1", "info", message.into_object(), None)?;
                    write_parts(tx, &key, parts)?;
                }
                Some(there) => same(&key, &there, message, parts)?,
            }
            transcript::message(tx, &key.session, &key.id)
        })
    }

    /// Writes a message whole, new or not.
    ///
    /// Fails with [`Error::IdTaken`] if the id belongs to another session, [`Error::Gone`] if the message or its session was
    /// deleted.
    pub fn update_message(&self, message: Message<'static>) -> Pending<Message<'static>> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = MessageKey::of(&message)?;
            existing(tx, &key, &tombs)?;
            record(tx, &key.session, "message.updated.1", "info", message.object().borrowed(), None)?;
            Ok(message)
        })
    }

    /// Reads a message, changes it and writes it in one transaction: two updates never lose each other. A change that
    /// changes nothing records nothing.
    ///
    /// Fails with [`Error::NotFound`] or [`Error::Gone`] if the message is not there.
    pub fn update_message_with(
        &self,
        session: &str,
        message: &str,
        change: impl FnOnce(&mut Message<'static>) + Send + 'static,
    ) -> Pending<Message<'static>> {
        let key = MessageKey { session: session.to_owned(), id: message.to_owned() };
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let there = existing(tx, &key, &tombs)?.ok_or_else(|| not_found("Message", &key.id))?;
            let before = Message::from_object(there.info.into_object().unwrap_or_default());
            let mut after = before.clone();
            change(&mut after);
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
            remove_message(tx, &session, &message)
        })
    }

    /// Adds a part. The same part again records nothing.
    ///
    /// Fails with [`Error::IdTaken`] if the id exists with other content or elsewhere, [`Error::Gone`] if it, its message or
    /// its session was deleted.
    pub fn create_part(&self, part: Part<'static>) -> Pending<Part<'static>> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = PartKey::of(&part)?;
            match existing_part(tx, &key, &tombs)? {
                Some(there) if same_value(&there, part.object()) => return Ok(part),
                Some(_) => return Err(Error::IdTaken { what: "part", id: key.id, owner: None }),
                None => record(tx, &key.session, "message.part.updated.1", "part", part.object().borrowed(), Some(id::now_ms()))?,
            };
            Ok(part)
        })
    }

    /// Writes a part whole, new or not. `durability` is [`Durability::Process`] for a checkpoint of text that still streams.
    ///
    /// Fails with [`Error::IdTaken`] if the id belongs to another message, [`Error::Gone`] if the part, its message or its
    /// session was deleted.
    pub fn update_part(&self, part: Part<'static>, durability: Durability) -> Pending<Part<'static>> {
        let tombs = self.tombs();
        self.write(durability, move |tx| {
            let key = PartKey::of(&part)?;
            existing_part(tx, &key, &tombs)?;
            record(tx, &key.session, "message.part.updated.1", "part", part.object().borrowed(), Some(id::now_ms()))?;
            Ok(part)
        })
    }

    /// Reads a part, changes it and writes it in one transaction. A change that changes nothing records nothing.
    ///
    /// Fails with [`Error::NotFound`] or [`Error::Gone`] if the part is not there.
    pub fn update_part_with(
        &self,
        session: &str,
        message: &str,
        part: &str,
        change: impl FnOnce(&mut Part<'static>) + Send + 'static,
    ) -> Pending<Part<'static>> {
        let key = PartKey { session: session.to_owned(), message: message.to_owned(), id: part.to_owned() };
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let before = existing_part(tx, &key, &tombs)?.ok_or_else(|| not_found("Part", &key.id))?;
            let before = Part::from_object(before);
            let mut after = before.clone();
            change(&mut after);
            if after != before {
                record(tx, &key.session, "message.part.updated.1", "part", after.object().borrowed(), Some(id::now_ms()))?;
            }
            Ok(after)
        })
    }

    /// Removes a part. Answers whether it was there.
    ///
    /// Fails with [`Error::NotFound`] if there is no such session.
    pub fn remove_part(&self, session: &str, message: &str, part: &str) -> Pending<bool> {
        let (session, message, part) = (session.to_owned(), message.to_owned(), part.to_owned());
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            crate::session::expected(tx, &session)?;
            let removed = remove_part(tx, &session, &message, &part)?;
            if removed {
                tombs.bury(&part);
            }
            Ok(removed)
        })
    }
}

fn not_found(what: &'static str, id: &str) -> Error {
    Error::NotFound { what, id: id.to_owned() }
}

/// The message under a key; nothing if it is new. Deleted things answer [`Error::Gone`].
fn existing(tx: &dyn Transaction, key: &MessageKey, tombs: &Tombs) -> Result<Option<WithParts>, Error> {
    if tx.session(&key.session)?.is_none() {
        let gone = tombs.has(&key.session);
        let (what, id) = ("Session", key.session.clone());
        return Err(if gone { Error::Gone { what: "session", id } } else { Error::NotFound { what, id } });
    }
    match tx.message_owner(&key.id)? {
        Some(owner) if owner != key.session => {
            Err(Error::IdTaken { what: "message", id: key.id.clone(), owner: Some(format!("session {owner}")) })
        }
        Some(_) => transcript::message(tx, &key.session, &key.id).map(Some),
        None if tx.was_removed(&key.session, &key.id)? => Err(Error::Gone { what: "message", id: key.id.clone() }),
        None => Ok(None),
    }
}

/// The part under a key; nothing if it is new.
fn existing_part(tx: &dyn Transaction, key: &PartKey, tombs: &Tombs) -> Result<Option<Object<'static>>, Error> {
    match tx.part_owner(&key.id)? {
        Some((session, message)) if session != key.session || message != key.message => {
            let owner = Some(format!("message {message} of session {session}"));
            Err(Error::IdTaken { what: "part", id: key.id.clone(), owner })
        }
        Some(_) => {
            let message = transcript::message(tx, &key.session, &key.message)?;
            let part = message.parts.into_iter().filter_map(annalist_schema::Json::into_object);
            Ok(part.into_iter().find(|part| part.text("id").as_deref() == Some(&key.id)))
        }
        None if tombs.has(&key.id) => Err(Error::Gone { what: "part", id: key.id.clone() }),
        None => {
            let message = MessageKey { session: key.session.clone(), id: key.message.clone() };
            existing(tx, &message, tombs)?.map(|_| None).ok_or_else(|| not_found("Message", &key.message))
        }
    }
}

fn write_parts(tx: &mut dyn Transaction, key: &MessageKey, parts: Vec<Part<'static>>) -> Result<(), Error> {
    // One time for all: in a message written at once the ids decide, and `import` knows how to say otherwise.
    let now = id::now_ms();
    for mut part in parts {
        let id = part.object().text("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned);
        let id = id.unwrap_or_else(|| id::new(id::Kind::Part));
        if let Some((session, message)) = tx.part_owner(&id)? {
            return Err(Error::IdTaken { what: "part", id, owner: Some(format!("message {message} of session {session}")) });
        }
        part.set_identity(&id, &key.session, &key.id);
        record(tx, &key.session, "message.part.updated.1", "part", part.into_object(), Some(now))?;
    }
    Ok(())
}

/// A message that is there already must be the one that is to be created.
fn same(key: &MessageKey, there: &WithParts, message: Message<'static>, parts: Vec<Part<'static>>) -> Result<(), Error> {
    let taken = || Error::IdTaken { what: "message", id: key.id.clone(), owner: None };
    let info = there.info.as_object().ok_or_else(taken)?;
    if !same_value(&info, message.object()) || there.parts.len() != parts.len() {
        return Err(taken());
    }
    for (there, mut part) in there.parts.iter().filter_map(annalist_schema::Json::as_object).zip(parts) {
        // A part given without an id got one the first time.
        let id = part.object().text("id").filter(|id| !id.is_empty()).map(std::borrow::Cow::into_owned);
        let id = id.unwrap_or_else(|| there.text("id").unwrap_or_default().into_owned());
        part.set_identity(&id, &key.session, &key.id);
        if !same_value(&there, part.object()) {
            return Err(taken());
        }
    }
    Ok(())
}

/// The same members with the same values, in whatever order. Rows keep their ids at the end.
fn same_value(one: &Object<'_>, other: &Object<'_>) -> bool {
    one.entries().len() == other.entries().len() && one.entries().iter().all(|entry| other.get(&entry.key()) == Some(entry.value()))
}

/// Removes a message inside the caller's transaction.
pub(crate) fn remove_message(tx: &mut dyn Transaction, session: &str, message: &str) -> Result<bool, Error> {
    if tx.message_owner(message)?.as_deref() != Some(session) {
        return Ok(false);
    }
    tx.append(session, Expect::Any, NewEvent::of(MessageRemoved::new(session, message).into()))?;
    Ok(true)
}

/// Removes a part inside the caller's transaction.
pub(crate) fn remove_part(tx: &mut dyn Transaction, session: &str, message: &str, part: &str) -> Result<bool, Error> {
    let owner = tx.part_owner(part)?;
    if !owner.is_some_and(|(of_session, of_message)| of_session == session && of_message == message) {
        return Ok(false);
    }
    tx.append(session, Expect::Any, NewEvent::of(MessagePartRemoved::new(session, message, part).into()))?;
    Ok(true)
}
