//! Closing what a dead process of ours left open (design G5).
//!
//! What that is stands in its claims (design G10): the sessions it ran and the messages it was answering. Nothing is found by
//! scanning the record, so nothing of a living process is touched, and nothing that OpenCode left. It is closed as the reference
//! closes an aborted answer (reference-engine 3.6), each change with its event.

use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Snapshot, Transaction};
use crate::claim::{Holder, SessionLock};
use crate::error::Error;
use crate::hydrate;
use crate::row::PartRow;
use crate::store::Store;
use annalist_schema::event::{MessagePartUpdated, MessageUpdated};
use annalist_schema::part::ToolStep;
use annalist_schema::{AssistantMessage, DurableEvent, Json, Message, MessageError, Object, Part, ToolState, id};
use std::borrow::Cow;

/// What the reference says of a tool that was stopped.
const TOOL_ABORTED: &str = "Tool execution aborted";
/// And of the answer.
const ABORTED: &str = "Aborted";

/// A claim whose holder died, and what was closed of its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// who held it
    pub holder: Holder,
    /// the messages that were completed with an error
    pub messages: Vec<String>,
    /// the parts that were closed
    pub parts: Vec<String>,
}

impl Store {
    /// Closes all that dead processes of ours left open, once: of several processes that do this at the same time, one closes
    /// and reports each claim. To be called when a server or a run starts; commands that only read do not. Blocks: not for
    /// async tasks.
    ///
    /// # Errors
    /// The first one; what was closed before it stays closed, and the rest waits for the next time.
    pub fn recover(&self) -> Result<Vec<Recovered>, Error> {
        self.writable()?;
        let mut all = Vec::new();
        self.backend().session_locks().abandoned(&mut |lock| {
            all.extend(settle(self, lock)?);
            lock.forget();
            Ok(())
        })?;
        Ok(all)
    }
}

/// Closes what a lock's last holder left. The caller holds the lock, and then has what was left forgotten.
pub(crate) fn settle(store: &Store, lock: &dyn SessionLock) -> Result<Option<Recovered>, Error> {
    // Without a holder's name there are no messages either: it died before it could do anything.
    let Some((left, holder)) = lock.left().and_then(|left| Some((left, left.holder.clone()?))) else { return Ok(None) };
    let (messages, parts) = close(store, &holder.session, &left.messages)?;
    Ok(Some(Recovered { holder, messages, parts }))
}

/// Closes what is open of some messages; gives the ids of the messages and parts.
fn close(store: &Store, session: &str, messages: &[String]) -> Result<(Vec<String>, Vec<String>), Error> {
    // Read before the write lock is taken: mostly all is closed, and what is not, only the holder of the claim changes.
    let open = store.read(|view| {
        let mut open = Vec::new();
        for message in messages {
            if !Open::of(view, session, message, 0)?.is_empty() {
                open.push(message.clone());
            }
        }
        Ok(open)
    })?;
    if open.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let session = session.to_owned();
    store.write(Durability::Power, move |tx| close_in(tx, &session, &open)).wait()
}

fn close_in(tx: &mut dyn Transaction, session: &str, messages: &[String]) -> Result<(Vec<String>, Vec<String>), Error> {
    let now = id::now_ms();
    let (mut closed, mut parts) = (Vec::new(), Vec::new());
    for message in messages {
        let open = Open::of(tx, session, message, now)?;
        for (id, event) in open.parts {
            tx.append(session, Expect::Any, event)?;
            parts.push(id);
        }
        if let Some(event) = open.message {
            tx.append(session, Expect::Any, event)?;
            closed.push(message.clone());
        }
    }
    Ok((closed, parts))
}

/// The events that close a message.
struct Open {
    parts: Vec<(String, NewEvent)>,
    message: Option<NewEvent>,
}

impl Open {
    fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.message.is_none()
    }

    /// Nothing, if the message is gone or no assistant's.
    fn of(view: &(impl Snapshot + ?Sized), session: &str, message: &str, now: i64) -> Result<Self, Error> {
        let mut open = Open { parts: Vec::new(), message: None };
        let mut info = None;
        view.message(session, message, &mut |row| info = Some(hydrate::message(&row)))?;
        let Some(Message::Assistant(info)) = info.and_then(Json::into_object).map(Message::from_object) else { return Ok(open) };
        let mut parts: Vec<PartRow<'static>> = Vec::new();
        view.parts(&[message], &mut |row| parts.push(row.into_static()))?;
        parts.sort_by(PartRow::order);
        for row in &parts {
            let part = hydrate::part(row).into_object();
            if let Some(part) = part.and_then(|part| closed_part(Part::from_object(part), now)) {
                open.parts.push((row.id.to_string(), event(MessagePartUpdated::new(&part, now))?));
            }
        }
        if let Some(info) = closed_message(info, now) {
            open.message = Some(event(MessageUpdated::new(&info.into()))?);
        }
        Ok(open)
    }
}

fn event(event: Result<impl Into<DurableEvent<'static>>, annalist_schema::Problem>) -> Result<NewEvent, Error> {
    let event =
        event.map_err(|problem| Error::Invalid { what: "what was left open".to_owned(), problem: problem.to_string() })?.into();
    Ok(NewEvent::new(event.versioned_type(), event.data().to_text()))
}

/// The part as an abort leaves it; nothing if it is closed.
fn closed_part(mut part: Part<'static>, now: i64) -> Option<Part<'static>> {
    match &mut part {
        Part::Tool(tool) => {
            let state = tool.state().ok().filter(ToolState::is_open)?;
            let mut metadata = state.object().get("metadata").and_then(Json::as_object).unwrap_or_default().into_static();
            metadata.set("interrupted", true);
            let step = ToolStep::Fail { error: Cow::Borrowed(TOOL_ABORTED), metadata: Some(metadata), end: now };
            let failed = state.step(step).ok()?;
            tool.set_state(failed);
        }
        Part::Text(text) => close_time(text.object_mut(), now)?,
        Part::Reasoning(reasoning) => close_time(reasoning.object_mut(), now)?,
        _ => return None,
    }
    Some(part)
}

/// Ends the time of a text that was streaming. One without a time was never a stream.
fn close_time(part: &mut Object<'static>, now: i64) -> Option<()> {
    let mut time = part.get("time")?.as_object()?.into_static();
    if !time.has("start") || time.has("end") {
        return None;
    }
    time.set("end", now);
    part.set("time", time);
    Some(())
}

/// The message as an abort leaves it; nothing if it is complete. An error that it has stays.
fn closed_message(mut info: AssistantMessage<'static>, now: i64) -> Option<AssistantMessage<'static>> {
    if !info.is_open() {
        return None;
    }
    let mut time = info.object().get("time").and_then(Json::as_object).unwrap_or_default().into_static();
    time.set("completed", now);
    info.object_mut().set("time", time);
    if !info.object().has("error") {
        info.set_error(Some(MessageError::aborted(ABORTED)));
    }
    Some(info)
}
