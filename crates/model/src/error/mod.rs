//! What goes wrong with a request, as the error of a message. Pure functions: status, headers and body in, error out.
//!
//! Names, texts and what is worth another try are those of the reference (reference 2.2-2.5).

mod http;
mod overflow;
mod retry_after;
mod status;
mod stream;
mod transport;

pub use http::{Response, from_response};
pub use overflow::is_overflow;
pub use retry_after::retry_after;
pub use status::status_text;
pub use stream::from_stream;
pub use transport::{Transport, from_transport};

use annalist_schema::{Json, MessageError};

/// Whether an error says of itself that another try may help. What the texts of other errors say is for the policy of
/// retries to judge (reference 2.6).
#[must_use]
pub fn is_retryable(error: &MessageError<'_>) -> bool {
    let data = error.object().get("data").and_then(Json::as_object);
    let said = data.as_ref().and_then(|data| data.get("isRetryable")).and_then(Json::as_bool);
    matches!(error, MessageError::Api(_)) && said == Some(true)
}
