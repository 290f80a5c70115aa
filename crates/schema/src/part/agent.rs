//! The part `agent`: the person called an agent by name.

use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// An agent named in the person's text (reference-storage 2.2).
    pub struct AgentPart {
        /// The agent.
        required "name" name / set_name: Cow<'_, str>,
        /// Where the name stands in the text.
        optional "source" source / set_source: AgentSource<'_>,
    }
}

object! {
    /// A stretch of the person's text, in UTF-16 units.
    pub struct AgentSource {
        /// What stands there.
        required "value" value / set_value: Cow<'_, str>,
        /// The first unit.
        required "start" start / set_start: u64,
        /// The unit behind the last.
        required "end" end / set_end: u64,
    }
}

impl AgentPart<'static> {
    /// A call of an agent.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let mut part = AgentPart::from_object(Object::tagged("type", "agent"));
        part.set_name(name.into());
        part
    }
}
