//! Answers with an error status.

use super::overflow::is_overflow;
use super::status::status_text;
use crate::describe::Protocol;
use crate::text::blank;
use annalist_schema::message::ApiErrorData;
use annalist_schema::raw::Kind;
use annalist_schema::{Json, MessageError, Object};

/// An HTTP answer that is not a success.
#[derive(Debug, Clone, Copy)]
pub struct Response<'r> {
    /// The status.
    pub status: u16,
    /// What stands beside it on the wire, such as `Bad Request`; empty in HTTP/2.
    pub reason: &'r str,
    /// The headers, names in lower case.
    pub headers: &'r [(&'r str, &'r str)],
    /// The body.
    pub body: &'r str,
    /// Who was asked.
    pub url: &'r str,
}

/// The error of an answer (reference 2.3): `ContextOverflowError` or `APIError`.
#[must_use]
pub fn from_response(response: &Response<'_>, protocol: Protocol, provider_id: &str) -> MessageError<'static> {
    let message = message(response, protocol);
    let body = Object::parse(response.body.trim()).ok();
    let code = body.as_ref().and_then(|body| body.get("error")?.as_object()?.text("code").map(|code| code == "context_length_exceeded"));
    if is_overflow(&message) || response.status == 413 || code == Some(true) {
        return MessageError::context_overflow(&message, Some(response.body));
    }
    let status = response.status;
    let again = matches!(status, 408 | 409 | 429 | 500..) || (status == 404 && provider_id.starts_with("openai"));
    let mut data = ApiErrorData::new(&message, again);
    data.set_status_code(Some(status.into()));
    let mut headers = Object::new();
    for (name, value) in response.headers {
        headers.set_text(name, value);
    }
    let mut all = data.into_object();
    all.set("responseHeaders", headers);
    all.set_text("responseBody", response.body);
    if !response.url.is_empty() {
        let mut metadata = Object::new();
        metadata.set_text("url", response.url);
        all.set("metadata", metadata);
    }
    MessageError::api(ApiErrorData::from_object(all))
}

/// What the provider says in the form of its protocol, else the status in words.
fn told<'r>(response: &Response<'r>, protocol: Protocol) -> std::borrow::Cow<'r, str> {
    let inner = || {
        let body = Object::parse(response.body.trim()).ok()?;
        let error = body.get("error")?.as_object()?;
        let fits = match protocol {
            Protocol::Chat | Protocol::Responses => {
                let text = |name, also: Kind| error.get(name).is_none_or(|json| matches!(json.kind(), Kind::String | Kind::Null) || json.kind() == also);
                text("code", Kind::Number) && (protocol == Protocol::Chat || text("type", Kind::String))
            }
            Protocol::Anthropic => body.text("type").is_some_and(|kind| kind == "error") && error.text("type").is_some(),
            Protocol::Google => {
                let code = error.get("code").is_some_and(|json| matches!(json.kind(), Kind::Number | Kind::Null));
                code && error.text("status").is_some()
            }
        };
        fits.then(|| error.text("message").map(|text| text.into_owned()))?
    };
    match inner() {
        Some(message) => message.into(),
        None => response.reason.into(),
    }
}

fn message(response: &Response<'_>, protocol: Protocol) -> String {
    let body = response.body;
    let standard = status_text(response.status);
    let told = told(response, protocol);
    if told.is_empty() {
        let words = if body.is_empty() { standard.unwrap_or("Unknown error") } else { body };
        return words.trim().to_owned();
    }
    if body.is_empty() || Some(&*told) != standard {
        return told.trim().to_owned();
    }
    if let Some(inner) = short(body) {
        return format!("{told}: {inner}").trim().to_owned();
    }
    if is_html(body) {
        // These two are what people see who are behind a company's proxy.
        return match response.status {
            401 => "Unauthorized: request was blocked by a gateway or proxy. Your authentication token may be missing or expired \
                    — try running `opencode auth login <your provider URL>` to re-authenticate."
                .to_owned(),
            403 => "Forbidden: request was blocked by a gateway or proxy. You may not have permission to access this resource \
                    — check your account and provider settings."
                .to_owned(),
            _ => told.trim().to_owned(),
        };
    }
    format!("{told}: {body}").trim().to_owned()
}

/// `message`, or `error` where that is a text.
fn short(body: &str) -> Option<String> {
    let body = Object::parse(body.trim()).ok()?;
    // The first of the two that is not empty, nought or false counts, whatever it is.
    let truthy = |json: &&Json<'_>| !matches!(json.as_str(), "null" | "false" | "0" | "\"\"");
    let first = body.get("message").filter(truthy).or_else(|| body.get("error").filter(truthy))?;
    first.as_text().map(std::borrow::Cow::into_owned)
}

fn is_html(body: &str) -> bool {
    let start = body.trim_start_matches(|c: char| blank(c.encode_utf8(&mut [0; 4])));
    let begins = |word: &str| start.get(..word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
    begins("<!doctype") || begins("<html")
}
