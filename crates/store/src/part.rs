//! What can be done to parts (reference-storage 2.3); the rules are those of [`crate::message`].

use crate::append::{Expect, NewEvent, record};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::hydrate;
use crate::message::{self, MessageKey, keeps, not_found};
use crate::pending::Pending;
use crate::store::Store;
use crate::tombs::Tombs;
use annalist_schema::event::MessagePartRemoved;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Part, id};

/// What names a part.
struct PartKey {
    session: String,
    message: String,
    id: String,
}

impl PartKey {
    fn of(part: &Part<'_>) -> Result<Self, Error> {
        let text = |name: &str| {
            let text = part.object().text(name).filter(|text| !text.is_empty());
            text.map(std::borrow::Cow::into_owned)
                .ok_or_else(|| Error::Invalid { what: "part".to_owned(), problem: format!("{name} is missing or no string") })
        };
        Ok(PartKey { session: text("sessionID")?, message: text("messageID")?, id: text("id")? })
    }
}

impl Store {
    /// Adds a part. The same part again records nothing.
    ///
    /// Fails with [`Error::IdTaken`] if the id exists with other content or elsewhere, [`Error::Gone`] if it, its message or
    /// its session was deleted, [`Error::NotFound`] if there is no such message, and [`Error::Invalid`] if the id does not
    /// begin as a part's.
    pub fn create_part(&self, part: Part<'static>) -> Pending<Part<'static>> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let key = PartKey::of(&part)?;
            match current(tx, &key, &tombs)? {
                None => write(tx, &key, &part)?,
                Some(there) => {
                    if !Json::from(there).same_value(&Json::from(part.object().borrowed())) {
                        return Err(Error::IdTaken { what: "part", id: key.id, owner: None });
                    }
                }
            }
            Ok(part)
        })
    }

    /// Writes a part whole, new or not. `durability` is [`Durability::Process`] for a checkpoint of text that still streams.
    ///
    /// Fails as [`Store::create_part`], but for other content under the id.
    pub fn update_part(&self, part: Part<'static>, durability: Durability) -> Pending<Part<'static>> {
        let tombs = self.tombs();
        self.write(durability, move |tx| {
            let key = PartKey::of(&part)?;
            exists(tx, &key, &tombs)?;
            write(tx, &key, &part)?;
            Ok(part)
        })
    }

    /// Reads a part, changes it and writes it in one transaction: two updates never lose each other. A change that changes
    /// nothing records nothing.
    ///
    /// Fails with [`Error::NotFound`] or [`Error::Gone`] if the part is not there, and with [`Error::Invalid`] if the change
    /// gives it another id, message or session.
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
            let before = Part::from_object(current(tx, &key, &tombs)?.ok_or_else(|| not_found("Part", &key.id))?);
            let mut after = before.clone();
            change(&mut after);
            keeps("part", before.object(), after.object(), &["id", "sessionID", "messageID"])?;
            if after != before {
                write(tx, &key, &after)?;
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
            remove(tx, &session, &message, &part, &tombs)
        })
    }
}

/// The reference refuses a whole session for one part whose id begins otherwise.
pub(crate) fn check_id(id: &str) -> Result<(), Error> {
    id::check(id::Kind::Part, id).map_err(|wrong| Error::Invalid { what: "part".to_owned(), problem: format!("its id {wrong}") })
}

pub(crate) fn taken(id: String, session: &str, message: &str) -> Error {
    Error::IdTaken { what: "part", id, owner: Some(format!("message {message} of session {session}")) }
}

/// Whether a part is there or new. Deleted things answer [`Error::Gone`].
fn exists(tx: &dyn Transaction, key: &PartKey, tombs: &Tombs) -> Result<bool, Error> {
    match tx.part_owner(&key.id)? {
        Some((session, message)) if session == key.session && message == key.message => return Ok(true),
        Some((session, message)) => return Err(taken(key.id.clone(), &session, &message)),
        None => {}
    }
    if tombs.has(&key.id) || tx.was_part_removed(&key.id)? {
        return Err(Error::Gone { what: "part", id: key.id.clone() });
    }
    let message = MessageKey { session: key.session.clone(), id: key.message.clone() };
    if !message::exists(tx, &message, tombs)? {
        return Err(not_found("Message", &key.message));
    }
    check_id(&key.id)?;
    Ok(false)
}

/// The part under a key; nothing if it is new.
fn current(tx: &dyn Transaction, key: &PartKey, tombs: &Tombs) -> Result<Option<Object<'static>>, Error> {
    let mut found = None;
    if exists(tx, key, tombs)? {
        tx.part(&key.message, &key.id, &mut |row| found = Some(hydrate::part_object(&row).into_static()))?;
    }
    Ok(found)
}

fn write(tx: &mut dyn Transaction, key: &PartKey, part: &Part<'_>) -> Result<(), Error> {
    let now = id::now_ms();
    record(tx, &key.session, "message.part.updated.1", "part", part.object().borrowed(), Some(now)).map(drop)
}

/// Removes a part inside the caller's transaction.
pub(crate) fn remove(tx: &mut dyn Transaction, session: &str, message: &str, part: &str, tombs: &Tombs) -> Result<bool, Error> {
    let owner = tx.part_owner(part)?;
    if !owner.is_some_and(|(of_session, of_message)| of_session == session && of_message == message) {
        return Ok(false);
    }
    tx.append(session, Expect::Any, NewEvent::of(MessagePartRemoved::new(session, message, part).into()))?;
    // Also if this transaction fails later: while the part is there, nobody asks for its tomb.
    tombs.bury(part);
    Ok(true)
}
