//! Anthropic messages.

use super::block::{Block, Says};
use super::call::Call;
use super::decoder::Machine;
use super::sink::Sink;
use super::{Event, Finish, Metadata, index, metadata, object, present, word};
use crate::usage::AnthropicUsage;
use annalist_schema::{Json, Object};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) struct Anthropic {
    key: String,
    open: BTreeMap<u64, Open>,
    /// Calls of the provider's own tools, by its ids.
    own: BTreeMap<String, (Arc<str>, String)>,
    usage: AnthropicUsage,
    stop: Option<String>,
}

enum Open {
    Said { block: Block, citations: Vec<String> },
    Call(Call),
}

impl Anthropic {
    pub(super) fn new(key: String) -> Self {
        Anthropic { key, open: BTreeMap::new(), own: BTreeMap::new(), usage: AnthropicUsage::default(), stop: None }
    }

    fn meta<const N: usize>(&self, members: [(&str, Json<'static>); N]) -> Option<Metadata> {
        Some(metadata(&self.key, members))
    }

    fn start(&mut self, at: u64, content: &Object<'_>, sink: &mut Sink) {
        let kind = content.text("type").unwrap_or_default();
        let id = at.to_string();
        let open = match &*kind {
            "text" => self.said(Says::Text, &id, None, content.get("text"), sink),
            "compaction" => {
                let own = self.meta([("type", Json::text("compaction"))]);
                self.said(Says::Text, &id, own, content.get("content"), sink)
            }
            "thinking" => self.said(Says::Reasoning, &id, None, content.get("thinking"), sink),
            "redacted_thinking" => {
                let data = content.get("data").cloned().map_or_else(Json::null, Json::into_static);
                let own = self.meta([("redactedData", data)]);
                self.said(Says::Reasoning, &id, own, None, sink)
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                let given = word(content, "id");
                let Some(name) = word(content, "name") else {
                    return sink.malformed("a tool call without a name", &content.to_text());
                };
                let own = kind != "tool_use";
                let mut call = Call::start(given.clone(), name, own, sink);
                if let (true, Some(given)) = (own, given) {
                    self.own.insert(given, (call.id().clone(), call.name().to_owned()));
                }
                // An empty object stands for what is still to come.
                if let Some(input) = object(content, "input").filter(|input| !input.is_empty()) {
                    call.piece(Some(&input.into()), sink);
                }
                Open::Call(call)
            }
            // Whatever this is, there is nothing to show of it.
            _ => return self.result(&kind, content, sink),
        };
        // A block whose number is taken was left open.
        self.stop(at, sink);
        self.open.insert(at, open);
    }

    fn said(&self, says: Says, id: &str, own: Option<Metadata>, text: Option<&Json<'_>>, sink: &mut Sink) -> Open {
        let mut block = Block::start(says, id, own, sink);
        block.piece(text, None, sink);
        Open::Said { block, citations: Vec::new() }
    }

    /// What a tool of the provider's own gave, such as `web_search_tool_result`.
    fn result(&self, kind: &str, content: &Object<'_>, sink: &mut Sink) {
        let Some((id, name)) = content.text("tool_use_id").and_then(|id| self.own.get(&*id)) else { return };
        if !kind.ends_with("tool_result") {
            return;
        }
        let result = content.get("content").cloned().map_or_else(Json::null, Json::into_static);
        let inner = result.as_object().is_some_and(|inner| inner.text("type").is_some_and(|kind| kind.ends_with("_error")));
        let is_error = inner || content.get("is_error").and_then(Json::as_bool) == Some(true);
        sink.push(Event::ToolResult { id: id.clone(), name: name.clone(), result, is_error });
    }

    fn delta(&mut self, at: u64, delta: &Object<'_>, sink: &mut Sink) {
        let kind = delta.text("type").unwrap_or_default();
        let signature = (kind == "signature_delta").then(|| present(delta, "signature").cloned().map(Json::into_static));
        let own = signature.flatten().and_then(|signature| self.meta([("signature", signature)]));
        // Servers that only look like Anthropic's leave the beginning of a block out.
        let says = match &*kind {
            "text_delta" => Some(Says::Text),
            "thinking_delta" => Some(Says::Reasoning),
            _ => None,
        };
        if let (Some(says), false) = (says, self.open.contains_key(&at)) {
            let open = self.said(says, &at.to_string(), None, None, sink);
            self.open.insert(at, open);
        }
        match (&*kind, self.open.get_mut(&at)) {
            ("text_delta", Some(Open::Said { block, .. })) => block.piece(delta.get("text"), None, sink),
            ("thinking_delta", Some(Open::Said { block, .. })) => block.piece(delta.get("thinking"), None, sink),
            ("compaction_delta", Some(Open::Said { block, .. })) => block.piece(delta.get("content"), None, sink),
            ("signature_delta", Some(Open::Said { block, .. })) if block.says() == Says::Reasoning => {
                block.piece(None, own, sink);
            }
            ("citations_delta", Some(Open::Said { citations, .. })) => {
                let from_the_web = |citation: &Object<'_>| word(citation, "type").as_deref() == Some("web_search_result_location");
                if let Some(citation) = object(delta, "citation").filter(from_the_web) {
                    citations.push(citation.to_text());
                }
            }
            ("input_json_delta", Some(Open::Call(call))) => call.piece(delta.get("partial_json"), sink),
            _ => {}
        }
    }

    fn stop(&mut self, at: u64, sink: &mut Sink) {
        match self.open.remove(&at) {
            Some(Open::Said { block, citations }) => {
                let list = Json::parse(format!("[{}]", citations.join(","))).ok().filter(|_| !citations.is_empty());
                let own = list.and_then(|list| self.meta([("citations", list)]));
                block.end(own, sink);
            }
            Some(Open::Call(call)) => call.end(None, sink),
            None => {}
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        while let Some((&at, _)) = self.open.first_key_value() {
            self.stop(at, sink);
        }
        let reason = match self.stop.as_deref() {
            Some("end_turn" | "stop_sequence" | "pause_turn") => Finish::Stop,
            Some("tool_use") => Finish::ToolCalls,
            Some("max_tokens" | "model_context_window_exceeded") => Finish::Length,
            Some("refusal") => Finish::ContentFilter,
            _ => Finish::Unknown,
        };
        sink.finish(reason, self.stop.take(), self.usage.so_far());
    }
}

impl Machine for Anthropic {
    fn data(&mut self, name: Option<&str>, data: &Object<'_>, sink: &mut Sink) {
        let kind = word(data, "type").or_else(|| name.map(str::to_owned)).unwrap_or_default();
        let at = index(data, "index").unwrap_or(0);
        match kind.as_str() {
            "message_start" => {
                let message = object(data, "message").unwrap_or_default();
                self.stop = word(&message, "stop_reason").or(self.stop.take());
                if let Some(usage) = object(&message, "usage") {
                    self.usage.report(&usage);
                }
            }
            "content_block_start" => {
                let content = object(data, "content_block").unwrap_or_default();
                self.start(at, &content, sink);
            }
            "content_block_delta" => self.delta(at, &object(data, "delta").unwrap_or_default(), sink),
            "content_block_stop" => self.stop(at, sink),
            "message_delta" => {
                let delta = object(data, "delta").unwrap_or_default();
                self.stop = word(&delta, "stop_reason").or(self.stop.take());
                if let Some(usage) = object(data, "usage") {
                    self.usage.report(&usage);
                }
            }
            "message_stop" => self.finish(sink),
            "error" => match present(data, "error") {
                Some(error) => sink.provider(error),
                None => sink.provider(&data.borrowed().into()),
            },
            // Pings, and what later versions add.
            _ => {
                if let Some(error) = present(data, "error") {
                    sink.provider(error);
                }
            }
        }
    }

    fn done(&mut self, sink: &mut Sink) {
        self.end(sink);
    }

    fn end(&mut self, sink: &mut Sink) {
        match self.stop {
            Some(_) => self.finish(sink),
            None => sink.cut(self.usage.so_far()),
        }
    }
}
