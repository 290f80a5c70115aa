//! OpenAI responses.

use super::block::{Block, Says};
use super::call::Call;
use super::decoder::Machine;
use super::sink::Sink;
use super::{Event, Finish, Metadata, index, metadata, object, present, word};
use crate::usage::Usage;
use annalist_schema::{Json, Object};
use std::collections::BTreeMap;

pub(super) struct Responses {
    key: String,
    items: BTreeMap<Place, Item>,
    /// Whether a tool of ours was called: the reason does not tell.
    called: bool,
    /// Whether there was anything but the frame of the answer.
    begun: bool,
    end: Option<(Finish, Option<String>)>,
    usage: Option<Usage>,
}

/// Where an item stands. Copilot's servers give one item another id in each event, so the number goes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Number(u64),
    Id(String),
}

enum Item {
    Message { block: Block, own: Vec<(&'static str, Json<'static>)>, notes: Vec<String> },
    Thought { id: String, parts: Vec<(u64, Block)>, encrypted: Json<'static> },
    Call { call: Call, custom: bool },
    /// A call that the provider runs: id and name.
    Own(std::sync::Arc<str>, String),
}

fn place(data: &Object<'_>, item: Option<&Object<'_>>) -> Place {
    match index(data, "output_index") {
        Some(number) => Place::Number(number),
        None => Place::Id(word(data, "item_id").or_else(|| word(item?, "id")).unwrap_or_default()),
    }
}

fn copy(of: &Object<'_>, name: &str) -> Json<'static> {
    of.get(name).cloned().map_or_else(Json::null, Json::into_static)
}

impl Responses {
    pub(super) fn new(key: String) -> Self {
        Responses { key, items: BTreeMap::new(), called: false, begun: false, end: None, usage: None }
    }

    fn meta<'m>(&self, members: impl IntoIterator<Item = (&'m str, Json<'static>)>) -> Option<Metadata> {
        Some(metadata(&self.key, members))
    }

    fn added(&mut self, at: Place, item: &Object<'_>, sink: &mut Sink) {
        self.begun = true;
        let kind = item.text("type").unwrap_or_default();
        let id = item.text("id").unwrap_or_default().into_owned();
        let open = match &*kind {
            "message" => {
                let mut own = vec![("itemId", copy(item, "id"))];
                own.extend(present(item, "phase").map(|phase| ("phase", phase.clone().into_static())));
                let block = Block::start(Says::Text, &id, self.meta(own.clone()), sink);
                Item::Message { block, own, notes: Vec::new() }
            }
            "reasoning" => {
                let encrypted = copy(item, "encrypted_content");
                let mut thought = Item::Thought { id, parts: Vec::new(), encrypted };
                self.think(&mut thought, 0, sink);
                thought
            }
            "function_call" | "custom_tool_call" => {
                let Some(name) = word(item, "name") else {
                    return sink.malformed("a tool call without a name", &item.to_text());
                };
                let call = Call::start(word(item, "call_id").or_else(|| word(item, "id")), name, false, sink);
                Item::Call { call, custom: kind == "custom_tool_call" }
            }
            "web_search_call" | "file_search_call" | "code_interpreter_call" | "image_generation_call" | "mcp_call" => {
                let name = word(item, "name").unwrap_or_else(|| kind.trim_end_matches("_call").to_owned());
                let mut call = Call::start(Some(id).filter(|id| !id.is_empty()), name, true, sink);
                let own = Item::Own(call.id().clone(), call.name().to_owned());
                call.piece(item.get("arguments").filter(|arguments| arguments.as_str() != "\"\""), sink);
                call.end(None, sink);
                own
            }
            // There is nothing to show of anything else.
            _ => return,
        };
        self.items.insert(at, open);
    }

    /// Opens a part of a thought unless it is.
    fn think(&self, thought: &mut Item, part: u64, sink: &mut Sink) {
        let Item::Thought { id, parts, encrypted } = thought else { return };
        if parts.iter().any(|(number, _)| *number == part) {
            return;
        }
        for (_, before) in parts.drain(..) {
            before.end(self.meta([("itemId", Json::text(id))]), sink);
        }
        let own = self.meta([("itemId", Json::text(id)), ("reasoningEncryptedContent", encrypted.clone())]);
        parts.push((part, Block::start(Says::Reasoning, &format!("{id}:{part}"), own, sink)));
    }

    fn done(&mut self, at: Place, item: &Object<'_>, sink: &mut Sink) {
        let mut open = self.items.remove(&at);
        if open.is_none() {
            // Servers that tell of an item only once it is whole.
            self.added(Place::Id(String::new()), item, sink);
            open = self.items.remove(&Place::Id(String::new()));
        }
        match open {
            Some(Item::Message { mut block, mut own, notes }) => {
                if !block.has_begun() {
                    for content in item.get("content").and_then(Json::as_array).unwrap_or_default() {
                        let content = content.as_object().unwrap_or_default();
                        block.piece(content.get("text").or_else(|| content.get("refusal")), None, sink);
                    }
                }
                own.retain(|(name, _)| *name != "itemId");
                own.insert(0, ("itemId", copy(item, "id")));
                if let (Some(phase), false) = (present(item, "phase"), own.iter().any(|(name, _)| *name == "phase")) {
                    own.push(("phase", phase.clone().into_static()));
                }
                if let Ok(list) = Json::parse(format!("[{}]", notes.join(","))).map(Json::into_static)
                    && !notes.is_empty()
                {
                    own.push(("annotations", list));
                }
                block.end(self.meta(own), sink);
            }
            Some(Item::Thought { id, mut parts, .. }) => {
                if let Some((_, block)) = parts.last_mut().filter(|(number, block)| *number == 0 && !block.has_begun()) {
                    for summary in item.get("summary").and_then(Json::as_array).unwrap_or_default() {
                        block.piece(summary.as_object().unwrap_or_default().get("text"), None, sink);
                    }
                }
                for (_, block) in parts {
                    let encrypted = copy(item, "encrypted_content");
                    block.end(self.meta([("itemId", Json::text(&id)), ("reasoningEncryptedContent", encrypted)]), sink);
                }
            }
            Some(Item::Call { mut call, custom }) => {
                self.called = true;
                if custom {
                    // Its input is any text; the arguments of a call are JSON.
                    call.raw(copy(item, "input").as_str(), sink);
                } else if !call.has_begun() {
                    call.piece(item.get("arguments"), sink);
                }
                let mut own = vec![("itemId", copy(item, "id"))];
                own.extend(present(item, "namespace").map(|space| ("namespace", space.clone().into_static())));
                call.end(self.meta(own), sink);
            }
            Some(Item::Own(id, name)) => {
                let is_error = present(item, "error").is_some();
                let result = Json::from(item.borrowed());
                sink.push(Event::ToolResult { id, name, result, is_error });
            }
            None => {}
        }
    }

    fn text(&mut self, data: &Object<'_>, sink: &mut Sink) {
        let at = place(data, None);
        if !self.items.contains_key(&at) {
            // Servers that leave the beginning out.
            let mut item = Object::tagged("type", "message");
            item.set("id", copy(data, "item_id"));
            self.added(place(data, None), &item, sink);
        }
        if let Some(Item::Message { block, .. }) = self.items.get_mut(&at) {
            block.piece(data.get("delta"), None, sink);
        }
    }

    fn thought(&mut self, data: &Object<'_>, delta: Option<&Json<'_>>, sink: &mut Sink) {
        let at = place(data, None);
        let part = index(data, "summary_index").unwrap_or(0);
        let Some(mut thought) = self.items.remove(&at) else { return };
        self.think(&mut thought, part, sink);
        if let Item::Thought { parts, .. } = &mut thought
            && let Some((_, block)) = parts.iter_mut().find(|(number, _)| *number == part)
        {
            block.piece(delta, None, sink);
        }
        self.items.insert(at, thought);
    }

    /// The last event, which has the whole answer in it once more.
    fn whole(&mut self, data: &Object<'_>, sink: &mut Sink) {
        let response = object(data, "response").unwrap_or_default();
        self.usage = object(&response, "usage").map(|usage| Usage::responses(&usage)).or(self.usage.take());
        if !self.begun {
            for item in response.get("output").and_then(Json::as_array).unwrap_or_default() {
                if let Some(item) = item.as_object() {
                    self.done(Place::Id(String::new()), &item, sink);
                }
            }
        }
        let reason = object(&response, "incomplete_details").and_then(|details| word(&details, "reason"));
        let finish = match reason.as_deref() {
            Some("max_output_tokens") => Finish::Length,
            Some("content_filter") => Finish::ContentFilter,
            _ if self.called => Finish::ToolCalls,
            None => Finish::Stop,
            Some(_) => Finish::Unknown,
        };
        self.end = Some((finish, reason));
        self.finish(sink);
    }

    /// Items that are still open here never got their end: what was said stays, a call that is not whole is none.
    fn finish(&mut self, sink: &mut Sink) {
        for (_, item) in std::mem::take(&mut self.items) {
            match item {
                Item::Message { block, own, .. } => block.end(self.meta(own), sink),
                Item::Thought { id, parts, encrypted } => {
                    for (_, block) in parts {
                        let own = [("itemId", Json::text(&id)), ("reasoningEncryptedContent", encrypted.clone())];
                        block.end(self.meta(own), sink);
                    }
                }
                Item::Call { call, .. } if call.is_whole() => {
                    self.called = true;
                    call.end(None, sink);
                }
                Item::Call { .. } | Item::Own(..) => {}
            }
        }
        let (reason, raw) = self.end.take().unwrap_or((Finish::Unknown, None));
        sink.finish(reason, raw, self.usage.unwrap_or_default());
    }
}

impl Machine for Responses {
    fn data(&mut self, name: Option<&str>, data: &Object<'_>, sink: &mut Sink) {
        let kind = word(data, "type").or_else(|| name.map(str::to_owned)).unwrap_or_default();
        match kind.as_str() {
            "response.output_item.added" => {
                if let Some(item) = object(data, "item") {
                    self.added(place(data, Some(&item)), &item, sink);
                }
            }
            "response.output_item.done" => {
                if let Some(item) = object(data, "item") {
                    self.begun = true;
                    self.done(place(data, Some(&item)), &item, sink);
                }
            }
            "response.output_text.delta" | "response.refusal.delta" => self.text(data, sink),
            "response.output_text.annotation.added" => {
                if let Some(Item::Message { notes, .. }) = self.items.get_mut(&place(data, None)) {
                    notes.extend(present(data, "annotation").map(|note| note.as_str().to_owned()));
                }
            }
            "response.reasoning_summary_part.added" => self.thought(data, None, sink),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => self.thought(data, data.get("delta"), sink),
            "response.function_call_arguments.delta" => {
                if let Some(Item::Call { call, .. }) = self.items.get_mut(&place(data, None)) {
                    call.piece(data.get("delta"), sink);
                }
            }
            "response.completed" | "response.incomplete" => self.whole(data, sink),
            "response.failed" => {
                let response = object(data, "response").unwrap_or_default();
                match present(&response, "error") {
                    // The form that errors inside of a stream have here.
                    Some(error) => {
                        let mut told = Object::tagged("type", "error");
                        told.set("error", error.clone());
                        sink.provider(&told.into());
                    }
                    None => sink.provider(&data.borrowed().into()),
                }
            }
            "error" => sink.provider(&data.borrowed().into()),
            // The many events that tell again what others told.
            _ => {
                if present(data, "error").is_some() {
                    sink.provider(&data.borrowed().into());
                }
            }
        }
    }

    fn done(&mut self, sink: &mut Sink) {
        self.finish(sink);
    }

    fn end(&mut self, sink: &mut Sink) {
        sink.cut(self.usage.unwrap_or_default());
    }
}
