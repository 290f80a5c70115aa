//! Permissions: the rules of a session, and the questions that a rule makes a program ask.

use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// One rule. The last one that matches decides (reference-storage 6.6).
    pub struct PermissionRule {
        /// What it is about: a tool's name or a pattern of it.
        required "permission" permission / set_permission: Cow<'_, str>,
        /// What the tool wants to touch; `*` stands for anything, `?` for one character.
        required "pattern" pattern / set_pattern: Cow<'_, str>,
        /// What is done then.
        required "action" action / set_action: PermissionAction<'_>,
    }
}

words! {
    /// What a rule says.
    pub enum PermissionAction, "permission action" {
        /// Go on.
        "allow" => Allow,
        /// Refuse.
        "deny" => Deny,
        /// Ask a person.
        "ask" => Ask,
    }
}

words! {
    /// What a person answered.
    pub enum PermissionReply, "permission reply" {
        /// This time.
        "once" => Once,
        /// From now on, while the process lives.
        "always" => Always,
        /// No.
        "reject" => Reject,
    }
}

object! {
    /// A question, as in the event `permission.asked`.
    pub struct PermissionRequest {
        /// The question's id.
        required "id" id / set_id: Cow<'_, str> as Permission,
        /// The session that waits for the answer.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// What it is about.
        required "permission" permission / set_permission: Cow<'_, str>,
        /// What the tool wants to touch.
        required "patterns" patterns / set_patterns: Vec<Cow<'_, str>>,
        /// Anything, by the tool, to show to the person.
        required "metadata" metadata / set_metadata: Object<'_>,
        /// The patterns that an `always` would allow.
        required "always" always / set_always: Vec<Cow<'_, str>>,
        /// The call that asks; absent where the program itself asks.
        optional "tool" tool / set_tool: PermissionTool<'_>,
    }
}

object! {
    /// The call that asks for a permission.
    pub struct PermissionTool {
        /// Its message.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
        /// The provider's id of the call.
        required "callID" call_id / set_call_id: Cow<'_, str>,
    }
}

impl PermissionRule<'static> {
    /// A rule.
    #[must_use]
    pub fn new(permission: &str, pattern: &str, action: PermissionAction<'_>) -> Self {
        let mut rule = PermissionRule::default();
        rule.set_permission(permission.into()).set_pattern(pattern.into()).set_action(action);
        rule
    }
}
