//! No answer at all.

use annalist_schema::message::ApiErrorData;
use annalist_schema::{MessageError, Object};
use std::time::Duration;

/// What can happen on the way (reference 2.2).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Transport<'t> {
    /// Nobody could be reached, or hung up before there was an answer.
    Connect {
        /// How so, in the system's words.
        cause: &'t str,
        /// Who was asked.
        url: &'t str,
    },
    /// The connection broke inside of the answer.
    Reset {
        /// How so, in the system's words.
        cause: &'t str,
    },
    /// The answer could not be unpacked.
    Decompress {
        /// How so.
        cause: &'t str,
    },
    /// There was no answer for so long.
    HeaderTimeout(Duration),
    /// The answer stopped going on for longer than it may.
    ReadTimeout,
    /// There is no key for the provider.
    NoKey {
        /// The provider.
        provider_id: &'t str,
        /// What is missing.
        message: &'t str,
    },
}

/// The error of a request without an answer. All but the missing key are worth another try.
#[must_use]
pub fn from_transport(transport: &Transport<'_>) -> MessageError<'static> {
    match transport {
        Transport::Connect { cause, url } => api(&format!("Cannot connect to API: {cause}"), &[("url", url)]),
        Transport::Reset { cause } => {
            api("Connection reset by server", &[("code", "ECONNRESET"), ("syscall", ""), ("message", cause)])
        }
        Transport::Decompress { cause } => api("Response decompression failed", &[("code", "ZlibError"), ("message", cause)]),
        Transport::HeaderTimeout(limit) => {
            let ms = limit.as_millis().to_string();
            let message = format!("Provider response headers timed out after {ms}ms");
            api(&message, &[("code", "ProviderHeaderTimeoutError"), ("timeoutMs", &ms)])
        }
        Transport::ReadTimeout => stream("SSE read timed out"),
        Transport::NoKey { provider_id, message } => MessageError::provider_auth(provider_id, message),
    }
}

/// The answer broke off on the provider's side.
pub(super) fn stream(message: &str) -> MessageError<'static> {
    api(message, &[("code", "ProviderResponseStreamError")])
}

fn api(message: &str, metadata: &[(&str, &str)]) -> MessageError<'static> {
    let mut inner = Object::new();
    for (name, value) in metadata {
        inner.set_text(name, value);
    }
    let mut all = ApiErrorData::new(message, true).into_object();
    all.set("metadata", inner);
    MessageError::api(ApiErrorData::from_object(all))
}
