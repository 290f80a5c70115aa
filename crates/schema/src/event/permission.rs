//! Events of permissions.

use crate::permission::PermissionReply;
use std::borrow::Cow;

pub use crate::permission::PermissionRequest as PermissionAsked;

object! {
    /// `permission.replied`: a question was answered.
    pub struct PermissionReplied {
        /// The session that waited.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// The question.
        required "requestID" request_id / set_request_id: Cow<'_, str> as Permission,
        /// The answer.
        required "reply" reply / set_reply: PermissionReply<'_>,
    }
}
