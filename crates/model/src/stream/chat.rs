//! OpenAI chat completions, and everything that calls itself compatible.

use super::block::{Block, Says};
use super::call::Call;
use super::decoder::Machine;
use super::sink::Sink;
use super::{Failure, Finish, Metadata, index, metadata, object, present, word};
use crate::usage::Usage;
use annalist_schema::raw::Kind;
use annalist_schema::{Json, Object};
use std::collections::BTreeMap;

/// Where servers put thoughts.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

pub(super) struct Chat {
    key: String,
    open: Option<Block>,
    blocks: usize,
    /// Calls that are being written. `None` where one is whole.
    calls: Vec<Option<Pending>>,
    /// By the provider's index.
    places: BTreeMap<u64, usize>,
    /// What OpenRouter wants back with a thought: `reasoning_details`, element by element.
    details: Vec<String>,
    /// What Copilot wants back.
    opaque: Option<String>,
    finish: Option<String>,
    usage: Option<Usage>,
}

struct Pending {
    call: Call,
    given: Option<String>,
    signature: Option<String>,
}

impl Chat {
    pub(super) fn new(key: String) -> Self {
        Chat {
            key,
            open: None,
            blocks: 0,
            calls: Vec::new(),
            places: BTreeMap::new(),
            details: Vec::new(),
            opaque: None,
            finish: None,
            usage: None,
        }
    }

    /// A text goes on after calls, but not after a thought: what was said stays in order.
    fn say(&mut self, says: Says, json: &Json<'_>, sink: &mut Sink) {
        if self.open.as_ref().is_some_and(|open| open.says() != says) {
            self.close(sink);
        }
        if self.open.is_none() && json.as_str() == "\"\"" {
            return;
        }
        let blocks = &mut self.blocks;
        let block = self.open.get_or_insert_with(|| {
            let id = format!("{}-{blocks}", if says == Says::Text { "txt" } else { "reasoning" });
            *blocks += 1;
            Block::start(says, &id, None, sink)
        });
        block.piece(Some(json), None, sink);
    }

    fn close(&mut self, sink: &mut Sink) {
        let Some(block) = self.open.take() else { return };
        let mut own: Option<Metadata> = None;
        if block.says() == Says::Reasoning {
            let details = std::mem::take(&mut self.details);
            let details = Json::parse(format!("[{}]", details.join(","))).ok().filter(|list| list.as_str() != "[]");
            own = details.map(|list| metadata(&self.key, [("reasoning_details", list)]));
            if let Some(opaque) = self.opaque.take() {
                let of = metadata("copilot", [("reasoningOpaque", Json::text(&opaque))]);
                let mut all = own.unwrap_or_default();
                of.into_entries().into_iter().for_each(|entry| all.push(entry));
                own = Some(all);
            }
        }
        block.end(own, sink);
    }

    fn delta(&mut self, delta: &Object<'_>, sink: &mut Sink) {
        self.opaque = word(delta, "reasoning_opaque").or(self.opaque.take());
        let details = delta.get("reasoning_details").and_then(Json::as_array).unwrap_or_default();
        self.details.extend(details.iter().map(|detail| detail.as_str().to_owned()));
        match THOUGHTS.iter().find_map(|name| delta.get(name).filter(|json| said(json))) {
            Some(thought) => self.say(Says::Reasoning, thought, sink),
            None => details.iter().filter_map(Json::as_object).for_each(|detail| {
                if let Some(text) = detail.get("text").or_else(|| detail.get("summary")).filter(|json| said(json)) {
                    self.say(Says::Reasoning, text, sink);
                }
            }),
        }
        match delta.get("content").or_else(|| delta.get("refusal")) {
            Some(text) if text.kind() == Kind::String => self.say_text(text, sink),
            Some(list) => self.pieces(list, sink),
            None => {}
        }
        if let Some(refusal) = delta.get("refusal").filter(|json| said(json) && delta.has("content")) {
            self.say(Says::Text, refusal, sink);
        }
        for entry in delta.get("tool_calls").and_then(Json::as_array).unwrap_or_default() {
            if let Some(entry) = entry.as_object() {
                self.call(&entry, sink);
            }
        }
    }

    /// An empty text, as many chunks have it, ends no thought.
    fn say_text(&mut self, text: &Json<'_>, sink: &mut Sink) {
        if said(text) {
            self.say(Says::Text, text, sink);
        }
    }

