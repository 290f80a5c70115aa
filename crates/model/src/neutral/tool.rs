//! Calls of tools and their answers (reference 1.3).

use super::assistant::{Pulled, Step, without};
use super::history::Context;
use super::media::{File, is_media};
use super::user::attached;
use super::{Block, Content, Item, Output, ToolCall, ToolResult};
use crate::describe::Model;
use crate::members::Members;
use crate::text::Text;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use std::borrow::Cow;

/// What a model is told about a call that never ended.
pub(crate) const INTERRUPTED: &str = "[Tool execution was interrupted]";
/// What it is told about an answer that was cleared to save space.
const CLEARED: &str = "[Old tool result content cleared]";

/// The metadata of a call that is the provider's.
pub(super) fn call_metadata(json: Json<'_>) -> Option<Json<'_>> {
    without(json, "providerExecuted")
}

pub(super) fn convert<'a>(
    part: &Members<'a>,
    part_id: Cow<'a, str>,
    metadata: Option<Json<'a>>,
    context: &Context<'_>,
    step: &mut Step<'a>,
    files: &mut Vec<Pulled<'a>>,
) {
    let Some(state) = part.inner("state") else { return };
    let Some(output) = output(state, &part_id, context, files) else { return };
    let id = part.string("callID").unwrap_or_default();
    let name = part.string("tool").unwrap_or_default();
    let input = state.json("input").unwrap_or_else(|| Json::from(Object::new()));
    let provider_executed = part.object("metadata").is_some_and(|metadata| metadata.truthy("providerExecuted"));
    let call = ToolCall { id: id.clone(), name: name.clone(), input, provider_executed };
    step.say(Content::new(Block::ToolCall(call), part_id.clone()).with(metadata));
    let result = Content::new(Block::ToolResult(ToolResult { id, name, output }), part_id);
    // What the provider ran itself was answered inside the same message.
    if provider_executed { step.say(result) } else { step.answer(result) }
}

fn output<'a>(state: &Members<'a>, part: &Cow<'a, str>, context: &Context<'_>, files: &mut Vec<Pulled<'a>>) -> Option<Output<'a>> {
    Some(match &*state.string("status")? {
        "completed" => completed(state, part, context, files),
        "error" => {
            // What a command had printed when it was stopped is worth more than the news that it was.
            let metadata = state.object("metadata");
            let printed = metadata.filter(|metadata| metadata.raw("interrupted") == Some("true"));
            match printed.and_then(|metadata| text(&metadata, "output")) {
                Some(printed) => Output::Text(printed),
                None => Output::Error(text(state, "error").unwrap_or_else(|| Text::plain(INTERRUPTED))),
            }
        }
        "pending" | "running" => Output::Error(Text::plain(INTERRUPTED)),
        // A state of a later version: the call was made, so it needs an answer.
        _ => Output::Error(text(state, "output").unwrap_or_else(|| Text::plain(INTERRUPTED))),
    })
}

fn completed<'a>(state: &Members<'a>, part: &Cow<'a, str>, context: &Context<'_>, files: &mut Vec<Pulled<'a>>) -> Output<'a> {
    if state.object("time").is_some_and(|time| time.truthy("compacted")) {
        return Output::Text(Text::plain(CLEARED));
    }
    let text = text(state, "output").unwrap_or_else(|| Text::plain(""));
    let mut items = Vec::new();
    for attachment in state.objects("attachments") {
        let (Some(mime), Some(url)) = (attachment.string("mime"), attachment.string("url")) else { continue };
        let name = attachment.string("filename");
        if context.settings.strip_media && is_media(&mime) {
            items.push(Item::Text(attached(&mime, name.as_deref())));
        } else if is_media(&mime) && !takes_media(context.model, &mime) {
            files.push((part.clone(), File::of_url(mime, name, url)));
        } else if let Some(file) = File::of_attachment(mime, name, url) {
            items.push(Item::File(file));
        }
    }
    if items.is_empty() {
        return Output::Text(text);
    }
    if !text.is_empty() {
        items.insert(0, Item::Text(text));
    }
    Output::Content(items)
}

/// A member that is a string, as it is stored.
fn text<'a>(members: &Members<'a>, key: &str) -> Option<Text<'a>> {
    members.raw(key).and_then(Text::from_raw)
}

/// Whether the results of a model's tools can carry a media type.
fn takes_media(model: &Model, mime: &str) -> bool {
    let image = mime.starts_with("image/");
    match model.npm.as_str() {
        "@ai-sdk/anthropic" | "@ai-sdk/openai" | "@ai-sdk/amazon-bedrock/mantle" | "@ai-sdk/google-vertex/anthropic" => true,
        "@ai-sdk/amazon-bedrock" => image && model.is_of(&["anthropic.", "nova", "llama4", "llama-4"]),
        "@ai-sdk/xai" => image,
        "@ai-sdk/google" => model.is_of(&["gemini-3"]) && !model.is_of(&["gemini-2"]),
        _ => false,
    }
}
