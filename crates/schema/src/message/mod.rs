//! Messages: what a person asked, what an assistant answered, and how an answer failed.

mod assistant;
mod error;
mod user;

pub use assistant::{AssistantMessage, AssistantPath, AssistantTime};
pub use error::{
    ApiError, ApiErrorData, ContentFilterError, ContentFilterErrorData, ContextOverflowError, ContextOverflowErrorData,
    MessageAbortedError, MessageAbortedErrorData, MessageError, MessageOutputLengthError, ProviderAuthError, ProviderAuthErrorData,
    StructuredOutputError, StructuredOutputErrorData, UnknownError, UnknownErrorData,
};
pub use user::{JsonSchemaFormat, OutputFormat, TextFormat, UserMessage, UserSummary, UserTime};

use crate::field::Problem;

tagged! {
    /// One message of a session (reference-storage 2.1); its parts are stored apart from it.
    ///
    /// On the wire a message carries `id` and `sessionID`; in a row those are columns and absent from the data.
    pub enum Message by "role", "role" {
        "user" => User(UserMessage),
        "assistant" => Assistant(AssistantMessage),
    }
    identity {
        /// The message's id. It is a label: messages are ordered by the time they were made, then by id.
        "id" id / set_id: Message,
        /// The session it is in.
        "sessionID" session_id / set_session_id: Session,
    }
}

impl Message<'_> {
    /// When it was made, in whole ms; the first key of a session's order.
    ///
    /// # Errors
    /// If there is no such time.
    pub fn created_ms(&self) -> Result<i64, Problem> {
        // Both roles have it in the same place, and a role of a later version most likely too.
        let view = UserMessage::from_object(self.object().borrowed());
        let time = view.time()?;
        time.created().map(|created| created.whole())
    }
}
