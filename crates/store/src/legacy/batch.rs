//! From files to transactions: as much as the write lock may be held for, each complete in itself.

use super::project::OldProject;
use super::session::Seed;
use super::tree::Tree;
use super::{Beside, Report, Skipped};
use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::hydrate;
use crate::row::Cell;
use crate::store::Store;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Number, id};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A transaction takes no more events, and about this many bytes: some twenty milliseconds.
const ITEMS: usize = 300;
const BYTES: usize = 1 << 20;

/// What an assistant message says it cost.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Usage {
    cost: f64,
    /// input, output, reasoning, cache read, cache write
    tokens: [i64; 5],
}

/// A message or a part on its way.
pub(super) struct Item {
    id: String,
    /// the message of a part
    message: Option<String>,
    file: PathBuf,
    /// the event's data
    data: String,
    usage: Usage,
}

impl Item {
    pub(super) fn message(id: &str, file: &Path, info: Object<'static>, session: &str) -> Self {
        let usage = if info.text("role").as_deref() == Some("assistant") { Usage::of(&info) } else { Usage::default() };
        let mut data = Object::new();
        data.set_text("sessionID", session);
        data.set("info", info);
        Item { id: id.to_owned(), message: None, file: file.to_owned(), data: data.to_text(), usage }
    }

    pub(super) fn part(id: &str, message: &str, file: &Path, part: Object<'static>, session: &str, time_ms: i64) -> Self {
        let mut data = Object::new();
        data.set_text("sessionID", session);
        data.set("part", part);
        data.set("time", time_ms);
        let message = Some(message.to_owned());
        Item { id: id.to_owned(), message, file: file.to_owned(), data: data.to_text(), usage: Usage::default() }
    }
}

impl Usage {
    /// As the reference's `session_usage` sums it: numbers as they are, everything else 0.
    fn of(info: &Object<'_>) -> Self {
        let number = |object: &Object<'_>, name: &str| object.get(name).and_then(Json::as_number).map_or(0.0, |n| n.as_f64());
        let tokens = info.get("tokens").and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
        let cache = tokens.get("cache").and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
        // A float cast saturates.
        let count = |object: &Object<'_>, name: &str| number(object, name) as i64;
        Usage {
            cost: number(info, "cost"),
            tokens: [
                count(&tokens, "input"),
                count(&tokens, "output"),
                count(&tokens, "reasoning"),
                count(&cache, "read"),
                count(&cache, "write"),
            ],
        }
    }

    fn of_row(row: &crate::row::SessionRow) -> Self {
        let int = |cell: &Cell| match cell {
            Cell::Int(n) => *n,
            Cell::Real(n) => *n as i64,
            _ => 0,
        };
        let cost = match row.cost {
            Cell::Real(n) => n,
            Cell::Int(n) => n as f64,
            _ => 0.0,
        };
        let cells = [&row.tokens_input, &row.tokens_output, &row.tokens_reasoning, &row.tokens_cache_read, &row.tokens_cache_write];
        Usage { cost, tokens: cells.map(int) }
    }

    fn add(&mut self, other: &Usage) {
        self.cost += other.cost;
        for (own, other) in self.tokens.iter_mut().zip(other.tokens) {
            *own = own.saturating_add(other);
        }
    }

    fn write(&self, info: &mut Object<'static>) {
        let [input, output, reasoning, read, write] = self.tokens;
        let mut cache = Object::new();
        cache.set("read", read);
        cache.set("write", write);
        let mut tokens = Object::new();
        tokens.set("input", input);
        tokens.set("output", output);
        tokens.set("reasoning", reasoning);
        tokens.set("cache", cache);
        info.set("cost", Number::from_f64(self.cost));
        info.set("tokens", tokens);
    }
}

/// Makes the rows of projects.
pub(super) fn projects(store: &Store, projects: Vec<OldProject>, report: &mut Report) -> Result<(), Error> {
    for some in projects.chunks(ITEMS) {
        let some = some.to_vec();
        report.projects += store
            .write(Durability::Process, move |tx| {
                let mut new = 0;
                for project in &some {
                    new += u64::from(tx.put_project(project)?);
                }
                Ok(new)
            })
            .wait()?;
    }
    Ok(())
}

/// What one transaction did.
#[derive(Default)]
struct Done {
    project: bool,
    session: bool,
    messages: u64,
    parts: u64,
    todos: u64,
    share: bool,
    /// place in the batch, and why
    skipped: Vec<(usize, String)>,
}

/// The batches of one session.
pub(super) struct Batches<'r> {
    store: &'r Store,
    tree: &'r Tree,
    seed: Arc<Seed>,
    report: &'r mut Report,
    items: Vec<Item>,
    bytes: usize,
    /// The session was seen in the record, or made, by a batch of this run.
    counted: bool,
    refused: bool,
}

impl<'r> Batches<'r> {
    pub(super) fn new(store: &'r Store, tree: &'r Tree, seed: Seed, report: &'r mut Report) -> Self {
        Batches { store, tree, seed: Arc::new(seed), report, items: Vec::new(), bytes: 0, counted: false, refused: false }
    }

    pub(super) fn skipped(&mut self) -> &mut Vec<Skipped> {
        &mut self.report.skipped
    }

    /// Takes one more; writes what there is when that is enough.
    pub(super) fn push(&mut self, item: Item) -> Result<(), Error> {
        self.bytes += item.data.len();
        self.items.push(item);
        if self.items.len() >= ITEMS || self.bytes >= BYTES {
            self.flush(Durability::Process, false)?;
        }
        Ok(())
    }

