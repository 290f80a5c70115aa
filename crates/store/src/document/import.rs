//! Reading a document into the record.

use crate::append::{PartTimes, record};
use crate::backend::Transaction;
use crate::error::Error;
use crate::folder::Folder;
use crate::hydrate;
use annalist_schema::raw::{Object, compact};
use annalist_schema::{Json, Problem, Session, Wrong, id};

/// What an import did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// the session's id
    pub session: String,
    /// it was not there before
    pub new: bool,
    /// messages that were not there before
    pub messages: u64,
    /// parts that were not there before
    pub parts: u64,
}

/// A document, split as far as an import looks into it.
struct Document<'d> {
    info: Object<'d>,
    id: String,
    messages: Vec<Message<'d>>,
}

struct Message<'d> {
    id: String,
    info: Object<'d>,
    parts: Vec<(String, Object<'d>)>,
}

/// Checks a document without touching the record.
///
/// Strict is only what the record stands on: the session's info has the reference's shape, every message and part is an
/// object with an id. What is inside messages and parts is passed on as it is.
///
/// # Errors
/// [`Error::Invalid`] with the place and what is wrong there.
pub fn check(document: &str) -> Result<(), Error> {
    let document = split(document)?;
    let mut info = document.info;
    // These three are replaced by the folder that the document comes into.
    for key in ["projectID", "directory"] {
        info.set_text(key, "");
    }
    info.remove("path");
    info.remove("workspaceID");
    let borne = |problem: &Problem| match problem.wrong {
        Wrong::LoneSurrogate => true,
        // Any number of tokens: the reference takes them so, and wrong sums are no reason to lose a conversation.
        Wrong::Negative { .. } | Wrong::Fractional { .. } => problem.at.starts_with("tokens."),
        _ => false,
    };
    match Session::from_object(info).problems().into_iter().find(|problem| !borne(problem)) {
        Some(problem) => Err(invalid(&format!("info.{}", problem.at), &problem.wrong.to_string())),
        None => Ok(()),
    }
}

fn invalid(at: &str, problem: &str) -> Error {
    Error::Invalid { what: "not a session document".to_owned(), problem: format!("{at} {problem}") }
}

fn split(document: &str) -> Result<Document<'_>, Error> {
    let json = Json::parse(document)
        .map_err(|malformed| Error::Invalid { what: "not a session document".to_owned(), problem: malformed.to_string() })?;
    let kind = json.kind();
    let document = json.into_object().ok_or_else(|| invalid("it", &format!("is {kind}, not an object with info and messages")))?;
    let info = object_at(&document, "info", "info")?;
    let id = id_at(&info, "info")?;
    if let Err(wrong) = id::check(id::Kind::Session, &id) {
        return Err(invalid("info.id", &wrong.to_string()));
    }
    let mut messages = Vec::new();
    for (index, message) in array_at(&document, "messages", "messages")?.into_iter().enumerate() {
        let at = format!("messages[{index}]");
        let message = object_of(message, &at)?;
        let info = object_at(&message, "info", &format!("{at}.info"))?;
        let mut parts = Vec::new();
        for (index, part) in array_at(&message, "parts", &format!("{at}.parts"))?.into_iter().enumerate() {
            let at = format!("{at}.parts[{index}]");
            let part = object_of(part, &at)?;
            parts.push((id_at(&part, &at)?, part));
        }
        messages.push(Message { id: id_at(&info, &format!("{at}.info"))?, info, parts });
    }
    Ok(Document { info, id, messages })
}

fn object_of<'d>(json: Json<'d>, at: &str) -> Result<Object<'d>, Error> {
    let kind = json.kind();
    json.into_object().ok_or_else(|| invalid(at, &format!("is {kind}, not an object")))
}

fn object_at<'d>(object: &Object<'d>, key: &str, at: &str) -> Result<Object<'d>, Error> {
    object_of(object.get(key).cloned().ok_or_else(|| invalid(at, "is missing"))?, at)
}

fn array_at<'d>(object: &Object<'d>, key: &str, at: &str) -> Result<Vec<Json<'d>>, Error> {
    let json = object.get(key).cloned().ok_or_else(|| invalid(at, "is missing"))?;
    let kind = json.kind();
    json.into_array().ok_or_else(|| invalid(at, &format!("is {kind}, not an array")))
}

