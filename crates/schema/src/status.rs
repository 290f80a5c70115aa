//! What a session is doing. It is kept in memory alone.

use crate::id::unsigned_ms;
use crate::raw::Object;
use std::borrow::Cow;

tagged! {
    /// What a session is doing (reference-storage 6.1).
    pub enum SessionStatus by "type", "session status" {
        "idle" => Idle(IdleStatus),
        "busy" => Busy(BusyStatus),
        "retry" => Retry(RetryStatus),
    }
}

object! {
    /// Nothing.
    pub struct IdleStatus {}
}

object! {
    /// It works.
    pub struct BusyStatus {}
}

object! {
    /// It waits to try a request again.
    pub struct RetryStatus {
        /// Which attempt failed, from 1 on.
        required "attempt" attempt / set_attempt: u64,
        /// Why, for people.
        required "message" message / set_message: Cow<'_, str>,
        /// What a person could do about it.
        optional "action" action / set_action: RetryAction<'_>,
        /// When it is tried again, in ms since 1970.
        required "next" next / set_next: u64,
    }
}

object! {
    /// What a person could do about a failing request.
    pub struct RetryAction {
        /// Why, as a word.
        required "reason" reason / set_reason: Cow<'_, str>,
        /// The provider, as configured.
        required "provider" provider / set_provider: Cow<'_, str>,
        /// A heading.
        required "title" title / set_title: Cow<'_, str>,
        /// A sentence.
        required "message" message / set_message: Cow<'_, str>,
        /// What the button says.
        required "label" label / set_label: Cow<'_, str>,
        /// Where it leads.
        optional "link" link / set_link: Cow<'_, str>,
    }
}

impl SessionStatus<'static> {
    /// It does nothing.
    #[must_use]
    pub fn idle() -> Self {
        Self::from_object(Object::tagged("type", "idle"))
    }

    /// It works.
    #[must_use]
    pub fn busy() -> Self {
        Self::from_object(Object::tagged("type", "busy"))
    }

    /// It waits until `next` (ms since 1970) after a failed attempt.
    #[must_use]
    pub fn retry(attempt: u64, message: &str, next: i64) -> Self {
        let mut status = RetryStatus::from_object(Object::tagged("type", "retry"));
        status.set_attempt(attempt).set_message(message.into()).set_next(unsigned_ms(next));
        status.into()
    }
}
