//! Copying a session's history into a new one (reference-storage 1.8), closed in itself: no id of the source stays in any
//! field (user reports C79-C83).

mod ids;

use super::{create, expected};
use crate::append::{PartTimes, record};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::folder::{Folder, GLOBAL};
use crate::hydrate;
use crate::pending::Pending;
use crate::query::MessageRange;
use crate::row::{MessageRow, PartRow, Stamp};
use crate::store::Store;
use crate::transcript::Batches;
use annalist_schema::raw::Object;
use annalist_schema::session::fork_title;
use annalist_schema::{Json, Number, Session, id};
use ids::Ids;

/// A fork, and what it took along.
#[derive(Debug, Clone, PartialEq)]
pub struct Forked {
    /// the new session, with the usage of the steps it took along
    pub session: Session<'static>,
    /// messages copied
    pub messages: u64,
    /// parts copied
    pub parts: u64,
}

impl Store {
    /// Copies a session: the messages before `before` (by position), or all of them; also all if there is no such message, as
    /// the reference does. Messages keep their times, parts are written now.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn fork_session(&self, session: &str, before: Option<&str>) -> Pending<Forked> {
        let (session, before) = (session.to_owned(), before.map(str::to_owned));
        self.write(Durability::Power, move |tx| fork(tx, &session, before.as_deref(), None))
    }

    /// The same into another folder than the session's own, which may be gone by now.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn fork_session_into(&self, session: &str, before: Option<&str>, folder: Folder) -> Pending<Forked> {
        let (session, before) = (session.to_owned(), before.map(str::to_owned));
        self.write(Durability::Power, move |tx| {
            tx.ensure_project(&folder, id::now_ms())?;
            fork(tx, &session, before.as_deref(), Some(folder))
        })
    }
}

fn fork(tx: &mut dyn Transaction, source: &str, before: Option<&str>, folder: Option<Folder>) -> Result<Forked, Error> {
    let info = expected(tx, source)?;
    let now = id::now_ms();
    let ids = Ids::of(tx, source, before)?;
    create::record_created(tx, &new_session(&info, &ids, folder, now))?;

    let (mut messages, mut parts) = (0, 0);
    let mut nearest = None;
    let mut batches = Batches::new(MessageRange { limit: Some(ids.copied), ..MessageRange::oldest_first(source) });
    while let Some(batch) = batches.next(tx)? {
        for (row, own) in batch {
            let copy = copy_message(tx, &ids, &row, &mut nearest)?;
            messages += 1;
            let mut times = PartTimes::from(now);
            for row in own {
                copy_part(tx, &ids, &row, &copy, &mut times)?;
                parts += 1;
            }
        }
    }
    Ok(Forked { session: expected(tx, &ids.session)?, messages, parts })
}

fn new_session(source: &Session<'_>, ids: &Ids, folder: Option<Folder>, now: i64) -> Session<'static> {
    let text = |key: &str| source.object().text(key).unwrap_or_default().into_owned();
    let folder = folder.unwrap_or_else(|| Folder {
        project: text("projectID"),
        worktree: String::new(),
        directory: text("directory"),
        path: text("path"),
        git: text("projectID") != GLOBAL,
        previous: None,
    });
    let mut new = create::NewSession::new(folder);
    new.title = Some(fork_title(&text("title")));
    new.workspace = source.object().text("workspaceID").map(std::borrow::Cow::into_owned);
    // What is wrong with the source's columns is not wrong with the copy's.
    let metadata = source.object().get("metadata").and_then(Json::as_object).map(Object::into_static);
    let metadata = metadata.and_then(hydrate::without_report).map(Json::from);
    new.metadata = metadata.and_then(|metadata| ids.renamed(&metadata).unwrap_or(metadata).into_object());
    let mut info = create::info(&new, &ids.session, now).into_object();
    // Fields of a later version go along (design G6).
    for entry in source.object().entries().iter().filter(|entry| !Session::FIELDS.contains(&&*entry.key())) {
        let value = ids.renamed(entry.value()).unwrap_or_else(|| entry.value().clone().into_static());
        info.set(&entry.key(), value);
    }
    hydrate::fold(&mut info);
    Session::from_object(info)
}

/// Copies a message; answers its new id. `nearest` is the last copied message of a person.
fn copy_message(tx: &mut dyn Transaction, ids: &Ids, row: &MessageRow<'_>, nearest: &mut Option<String>) -> Result<String, Error> {
    let copy = ids.of_copy(id::Kind::Message, &row.id);
    let mut info = hydrate::message_object(row);
    if info.text("role").as_deref() == Some("user") {
        *nearest = Some(copy.clone());
    }
    // An assistant's message must name one that it answers. Where that one was not copied, the nearest question is it.
    let parent = info.text("parentID").and_then(|parent| {
        if ids.left_out(&parent) { Some(nearest.clone().unwrap_or_else(|| copy.clone())) } else { ids.new_id(&parent) }
    });
    if let Some(parent) = parent {
        info.set_text("parentID", &parent);
    }
    ids.rename(&mut info, &[]);
    info.set_text("id", &copy);
    info.set_text("sessionID", &ids.session);
    if let Some(first) = placed(&info, row.created) {
        record(tx, &ids.session, "message.updated.1", "info", first, None)?;
    }
    record(tx, &ids.session, "message.updated.1", "info", info, None)?;
    Ok(copy)
}

/// The first write of a message fixes its place, and a later one may have said another time (reference-storage 4.4). Such a
/// message gets its place in the copy by a first write of its own.
fn placed(info: &Object<'_>, place: Stamp) -> Option<Object<'static>> {
    let mut time = info.get("time").and_then(Json::as_object).unwrap_or_default();
    let says = time.get("created").and_then(Json::as_number).map(|number| match number.as_i64() {
        Some(ms) => Stamp::Whole(ms),
        None => Stamp::Real(number.as_f64()),
    });
    if says.is_some_and(|says| says.partial_cmp(&place) == Some(std::cmp::Ordering::Equal)) {
        return None;
    }
    let place = match place {
        Stamp::Whole(ms) => Json::from(ms),
        Stamp::Real(ms) => Json::from(Number::from_f64(ms)),
    };
    time.set("created", place);
    let mut first = info.clone().into_static();
    first.set("time", time);
    Some(first)
}

fn copy_part(tx: &mut dyn Transaction, ids: &Ids, row: &PartRow<'_>, message: &str, times: &mut PartTimes) -> Result<(), Error> {
    let copy = ids.of_copy(id::Kind::Part, &row.id);
    let mut part = hydrate::part_object(row);
    match part.text("type").as_deref() {
        Some("compaction") => {
            let tail = part.text("tail_start_id").map(std::borrow::Cow::into_owned);
            match tail {
                // It is optional, and any other message would be a lie.
                Some(tail) if ids.left_out(&tail) => drop(part.remove("tail_start_id")),
                Some(tail) => {
                    if let Some(new) = ids.new_id(&tail) {
                        part.set_text("tail_start_id", &new);
                    }
                }
                None => {}
            }
        }
        Some("tool") => {
            let state = part.get("state").and_then(Json::as_object);
            let renamed =
                state.and_then(|mut state| ids.rename(&mut state, &["output", "raw", "error"]).then(|| Json::from(state)));
            if let Some(state) = renamed {
                part.set("state", state);
            }
        }
        _ => {}
    }
    ids.rename(&mut part, &["text", "state"]);
    part.set_text("id", &copy);
    part.set_text("sessionID", &ids.session);
    part.set_text("messageID", message);
    let time = times.of(&copy);
    record(tx, &ids.session, "message.part.updated.1", "part", part, Some(time)).map(drop)
}
