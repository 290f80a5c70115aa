//! Events of a session.

use crate::diff::FileDiff;
use crate::field::{Field, Problem};
use crate::message::MessageError;
use crate::session::Session;
use crate::status::SessionStatus;
use std::borrow::Cow;

object! {
    /// `session.created`: a session was made.
    pub struct SessionCreated {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// All of it.
        required "info" info / set_info: Session<'_>,
    }
}

object! {
    /// `session.updated`: a session changed. What is absent in it stays as it was, except for `revert` and `workspaceID`,
    /// which it clears, and the usage, which it sets to 0 (reference-storage 1.2).
    pub struct SessionUpdated {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// All of it, as it is now.
        required "info" info / set_info: Session<'_>,
    }
}

object! {
    /// `session.deleted`: a session is gone, with its messages and its log.
    pub struct SessionDeleted {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// All of it, as it was.
        required "info" info / set_info: Session<'_>,
    }
}

object! {
    /// `session.diff`: what a session changed.
    pub struct SessionDiff {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// By file.
        required "diff" diff / set_diff: Vec<FileDiff<'_>>,
    }
}

object! {
    /// `session.error`: something went wrong, in a session or outside of any.
    pub struct SessionError {
        /// The session.
        optional "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// What.
        optional "error" error / set_error: MessageError<'_>,
    }
}

object! {
    /// `session.status`: what a session does now. It is told again without a change, too.
    pub struct SessionStatusChanged {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// What it does.
        required "status" status / set_status: SessionStatus<'_>,
    }
}

object! {
    /// `session.idle`: a session does nothing any more.
    pub struct SessionIdle {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
    }
}

object! {
    /// `session.compacted`: a summary stands for a session's older messages.
    pub struct SessionCompacted {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
    }
}

impl SessionCreated<'static> {
    /// The event of a session.
    ///
    /// # Errors
    /// If the session has no id.
    pub fn new(info: &Session<'_>) -> Result<Self, Problem> {
        let mut event = SessionCreated::default();
        event.set_session_id(info.id()?).object_mut().set("info", info.to_json());
        Ok(event)
    }
}

impl SessionUpdated<'static> {
    /// The event of a session.
    ///
    /// # Errors
    /// If the session has no id.
    pub fn new(info: &Session<'_>) -> Result<Self, Problem> {
        let mut event = SessionUpdated::default();
        event.set_session_id(info.id()?).object_mut().set("info", info.to_json());
        Ok(event)
    }
}

impl SessionDeleted<'static> {
    /// The event of a session.
    ///
    /// # Errors
    /// If the session has no id.
    pub fn new(info: &Session<'_>) -> Result<Self, Problem> {
        let mut event = SessionDeleted::default();
        event.set_session_id(info.id()?).object_mut().set("info", info.to_json());
        Ok(event)
    }
}
