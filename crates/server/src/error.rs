//! What a client is told when something fails.
//!
//! The set of answers is part of the contract: clients of OpenCode branch on the status and on the body's shape, so both are
//! the reference's (reference-storage 8), and a new one is a change of the interface. The reference has four shapes:
//!
//! | shape | where |
//! |---|---|
//! | `{"name":"BadRequest","data":{"message","kind"}}` | a parameter, a query or a body does not fit ([`Problem::BadRequest`]) |
//! | `{"name":"NotFoundError","data":{"message"}}` | a session, message or part is not there ([`Problem::NotFound`]) |
//! | `{"_tag":"BadRequest"}`, `{"_tag":"SessionBusyError",...}` | hand-made refusals ([`Problem::Refused`], [`Problem::Tagged`]) |
//! | `{"name":"UnknownError","data":{"message","ref"}}` | anything else; `ref` finds the line in the log ([`Problem::Internal`]) |
//!
//! What the client is told and what the log is told are two texts. A client hears about its own request and nothing about
//! the machine: no paths of the database, no SQL, nothing of other sessions. The log hears the whole chain of causes under the
//! reference that the client got, and no text of a conversation. So [`Problem::Internal`] is made from an error and never
//! shows it, and everything else is made from words chosen here.

use annalist_schema::raw::Object;
use annalist_store::Error;
use annalist_store::replay::ReplayError;
use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rand::Rng as _;

/// Which part of a request does not fit: the reference's word for it in `data.kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Params,
    Query,
    Payload,
    Body,
}

impl Where {
    fn word(self) -> &'static str {
        match self {
            Where::Params => "Params",
            Where::Query => "Query",
            Where::Payload => "Payload",
            Where::Body => "Body",
        }
    }
}

/// Why a request was not done.
#[derive(Debug)]
pub(crate) enum Problem {
    /// 400: it does not fit; the message says what was expected, in the reference's words.
    BadRequest { kind: Where, message: String },
    /// 400: it does not fit, and the reference says no more than that.
    Refused,
    /// 404
    NotFound(String),
    /// 404, in the shape of a route or thing that the reference names with a tag: `{"_tag", "requestID", "message"}`.
    Tagged { status: StatusCode, tag: &'static str, field: Option<(&'static str, String)>, message: String },
    /// 409: somebody else was first.
    Conflict(String),
    /// 410: it was there, and was deleted.
    Gone(String),
    /// 413
    TooLarge { limit: u64 },
    /// 415: the body says that it is no JSON.
    MediaType(String),
    /// 403: the request came in under a name that is not this server's.
    Host,
    /// 500: a file of configuration cannot be used; whoever asks works in that folder, so the file is named.
    Config { path: String, message: String },
    /// 500: our fault, or the machine's.
    Internal(Box<dyn std::error::Error + Send + Sync>),
    /// 500 without a cause worth a line in the log: something the reference answers so.
    Unsupported,
    /// 501: this version cannot do it yet.
    NotImplemented(&'static str),
    /// 503: the file is locked, full or can only be read. The message names the next step and no path.
    Unavailable(&'static str),
}

impl Problem {
    /// A body or query that does not fit.
    pub(crate) fn bad(kind: Where, message: impl Into<String>) -> Self {
        Problem::BadRequest { kind, message: message.into() }
    }

    /// A failure that the client cannot do anything about.
    pub(crate) fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Problem::Internal(Box::new(error))
    }

    fn status(&self) -> StatusCode {
        match self {
            Problem::BadRequest { .. } | Problem::Refused => StatusCode::BAD_REQUEST,
            Problem::NotFound(_) => StatusCode::NOT_FOUND,
            Problem::Tagged { status, .. } => *status,
            Problem::Conflict(_) => StatusCode::CONFLICT,
            Problem::Gone(_) => StatusCode::GONE,
            Problem::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Problem::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Problem::Host => StatusCode::FORBIDDEN,
            Problem::Config { .. } | Problem::Internal(_) | Problem::Unsupported => StatusCode::INTERNAL_SERVER_ERROR,
            Problem::NotImplemented(_) => StatusCode::NOT_IMPLEMENTED,
            Problem::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn body(&self) -> Object<'static> {
        match self {
            Problem::BadRequest { kind, message } => named("BadRequest", message, Some(("kind", kind.word()))),
            Problem::Refused => Object::tagged("_tag", "BadRequest"),
            Problem::NotFound(message) => named("NotFoundError", message, None),
            Problem::Tagged { tag, field, message, .. } => {
                let mut body = Object::tagged("_tag", tag);
                if let Some((key, value)) = field {
                    body.set_text(key, value);
                }
                body.set_text("message", message);
                body
            }
            Problem::Conflict(message) => named("ConflictError", message, None),
            Problem::Gone(message) => named("GoneError", message, None),
            Problem::TooLarge { limit } => {
                named("PayloadTooLargeError", &format!("The body is larger than {} MB", limit >> 20), None)
            }
            Problem::MediaType(given) => named("UnsupportedMediaTypeError", &format!("Unsupported content-type: {given}"), None),
            Problem::Host => named("ForbiddenError", "This server answers only to its own name (Host header)", None),
            Problem::Config { path, message } => named("ConfigInvalidError", message, Some(("path", path))),
            Problem::Internal(_) | Problem::Unsupported => {
                let reference = reference();
                if let Problem::Internal(error) = self {
                    tracing::error!(reference, "{}", chain(error.as_ref()));
                }
                named("UnknownError", "Unexpected server error. Check server logs for details.", Some(("ref", &reference)))
            }
            Problem::NotImplemented(message) => named("NotImplementedError", message, None),
            Problem::Unavailable(message) => named("UnavailableError", message, None),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body().to_text()));
        *response.status_mut() = self.status();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

/// The record's errors, at the edge: what a client may do something about keeps its meaning, the rest is ours.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::NotFound { .. } => Problem::NotFound(text),
            Error::Gone { .. } => Problem::Gone(text),
            Error::Replay(ReplayError::Mixed { .. } | ReplayError::NotConsecutive { .. } | ReplayError::Empty) => {
                Problem::bad(Where::Payload, text)
            }
            Error::Conflict { .. } | Error::IdTaken { .. } | Error::Replay { .. } => Problem::Conflict(text),
            Error::Invalid { .. } => Problem::bad(Where::Payload, text),
            Error::BadCursor { .. } => Problem::Refused,
            Error::Busy { .. } => Problem::Unavailable("The database is locked by another program; try again"),
            Error::Full { .. } => Problem::Unavailable("There is no space left for the database"),
            Error::ReadOnly { .. } => Problem::Unavailable("The database can only be read in the form it has"),
            other => Problem::internal(other),
        }
    }
}

fn named(name: &str, message: &str, more: Option<(&str, &str)>) -> Object<'static> {
    let mut data = Object::new();
    data.set_text("message", message);
    if let Some((key, value)) = more {
        data.set_text(key, value);
    }
    let mut body = Object::tagged("name", name);
    body.set("data", data);
    body
}

/// `err_` and eight hex digits, for the client and the log.
fn reference() -> String {
    format!("err_{:08x}", rand::rng().next_u32())
}

fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let more = cause.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        source = cause.source();
    }
    text
}

impl From<annalist_engine::config::ConfigError> for Problem {
    fn from(error: annalist_engine::config::ConfigError) -> Self {
        Problem::Config { path: error.file.to_string_lossy().into_owned(), message: error.problem }
    }
}