fn id_at(object: &Object<'_>, at: &str) -> Result<String, Error> {
    let json = object.get("id").ok_or_else(|| invalid(&format!("{at}.id"), "is missing"))?;
    match json.as_text() {
        Some(id) if id.is_empty() => Err(invalid(&format!("{at}.id"), "is empty")),
        Some(_) if json.has_lone_surrogate() => Err(invalid(&format!("{at}.id"), "has half a surrogate pair in it")),
        Some(id) => Ok(id.into_owned()),
        None => Err(invalid(&format!("{at}.id"), &format!("is {}, not a string", json.kind()))),
    }
}

/// Brings a document into the record as events: `session.created` with no usage yet, the messages and parts, and a
/// `session.updated` with the document's usage and times, since the parts' steps were counted on the way.
///
/// A session that exists is moved to the folder, as the reference does; of its messages and parts the known ones emit
/// nothing.
///
/// # Errors
/// [`Error::Invalid`] if the text is no document; [`Error::IdTaken`] if an id belongs to another session or message; those of
/// the backend.
pub fn import(tx: &mut dyn Transaction, document: &str, folder: &Folder) -> Result<Imported, Error> {
    // Documents are printed for people; rows and events hold what `JSON.stringify` gives, or an exported and imported row
    // would not be the row that it was, and up to twice its size.
    let document = compact(document);
    let document = split(&document)?;
    let session = document.id;
    let now = id::now_ms();
    tx.ensure_project(folder, now)?;

    let mut info = document.info.into_static();
    info.set_text("projectID", &folder.project);
    info.set_text("directory", &folder.directory);
    info.set_text("path", &folder.path);
    // A workspace is a thing of the machine that the document came from.
    info.remove("workspaceID");
    hydrate::fold(&mut info);

    let before = tx.session(&session)?;
    let new = before.is_none();
    if new {
        let mut created = info.clone();
        created.remove("cost");
        created.remove("tokens");
        record(tx, &session, "session.created.1", "info", created, None)?;
    }
    let mut done = Imported { session: session.clone(), new, messages: 0, parts: 0 };
    for message in document.messages {
        import_message(tx, &session, now, message, &mut done)?;
    }
    if new {
        record(tx, &session, "session.updated.1", "info", info, None)?;
    } else if let Some(row) = tx.session(&session)? {
        let mut info = hydrate::session(&row).into_object();
        let here = [("projectID", &folder.project), ("directory", &folder.directory), ("path", &folder.path)];
        if here.iter().any(|(key, value)| info.text(key).as_deref() != Some(value)) {
            for (key, value) in here {
                info.set_text(key, value);
            }
            hydrate::fold(&mut info);
            record(tx, &session, "session.updated.1", "info", info, None)?;
        }
    }
    Ok(done)
}

fn import_message(
    tx: &mut dyn Transaction,
    session: &str,
    now: i64,
    message: Message<'_>,
    done: &mut Imported,
) -> Result<(), Error> {
    match tx.message_owner(&message.id)? {
        Some(owner) if owner != session => {
            return Err(Error::IdTaken { what: "message", id: message.id, owner: Some(format!("session {owner}")) });
        }
        Some(_) => {}
        None => {
            let mut info = message.info;
            info.set_text("sessionID", session);
            record(tx, session, "message.updated.1", "info", info.into_static(), None)?;
            done.messages += 1;
        }
    }
    let mut times = PartTimes::from(now);
    for (id, mut part) in message.parts {
        let time = times.of(&id);
        match tx.part_owner(&id)? {
            Some((owner, of)) if owner != session || of != message.id => {
                return Err(Error::IdTaken { what: "part", id, owner: Some(format!("message {of} of session {owner}")) });
            }
            Some(_) => {}
            None => {
                part.set_text("sessionID", session);
                part.set_text("messageID", &message.id);
                record(tx, session, "message.part.updated.1", "part", part.into_static(), Some(time))?;
                done.parts += 1;
            }
        }
    }
    Ok(())
}
