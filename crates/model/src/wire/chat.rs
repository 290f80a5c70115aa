//! OpenAI chat completions, and everything compatible with it.

use super::result::{as_string, url};
use super::{Body, Options, finite};
use crate::describe::Model;
use crate::json::Out;
use crate::neutral::{Block, Content, Data, File, ModelMessage, Role, ToolCall};
use annalist_schema::Json;
use annalist_schema::raw::Kind;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::io;

pub(super) fn write(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut body = Body::open(out, model)?;
    body.member("model", |out| out.string(&model.api_id))?;
    body.number("max_tokens", options.max_output_tokens)?;
    body.number("temperature", finite(options.temperature))?;
    body.number("top_p", finite(options.top_p))?;
    body.member("messages", |out| {
        out.open_array()?;
        for message in messages {
            self::message(message, model, out)?;
        }
        out.close_array()
    })?;
    if !options.tools.is_empty() {
        body.member("tools", |out| tools(options, out))?;
        body.member("tool_choice", |out| out.string(if options.must_call { "required" } else { "auto" }))?;
    }
    body.flag("stream")?;
    body.member("stream_options", |out| out.value(r#"{"include_usage":true}"#))?;
    body.close()
}

fn tools(options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.open_array()?;
    for tool in options.tools {
        out.element()?.open_object()?;
        out.key("type")?.string("function")?;
        out.key("function")?.open_object()?;
        out.key("name")?.string(tool.name)?;
        out.key("description")?.string(tool.description)?;
        out.key("parameters")?.value(tool.input_schema.as_str())?;
        out.close_object()?;
        out.close_object()?;
    }
    out.close_array()
}

fn message(message: &ModelMessage<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    match message.role {
        Role::System => {
            if message.cache && model.is_openrouter() {
                return said("system", message, out);
            }
            open("system", out)?;
            out.key("content")?;
            joined(&message.content, false, out)?;
            close(message, out)
        }
        Role::User => user(message, model, out),
        Role::Assistant => assistant(message, model, out),
        Role::Tool => results(message, model, out),
    }
}

fn open(role: &str, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("role")?.string(role)
}

fn close(message: &ModelMessage<'_>, out: &mut Out<'_>) -> io::Result<()> {
    if message.cache {
        out.key("cache_control")?.value(EPHEMERAL)?;
    }
    out.close_object()
}

const EPHEMERAL: &str = r#"{"type":"ephemeral"}"#;

fn user(message: &ModelMessage<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    // OpenRouter knows the mark on a piece alone.
    let in_pieces = message.cache && model.is_openrouter();
    if let ([Content { block: Block::Text(text), .. }], false) = (message.content.as_slice(), in_pieces) {
        open("user", out)?;
        text.put(out.key("content")?)?;
        return close(message, out);
    }
    said("user", message, out)
}

/// A message as a list of pieces.
fn said(role: &str, message: &ModelMessage<'_>, out: &mut Out<'_>) -> io::Result<()> {
    open(role, out)?;
    out.key("content")?.open_array()?;
    let last = message.content.len().saturating_sub(1);
    for (index, content) in message.content.iter().enumerate() {
        out.element()?.open_object()?;
        match &content.block {
            Block::Text(text) => {
                out.key("type")?.string("text")?;
                text.put(out.key("text")?)?;
            }
            Block::File(file) => self::file(file, out)?,
            _ => {}
        }
        if message.cache && index == last {
            out.key("cache_control")?.value(EPHEMERAL)?;
        }
        out.close_object()?;
    }
    out.close_array()?;
    out.close_object()
}

fn file(file: &File<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let media_type = &*file.media_type;
    if media_type.starts_with("image/") {
        out.key("type")?.string("image_url")?;
        out.key("image_url")?.open_object()?;
        url(file, if media_type == "image/*" { "image/jpeg" } else { media_type }, out.key("url")?)?;
        out.close_object()
    } else if let (Some(format), Data::Base64(data)) = (audio(media_type), &file.data) {
        out.key("type")?.string("input_audio")?;
        out.key("input_audio")?.open_object()?;
        out.key("data")?.string(data)?;
        out.key("format")?.string(format)?;
        out.close_object()
    } else if let (true, Data::Base64(data)) = (media_type.starts_with("text/"), &file.data) {
        out.key("type")?.string("text")?;
        let text = STANDARD.decode(data.as_bytes()).unwrap_or_default();
        out.key("text")?.string(&String::from_utf8_lossy(&text))
    } else {
        out.key("type")?.string("file")?;
        out.key("file")?.open_object()?;
        out.key("filename")?.string(file.name.as_deref().unwrap_or("document.pdf"))?;
        url(file, media_type, out.key("file_data")?)?;
        out.close_object()
    }
}

/// The protocol's name of a kind of audio.
pub(crate) fn audio(media_type: &str) -> Option<&'static str> {
    match media_type {
        "audio/wav" => Some("wav"),
        "audio/mp3" | "audio/mpeg" => Some("mp3"),
        _ => None,
    }
}

/// All texts, or all thoughts, one behind the other.
fn joined(content: &[Content<'_>], thoughts: bool, out: &mut Out<'_>) -> io::Result<()> {
    out.string_with(|inside| {
        for content in content {
            match &content.block {
                Block::Text(text) if !thoughts => text.write(inside)?,
                Block::Reasoning(text) if thoughts => text.write(inside)?,
                _ => {}
            }
        }
        Ok(())
    })
}

fn assistant(message: &ModelMessage<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    open("assistant", out)?;
    out.key("content")?;
    joined(&message.content, false, out)?;
    let thinks = |content: &Content<'_>| matches!(&content.block, Block::Reasoning(text) if !text.is_empty());
    // A field that the provider asks for is set even when there is nothing in it.
    let usual = if model.is_openrouter() { "reasoning" } else { "reasoning_content" };
    let field = model.thought_field().or_else(|| message.content.iter().any(thinks).then_some(usual));
    if let Some(field) = field {
        joined(&message.content, true, out.key(field)?)?;
    }
    if model.is_openrouter()
        && let Some(details) = details(message)
    {
        out.key("reasoning_details")?.value(details.as_str())?;
    }
    let mut calls = message.content.iter().filter_map(|content| match &content.block {
        Block::ToolCall(call) => Some((content, call)),
        _ => None,
    });
    if let Some(first) = calls.next() {
        out.key("tool_calls")?.open_array()?;
        for (content, call) in std::iter::once(first).chain(calls) {
            // The only place of an answer that takes the mark; one that ends with text loses it, as in the reference.
            let last = message.content.last().is_some_and(|last| std::ptr::eq(last, content));
            self::call(content, call, message.cache && last, out)?;
        }
        out.close_array()?;
    }
    out.close_object()
}

/// What OpenRouter said of its thoughts: at the first call, else at the first thoughts.
fn details<'m>(message: &'m ModelMessage<'_>) -> Option<Json<'m>> {
    let of =
        |content: &'m Content<'_>| content.metadata_of("openrouter", "reasoning_details").filter(|json| json.kind() == Kind::Array);
    let calls = message.content.iter().filter(|content| matches!(content.block, Block::ToolCall(_)));
    let thoughts = message.content.iter().filter(|content| matches!(content.block, Block::Reasoning(_)));
    calls.chain(thoughts).find_map(of)
}

fn call(content: &Content<'_>, call: &ToolCall<'_>, cache: bool, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("id")?.string(&call.id)?;
    out.key("type")?.string("function")?;
    out.key("function")?.open_object()?;
    out.key("name")?.string(&call.name)?;
    out.key("arguments")?.string_of_json(|out| out.value(call.input.as_str()))?;
    out.close_object()?;
    if cache {
        out.key("cache_control")?.value(EPHEMERAL)?;
    }
    // Gemini behind this protocol.
    if let Some(signature) = content.text_of("google", "thoughtSignature") {
        out.key("extra_content")?.open_object()?;
        out.key("google")?.open_object()?;
        out.key("thought_signature")?.string(&signature)?;
        out.close_object()?;
        out.close_object()?;
    }
    out.close_object()
}

fn results(message: &ModelMessage<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    let last = message.content.len().saturating_sub(1);
    for (index, content) in message.content.iter().enumerate() {
        let Block::ToolResult(result) = &content.block else { continue };
        open("tool", out)?;
        out.key("tool_call_id")?.string(&result.id)?;
        as_string(&result.output, out.key("content")?)?;
        if model.is_openrouter() {
            out.key("name")?.string(&result.name)?;
        }
        if message.cache && index == last {
            out.key("cache_control")?.value(EPHEMERAL)?;
        }
        out.close_object()?;
    }
    Ok(())
}
