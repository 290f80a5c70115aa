//! Copying a session's history into a new one (reference-storage 1.8), closed in itself: no id of the source stays in any
//! field (user reports C79-C83).

use super::{create, expected};
use crate::append::record;
use crate::backend::{Durability, Flow, Transaction};
use crate::error::Error;
use crate::folder::{Folder, GLOBAL};
use crate::hydrate;
use crate::pending::Pending;
use crate::query::MessageRange;
use crate::store::Store;
use crate::transcript::Batches;
use annalist_schema::raw::{Object, replace_strings};
use annalist_schema::session::fork_title;
use annalist_schema::{Session, id};
use std::collections::HashMap;

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
        self.write(Durability::Power, move |tx| fork(tx, &session, before.as_deref()))
    }
}

/// The ids of a source and what became of them.
struct Ids {
    session: (String, String),
    /// Every message of the source; those that are not copied have no new id.
    messages: HashMap<String, Option<String>>,
    parts: HashMap<String, String>,
    /// What stands for a message that was not copied: the nearest earlier copy of a user message, else the message that is
    /// being copied.
    nearest: String,
}

impl Ids {
    /// What stands in the copy for a string that is an id of the source.
    fn replacement(&self, text: &str) -> Option<String> {
        if text == self.session.0 {
            return Some(self.session.1.clone());
        }
        if let Some(copy) = self.messages.get(text) {
            return Some(copy.clone().unwrap_or_else(|| self.nearest.clone()));
        }
        self.parts.get(text).cloned()
    }

    fn replace(&self, object: &Object<'_>) -> Result<Object<'static>, Error> {
        let text = object.to_text();
        let replaced = replace_strings(&text, &["ses", "msg", "prt"], |string| self.replacement(string));
        let again = Object::parse(&replaced)
            .map_err(|e| Error::Invalid { what: "copy of a message or part".to_owned(), problem: e.to_string() })?;
        Ok(again.into_static())
    }
}

fn fork(tx: &mut dyn Transaction, source: &str, before: Option<&str>) -> Result<Forked, Error> {
    let info = expected(tx, source)?;
    let text = |key: &str| info.object().text(key).unwrap_or_default().into_owned();
    let folder = Folder {
        project: text("projectID"),
        worktree: String::new(),
        directory: text("directory"),
        path: text("path"),
        git: text("projectID") != GLOBAL,
        previous: None,
    };
    let mut new = create::NewSession::new(folder);
    new.title = Some(fork_title(&text("title")));
    new.workspace = info.workspace_id().ok().flatten().map(std::borrow::Cow::into_owned);
    new.metadata = info.metadata().ok().flatten().map(Object::into_static);
    let created = create::create_in_project(tx, &new)?;
    let id = created.object().text("id").unwrap_or_default().into_owned();

    let mut ids =
        Ids { session: (source.to_owned(), id.clone()), messages: HashMap::new(), parts: HashMap::new(), nearest: String::new() };
    // All new ids before the first copy: a message may name a later one, where clocks disagreed.
    let mut copied = 0_u32;
    let mut over = false;
    let mut all = Vec::new();
    tx.messages(&MessageRange::oldest_first(source), &mut |row| {
        all.push(row.id.into_owned());
        Flow::Continue
    })?;
    let known = before.is_some_and(|before| all.iter().any(|id| id == before));
    for message in all {
        over |= known && before == Some(message.as_str());
        copied += u32::from(!over);
        ids.messages.insert(message, (!over).then(|| id::new(id::Kind::Message)));
    }

    let mut done = Forked { session: created, messages: 0, parts: 0 };
    let now = id::now_ms();
    let mut batches = Batches::new(MessageRange { limit: Some(copied), ..MessageRange::oldest_first(source) });
    while let Some(batch) = batches.next(tx)? {
        for (row, parts) in batch {
            let Some(Some(copy)) = ids.messages.get(&*row.id).cloned() else { continue };
            let Some(mut message) = hydrate::message(&row).into_object() else { continue };
            let user = message.text("role").as_deref() == Some("user");
            if user || ids.nearest.is_empty() {
                ids.nearest.clone_from(&copy);
            }
            message.set_text("id", &copy);
            message.set_text("sessionID", &id);
            record(tx, &id, "message.updated.1", "info", ids.replace(&message)?, None)?;
            done.messages += 1;
            for row in parts {
                let new = id::new(id::Kind::Part);
                ids.parts.insert(row.id.to_string(), new.clone());
                let Some(mut part) = hydrate::part(&row).into_object() else { continue };
                part.set_text("id", &new);
                part.set_text("sessionID", &id);
                part.set_text("messageID", &copy);
                without_lost_tail(&mut part, &ids);
                record(tx, &id, "message.part.updated.1", "part", ids.replace(&part)?, Some(now))?;
                done.parts += 1;
            }
        }
    }
    done.session = expected(tx, &id)?;
    Ok(done)
}

/// A compaction whose tail was not copied keeps none: it is optional, and any other message would be a lie.
fn without_lost_tail(part: &mut Object<'_>, ids: &Ids) {
    let lost = part.text("type").as_deref() == Some("compaction")
        && part.text("tail_start_id").is_some_and(|tail| matches!(ids.messages.get(&*tail), Some(None)));
    if lost {
        part.remove("tail_start_id");
    }
}