    /// Writes the rest, and what lies beside the session.
    pub(super) fn finish(mut self, durability: Durability) -> Result<(), Error> {
        self.flush(durability, true)
    }

    fn flush(&mut self, durability: Durability, last: bool) -> Result<(), Error> {
        let items: Arc<[Item]> = std::mem::take(&mut self.items).into();
        self.bytes = 0;
        // A batch that is refused is halved until the item is found that cannot be written.
        let mut waiting = vec![(0, items.len())];
        while let Some((from, to)) = waiting.pop() {
            let beside = last && waiting.is_empty();
            if self.refused {
                self.refuse(&items, from, to, "its session could not be written");
                continue;
            }
            match self.run(&items, from, to, durability, beside) {
                Ok(done) => self.count(&items, done),
                Err(refusal @ (Error::Invalid { .. } | Error::IdTaken { .. } | Error::NotFound { .. })) => match to - from {
                    0 => {
                        self.refused = true;
                        let skipped = self.tree.skipped(&self.seed.file, &refusal.to_string());
                        self.report.skipped.push(skipped);
                    }
                    1 if self.counted => {
                        self.refuse(&items, from, to, &refusal.to_string());
                        // What belongs beside it is still to be written.
                        if beside {
                            waiting.push((to, to));
                        }
                    }
                    // Perhaps it is the session itself: that alone first, then its items.
                    1 => waiting.extend([(from, to), (from, from)]),
                    n => {
                        waiting.push((from + n / 2, to));
                        waiting.push((from, from + n / 2));
                    }
                },
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn refuse(&mut self, items: &[Item], from: usize, to: usize, reason: &str) {
        for item in items.get(from..to).unwrap_or_default() {
            let skipped = self.tree.skipped(&item.file, reason);
            self.report.skipped.push(skipped);
        }
    }

    fn run(&self, items: &Arc<[Item]>, from: usize, to: usize, durability: Durability, beside: bool) -> Result<Done, Error> {
        let (seed, items) = (Arc::clone(&self.seed), Arc::clone(items));
        self.store
            .write(durability, move |tx| {
                write(tx, &seed, items.get(from..to).unwrap_or_default(), from, beside.then_some(&seed.beside))
            })
            .wait()
    }

    fn count(&mut self, items: &[Item], done: Done) {
        if done.project {
            self.report.projects += 1;
            self.report.projects_without_file.push(self.seed.project.id.clone());
        }
        self.report.sessions += u64::from(done.session);
        self.report.sessions_known += u64::from(!done.session && !self.counted);
        self.counted = true;
        self.report.messages += done.messages;
        self.report.parts += done.parts;
        self.report.todos += done.todos;
        self.report.shares += u64::from(done.share);
        for (at, reason) in done.skipped {
            self.refuse(items, at, at + 1, &reason);
        }
    }
}

/// One transaction: the session if it is new, the items that are, and usage to match.
fn write(tx: &mut dyn Transaction, seed: &Seed, items: &[Item], from: usize, beside: Option<&Beside>) -> Result<Done, Error> {
    let mut done = Done::default();
    if tx.session(&seed.id)?.is_none() {
        done.project = tx.put_project(&seed.project)?;
        let mut data = Object::new();
        data.set_text("sessionID", &seed.id);
        data.set("info", seed.info.clone());
        append(tx, &seed.id, "session.created.1", data.to_text())?;
        done.session = true;
    }
    let mut usage = tx.session(&seed.id)?.map(|row| Usage::of_row(&row)).unwrap_or_default();
    let mut owners: HashMap<&str, Option<String>> = HashMap::new();
    for (at, item) in (from..).zip(items) {
        let kind = match &item.message {
            None => match tx.message_owner(&item.id)? {
                None => "message.updated.1",
                Some(owner) if owner == seed.id => continue,
                Some(owner) => {
                    done.skipped.push((at, format!("a message of this id is in session {owner}")));
                    continue;
                }
            },
            Some(message) => {
                if !owners.contains_key(message.as_str()) {
                    owners.insert(message, tx.message_owner(message)?);
                }
                if owners.get(message.as_str()).and_then(Option::as_deref) != Some(&seed.id) {
                    done.skipped.push((at, format!("its message {message} is not in this session")));
                    continue;
                }
                match tx.part_owner(&item.id)? {
                    None => "message.part.updated.1",
                    Some((_, of)) if of == *message => continue,
                    Some((owner, of)) => {
                        done.skipped.push((at, format!("a part of this id is in message {of} of session {owner}")));
                        continue;
                    }
                }
            }
        };
        append(tx, &seed.id, kind, item.data.clone())?;
        usage.add(&item.usage);
        match item.message {
            None => done.messages += 1,
            Some(_) => done.parts += 1,
        }
    }
    // The steps among the parts were counted on the way; the messages' own count replaces that.
    if let Some(row) = tx.session(&seed.id)?.filter(|row| Usage::of_row(row) != usage) {
        let mut info = hydrate::session(&row).into_object();
        usage.write(&mut info);
        hydrate::fold(&mut info);
        let mut data = Object::new();
        data.set_text("sessionID", &seed.id);
        data.set("info", info);
        append(tx, &seed.id, "session.updated.1", data.to_text())?;
    }
    if let Some(beside) = beside {
        (done.todos, done.share) = tx.put_beside(&seed.id, beside)?;
    }
    Ok(done)
}

fn append(tx: &mut dyn Transaction, session: &str, kind: &str, data: String) -> Result<(), Error> {
    let event = NewEvent { id: id::new(id::Kind::Event), kind: kind.to_owned(), data };
    tx.append(session, Expect::Any, event).map(drop)
}
