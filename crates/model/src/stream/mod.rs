//! A provider's streamed answer as events.
//!
//! ```
//! use annalist_model::describe::Protocol;
//! use annalist_model::stream::{Decoder, Event, Options};
//!
//! let mut decoder = Decoder::new(Protocol::Chat, Options::default());
//! let mut said = String::new();
//! // Bytes as they come off the wire, cut anywhere.
//! for bytes in [&b"data: {\"choices\":[{\"delta\":{\"content\":\"hel"[..], b"lo\"}}]}\n\ndata: [DO", b"NE]\n\n"] {
//!     decoder.feed(bytes);
//!     while let Some(event) = decoder.next_event() {
//!         if let Event::TextDelta { delta, .. } = event {
//!             said.push_str(&delta);
//!         }
//!     }
//! }
//! decoder.end();
//! assert_eq!(said, "hello");
//! ```
//!
//! The names are those of the reference (reference 3.2). An answer is a [`Event::StartStep`], what it is made of, and then
//! either one [`Event::FinishStep`] or one [`Event::Error`]; nothing comes after those. How the bytes were cut into pieces
//! makes no difference.

mod anthropic;
mod block;
mod call;
mod chat;
mod decoder;
mod failure;
mod google;
mod responses;
mod sink;
mod sse;

pub use decoder::{Decoder, Options};
pub use failure::Failure;

use crate::usage::Usage;
use annalist_schema::{Json, Object};
use std::fmt;
use std::sync::Arc;

/// What a provider wants back with a part, under its own key: `{"anthropic": {"signature": …}}`.
pub type Metadata = Object<'static>;

/// A piece of an answer.
///
/// Ids tell blocks that are open at the same time apart; they are the provider's where it gave any. Those of calls are
/// never empty and never given out twice in an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are told once, with the first event that has them")]
pub enum Event {
    /// The provider has taken the request.
    StartStep,
    /// A text begins.
    TextStart {
        /// The block; its other events have the same.
        id: Arc<str>,
        /// Takes the place of what was there, if any.
        metadata: Option<Metadata>,
    },
    /// A text goes on. `delta` is only empty if there is metadata.
    TextDelta { id: Arc<str>, delta: String, metadata: Option<Metadata> },
    /// A text is whole.
    TextEnd { id: Arc<str>, metadata: Option<Metadata> },
    /// A thought begins.
    ReasoningStart { id: Arc<str>, metadata: Option<Metadata> },
    /// A thought goes on. `delta` is only empty if there is metadata, such as the signature.
    ReasoningDelta { id: Arc<str>, delta: String, metadata: Option<Metadata> },
    /// A thought is whole.
    ReasoningEnd { id: Arc<str>, metadata: Option<Metadata> },
    /// A call of a tool begins.
    ToolInputStart {
        id: Arc<str>,
        /// The tool, as the model names it.
        name: String,
        /// The provider runs it, not we.
        provider_executed: bool,
    },
    /// The text of the arguments goes on.
    ToolInputDelta { id: Arc<str>, delta: String },
    /// The text of the arguments is whole.
    ToolInputEnd { id: Arc<str> },
    /// A call is whole and can be run.
    ToolCall { id: Arc<str>, name: String, input: ToolInput, provider_executed: bool, metadata: Option<Metadata> },
    /// What the provider's own tool gave, as the provider has it.
    ToolResult { id: Arc<str>, name: String, result: Json<'static>, is_error: bool },
    /// The answer is whole.
    FinishStep {
        /// Why it ended.
        reason: Finish,
        /// The same in the provider's own word, where it said one.
        raw: Option<String>,
        /// What it took.
        usage: Usage,
    },
    /// The answer will not become whole. Blocks that are open stay open.
    Error(Failure),
}

/// The arguments of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolInput {
    /// Well-formed, most likely an object; no arguments at all are `{}`.
    Json(Json<'static>),
    /// What the model wrote in their place.
    NotJson(String),
}

/// Why an answer ended (reference 3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Finish {
    /// The model had said all.
    Stop,
    /// It was not allowed to say more.
    Length,
    /// It waits for the results of its calls.
    ToolCalls,
    /// The provider would not let it say that.
    ContentFilter,
    /// The provider says that it failed.
    Error,
    /// No reason, or one that nobody knows.
    Unknown,
}

impl Finish {
    /// As it is stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::ToolCalls => "tool-calls",
            Finish::ContentFilter => "content-filter",
            Finish::Error => "error",
            Finish::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Finish {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// `{key: {name: value, …}}`
fn metadata<'m>(key: &str, members: impl IntoIterator<Item = (&'m str, Json<'static>)>) -> Metadata {
    let mut inner = Object::new();
    for (name, value) in members {
        inner.set(name, value);
    }
    let mut outer = Object::new();
    outer.set(key, inner);
    outer
}

/// A member that is an object.
fn object<'j>(of: &'j Object<'_>, name: &str) -> Option<Object<'j>> {
    of.get(name)?.as_object()
}

/// A member that is a text with something in it.
fn word(of: &Object<'_>, name: &str) -> Option<String> {
    of.text(name).filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned)
}

/// A member that is there and not `null`.
fn present<'j>(of: &'j Object<'_>, name: &str) -> Option<&'j Json<'j>> {
    of.get(name).filter(|json| json.kind() != annalist_schema::raw::Kind::Null)
}

/// A member that counts from 0.
fn index(of: &Object<'_>, name: &str) -> Option<u64> {
    of.get(name)?.as_number()?.as_u64()
}
