//! The part `subtask`: work that the person gave to a sub-agent.

use crate::model::ModelRef;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// Work for a sub-agent (reference-storage 2.2).
    pub struct SubtaskPart {
        /// What it is to do.
        required "prompt" prompt / set_prompt: Cow<'_, str>,
        /// The same in a few words, for people.
        required "description" description / set_description: Cow<'_, str>,
        /// The sub-agent.
        required "agent" agent / set_agent: Cow<'_, str>,
        /// The model to use instead of the agent's.
        optional "model" model / set_model: ModelRef<'_>,
        /// The slash command that it came from.
        optional "command" command / set_command: Cow<'_, str>,
    }
}

impl SubtaskPart<'static> {
    /// Work for a sub-agent.
    #[must_use]
    pub fn new(prompt: &str, description: &str, agent: &str) -> Self {
        let mut part = SubtaskPart::from_object(Object::tagged("type", "subtask"));
        part.set_prompt(prompt.into()).set_description(description.into()).set_agent(agent.into());
        part
    }
}
