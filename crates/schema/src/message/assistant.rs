//! The message of an assistant.

use super::{MessageError, UserMessage};
use crate::field::Problem;
use crate::id::unsigned_ms;
use crate::raw::{Json, Number};
use crate::tokens::TokenUsage;
use std::borrow::Cow;

object! {
    /// What an assistant answered (reference-storage 2.1).
    pub struct AssistantMessage {
        /// When it was begun and ended.
        required "time" time / set_time: AssistantTime<'_>,
        /// How it failed.
        optional "error" error / set_error: MessageError<'_>,
        /// The message of the person that it answers.
        required "parentID" parent_id / set_parent_id: Cow<'_, str> as Message,
        /// The model, by the provider's name.
        required "modelID" model_id / set_model_id: Cow<'_, str>,
        /// The provider, as configured.
        required "providerID" provider_id / set_provider_id: Cow<'_, str>,
        /// The agent's name once more. Required by the reference's schema, absent in some older histories.
        optional "mode" mode / set_mode: Cow<'_, str>,
        /// The agent that answers.
        required "agent" agent / set_agent: Cow<'_, str>,
        /// Where it worked.
        required "path" path / set_path: AssistantPath<'_>,
        /// It is the summary that a compaction asked for.
        optional "summary" summary / set_summary: bool,
        /// US dollars, all steps together.
        required "cost" cost / set_cost: Number<'_>,
        /// Tokens of the last step alone: how full the context is.
        required "tokens" tokens / set_tokens: TokenUsage<'_>,
        /// The answer to a message with a JSON schema.
        optional "structured" structured / set_structured: Json<'_>,
        /// The model's variant.
        optional "variant" variant / set_variant: Cow<'_, str>,
        /// Why the last step stopped.
        optional "finish" finish / set_finish: Cow<'_, str>,
    }
}

object! {
    /// When an answer was begun and ended; without an end it is open, or its process died.
    pub struct AssistantTime {
        /// ms
        required "created" created / set_created: u64,
        /// ms
        optional "completed" completed / set_completed: u64,
    }
}

object! {
    /// Where an assistant worked.
    pub struct AssistantPath {
        /// The folder of the session.
        required "cwd" cwd / set_cwd: Cow<'_, str>,
        /// The root of the project's work tree.
        required "root" root / set_root: Cow<'_, str>,
    }
}

impl AssistantMessage<'static> {
    /// An answer to a person's message, begun at `created` (ms): by the agent and model that the message asks for, and
    /// without cost yet (reference-storage 2.5). A summary is made by another agent; `set_agent` and `set_mode` say so.
    ///
    /// # Errors
    /// If the person's message lacks an id, its session's id, an agent or a model.
    pub fn new(id: &str, user: &UserMessage<'_>, created: i64, path: AssistantPath<'_>) -> Result<Self, Problem> {
        let model = user.model()?;
        let mut time = AssistantTime::default();
        time.set_created(unsigned_ms(created));
        let mut message = AssistantMessage::default();
        message.set_id(id.into()).set_session_id(user.session_id()?).object_mut().set_text("role", "assistant");
        message
            .set_time(time)
            .set_parent_id(user.id()?)
            .set_model_id(model.model_id()?)
            .set_provider_id(model.provider_id()?)
            .set_mode(Some(user.agent()?))
            .set_agent(user.agent()?)
            .set_path(path)
            .set_cost(Number::from(0_u64))
            .set_tokens(TokenUsage::zero())
            .set_variant(user.variant()?);
        Ok(message)
    }
}

impl AssistantPath<'static> {
    /// A session's folder and the root of its project.
    #[must_use]
    pub fn new(cwd: &str, root: &str) -> Self {
        let mut path = AssistantPath::default();
        path.set_cwd(cwd.into()).set_root(root.into());
        path
    }
}

impl AssistantMessage<'_> {
    /// Whether it has no end. Also true of a message whose time is unreadable.
    #[must_use]
    pub fn is_open(&self) -> bool {
        !matches!(self.time().map(|time| matches!(time.completed(), Ok(Some(_)))), Ok(true))
    }
}
