//! The part `text`: what a person wrote, or what the model answered.

use crate::id::unsigned_ms;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// Text of a user or an assistant (reference-storage 2.2).
    pub struct TextPart {
        /// The text. May be empty: the reference stores `""` when a stream starts and the rest when it ends.
        required "text" text / set_text: Cow<'_, str>,
        /// Made by the program, not written by the person.
        optional "synthetic" synthetic / set_synthetic: bool,
        /// Kept for people, not sent to a model.
        optional "ignored" ignored / set_ignored: bool,
        /// When the stream of it began and ended.
        optional "time" time / set_time: PartTime<'_>,
        /// Anything, by provider or program; object values only, or the reference's model run fails.
        optional "metadata" metadata / set_metadata: Object<'_>,
    }
}

object! {
    /// When a streamed part began and ended, in ms. `end` is absent while it streams.
    pub struct PartTime {
        /// ms
        required "start" start / set_start: u64,
        /// ms
        optional "end" end / set_end: u64,
    }
}

impl TextPart<'static> {
    /// A text part with its text and nothing else.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut part = TextPart::from_object(Object::tagged("type", "text"));
        part.set_text(text.into());
        part
    }
}

impl PartTime<'static> {
    /// The time of a part whose stream begins, in ms.
    #[must_use]
    pub fn started(start: i64) -> Self {
        let mut time = PartTime::default();
        time.set_start(unsigned_ms(start));
        time
    }
}
