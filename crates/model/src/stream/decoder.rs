//! Bytes in, events out.

use super::anthropic::Anthropic;
use super::chat::Chat;
use super::google::Google;
use super::responses::Responses;
use super::sink::Sink;
use super::sse::Frames;
use super::{Event, Failure};
use crate::describe::{Model, Protocol};
use annalist_schema::{Json, Object};

/// How a stream is read.
#[derive(Debug, Clone)]
pub struct Options {
    /// Of a line, and of an event of many lines, in bytes.
    pub longest: usize,
    /// The key of the metadata: `openai` for OpenAI's own responses, `vertex` for Google's models there, ….
    /// Nothing: that of the protocol ([`Protocol::metadata_key`]).
    pub metadata_key: Option<String>,
    /// Calls that come without an id get this, an underscore and a number. It should not occur in the history before, so
    /// the id of the message is a good one.
    pub call_prefix: String,
}

impl Default for Options {
    /// 10 MiB a line; made-up ids begin with `call`.
    fn default() -> Self {
        Options { longest: 10 << 20, metadata_key: None, call_prefix: "call".to_owned() }
    }
}

impl Options {
    /// The usual options for an answer of a model that becomes a message.
    #[must_use]
    pub fn new(model: &Model, message_id: &str) -> Self {
        // Where the reference's packages keep their own key for a protocol that several share.
        let key = match model.npm.as_str() {
            "@ai-sdk/azure" => Some("azure"),
            "@ai-sdk/google-vertex" => Some("vertex"),
            "@ai-sdk/github-copilot" => Some("copilot"),
            _ => None,
        };
        Options { metadata_key: key.map(str::to_owned), call_prefix: message_id.to_owned(), ..Options::default() }
    }
}

/// Turns the body of a streamed answer into events.
pub struct Decoder {
    frames: Frames,
    machine: Box<dyn Machine + Send>,
    sink: Sink,
}

/// A protocol's own state.
pub(super) trait Machine {
    /// An event's data.
    fn data(&mut self, name: Option<&str>, data: &Object<'_>, sink: &mut Sink);
    /// The sentinel that ends a stream of OpenAI's.
    fn done(&mut self, sink: &mut Sink);
    /// No more bytes.
    fn end(&mut self, sink: &mut Sink);
}

impl std::fmt::Debug for Decoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Decoder").field("is_over", &self.is_over()).finish_non_exhaustive()
    }
}

impl Decoder {
    /// A decoder for one answer. [`Event::StartStep`] waits already.
    #[must_use]
    pub fn new(protocol: Protocol, options: Options) -> Self {
        let key = options.metadata_key.unwrap_or_else(|| protocol.metadata_key().to_owned());
        let machine: Box<dyn Machine + Send> = match protocol {
            Protocol::Chat => Box::new(Chat::new(key)),
            Protocol::Responses => Box::new(Responses::new(key)),
            Protocol::Anthropic => Box::new(Anthropic::new(key)),
            Protocol::Google => Box::new(Google::new(key)),
        };
        Decoder { frames: Frames::new(options.longest), machine, sink: Sink::new(options.call_prefix) }
    }

    /// Takes bytes of the body, any number of them.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.sink.is_over() {
            return;
        }
        let Decoder { frames, machine, sink } = self;
        let limit = frames.feed(bytes, &mut |name, data| frame(name, data, false, machine, sink));
        self.bounded(limit.is_err());
    }

    /// The body has ended.
    pub fn end(&mut self) {
        if self.sink.is_over() {
            return;
        }
        let Decoder { frames, machine, sink } = self;
        let limit = frames.end(&mut |name, data| frame(name, data, true, machine, sink));
        self.bounded(limit.is_err());
        if let Some(body) = self.frames.other() {
            let error = Object::parse(&body).ok().and_then(|object| super::present(&object, "error").map(|_| object.to_text()));
            match error.and_then(|text| Json::parse(text).ok()) {
                Some(error) => self.sink.provider(&error),
                None => self.sink.fail(Failure::NotAStream { body: body.into_owned() }),
            }
        }
        if !self.sink.is_over() {
            self.machine.end(&mut self.sink);
        }
    }

    /// The next event that is whole.
    pub fn next_event(&mut self) -> Option<Event> {
        self.sink.pop()
    }

    /// Whether nothing can come any more, so that the connection can be closed.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.sink.is_over() && self.sink.is_empty()
    }

    fn bounded(&mut self, too_long: bool) {
        if too_long {
            self.sink.fail(Failure::TooLong { limit: self.frames.limit() });
        }
    }
}

fn frame(name: Option<&str>, data: &str, last: bool, machine: &mut Box<dyn Machine + Send>, sink: &mut Sink) {
    let data = data.trim();
    if sink.is_over() || data.is_empty() {
        return;
    }
    if data == "[DONE]" {
        return machine.done(sink);
    }
    match Object::parse(data) {
        Ok(object) => {
            sink.note_copilot(&object);
            machine.data(name, &object, sink);
        }
        // The last event may have been cut off.
        Err(_) if last => {}
        Err(malformed) => sink.malformed(&malformed.to_string(), data),
    }
}
