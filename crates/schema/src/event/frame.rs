//! What events are wrapped in on the wire (reference-storage 3.3 to 3.5).

use super::{DurableEvent, Event};
use crate::field::{Field, Path, Problem, Wrong};
use crate::raw::{Json, Object};
use std::borrow::Cow;

object! {
    /// An event on the stream of one folder: `{id, type, properties}`.
    pub struct EventFrame {
        /// The event's id.
        required "id" id / set_id: Cow<'_, str> as Event,
        /// Its type, without a version.
        required "type" event_type / set_event_type: Cow<'_, str>,
        /// Its data.
        required "properties" properties / set_properties: Object<'_>,
    }
}

object! {
    /// An event of the log on its way to another copy: `{id, type, seq, aggregateID, data}`.
    pub struct SyncEvent {
        /// The event's id.
        required "id" id / set_id: Cow<'_, str> as Event,
        /// Its type, with its version.
        required "type" versioned_type / set_versioned_type: Cow<'_, str>,
        /// Its number in its session, from 0 on, without gaps.
        required "seq" seq / set_seq: u64,
        /// The session.
        required "aggregateID" aggregate_id / set_aggregate_id: Cow<'_, str>,
        /// Its data.
        required "data" data / set_data: Object<'_>,
    }
}

object! {
    /// An event on the stream of all folders: `{directory?, project?, workspace?, payload}`.
    pub struct GlobalFrame {
        /// The folder; `global` for what concerns none.
        optional "directory" directory / set_directory: Cow<'_, str>,
        /// The project.
        optional "project" project / set_project: Cow<'_, str>,
        /// The workspace.
        optional "workspace" workspace / set_workspace: Cow<'_, str>,
        /// The event.
        required "payload" payload / set_payload: Payload<'_>,
    }
}

object! {
    /// The payload that follows the one of a durable event: the same event as the log has it.
    pub struct SyncPayload {
        /// The event.
        required "syncEvent" sync_event / set_sync_event: SyncEvent<'_>,
        /// The event's id once more.
        required "id" id / set_id: Cow<'_, str> as Event,
    }
}

/// What a [`GlobalFrame`] holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload<'a> {
    /// An event as subscribers of a folder see it.
    Event(EventFrame<'a>),
    /// An event as the log has it: `"type": "sync"`.
    Sync(SyncPayload<'a>),
}

impl<'a> Payload<'a> {
    /// The raw members.
    #[must_use]
    pub fn object(&self) -> &Object<'a> {
        match self {
            Payload::Event(frame) => frame.object(),
            Payload::Sync(payload) => payload.object(),
        }
    }

    fn check_fields(&self, path: &mut Path) {
        match self {
            Payload::Event(frame) => frame.check_fields(path),
            Payload::Sync(payload) => payload.check_fields(path),
        }
    }
}

impl<'a> Field<'a> for Payload<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let object = Object::read(json)?;
        let sync = object.text("type").as_deref() == Some("sync");
        Ok(if sync { Payload::Sync(SyncPayload::from_object(object)) } else { Payload::Event(EventFrame::from_object(object)) })
    }

    fn write(&self, out: &mut String) {
        self.object().write(out);
    }

    fn check(json: Json<'a>, path: &mut Path) {
        match Self::read(json) {
            Ok(payload) => payload.check_fields(path),
            Err(wrong) => path.report(wrong),
        }
    }
}

impl EventFrame<'static> {
    /// A frame of an event, under an id of the kind `evt`.
    #[must_use]
    pub fn new(id: &str, event: &Event<'_>) -> Self {
        let mut frame = EventFrame::default();
        frame.set_id(id.into()).set_event_type(event.event_type().into()).object_mut().set("properties", event.data().borrowed());
        frame
    }
}

impl EventFrame<'_> {
    /// The event in it.
    ///
    /// # Errors
    /// If the type or the properties are missing or of another shape.
    pub fn event(&self) -> Result<Event<'_>, Problem> {
        Ok(Event::from_type(self.event_type()?, self.properties()?))
    }
}

impl SyncEvent<'static> {
    /// A frame of an event of the log.
    #[must_use]
    pub fn new(id: &str, seq: u64, aggregate_id: &str, event: &DurableEvent<'_>) -> Self {
        let mut frame = SyncEvent::default();
        frame
            .set_id(id.into())
            .set_versioned_type(event.versioned_type().into())
            .set_seq(seq)
            .set_aggregate_id(aggregate_id.into());
        frame.object_mut().set("data", event.data().borrowed());
        frame
    }
}

impl SyncEvent<'_> {
    /// The event in it.
    ///
    /// # Errors
    /// If the type or the data are missing or of another shape.
    pub fn event(&self) -> Result<DurableEvent<'_>, Problem> {
        Ok(DurableEvent::from_versioned(self.versioned_type()?, self.data()?))
    }
}

impl SyncPayload<'static> {
    /// The payload of an event of the log.
    #[must_use]
    pub fn new(event: SyncEvent<'_>) -> Self {
        let mut payload = SyncPayload::from_object(Object::tagged("type", "sync"));
        let id = event.object().text("id").map(Cow::into_owned).unwrap_or_default();
        payload.set_sync_event(event).set_id(id.into());
        payload
    }
}
