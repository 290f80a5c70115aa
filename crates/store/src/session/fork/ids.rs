//! The ids of a source, and what they are in its copy.

use crate::backend::{Flow, Transaction};
use crate::error::Error;
use crate::query::MessageRange;
use annalist_schema::raw::Object;
use annalist_schema::{Json, id};
use std::collections::{HashMap, HashSet};

/// What an id starts with. Whatever else an id of a real file may be (a provider's call id) is not looked for in values: there
/// it is that call's id.
const PREFIXES: &[&str] = &["ses", "msg", "prt"];

pub(super) struct Ids {
    /// the copy's own
    pub(super) session: String,
    /// messages to copy, from the oldest on
    pub(super) copied: u32,
    /// Of the session and all of its messages and parts, also of those that are not copied: a name for these names nothing in
    /// the copy either.
    new: HashMap<String, String>,
    left_out: HashSet<String>,
}

impl Ids {
    /// Gives out all new ids, in the order of reading, before the first copy: a message may name a later one.
    pub(super) fn of(tx: &dyn Transaction, source: &str, before: Option<&str>) -> Result<Self, Error> {
        let mut messages = Vec::new();
        tx.messages(&MessageRange::oldest_first(source), &mut |row| {
            messages.push(row.id.into_owned());
            Flow::Continue
        })?;
        let end = before.and_then(|before| messages.iter().position(|id| id == before)).unwrap_or(messages.len());
        let mut ids = Ids {
            session: id::new(id::Kind::Session),
            copied: u32::try_from(end).unwrap_or(u32::MAX),
            new: HashMap::with_capacity(messages.len() * 5),
            left_out: messages.iter().skip(end).cloned().collect(),
        };
        ids.new.insert(source.to_owned(), ids.session.clone());
        for message in messages {
            ids.new.insert(message, id::new(id::Kind::Message));
        }
        tx.part_ids(source, &mut |part| {
            ids.new.insert(part.to_owned(), id::new(id::Kind::Part));
        })?;
        Ok(ids)
    }

    /// Whether it is a message of the source that is not copied.
    pub(super) fn left_out(&self, message: &str) -> bool {
        self.left_out.contains(message)
    }

    /// What an id of the source is in the copy; nothing for others.
    pub(super) fn new_id(&self, of: &str) -> Option<String> {
        self.new.get(of).cloned()
    }

    /// The new id of a row; all that were there at the beginning have one.
    pub(super) fn of_copy(&self, kind: id::Kind, row: &str) -> String {
        self.new_id(row).unwrap_or_else(|| id::new(kind))
    }

    /// Renames in all values but those of `said`: what a person, a model or a tool said stays, even if it is an id and nothing
    /// else. Answers whether there was anything to rename.
    pub(super) fn rename(&self, object: &mut Object<'_>, said: &[&str]) -> bool {
        let renamed = object.entries().iter().filter(|entry| !said.contains(&&*entry.key()));
        let renamed: Vec<_> = renamed.filter_map(|entry| Some((entry.key().into_owned(), self.renamed(entry.value())?))).collect();
        let any = !renamed.is_empty();
        for (key, value) in renamed {
            object.set(&key, value);
        }
        any
    }

    pub(super) fn renamed(&self, value: &Json<'_>) -> Option<Json<'static>> {
        value.replace_strings(PREFIXES, |text| self.new_id(text))
    }
}
