//! Calls of tools while they are being written.

use super::block::Half;
use super::sink::Sink;
use super::{Event, Metadata, ToolInput};
use annalist_schema::Json;
use annalist_schema::raw::compact;
use std::sync::Arc;

pub(super) struct Call {
    id: Arc<str>,
    name: String,
    provider_executed: bool,
    text: String,
    half: Half,
    nesting: Nesting,
}

impl Call {
    pub(super) fn start(id: Option<String>, name: String, provider_executed: bool, sink: &mut Sink) -> Self {
        let id = sink.call_id(id);
        sink.push(Event::ToolInputStart { id: id.clone(), name: name.clone(), provider_executed });
        Call { id, name, provider_executed, text: String::new(), half: Half::default(), nesting: Nesting::default() }
    }

    pub(super) fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn has_begun(&self) -> bool {
        !self.text.is_empty()
    }

    /// A piece of the arguments' text as JSON string, or the arguments themselves.
    pub(super) fn piece(&mut self, json: Option<&Json<'_>>, sink: &mut Sink) {
        use annalist_schema::raw::Kind;
        let delta = match json {
            Some(json) if json.kind() == Kind::String => self.half.join(json),
            Some(json) if json.kind() != Kind::Null => return self.raw(json.as_str(), sink),
            _ => return,
        };
        self.push(delta, sink);
    }

    /// Arguments that are JSON already.
    pub(super) fn raw(&mut self, json: &str, sink: &mut Sink) {
        self.push(compact(json), sink);
    }

    /// Whether the arguments are an object or an array that nothing can follow.
    pub(super) fn is_whole(&self) -> bool {
        self.nesting.closed && Json::parse(self.text.as_str()).is_ok()
    }

    /// The arguments are what they are.
    pub(super) fn end(mut self, metadata: Option<Metadata>, sink: &mut Sink) {
        let rest = self.half.rest();
        self.push(rest, sink);
        sink.push(Event::ToolInputEnd { id: self.id.clone() });
        let text = if self.text.trim().is_empty() { "{}".to_owned() } else { self.text };
        let input = match Json::parse(text.as_str()) {
            Ok(json) => ToolInput::Json(json.into_static()),
            Err(_) => ToolInput::NotJson(text),
        };
        let Call { id, name, provider_executed, .. } = Call { text: String::new(), ..self };
        sink.push(Event::ToolCall { id, name, input, provider_executed, metadata });
    }

    fn push(&mut self, delta: String, sink: &mut Sink) {
        if delta.is_empty() {
            return;
        }
        self.nesting.go_on(&delta);
        self.text.push_str(&delta);
        sink.push(Event::ToolInputDelta { id: self.id.clone(), delta });
    }
}

/// Brackets that are open. It is asked after each piece whether the arguments are whole, and parsing them all each time
/// would be quadratic.
#[derive(Default)]
struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    closed: bool,
}

impl Nesting {
    fn go_on(&mut self, text: &str) {
        for byte in text.bytes() {
            match byte {
                _ if std::mem::take(&mut self.escaped) => {}
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    self.closed = false;
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    self.closed = self.depth == 0;
                }
                _ => {}
            }
        }
    }
}
