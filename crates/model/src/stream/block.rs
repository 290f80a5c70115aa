//! Texts and thoughts while they are being written.

use super::sink::Sink;
use super::{Event, Metadata};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, unescape};
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    Text,
    Reasoning,
}

pub(super) struct Block {
    says: Says,
    id: Arc<str>,
    half: Half,
    /// Whether anything was said.
    begun: bool,
}

impl Block {
    pub(super) fn start(says: Says, id: &str, metadata: Option<Metadata>, sink: &mut Sink) -> Self {
        let id: Arc<str> = id.into();
        sink.push(match says {
            Says::Text => Event::TextStart { id: id.clone(), metadata },
            Says::Reasoning => Event::ReasoningStart { id: id.clone(), metadata },
        });
        Block { says, id, half: Half::default(), begun: false }
    }

    pub(super) fn says(&self) -> Says {
        self.says
    }

    pub(super) fn has_begun(&self) -> bool {
        self.begun
    }

    /// A piece, as JSON string. Anything else is no piece.
    pub(super) fn piece(&mut self, json: Option<&Json<'_>>, metadata: Option<Metadata>, sink: &mut Sink) {
        let delta = json.map(|json| self.half.join(json)).unwrap_or_default();
        self.push(delta, metadata, sink);
    }

    pub(super) fn end(mut self, metadata: Option<Metadata>, sink: &mut Sink) {
        let rest = self.half.rest();
        self.push(rest, None, sink);
        let id = self.id;
        sink.push(match self.says {
            Says::Text => Event::TextEnd { id, metadata },
            Says::Reasoning => Event::ReasoningEnd { id, metadata },
        });
    }

    fn push(&mut self, delta: String, metadata: Option<Metadata>, sink: &mut Sink) {
        if delta.is_empty() && metadata.is_none() {
            return;
        }
        self.begun |= !delta.is_empty();
        let id = self.id.clone();
        sink.push(match self.says {
            Says::Text => Event::TextDelta { id, delta, metadata },
            Says::Reasoning => Event::ReasoningDelta { id, delta, metadata },
        });
    }
}

/// The first half of a surrogate pair at the end of a piece. Servers that count in UTF-16 cut texts inside of a character.
#[derive(Default)]
pub(super) struct Half(String);

impl Half {
    /// A JSON string as text, with the half that was left over before, without the one that is left over now.
    pub(super) fn join(&mut self, json: &Json<'_>) -> String {
        if json.kind() != Kind::String {
            return String::new();
        }
        let written = json.as_str();
        let inside = &written[1..written.len() - 1];
        let (said, left) = inside.split_at(inside.len() - ends_in_half(inside));
        let before = std::mem::replace(&mut self.0, left.to_owned());
        match before.as_str() {
            "" => unescape(said).0.into_owned(),
            // It still waits if the piece was empty.
            _ if inside.is_empty() => {
                self.0 = before;
                String::new()
            }
            _ => unescape(&(before + said)).0.into_owned(),
        }
    }

    /// What waits for its other half in vain.
    pub(super) fn rest(&mut self) -> String {
        unescape(&std::mem::take(&mut self.0)).0.into_owned()
    }
}

/// How many bytes the escaped first half at the end of a text takes, if there is one.
fn ends_in_half(inside: &str) -> usize {
    let bytes = inside.as_bytes();
    let Some(at) = bytes.len().checked_sub(6) else { return 0 };
    let [b'\\', b'u', b'd' | b'D', digit, _, _] = bytes[at..] else { return 0 };
    let escaped = bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1;
    match digit {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' if !escaped => 6,
        _ => 0,
    }
}
