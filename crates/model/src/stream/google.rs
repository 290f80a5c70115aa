//! Google generative language (`streamGenerateContent?alt=sse`).

use super::block::{Block, Says};
use super::call::Call;
use super::decoder::Machine;
use super::sink::Sink;
use super::{Event, Finish, Metadata, metadata, object, present, word};
use crate::usage::Usage;
use annalist_schema::{Json, Object};
use std::sync::Arc;

pub(super) struct Google {
    key: String,
    open: Option<Block>,
    blocks: usize,
    /// Whether a tool of ours was called: the reason does not tell.
    called: bool,
    /// The code that Google runs, until it tells what came out.
    code: Option<Arc<str>>,
    finish: Option<String>,
    /// The prompt was refused, in place of an answer.
    blocked: Option<String>,
    usage: Option<Usage>,
}

/// Google's own tool, as the reference names it.
const CODE: &str = "code_execution";

impl Google {
    pub(super) fn new(key: String) -> Self {
        Google { key, open: None, blocks: 0, called: false, code: None, finish: None, blocked: None, usage: None }
    }

    fn part(&mut self, part: &Object<'_>, sink: &mut Sink) {
        let signature = word(part, "thoughtSignature");
        let own = signature.map(|signature| metadata(&self.key, [("thoughtSignature", Json::text(&signature))]));
        if let Some(call) = object(part, "functionCall") {
            self.call(&call, own, sink);
        } else if let Some(code) = object(part, "executableCode") {
            self.close(sink);
            let mut call = Call::start(None, CODE.to_owned(), true, sink);
            self.code = Some(call.id().clone());
            call.piece(Some(&code.into()), sink);
            call.end(own, sink);
        } else if let Some(result) = part.get("codeExecutionResult") {
            if let Some(id) = self.code.take() {
                let result = result.clone().into_static();
                sink.push(Event::ToolResult { id, name: CODE.to_owned(), result, is_error: false });
            }
        } else if let Some(text) = part.get("text") {
            let thought = part.get("thought").and_then(Json::as_bool) == Some(true);
            self.say(if thought { Says::Reasoning } else { Says::Text }, text, own, sink);
        }
    }

    fn say(&mut self, says: Says, text: &Json<'_>, own: Option<Metadata>, sink: &mut Sink) {
        if text.as_str() == "\"\"" {
            // A signature that comes late belongs to what was said last.
            if let (Some(open), Some(_)) = (&mut self.open, &own) {
                open.piece(None, own, sink);
            }
            return;
        }
        if self.open.as_ref().is_some_and(|open| open.says() != says) {
            self.close(sink);
        }
        let blocks = &mut self.blocks;
        let block = self.open.get_or_insert_with(|| {
            let id = blocks.to_string();
            *blocks += 1;
            Block::start(says, &id, own.clone(), sink)
        });
        block.piece(Some(text), own, sink);
    }

    fn call(&mut self, call: &Object<'_>, own: Option<Metadata>, sink: &mut Sink) {
        if present(call, "partialArgs").is_some() || call.get("willContinue").and_then(Json::as_bool) == Some(true) {
            // Only comes if a request asks for it, which ours do not.
            return sink.malformed("arguments in pieces", &call.to_text());
        }
        let Some(name) = word(call, "name") else {
            return sink.malformed("a tool call without a name", &call.to_text());
        };
        self.close(sink);
        let mut open = Call::start(word(call, "id"), name, false, sink);
        open.piece(call.get("args"), sink);
        open.end(own, sink);
        self.called = true;
    }

    fn close(&mut self, sink: &mut Sink) {
        if let Some(open) = self.open.take() {
            open.end(None, sink);
        }
    }

    fn finish(&mut self, sink: &mut Sink) {
        self.close(sink);
        let reason = match (self.finish.as_deref(), &self.blocked) {
            (Some("STOP"), _) if self.called => Finish::ToolCalls,
            (Some("STOP"), _) => Finish::Stop,
            (Some("MAX_TOKENS"), _) => Finish::Length,
            (Some("SAFETY" | "IMAGE_SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"), _) => {
                Finish::ContentFilter
            }
            (Some("MALFORMED_FUNCTION_CALL"), _) => Finish::Error,
            // Whatever was wrong with the prompt.
            (None, Some(_)) => Finish::ContentFilter,
            _ => Finish::Unknown,
        };
        let raw = self.finish.take().or(self.blocked.take());
        sink.finish(reason, raw, self.usage.unwrap_or_default());
    }
}

impl Machine for Google {
    fn data(&mut self, _: Option<&str>, data: &Object<'_>, sink: &mut Sink) {
        if let Some(error) = present(data, "error") {
            return sink.provider(error);
        }
        if let Some(usage) = object(data, "usageMetadata") {
            self.usage = Some(Usage::google(&usage));
        }
        let blocked = object(data, "promptFeedback").and_then(|feedback| word(&feedback, "blockReason"));
        self.blocked = blocked.or(self.blocked.take());
        let candidates = data.get("candidates").and_then(Json::as_array).unwrap_or_default();
        let Some(candidate) = candidates.first().and_then(Json::as_object) else { return };
        let content = object(&candidate, "content").unwrap_or_default();
        for part in content.get("parts").and_then(Json::as_array).unwrap_or_default() {
            if let Some(part) = part.as_object() {
                self.part(&part, sink);
            }
        }
        self.finish = word(&candidate, "finishReason").or(self.finish.take());
    }

    fn done(&mut self, sink: &mut Sink) {
        self.finish(sink);
    }

    /// The reason may come before the last count, so the end of the stream is the end of the answer.
    fn end(&mut self, sink: &mut Sink) {
        if self.finish.is_none() && self.blocked.is_none() {
            return sink.cut(self.usage.unwrap_or_default());
        }
        self.finish(sink);
    }
}
