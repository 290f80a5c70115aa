//! Answers that began well.

use super::overflow::is_overflow;
use super::transport;
use crate::stream::Failure;
use annalist_schema::message::ApiErrorData;
use annalist_schema::{Json, MessageError, Object};

/// The error of an answer that did not become whole (reference 2.4).
#[must_use]
pub fn from_stream(failure: &Failure) -> MessageError<'static> {
    match failure {
        Failure::Provider { error } => provider(error),
        Failure::NetworkError | Failure::Cut { .. } => transport::stream(&failure.to_string()),
        Failure::Malformed { .. } | Failure::NotAStream { .. } | Failure::TooLong { .. } => {
            MessageError::unknown(&failure.to_string())
        }
    }
}

fn provider(error: &Json<'_>) -> MessageError<'static> {
    let object = unwrapped(error);
    // OpenAI has the members in `error` or beside the type; chat completions and Anthropic are told by their `error` alone.
    let inner = object.get("error").and_then(Json::as_object).unwrap_or_else(|| object.borrowed());
    let code = inner.text("code").unwrap_or_default();
    let message = inner.text("message").unwrap_or_default();
    let body = object.to_text();
    if code == "context_length_exceeded" {
        return MessageError::context_overflow("Input exceeds context window of this model", Some(&body));
    }
    if is_overflow(&message) {
        return MessageError::context_overflow(&message, Some(&body));
    }
    let or = |fallback: &'static str| if message.is_empty() { fallback } else { &message };
    if object.text("type").is_some_and(|kind| kind == "error") {
        let (message, again) = match &*code {
            "insufficient_quota" => ("Quota exceeded. Check your plan and billing details.", false),
            "usage_not_included" => {
                ("To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", false)
            }
            "invalid_prompt" => (or("Invalid prompt."), false),
            _ => (or("Server error."), true),
        };
        return api(message, None, again, &body);
    }
    match status(&object) {
        Some(status) if !message.is_empty() => {
            let again = matches!(status, 408 | 409 | 429 | 500..);
            if status == 413 {
                return MessageError::context_overflow(&message, Some(&body));
            }
            api(&message, Some(status), again, &body)
        }
        _ => MessageError::unknown(&body),
    }
}

/// Some gateways put the error as text into `message` of another.
fn unwrapped(error: &Json<'_>) -> Object<'static> {
    let text = error.as_text();
    let outer = match &text {
        Some(text) => Object::parse(text).ok().map(Object::into_static),
        None => error.as_object().map(Object::into_static),
    };
    let Some(outer) = outer else {
        // No object: the message is all there is.
        let mut object = Object::new();
        object.set("message", error.clone().into_static());
        return object;
    };
    let inner = outer.text("message").and_then(|text| Object::parse(text.trim()).ok().map(Object::into_static));
    inner.filter(|inner| inner.text("type").is_some_and(|kind| kind == "error")).unwrap_or(outer)
}

/// The HTTP status that an error would have had ahead of the stream: as a number (gateways, Google), or by the words that
/// Anthropic's documentation puts beside each.
fn status(error: &Object<'_>) -> Option<u64> {
    let number = error.get("code").and_then(Json::as_number).and_then(|number| number.as_u64());
    number.filter(|status| (400..600).contains(status)).or(match &*error.text("type")? {
        "invalid_request_error" => Some(400),
        "authentication_error" => Some(401),
        "billing_error" => Some(402),
        "permission_error" => Some(403),
        "not_found_error" => Some(404),
        "request_too_large" => Some(413),
        "rate_limit_error" => Some(429),
        "api_error" | "server_error" => Some(500),
        "timeout_error" => Some(504),
        "overloaded_error" => Some(529),
        _ => None,
    })
}

fn api(message: &str, status: Option<u64>, again: bool, body: &str) -> MessageError<'static> {
    let mut data = ApiErrorData::new(message, again);
    data.set_status_code(status);
    data.set_response_body(Some(body.into()));
    MessageError::api(data)
}
