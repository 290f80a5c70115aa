//! What a stream says, gathered from its events as a processor would.

use annalist_model::describe::Protocol;
use annalist_model::stream::{Decoder, Event, Failure, Finish, Options, ToolInput};
use annalist_model::usage::Usage;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// An answer.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    /// In the order in which they began, as stored: `type`, `text`, `metadata`; `tool`, `callID`, `input`.
    pub(crate) parts: Vec<Value>,
    pub(crate) finish: Option<(Finish, Usage)>,
    pub(crate) error: Option<Failure>,
}

pub(crate) fn events(protocol: Protocol, options: Options, chunks: &[&[u8]]) -> Vec<Event> {
    events_without_end(protocol, options, chunks, true)
}

pub(crate) fn events_without_end(protocol: Protocol, options: Options, chunks: &[&[u8]], ends: bool) -> Vec<Event> {
    let mut decoder = Decoder::new(protocol, options);
    let mut events = Vec::new();
    for chunk in chunks {
        decoder.feed(chunk);
        events.extend(std::iter::from_fn(|| decoder.next_event()));
    }
    if ends {
        decoder.end();
        events.extend(std::iter::from_fn(|| decoder.next_event()));
        assert!(decoder.is_over());
    }
    events
}

/// Events of a whole body.
pub(crate) fn decode(protocol: Protocol, body: &str) -> Decoded {
    gather(&events(protocol, Options::default(), &[body.as_bytes()]))
}

pub(crate) fn gather(events: &[Event]) -> Decoded {
    let mut all = Decoded::default();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    assert!(matches!(events.first(), Some(Event::StartStep)), "{events:?}");
    for event in &events[1..] {
        assert!(all.finish.is_none() && all.error.is_none(), "{event:?} behind the end");
        match event {
            Event::StartStep => panic!("twice"),
            Event::TextStart { id, metadata } => all.begin("text", id, metadata.as_ref(), &mut places),
            Event::ReasoningStart { id, metadata } => all.begin("reasoning", id, metadata.as_ref(), &mut places),
            Event::TextDelta { id, delta, metadata } => all.go_on("text", id, delta, metadata.as_ref(), &places),
            Event::ReasoningDelta { id, delta, metadata } => all.go_on("reasoning", id, delta, metadata.as_ref(), &places),
            Event::TextEnd { id, metadata } => {
                all.go_on("text", id, "", metadata.as_ref(), &places);
                places.remove(&format!("text {id}")).expect("open");
            }
            Event::ReasoningEnd { id, metadata } => {
                all.go_on("reasoning", id, "", metadata.as_ref(), &places);
                places.remove(&format!("reasoning {id}")).expect("open");
            }
            Event::ToolInputStart { id, name, .. } => {
                let before = places.insert(format!("tool {id}"), all.parts.len());
                assert!(before.is_none(), "two calls {id}");
                all.parts.push(json!({"type": "tool", "callID": &**id, "tool": name, "raw": ""}));
            }
            Event::ToolInputDelta { id, delta } => {
                let part = &mut all.parts[places[&format!("tool {id}")]];
                part["raw"] = (part["raw"].as_str().unwrap().to_owned() + delta).into();
            }
            Event::ToolInputEnd { id } => all.parts[places[&format!("tool {id}")]]["whole"] = true.into(),
            Event::ToolCall { id, name, input, metadata, .. } => {
                let part = &mut all.parts[places[&format!("tool {id}")]];
                assert_eq!((&part["whole"], part["tool"].as_str()), (&Value::Bool(true), Some(name.as_str())));
                match input {
                    ToolInput::Json(json) => part["input"] = serde_json::from_str(json.as_str()).unwrap(),
                    ToolInput::NotJson(text) => part["not json"] = text.as_str().into(),
                }
                if let Some(metadata) = metadata {
                    part["metadata"] = serde_json::from_str(&metadata.to_text()).unwrap();
                }
            }
            Event::ToolResult { id, result, is_error, .. } => {
                let part = &mut all.parts[places[&format!("tool {id}")]];
                part["result"] = serde_json::from_str(result.as_str()).unwrap();
                part["is error"] = (*is_error).into();
            }
            Event::FinishStep { reason, usage, .. } => {
                assert!(!places.keys().any(|key| !key.starts_with("tool")), "left open: {places:?}");
                all.finish = Some((*reason, *usage));
            }
            Event::Error(failure) => all.error = Some(failure.clone()),
            other => panic!("{other:?}"),
        }
    }
    all
}

impl Decoded {
    fn begin(&mut self, kind: &str, id: &str, own: Option<&annalist_model::stream::Metadata>, places: &mut BTreeMap<String, usize>) {
        let before = places.insert(format!("{kind} {id}"), self.parts.len());
        assert!(before.is_none(), "{kind} {id} is open already");
        self.parts.push(json!({"type": kind, "text": ""}));
        self.go_on(kind, id, "", own, places);
    }

    fn go_on(&mut self, kind: &str, id: &str, delta: &str, own: Option<&annalist_model::stream::Metadata>, places: &BTreeMap<String, usize>) {
        let part = &mut self.parts[places[&format!("{kind} {id}")]];
        part["text"] = (part["text"].as_str().unwrap().to_owned() + delta).into();
        if let Some(own) = own {
            part["metadata"] = serde_json::from_str(&own.to_text()).unwrap();
        }
    }

    /// The parts of a kind, member by member.
    pub(crate) fn all(&self, kind: &str, member: &str) -> Vec<Value> {
        self.parts.iter().filter(|part| part["type"] == kind).map(|part| part[member].clone()).collect()
    }

    pub(crate) fn reason(&self) -> &'static str {
        self.finish.as_ref().expect("finished").0.as_str()
    }

    pub(crate) fn usage(&self) -> Usage {
        self.finish.as_ref().expect("finished").1
    }
}