    /// Mistral's content is a list where it thinks.
    fn pieces(&mut self, list: &Json<'_>, sink: &mut Sink) {
        for piece in list.as_array().unwrap_or_default().iter().filter_map(Json::as_object) {
            match piece.get("thinking") {
                Some(thought) => {
                    for text in thought.as_array().unwrap_or_default().iter().filter_map(Json::as_object) {
                        if let Some(text) = text.get("text").filter(|json| said(json)) {
                            self.say(Says::Reasoning, text, sink);
                        }
                    }
                }
                None => {
                    if let Some(text) = piece.get("text") {
                        self.say_text(text, sink);
                    }
                }
            }
        }
    }

    fn call(&mut self, entry: &Object<'_>, sink: &mut Sink) {
        let function = object(entry, "function").unwrap_or_default();
        let (given, name) = (word(entry, "id"), word(&function, "name"));
        let place = match index(entry, "index") {
            Some(index) => self.places.get(&index).copied(),
            // A piece without a number and a name belongs to what came before.
            None if name.is_none() => self.calls.len().checked_sub(1),
            None => None,
        };
        // Some servers number all calls 0; an id and a name of its own make a new one.
        let place = place.filter(|place| {
            let old = self.calls[*place].as_ref().and_then(|pending| pending.given.as_ref());
            name.is_none() || given.is_none() || old.is_none_or(|old| Some(old) == given.as_ref())
        });
        let place = match place {
            Some(place) => place,
            None => {
                let Some(name) = name else {
                    return sink.malformed("a tool call without a name", &entry.to_text());
                };
                if self.open.as_ref().is_some_and(|open| open.says() == Says::Reasoning) {
                    self.close(sink);
                }
                let call = Call::start(given.clone(), name, false, sink);
                self.calls.push(Some(Pending { call, given, signature: None }));
                let place = self.calls.len() - 1;
                if let Some(index) = index(entry, "index") {
                    self.places.insert(index, place);
                }
                place
            }
        };
        let Some(pending) = &mut self.calls[place] else { return };
        let google = object(entry, "extra_content").and_then(|extra| word(&object(&extra, "google")?, "thought_signature"));
        pending.signature = google.or(pending.signature.take());
        pending.call.piece(function.get("arguments"), sink);
        if pending.call.is_whole() {
            self.call_is_whole(place, sink);
        }
    }

    fn call_is_whole(&mut self, place: usize, sink: &mut Sink) {
        if let Some(Pending { call, signature, .. }) = self.calls[place].take() {
            // The key under which it is sent back, whoever the provider is.
            let own = signature.map(|signature| metadata("google", [("thoughtSignature", Json::text(&signature))]));
            call.end(own, sink);
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        self.close(sink);
        for place in 0..self.calls.len() {
            self.call_is_whole(place, sink);
        }
        if self.finish.as_deref() == Some("network_error") {
            return sink.fail(Failure::NetworkError);
        }
        let reason = match self.finish.as_deref() {
            Some("stop") => Finish::Stop,
            Some("length" | "model_length") => Finish::Length,
            Some("tool_calls" | "function_call") => Finish::ToolCalls,
            Some("content_filter") => Finish::ContentFilter,
            Some("error") => Finish::Error,
            _ => Finish::Unknown,
        };
        sink.finish(reason, self.finish.take(), self.usage.unwrap_or_default());
    }
}

/// A text with something in it.
fn said(json: &Json<'_>) -> bool {
    json.kind() == Kind::String && json.as_str() != "\"\""
}

impl Machine for Chat {
    fn data(&mut self, name: Option<&str>, data: &Object<'_>, sink: &mut Sink) {
        if let Some(error) = present(data, "error") {
            return sink.provider(error);
        }
        if name == Some("error") {
            return sink.provider(&data.borrowed().into());
        }
        let choices = data.get("choices").and_then(Json::as_array).unwrap_or_default();
        let choice = choices.first().and_then(Json::as_object);
        let in_choice = choice.as_ref().and_then(|choice| object(choice, "usage"));
        let usage = object(data, "usage").or(in_choice);
        let groq = object(data, "x_groq");
        if let Some(usage) = usage.or_else(|| object(groq.as_ref()?, "usage")) {
            self.usage = Some(Usage::chat(&usage));
        }
        let Some(choice) = choice else { return };
        self.finish = word(&choice, "finish_reason").or(self.finish.take());
        if let Some(delta) = object(&choice, "delta").or_else(|| object(&choice, "message")) {
            self.delta(&delta, sink);
        }
    }

    fn done(&mut self, sink: &mut Sink) {
        self.finish(sink);
    }

    fn end(&mut self, sink: &mut Sink) {
        match self.finish {
            Some(_) => self.finish(sink),
            None => sink.cut(self.usage.unwrap_or_default()),
        }
    }
}
