//! OpenAI responses.

use super::result::url;
use super::{Body, Options, finite};
use crate::describe::Model;
use crate::json::Out;
use crate::neutral::{Block, Content, Data, File, Item, ModelMessage, Output, Role};
use crate::text::Text;
use annalist_schema::Json;
use std::io;

/// The provider's key in metadata.
const OWN: &str = "openai";

pub(super) fn write(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut body = Body::open(out, model)?;
    body.member("model", |out| out.string(&model.api_id))?;
    body.member("input", |out| {
        out.open_array()?;
        for message in messages {
            self::message(message, out)?;
        }
        out.close_array()
    })?;
    body.number("max_output_tokens", options.max_output_tokens)?;
    body.number("temperature", finite(options.temperature))?;
    body.number("top_p", finite(options.top_p))?;
    // Nothing is kept by the provider: each request says everything, thoughts included.
    body.member("store", |out| out.value("false"))?;
    body.member("include", |out| out.value(r#"["reasoning.encrypted_content"]"#))?;
    if let Some(key) = options.cache_key {
        body.member("prompt_cache_key", |out| out.string(key))?;
    }
    if !options.tools.is_empty() {
        body.member("tools", |out| tools(options, out))?;
        body.member("tool_choice", |out| out.string(if options.must_call { "required" } else { "auto" }))?;
    }
    body.flag("stream")?;
    body.close()
}

fn tools(options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.open_array()?;
    for tool in options.tools {
        out.element()?.open_object()?;
        out.key("type")?.string("function")?;
        out.key("name")?.string(tool.name)?;
        out.key("description")?.string(tool.description)?;
        out.key("parameters")?.value(tool.input_schema.as_str())?;
        out.key("strict")?.value("false")?;
        out.close_object()?;
    }
    out.close_array()
}

fn message(message: &ModelMessage<'_>, out: &mut Out<'_>) -> io::Result<()> {
    match message.role {
        Role::System => {
            out.element()?.open_object()?;
            out.key("role")?.string("developer")?;
            out.key("content")?.string_with(|inside| {
                message.content.iter().try_for_each(|content| match &content.block {
                    Block::Text(text) => text.write(inside),
                    _ => Ok(()),
                })
            })?;
            out.close_object()
        }
        Role::User => user(message, out),
        Role::Assistant => assistant(message, out),
        Role::Tool => message.content.iter().try_for_each(|content| result(content, out)),
    }
}

fn user(message: &ModelMessage<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("role")?.string("user")?;
    out.key("content")?.open_array()?;
    for (index, content) in message.content.iter().enumerate() {
        match &content.block {
            Block::Text(text) => self::text("input_text", text, out)?,
            Block::File(file) => self::file(file, Some(index), out)?,
            _ => {}
        }
    }
    out.close_array()?;
    out.close_object()
}

fn text(kind: &str, text: &Text<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("type")?.string(kind)?;
    text.put(out.key("text")?)?;
    out.close_object()
}

fn file(file: &File<'_>, index: Option<usize>, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    if file.media_type.starts_with("image/") {
        out.key("type")?.string("input_image")?;
        let media_type = if file.media_type == "image/*" { "image/jpeg" } else { &*file.media_type };
        url(file, media_type, out.key("image_url")?)?;
        return out.close_object();
    }
    out.key("type")?.string("input_file")?;
    if let Data::Url(url) = &file.data {
        out.key("file_url")?.string(url)?;
        return out.close_object();
    }
    out.key("filename")?;
    match (index, &file.name) {
        (Some(_), Some(name)) => out.string(name)?,
        (Some(index), None) => out.string(&format!("part-{index}.pdf"))?,
        // The reference does not give the names of a tool's files.
        (None, _) => out.string("data")?,
    }
    url(file, &file.media_type, out.key("file_data")?)?;
    out.close_object()
}

fn assistant(message: &ModelMessage<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut at = 0;
    while let Some(content) = message.content.get(at) {
        at += 1;
        match &content.block {
            Block::Text(text) => {
                out.element()?.open_object()?;
                out.key("role")?.string("assistant")?;
                out.key("content")?.open_array()?;
                self::text("output_text", text, out)?;
                out.close_array()?;
                out.close_object()?;
            }
            Block::Reasoning(_) => at = reasoning(&message.content, at - 1, out)?,
            Block::ToolCall(call) if !call.provider_executed => {
                out.element()?.open_object()?;
                out.key("type")?.string("function_call")?;
                out.key("call_id")?.string(&call.id)?;
                out.key("name")?.string(&call.name)?;
                out.key("arguments")?.string_of_json(|out| out.value(call.input.as_str()))?;
                out.close_object()?;
            }
            // What the provider ran itself it has to be told of by an item id, and it keeps none.
            Block::ToolCall(_) | Block::ToolResult(_) | Block::File(_) => {}
        }
    }
    Ok(())
}

/// The encrypted thoughts that go back to the provider.
pub(crate) fn encrypted(content: &Content<'_>) -> Option<String> {
    content.text_of(OWN, "reasoningEncryptedContent")
}

/// The id of the item that thoughts are of.
pub(crate) fn item_id(content: &Content<'_>) -> Option<String> {
    content.metadata_of(OWN, "itemId").and_then(Json::into_string).map(std::borrow::Cow::into_owned)
}

/// Writes an item of thoughts; gives the index behind it. Without their encrypted form the provider cannot take them.
fn reasoning(all: &[Content<'_>], start: usize, out: &mut Out<'_>) -> io::Result<usize> {
    let Some(encrypted) = all.get(start).and_then(encrypted) else { return Ok(start + 1) };
    out.element()?.open_object()?;
    out.key("type")?.string("reasoning")?;
    out.key("encrypted_content")?.string(&encrypted)?;
    out.key("summary")?.open_array()?;
    let mut at = start;
    while let Some(Content { block: Block::Reasoning(text), .. }) = all.get(at) {
        if !text.is_empty() {
            self::text("summary_text", text, out)?;
        }
        at += 1;
        if !all.get(at).is_some_and(|next| next.continues) {
            break;
        }
    }
    out.close_array()?;
    out.close_object()?;
    Ok(at)
}

fn result(content: &Content<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let Block::ToolResult(result) = &content.block else { return Ok(()) };
    out.element()?.open_object()?;
    out.key("type")?.string("function_call_output")?;
    out.key("call_id")?.string(&result.id)?;
    out.key("output")?;
    match &result.output {
        Output::Text(text) | Output::Error(text) => text.put(out)?,
        Output::Content(items) => {
            out.open_array()?;
            for item in items {
                match item {
                    Item::Text(text) => self::text("input_text", text, out)?,
                    Item::File(file) => self::file(file, None, out)?,
                }
            }
            out.close_array()?;
        }
    }
    out.close_object()
}
