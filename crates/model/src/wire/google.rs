//! Google generative language.

use super::{Body, Options, finite, result};
use crate::describe::Model;
use crate::json::Out;
use crate::neutral::{Block, Content, Data, File, Item, ModelMessage, Output, Role, ToolResult};
use crate::text::Text;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use std::io;

/// The provider's key in metadata.
const OWN: &str = "google";

pub(super) fn write(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let mut body = Body::open(out, model)?;
    let own = model.options.get("generationConfig").and_then(Json::as_object).unwrap_or_default();
    body.always("generationConfig", |out| generation(options, &own, out))?;
    let system = |message: &&ModelMessage<'_>| message.role == Role::System;
    body.member("contents", |out| {
        out.open_array()?;
        for message in messages.iter().filter(|message| message.role != Role::System) {
            contents(message, model, out)?;
        }
        out.close_array()
    })?;
    if messages.iter().any(|message| system(&message)) {
        body.member("systemInstruction", |out| {
            out.open_object()?;
            out.key("parts")?.open_array()?;
            for content in messages.iter().filter(system).flat_map(|message| &message.content) {
                if let Block::Text(text) = &content.block {
                    self::text(text, content, false, out)?;
                }
            }
            out.close_array()?;
            out.close_object()
        })?;
    }
    if !options.tools.is_empty() {
        body.member("tools", |out| tools(options, out))?;
        if options.must_call {
            body.member("toolConfig", |out| out.value(r#"{"functionCallingConfig":{"mode":"ANY"}}"#))?;
        }
    }
    body.close()
}

/// The model's own members win here, too.
fn generation(options: &Options<'_>, own: &Object<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let numbers = [
        ("maxOutputTokens", options.max_output_tokens.map(|value| value.to_string())),
        ("temperature", finite(options.temperature)),
        ("topP", finite(options.top_p)),
        ("topK", options.top_k.map(|value| value.to_string())),
    ];
    out.open_object()?;
    for (key, value) in numbers {
        if let Some(value) = value.filter(|_| !own.has(key)) {
            out.key(key)?.value(&value)?;
        }
    }
    for entry in own.entries() {
        out.key(&entry.key())?.value(entry.value().as_str())?;
    }
    out.close_object()
}

fn tools(options: &Options<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.open_array()?;
    out.element()?.open_object()?;
    out.key("functionDeclarations")?.open_array()?;
    for tool in options.tools {
        out.element()?.open_object()?;
        out.key("name")?.string(tool.name)?;
        out.key("description")?.string(tool.description)?;
        out.key("parametersJsonSchema")?.value(tool.input_schema.as_str())?;
        out.close_object()?;
    }
    out.close_array()?;
    out.close_object()?;
    out.close_array()
}

fn contents(message: &ModelMessage<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    if message.role == Role::Assistant && !message.content.iter().any(is_said) {
        return Ok(());
    }
    out.element()?.open_object()?;
    out.key("role")?.string(if message.role == Role::Assistant { "model" } else { "user" })?;
    out.key("parts")?.open_array()?;
    for content in &message.content {
        part(content, message.role, model, out)?;
    }
    out.close_array()?;
    out.close_object()
}

/// Whether a piece of an answer has a part of its own.
pub(crate) fn is_said(content: &Content<'_>) -> bool {
    match &content.block {
        Block::Text(text) | Block::Reasoning(text) => !text.is_empty(),
        Block::File(_) | Block::ToolCall(_) => true,
        Block::ToolResult(_) => false,
    }
}

fn part(content: &Content<'_>, role: Role, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    match &content.block {
        Block::Text(text) if role == Role::Assistant && text.is_empty() => Ok(()),
        Block::Text(text) => self::text(text, content, false, out),
        Block::Reasoning(text) if text.is_empty() => Ok(()),
        Block::Reasoning(text) => self::text(text, content, true, out),
        Block::File(file) => self::file(file, out),
        Block::ToolCall(call) => {
            out.element()?.open_object()?;
            out.key("functionCall")?.open_object()?;
            out.key("name")?.string(&call.name)?;
            out.key("args")?.value(call.input.as_str())?;
            out.close_object()?;
            signature(content, out)?;
            out.close_object()
        }
        // What stands inside an answer is not a result in this protocol.
        Block::ToolResult(_) if role == Role::Assistant => Ok(()),
        Block::ToolResult(result) => self::result(result, model, out),
    }
}

