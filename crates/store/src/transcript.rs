//! Messages with their parts, read in batches: never more than a batch of a session is in memory.

use crate::backend::{Flow, Snapshot};
use crate::error::Error;
use crate::hydrate;
use crate::query::{Cursor, Direction, MessageRange};
use crate::row::{MessageRow, PartRow};
use annalist_schema::Json;
use std::collections::HashMap;

/// Messages read at a time, as the reference does.
pub const BATCH: u32 = 50;

/// A message and its parts, as their texts stand in the record with the ids put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithParts {
    /// the message
    pub info: Json<'static>,
    /// its parts, in order
    pub parts: Vec<Json<'static>>,
}

/// A stretch of a session, oldest first, and where the one before it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// the messages
    pub messages: Vec<WithParts>,
    /// the place to ask for older ones; nothing if there are none
    pub older: Option<Cursor>,
}

/// Visits messages with their parts in the order of `range`. Parts come sorted (design G1).
///
/// # Errors
/// Those of the backend.
pub fn visit(
    view: &dyn Snapshot,
    range: &MessageRange<'_>,
    visit: &mut dyn FnMut(&MessageRow<'static>, &[PartRow<'static>]) -> Flow,
) -> Result<(), Error> {
    let mut batches = Batches::new(range.clone());
    while let Some(batch) = batches.next(view)? {
        for (message, parts) in &batch {
            if visit(message, parts) == Flow::Stop {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// The messages of a session, newest first, read as they are asked for.
pub struct NewestFirst<'v, V: ?Sized> {
    view: &'v V,
    batches: Batches<'v>,
    read: std::vec::IntoIter<Rows>,
}

impl<'v, V: Snapshot + ?Sized> NewestFirst<'v, V> {
    /// Those of a session that may not be there; then there are none.
    pub fn of(view: &'v V, session: &'v str) -> Self {
        NewestFirst { view, batches: Batches::new(MessageRange::newest_first(session)), read: Vec::new().into_iter() }
    }
}

impl<V: Snapshot + ?Sized> Iterator for NewestFirst<'_, V> {
    type Item = Result<WithParts, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.read.len() == 0 {
            self.read = match self.batches.next(self.view).transpose()? {
                Ok(batch) => batch.into_iter(),
                Err(error) => return Some(Err(error)),
            };
        }
        self.read.next().map(|(message, parts)| Ok(with_parts(&message, &parts)))
    }
}

/// A message with its parts, as rows.
pub(crate) type Rows = (MessageRow<'static>, Vec<PartRow<'static>>);

/// Reads a range batch by batch, for those who write between two batches.
pub(crate) struct Batches<'q> {
    range: MessageRange<'q>,
    left: Option<u32>,
    done: bool,
}

impl<'q> Batches<'q> {
    pub(crate) fn new(range: MessageRange<'q>) -> Self {
        Batches { left: range.limit, range, done: false }
    }

    /// The next batch, parts sorted (design G1); nothing behind the last.
    pub(crate) fn next(&mut self, view: &(impl Snapshot + ?Sized)) -> Result<Option<Vec<Rows>>, Error> {
        let size = self.left.map_or(BATCH, |left| left.min(BATCH));
        if self.done || size == 0 {
            return Ok(None);
        }
        self.range.limit = Some(size);
        let mut messages: Vec<MessageRow<'static>> = Vec::new();
        view.messages(&self.range, &mut |row| {
            messages.push(row.into_static());
            Flow::Continue
        })?;
        self.done = messages.len() < size as usize;
        let Some(last) = messages.last() else { return Ok(None) };
        self.range.beyond = Some(Cursor { id: last.id.to_string(), time: last.created });
        self.left = self.left.map(|left| left - size);
        let mut parts = parts_of(view, &messages)?;
        let rows = messages.into_iter().map(|message| {
            let mut own = parts.remove(&*message.id).unwrap_or_default();
            own.sort_by(PartRow::order);
            (message, own)
        });
        Ok(Some(rows.collect()))
    }
}

fn parts_of(view: &(impl Snapshot + ?Sized), messages: &[MessageRow<'_>]) -> Result<HashMap<String, Vec<PartRow<'static>>>, Error> {
    let ids: Vec<&str> = messages.iter().map(|m| &*m.id).collect();
    let mut parts: HashMap<String, Vec<PartRow<'static>>> = HashMap::with_capacity(ids.len());
    view.parts(&ids, &mut |row| {
        let row = row.into_static();
        match parts.get_mut(&*row.message) {
            Some(list) => list.push(row),
            None => {
                parts.insert(row.message.to_string(), vec![row]);
            }
        }
    })?;
    Ok(parts)
}

/// A page as `GET /session/:id/message` has it: the newest `limit` messages older than `before`, oldest first
/// (reference-storage 4.5).
///
/// # Errors
/// [`Error::NotFound`] if there is no such session; those of the backend.
pub fn page(view: &dyn Snapshot, session: &str, limit: Option<u32>, before: Option<Cursor>) -> Result<Page, Error> {
    let ask =
        MessageRange { session, direction: Direction::NewestFirst, beyond: before, limit: limit.map(|n| n.saturating_add(1)) };
    let mut messages = Vec::new();
    let mut positions = Vec::new();
    visit(view, &ask, &mut |message, parts| {
        // The one too many only says that there are more.
        if limit.is_none_or(|limit| messages.len() < limit as usize) {
            messages.push(with_parts(message, parts));
        }
        positions.push((message.id.to_string(), message.created));
        Flow::Continue
    })?;
    if positions.is_empty() && view.session(session)?.is_none() {
        return Err(Error::NotFound { what: "Session", id: session.to_owned() });
    }
    let more = positions.len() > messages.len();
    let older = more.then(|| positions.get(messages.len().wrapping_sub(1)).cloned()).flatten();
    messages.reverse();
    Ok(Page { messages, older: older.map(|(id, time)| Cursor { id, time }) })
}

/// One message.
///
/// # Errors
/// [`Error::NotFound`] if the session has no such message; those of the backend.
pub fn message(view: &dyn Snapshot, session: &str, id: &str) -> Result<WithParts, Error> {
    let mut found = None;
    view.message(session, id, &mut |row| found = Some(row.into_static()))?;
    let row = found.ok_or_else(|| Error::NotFound { what: "Message", id: id.to_owned() })?;
    let mut parts = parts_of(view, std::slice::from_ref(&row))?.remove(id).unwrap_or_default();
    parts.sort_by(PartRow::order);
    Ok(with_parts(&row, &parts))
}

/// The texts of a message and its parts.
#[must_use]
pub fn with_parts(message: &MessageRow<'_>, parts: &[PartRow<'_>]) -> WithParts {
    WithParts { info: hydrate::message(message), parts: parts.iter().map(hydrate::part).collect() }
}
