//! Files that the provider takes, one by one.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::image;
use crate::neutral::{Block, Data, File, Item, ModelMessage, Output, Role, attached};
use crate::rules::{Rule, limits};
use crate::text::{Text, blank};
use crate::transform::cannot_read;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::borrow::Cow;

/// What the reference says in the place of an image without content.
const BROKEN_IMAGE: &str = "ERROR: Image file is empty or corrupted. Please provide a valid image.";

/// Where a file stands.
pub(super) struct Place<'p> {
    pub(super) message: &'p str,
    pub(super) part: &'p str,
    /// In the answer of a tool.
    pub(super) in_result: bool,
}

/// Visits all files in order; one for which there is a text is replaced by it.
pub(super) fn visit<'a>(
    messages: &mut [ModelMessage<'a>],
    mut visit: impl FnMut(Place<'_>, &mut File<'a>) -> Option<Text<'static>>,
) {
    for message in messages.iter_mut().filter(|message| matches!(message.role, Role::User | Role::Tool)) {
        for content in &mut message.content {
            let place = |in_result| Place { message: &message.message, part: &content.part, in_result };
            match &mut content.block {
                Block::File(file) => {
                    if let Some(text) = visit(place(false), file) {
                        content.block = Block::Text(text);
                    }
                }
                Block::ToolResult(result) => {
                    let Output::Content(items) = &mut result.output else { continue };
                    for item in items {
                        if let Item::File(file) = item
                            && let Some(text) = visit(place(true), file)
                        {
                            *item = Item::Text(text);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

pub(super) fn repair(messages: &mut [ModelMessage<'_>], model: &Model, report: &mut Report) {
    if model.protocol == Protocol::Anthropic {
        untaken(messages);
    }
    visit(messages, |place, file| {
        if place.in_result && is_told(file, model) {
            return None;
        }
        let (rule, text, by) = wrong(file, model, &mut |rule, by| {
            report.add(rule, place.message, place.part, Change::Replaced { by });
        })?;
        report.add(rule, place.message, place.part, Change::Replaced { by });
        Some(text)
    });
}

/// Files of a tool that this protocol has no form for are not sent; the reference leaves them out, too.
fn untaken(messages: &mut [ModelMessage<'_>]) {
    for content in messages.iter_mut().flat_map(|message| &mut message.content) {
        let Block::ToolResult(result) = &mut content.block else { continue };
        let Output::Content(items) = &mut result.output else { continue };
        let is_sent = |kind: &str| kind.starts_with("image/") || kind == "application/pdf";
        items.retain(|item| !matches!(item, Item::File(file) if !is_sent(&file.media_type)));
        if items.is_empty() {
            result.output = Output::Text(Text::plain(""));
        }
    }
}

/// Whether a tool's file is written as text, which may hold anything.
fn is_told(file: &File<'_>, model: &Model) -> bool {
    match model.protocol {
        Protocol::Chat => true,
        Protocol::Google => !limits::signs_calls(model) && !file.media_type.starts_with("image/"),
        Protocol::Responses => {
            file.media_type.starts_with("text/") && matches!(&file.data, Data::Base64(data) if image::is_base64(data))
        }
        Protocol::Anthropic => false,
    }
}

type Wrong = (Rule, Text<'static>, String);

/// What stands in a file's place, if it cannot stay, and the rule that says so. A media type may be corrected, which is
/// told through `corrected`.
fn wrong(file: &mut File<'_>, model: &Model, corrected: &mut dyn FnMut(Rule, String)) -> Option<Wrong> {
    let limits = limits::media(model);
    let refuse = |rule: Rule, name: &str, why: &str| {
        let text = cannot_read(name, why);
        let by = text.to_str().into_owned();
        Some((rule, text, by))
    };
    let data = match &file.data {
        Data::Base64(data) => data,
        Data::Url(url) => {
            let image = file.media_type.starts_with("image/");
            let web = url.starts_with("https://") || url.starts_with("http://");
            let fits = match model.protocol {
                Protocol::Chat => image,
                Protocol::Anthropic => image || file.media_type == "application/pdf",
                Protocol::Responses | Protocol::Google => true,
            };
            if (web && fits) || (model.protocol == Protocol::Google && url.starts_with("gs://")) {
                return None;
            }
            return refuse(Rule::MediaUrl, &name(file), "its content is not part of this conversation");
        }
    };
    let seen = image::look(data);
    if (file.media_type.starts_with("image/") || file.media_type == "application/pdf")
        && let Some(is) = seen.media_type
        && *file.media_type != *is
    {
        // A word without a type of its own is no mistake of the file's.
        let rule = if limits.takes(&file.media_type) { Rule::MediaData } else { Rule::MediaType };
        corrected(rule, is.to_owned());
        file.media_type = Cow::Borrowed(is);
    }
    let Data::Base64(data) = &file.data else { return None };
    let is_text = is_text(&file.media_type);
    // Written as text by this protocol, whatever says so of it.
    if model.protocol == Protocol::Chat && file.media_type.starts_with("text/") && text(data).is_some() {
        return None;
    }
    if !limits.takes(&file.media_type) {
        if is_text && let Some(text) = text(data) {
            return Some((Rule::MediaType, Text::plain(text), "its text".to_owned()));
        }
        let why = format!("this model does not support {} input", file.media_type);
        return refuse(Rule::MediaType, &name(file), &why);
    }
    let image = limits.images.contains(&&*file.media_type);
    let looked = ["image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf"].contains(&&*file.media_type);
    let said = file.media_type.starts_with("text/") && text(data).is_none();
    if said || !image::is_base64(data) || (looked && seen.media_type.is_none()) {
        if image {
            return Some((Rule::MediaData, Text::plain(BROKEN_IMAGE), BROKEN_IMAGE.to_owned()));
        }
        return refuse(Rule::MediaData, &name(file), "it is empty or damaged");
    }
    if image && data.len() > limits.image_bytes {
        let why = format!("the image is larger than {} MB", limits.image_bytes / 1024 / 1024);
        return refuse(Rule::MediaSize, &name(file), &why);
    }
    let side = seen.pixels.map_or(0, |(width, height)| width.max(height));
    match limits.pixels {
        Some(most) if image && side > most => {
            refuse(Rule::MediaPixels, &name(file), &format!("the image is larger than {most} pixels"))
        }
        _ => None,
    }
}

/// A file's name in quotes, or what it is.
fn name(file: &File<'_>) -> String {
    match &file.name {
        Some(name) => format!("\"{name}\""),
        None if file.media_type.starts_with("image/") => "image".to_owned(),
        None if file.media_type == "application/pdf" => "pdf".to_owned(),
        None => "file".to_owned(),
    }
}

/// Media types whose content is text that a model can read as such.
fn is_text(media_type: &str) -> bool {
    const TEXT: &[&str] =
        &["json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-javascript", "typescript", "x-sh", "sql", "x-python"];
    media_type.starts_with("text/")
        || media_type == "image/svg+xml"
        || media_type
            .strip_prefix("application/")
            .is_some_and(|kind| TEXT.contains(&kind) || kind.ends_with("+json") || kind.ends_with("+xml"))
}

fn text(base64: &str) -> Option<String> {
    let bytes = STANDARD.decode(base64).ok()?;
    String::from_utf8(bytes).ok().filter(|text| !blank(text))
}

/// What is said in the place of a file that there is no room for.
pub(super) fn no_room(file: &File<'_>) -> Text<'static> {
    attached(&file.media_type, file.name.as_deref())
}