fn text(text: &Text<'_>, content: &Content<'_>, thought: bool, out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    text.put(out.key("text")?)?;
    if thought {
        out.key("thought")?.value("true")?;
    }
    signature(content, out)?;
    out.close_object()
}

fn signature(content: &Content<'_>, out: &mut Out<'_>) -> io::Result<()> {
    match content.text_of(OWN, "thoughtSignature") {
        Some(signature) => out.key("thoughtSignature")?.string(&signature),
        None => Ok(()),
    }
}

fn file(file: &File<'_>, out: &mut Out<'_>) -> io::Result<()> {
    let media_type = if file.media_type == "image/*" { "image/jpeg" } else { &*file.media_type };
    out.element()?.open_object()?;
    match &file.data {
        Data::Base64(data) => {
            out.key("inlineData")?.open_object()?;
            out.key("mimeType")?.string(media_type)?;
            out.key("data")?.string(data)?;
        }
        Data::Url(url) => {
            out.key("fileData")?.open_object()?;
            out.key("mimeType")?.string(media_type)?;
            out.key("fileUri")?.string(url)?;
        }
    }
    out.close_object()?;
    out.close_object()
}

fn result(result: &ToolResult<'_>, model: &Model, out: &mut Out<'_>) -> io::Result<()> {
    let items = match &result.output {
        Output::Text(text) | Output::Error(text) => return response(result, text, &[], out),
        Output::Content(items) => items,
    };
    if model.is_of(&["gemini-3"]) {
        return together(result, items, out);
    }
    for item in items {
        match item {
            Item::Text(text) => response(result, text, &[], out)?,
            Item::File(file) if file.media_type.starts_with("image/") => {
                self::file(file, out)?;
                out.element()?.open_object()?;
                out.key("text")?.string("Tool executed successfully and returned this image as a response")?;
                out.close_object()?;
            }
            Item::File(_) => {
                out.element()?.open_object()?;
                out.key("text")?.string_of_json(|out| result::item(item, out))?;
                out.close_object()?;
            }
        }
    }
    Ok(())
}

/// Newer models take files inside a response.
fn together(result: &ToolResult<'_>, items: &[Item<'_>], out: &mut Out<'_>) -> io::Result<()> {
    let files: Vec<&File<'_>> =
        items.iter().filter_map(|item| if let Item::File(file) = item { Some(file) } else { None }).collect();
    let texts: Vec<_> =
        items.iter().filter_map(|item| if let Item::Text(text) = item { Some(text.to_str()) } else { None }).collect();
    let text = if texts.is_empty() { "Tool executed successfully.".to_owned() } else { texts.join("\n") };
    response(result, &Text::plain(text), &files, out)
}

fn response(result: &ToolResult<'_>, text: &Text<'_>, files: &[&File<'_>], out: &mut Out<'_>) -> io::Result<()> {
    out.element()?.open_object()?;
    out.key("functionResponse")?.open_object()?;
    out.key("name")?.string(&result.name)?;
    out.key("response")?.open_object()?;
    out.key("name")?.string(&result.name)?;
    text.put(out.key("content")?)?;
    out.close_object()?;
    if !files.is_empty() {
        out.key("parts")?.open_array()?;
        for file in files {
            self::file(file, out)?;
        }
        out.close_array()?;
    }
    out.close_object()?;
    out.close_object()
}
