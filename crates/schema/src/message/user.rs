//! The message of a person.

use crate::diff::FileDiff;
use crate::field::{Map, Millis, Problem};
use crate::model::ModelRef;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// What a person asked (reference-storage 2.1). Older histories have no `summary`, or one without `diffs`, and keep
    /// the variant outside of the model.
    pub struct UserMessage {
        /// When it was made.
        required "time" time / set_time: UserTime<'_>,
        /// What form the answer must have; text if absent.
        optional "format" format / set_format: OutputFormat<'_>,
        /// What the answer changed.
        optional "summary" summary / set_summary: UserSummary<'_>,
        /// The agent that is to answer.
        required "agent" agent / set_agent: Cow<'_, str>,
        /// The model that is to answer.
        required "model" model / set_model: ModelRef<'_>,
        /// A system prompt of this message alone.
        optional "system" system / set_system: Cow<'_, str>,
        /// Tools switched on and off, by name.
        optional "tools" tools / set_tools: Map<'_, bool>,
    }
}

object! {
    /// When a person's message was made.
    pub struct UserTime {
        /// ms, possibly with a fraction
        required "created" created / set_created: Millis<'_>,
    }
}

object! {
    /// What an answer changed.
    pub struct UserSummary {
        /// In a few words.
        optional "title" title / set_title: Cow<'_, str>,
        /// In a few sentences.
        optional "body" body / set_body: Cow<'_, str>,
        /// By file. Required by the reference's schema, absent in older histories.
        optional "diffs" diffs / set_diffs: Vec<FileDiff<'_>>,
    }
}

tagged! {
    /// The form that an answer must have.
    pub enum OutputFormat by "type", "output format" {
        "text" => Text(TextFormat),
        "json_schema" => JsonSchema(JsonSchemaFormat),
    }
}

object! {
    /// Any text.
    pub struct TextFormat {}
}

object! {
    /// JSON of a shape.
    pub struct JsonSchemaFormat {
        /// The shape.
        required "schema" schema / set_schema: Object<'_>,
        /// How often to ask again when the answer does not fit.
        optional "retryCount" retry_count / set_retry_count: u64,
    }
}

impl JsonSchemaFormat<'_> {
    /// The retries where none are given (reference-storage 2.1).
    pub const DEFAULT_RETRY_COUNT: u64 = 2;
}

impl UserMessage<'static> {
    /// A message made at `created` (ms).
    #[must_use]
    pub fn new(id: &str, session_id: &str, created: i64, agent: &str, model: ModelRef<'_>) -> Self {
        let mut message = UserMessage::default();
        message.set_id(id.into()).set_session_id(session_id.into()).object_mut().set_text("role", "user");
        let mut time = UserTime::default();
        time.set_created(created.max(0).into());
        message.set_time(time).set_agent(agent.into()).set_model(model);
        message
    }
}

impl UserSummary<'static> {
    /// Changes of files; `diffs` is always written, or the reference refuses the message.
    #[must_use]
    pub fn new(diffs: Vec<FileDiff<'_>>) -> Self {
        let mut summary = UserSummary::default();
        summary.object_mut().set("diffs", crate::field::Field::to_json(&diffs));
        summary
    }
}

impl UserMessage<'_> {
    /// The model's variant: the model's own, else that of older histories beside it.
    ///
    /// # Errors
    /// If the one that counts is no string, or there is no model.
    pub fn variant(&self) -> Result<Option<Cow<'_, str>>, Problem> {
        let model = self.model()?;
        if let Some(variant) = model.variant()? {
            return Ok(Some(Cow::Owned(variant.into_owned())));
        }
        // Older histories have the members of the model's choice beside the model; the view of one reads them there too.
        let beside = ModelRef::from_object(self.object().borrowed());
        Ok(beside.variant()?.map(|variant| Cow::Owned(variant.into_owned())))
    }
}
