//! What a person said (reference 1.2).

use super::history::Context;
use super::media::{File, is_media};
use super::{Block, Content, ModelMessage, Role};
use crate::members::Members;
use crate::text::Text;
use std::borrow::Cow;

/// What a compaction stands for in the conversation.
const COMPACTION: &str = "What did we do so far?";
/// What a subtask stands for.
const SUBTASK: &str = "The following tool was executed by the user";

pub(super) fn convert<'a>(id: Cow<'a, str>, parts: &[Members<'a>], context: &Context<'_>, out: &mut Vec<ModelMessage<'a>>) {
    let content: Vec<Content<'a>> = parts
        .iter()
        .filter_map(|part| {
            let block = block(part, context)?;
            Some(Content::new(block, part.string("id").unwrap_or_default()))
        })
        .collect();
    if !content.is_empty() {
        out.push(ModelMessage::new(Role::User, id, content));
    }
}

fn block<'a>(part: &Members<'a>, context: &Context<'_>) -> Option<Block<'a>> {
    match &*part.string("type")? {
        "text" => {
            let text = part.raw("text").and_then(Text::from_raw)?;
            (!part.truthy("ignored") && !text.is_empty()).then_some(Block::Text(text))
        }
        "file" => file(part, context),
        "compaction" => Some(Block::Text(Text::plain(COMPACTION))),
        "subtask" => Some(Block::Text(Text::plain(SUBTASK))),
        _ => None,
    }
}

fn file<'a>(part: &Members<'a>, context: &Context<'_>) -> Option<Block<'a>> {
    let mime = part.string("mime")?;
    // Their content was written into a text part when they were attached.
    if matches!(&*mime, "text/plain" | "application/x-directory") {
        return None;
    }
    let name = part.string("filename");
    if context.settings.strip_media && is_media(&mime) {
        return Some(Block::Text(attached(&mime, name.as_deref())));
    }
    let url = part.string("url")?;
    Some(Block::File(File::of_url(mime, name, url)))
}

/// What is said in the place of a file that is not sent.
pub(crate) fn attached(mime: &str, name: Option<&str>) -> Text<'static> {
    Text::plain(format!("[Attached {mime}: {}]", name.unwrap_or("file")))
}
