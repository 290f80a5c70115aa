//! The part `reasoning`: what the model thought before it answered.

use super::PartTime;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// Thoughts of the model (reference-storage 2.2).
    pub struct ReasoningPart {
        /// The thoughts, or a provider's summary of them. May be empty where they are encrypted in `metadata`.
        required "text" text / set_text: Cow<'_, str>,
        /// By provider: signatures and encrypted thoughts that must go back to it unchanged.
        optional "metadata" metadata / set_metadata: Object<'_>,
        /// When the stream of it began and ended.
        required "time" time / set_time: PartTime<'_>,
    }
}

impl ReasoningPart<'static> {
    /// Thoughts whose stream begins at `start`, in ms.
    #[must_use]
    pub fn new(text: &str, start: i64) -> Self {
        let mut part = ReasoningPart::from_object(Object::tagged("type", "reasoning"));
        part.set_text(text.into()).set_time(PartTime::started(start));
        part
    }
}
