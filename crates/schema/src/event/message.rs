//! Events of messages and parts.

use crate::field::{Field, Problem};
use crate::id;
use crate::message::Message;
use crate::part::Part;
use std::borrow::Cow;

object! {
    /// `message.updated`: a message was made or changed.
    pub struct MessageUpdated {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// All of the message, without its parts.
        required "info" info / set_info: Message<'_>,
    }
}

object! {
    /// `message.removed`: a message is gone, with its parts.
    pub struct MessageRemoved {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// The message.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
    }
}

object! {
    /// `message.part.updated`: a part was made or changed.
    pub struct MessagePartUpdated {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// All of the part.
        required "part" part / set_part: Part<'_>,
        /// When, in ms. The first of a part is the `time_created` of its row.
        required "time" time / set_time: u64,
    }
}

object! {
    /// `message.part.removed`: a part is gone.
    pub struct MessagePartRemoved {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// The message it was of.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
        /// The part.
        required "partID" part_id / set_part_id: Cow<'_, str> as Part,
    }
}

object! {
    /// `message.part.delta`: a part grows. Told, and not stored.
    pub struct MessagePartDelta {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// The message it is of.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
        /// The part.
        required "partID" part_id / set_part_id: Cow<'_, str> as Part,
        /// The field that grows: `text`.
        required "field" field / set_field: Cow<'_, str>,
        /// What is to be appended.
        required "delta" delta / set_delta: Cow<'_, str>,
    }
}

impl MessageUpdated<'static> {
    /// The event of a message.
    ///
    /// # Errors
    /// If the message does not say its session.
    pub fn new(info: &Message<'_>) -> Result<Self, Problem> {
        let mut event = MessageUpdated::default();
        event.set_session_id(info.session_id()?).object_mut().set("info", info.to_json());
        Ok(event)
    }
}

impl MessageRemoved<'static> {
    /// The event of a message.
    #[must_use]
    pub fn new(session_id: &str, message_id: &str) -> Self {
        let mut event = MessageRemoved::default();
        event.set_session_id(session_id.into()).set_message_id(message_id.into());
        event
    }
}

impl MessagePartUpdated<'static> {
    /// The event of a part, at a time in ms.
    ///
    /// # Errors
    /// If the part does not say its session.
    pub fn new(part: &Part<'_>, time: i64) -> Result<Self, Problem> {
        let mut event = MessagePartUpdated::default();
        event.set_session_id(part.session_id()?).object_mut().set("part", part.to_json());
        event.set_time(id::unsigned_ms(time));
        Ok(event)
    }
}

impl MessagePartRemoved<'static> {
    /// The event of a part.
    #[must_use]
    pub fn new(session_id: &str, message_id: &str, part_id: &str) -> Self {
        let mut event = MessagePartRemoved::default();
        event.set_session_id(session_id.into()).set_message_id(message_id.into()).set_part_id(part_id.into());
        event
    }
}

impl MessagePartDelta<'static> {
    /// The event of a part whose text grows.
    #[must_use]
    pub fn new(session_id: &str, message_id: &str, part_id: &str, delta: &str) -> Self {
        let mut event = MessagePartDelta::default();
        event.set_session_id(session_id.into()).set_message_id(message_id.into()).set_part_id(part_id.into());
        event.set_field("text".into()).set_delta(delta.into());
        event
    }
}
