//! What a model answered (reference 1.3, 1.4).

use super::history::Context;
use super::media::File;
use super::{Block, Content, ModelMessage, Role, tool};
use crate::members::Members;
use crate::text::Text;
use annalist_schema::Json;
use annalist_schema::raw::Kind;
use std::borrow::Cow;

/// What is said before the files of tools whose results cannot carry them.
const ATTACHED: &str = "Attached media from tool result:";

pub(super) fn convert<'a>(
    id: Cow<'a, str>,
    info: &Members<'a>,
    parts: &[Members<'a>],
    context: &Context<'_>,
    out: &mut Vec<ModelMessage<'a>>,
) {
    if is_skipped(info, parts) {
        return;
    }
    let other_model = info.string("providerID").as_deref() != Some(&context.model.provider_id)
        || info.string("modelID").as_deref() != Some(&context.model.model_id);
    let signed = parts.iter().any(is_signed);
    let mut files = Vec::new();
    let mut step = Step::new(id.clone());
    for part in parts {
        let metadata = || if other_model { None } else { part.json("metadata").filter(|json| json.kind() == Kind::Object) };
        let part_id = || part.string("id").unwrap_or_default();
        match part.string("type").as_deref() {
            Some("step-start") => step.end(out),
            Some("text") => {
                let Some(mut text) = part.raw("text").and_then(Text::from_raw) else { continue };
                if part.truthy("ignored") && !context.settings.as_reference {
                    continue;
                }
                if text.is_empty() && signed {
                    text = Text::plain(" ");
                }
                step.say(Content::new(Block::Text(text), part_id()).with(metadata()));
            }
            Some("reasoning") if !context.without_reasoning => {
                let Some(text) = part.raw("text").and_then(Text::from_raw) else { continue };
                if !other_model {
                    step.say(Content::new(Block::Reasoning(text), part_id()).with(metadata()));
                } else if !text.is_blank() {
                    step.say(Content::new(Block::Text(text), part_id()));
                }
            }
            Some("tool") => {
                let metadata = metadata().and_then(tool::call_metadata);
                tool::convert(part, part_id(), metadata, context, &mut step, &mut files);
            }
            _ => {}
        }
    }
    step.end(out);
    if !files.is_empty() {
        let said = Content::new(Block::Text(Text::plain(ATTACHED)), Cow::Borrowed(""));
        let content = std::iter::once(said).chain(files.into_iter().map(|(part, file)| Content::new(Block::File(file), part)));
        out.push(ModelMessage::new(Role::User, id, content.collect()));
    }
}

/// An answer that failed is left out, unless a person stopped it and there is more than thoughts in it.
fn is_skipped(info: &Members<'_>, parts: &[Members<'_>]) -> bool {
    if !info.truthy("error") {
        return false;
    }
    let aborted = info.inner("error").and_then(|error| error.string("name")).as_deref() == Some("MessageAbortedError");
    let thoughts = |part: &Members<'_>| matches!(part.string("type").as_deref(), Some("step-start" | "reasoning"));
    !aborted || parts.iter().all(thoughts)
}

/// Whether a part is reasoning that Anthropic signed.
fn is_signed(part: &Members<'_>) -> bool {
    part.string("type").as_deref() == Some("reasoning")
        && part
            .object("metadata")
            .and_then(|metadata| metadata.object("anthropic"))
            .is_some_and(|own| own.raw("signature").is_some_and(|raw| raw != "null"))
}

/// What was said between two step-starts: a message, and a message with the results of its calls.
pub(super) struct Step<'a> {
    message: Cow<'a, str>,
    said: Vec<Content<'a>>,
    results: Vec<Content<'a>>,
}

impl<'a> Step<'a> {
    fn new(message: Cow<'a, str>) -> Self {
        Step { message, said: Vec::new(), results: Vec::new() }
    }

    pub(super) fn say(&mut self, content: Content<'a>) {
        self.said.push(content);
    }

    pub(super) fn answer(&mut self, content: Content<'a>) {
        self.results.push(content);
    }

    fn end(&mut self, out: &mut Vec<ModelMessage<'a>>) {
        if !self.said.is_empty() {
            let mut said = std::mem::take(&mut self.said);
            // An empty text says nothing; the message stays, for what it carries beside.
            said.retain(|content| content.metadata.is_some() || !matches!(&content.block, Block::Text(text) if text.is_empty()));
            out.push(ModelMessage::new(Role::Assistant, self.message.clone(), said));
        }
        if !self.results.is_empty() {
            let results = std::mem::take(&mut self.results);
            match out.last_mut().filter(|last| last.role == Role::Tool) {
                Some(last) => last.content.extend(results),
                None => out.push(ModelMessage::new(Role::Tool, self.message.clone(), results)),
            }
        }
    }
}

/// A file pulled out of a tool's answer, with the part that it is of.
pub(super) type Pulled<'a> = (Cow<'a, str>, File<'a>);

/// The metadata of a call without what is not the provider's.
pub(super) fn without<'a>(json: Json<'a>, key: &str) -> Option<Json<'a>> {
    let object = json.clone().into_object()?;
    if !object.has(key) {
        return (!object.is_empty()).then_some(json);
    }
    let mut rest = object;
    rest.remove(key);
    (!rest.is_empty()).then(|| rest.into())
}
