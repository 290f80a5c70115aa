//! The part `compaction`: from here on a summary stands for what came before.

use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// A request for a summary of the history (reference-storage 2.2, 2.5).
    pub struct CompactionPart {
        /// Asked for by the program, because the context was full.
        required "auto" auto / set_auto: bool,
        /// A request had already failed because the context was too small.
        optional "overflow" overflow / set_overflow: bool,
        /// The first message that is kept as it is behind the summary.
        optional "tail_start_id" tail_start_id / set_tail_start_id: Cow<'_, str> as Message,
    }
}

impl CompactionPart<'static> {
    /// A request for a summary.
    #[must_use]
    pub fn new(auto: bool) -> Self {
        let mut part = CompactionPart::from_object(Object::tagged("type", "compaction"));
        part.set_auto(auto);
        part
    }
}
