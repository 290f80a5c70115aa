//! Anthropic messages.

use super::{Body, Options, finite};
use crate::describe::Model;
use crate::json::Out;
use crate::neutral::{Block, Content, Data, File, Item, ModelMessage, Output, Role};
use crate::text::Text;
use std::io;

/// The provider's key in metadata.
const OWN: &str = "anthropic";
const EPHEMERAL: &str = r#"{"type":"ephemeral"}"#;

pub(super) fn write(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut body = Body::open(out, model)?;
    body.member("model", |out| out.string(&model.api_id))?;
    // The protocol has no request without it.
    body.number("max_tokens", options.max_output_tokens.or_else(|| Some(Options::max_output_tokens_of(model))))?;
    body.number("temperature", finite(options.temperature))?;
    body.number("top_p", finite(options.top_p))?;
    body.number("top_k", options.top_k)?;
    let system = |message: &&ModelMessage<'_>| message.role == Role::System;
    if messages.iter().any(|message| system(&message)) {
        body.member("system", |out| {
            out.open_array()?;
            for message in messages.iter().filter(system) {
                for content in &message.content {
                    if let Block::Text(text) = &content.block {
                        self::text(text, message.cache, out)?;
                    }
                }
            }
            out.close_array()
        })?;
    }
    body.member("messages", |out| {
        out.open_array()?;
        let others: Vec<&ModelMessage<'_>> = messages.iter().filter(|message| message.role != Role::System).collect();
        for group in others.chunk_by(|one, other| (one.role == Role::Assistant) == (other.role == Role::Assistant)) {
            self::group(group, out)?;
        }
        out.close_array()
    })?;
    if !options.tools.is_empty() {
        body.member("tools", |out| tools(options, out))?;
        body.member("tool_choice", |out| out.value(if options.must_call { r#"{"type":"any"}"# } else { r#"{"type":"auto"}"# }))?;
    }
    body.flag("stream")?;
    body.close()
}

fn tools(options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.open_array()?;
    for tool in options.tools {
        out.element()?.open_object()?;
        out.key("name")?.string(tool.name)?;
        out.key("description")?.string(tool.description)?;
        out.key("input_schema")?.value(tool.input_schema.as_str())?;
        out.close_object()?;
    }
    out.close_array()
}

/// Messages of one side are one message of the protocol.
fn group(group: &[&ModelMessage<'_>], out: &mut Out<'_>) -> io::Result<()> {
    let assistant = group.first().is_some_and(|message| message.role == Role::Assistant);
    out.element()?.open_object()?;
    out.key("role")?.string(if assistant { "assistant" } else { "user" })?;
    out.key("content")?.open_array()?;
    for message in group {
        let last = message.content.len().saturating_sub(1);
        for (index, content) in in_order(message) {
            self::content(content, message.role, message.cache && index == last, out)?;
        }
    }
    out.close_array()?;
    out.close_object()
}

/// The pieces of a message with calls behind all else, unless thoughts stand behind a call: what is signed keeps its place.
fn in_order<'m, 'a>(message: &'m ModelMessage<'a>) -> impl Iterator<Item = (usize, &'m Content<'a>)> {
    let is_call = |content: &Content<'_>| matches!(content.block, Block::ToolCall(_));
    let moves = message.role == Role::Assistant && !message.content.iter().skip_while(|content| !is_call(content)).any(is_thought);
    let late = move |content: &Content<'_>| moves && is_call(content);
    let pieces = || message.content.iter().enumerate();
    pieces().filter(move |(_, content)| !late(content)).chain(pieces().filter(move |(_, content)| late(content)))
}

/// Whether a piece is thoughts that the provider takes back.
pub(crate) fn is_thought(content: &Content<'_>) -> bool {
    matches!(content.block, Block::Reasoning(_))
        && (content.text_of(OWN, "signature").is_some() || content.text_of(OWN, "redactedData").is_some())
}

fn content(content: &Content<'_>, role: Role, cache: bool, out: &mut Out<'_>) -> io::Result<()> {
    match &content.block {
        Block::Text(text) => self::text(text, cache, out),
        Block::Reasoning(text) => thought(content, text, out),
        Block::File(file) => self::file(file, true, cache, out),
        Block::ToolCall(call) if !call.provider_executed => {
            out.element()?.open_object()?;
            out.key("type")?.string("tool_use")?;
            out.key("id")?.string(&call.id)?;
            out.key("name")?.string(&call.name)?;
            out.key("input")?.value(call.input.as_str())?;
            close(cache, out)
        }
        Block::ToolResult(result) if role == Role::Tool => {
            out.element()?.open_object()?;
            out.key("type")?.string("tool_result")?;
            out.key("tool_use_id")?.string(&result.id)?;
            output(&result.output, out.key("content")?)?;
            if matches!(result.output, Output::Error(_)) {
                out.key("is_error")?.value("true")?;
            }
            close(cache, out)
        }
        // What the provider ran itself has forms of its own, which a stored part does not have.
        Block::ToolCall(_) | Block::ToolResult(_) => Ok(()),
    }
}

fn close(cache: bool, out: &mut Out<'_>) -> io::Result<()> {
    if cache {
        out.key("cache_control")?.value(EPHEMERAL)?;
    }
    out.close_object()
}

fn text(text: &Text<'_>, cache: bool, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("type")?.string("text")?;
    text.put(out.key("text")?)?;
    close(cache, out)
}

/// Thoughts go back exactly as they came, or not at all.
fn thought(content: &Content<'_>, text: &Text<'_>, out: &mut Out<'_>) -> io::Result<()> {
    if let Some(signature) = content.text_of(OWN, "signature") {
        out.element()?.open_object()?;
        out.key("type")?.string("thinking")?;
        text.put(out.key("thinking")?)?;
        out.key("signature")?.string(&signature)?;
        out.close_object()
    } else if let Some(data) = content.text_of(OWN, "redactedData") {
        out.element()?.open_object()?;
        out.key("type")?.string("redacted_thinking")?;
        out.key("data")?.string(&data)?;
        out.close_object()
    } else {
        Ok(())
    }
}

fn output(output: &Output<'_>, out: &mut Out<'_>) -> io::Result<()> {
    match output {
        Output::Text(text) | Output::Error(text) => text.put(out),
        Output::Content(items) => {
            out.open_array()?;
            for item in items {
                match item {
                    Item::Text(text) => self::text(text, false, out)?,
                    Item::File(file) => self::file(file, false, false, out)?,
                }
            }
            out.close_array()
        }
    }
}

/// An image or a PDF; nothing else is a file of this protocol. A person's PDF says its name.
fn file(file: &File<'_>, titled: bool, cache: bool, out: &mut Out<'_>) -> io::Result<()> {
    let kind = match &*file.media_type {
        "application/pdf" => "document",
        other if other.starts_with("image/") => "image",
        _ => return Ok(()),
    };
    out.element()?.open_object()?;
    out.key("type")?.string(kind)?;
    out.key("source")?.open_object()?;
    match &file.data {
        Data::Base64(data) => {
            out.key("type")?.string("base64")?;
            out.key("media_type")?.string(if file.media_type == "image/*" { "image/jpeg" } else { &file.media_type })?;
            out.key("data")?.string(data)?;
        }
        Data::Url(url) => {
            out.key("type")?.string("url")?;
            out.key("url")?.string(url)?;
        }
    }
    out.close_object()?;
    if let (true, "document", Some(name)) = (titled, kind, &file.name) {
        out.key("title")?.string(name)?;
    }
    close(cache, out)
}
