//! OpenAI chat completions, and everything compatible with it.

use super::{Check, Rule, limits, objects};
use crate::text::blank;
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};

pub(super) fn check(messages: &[Json<'_>], check: &mut Check<'_>) {
    let mut before = String::new();
    let mut first = true;
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let message = message.as_object().unwrap_or_default();
        let role = message.text("role").unwrap_or_default().into_owned();
        if role != "tool" {
            check.calls.due();
        }
        if !matches!(&*role, "system" | "developer") {
            if std::mem::take(&mut first) && limits::begins_with_user(check.model) && role != "user" {
                check.fail(Rule::FirstRole, &at);
            }
            if check.model.is_mistral() && before == "tool" && role == "user" {
                check.fail(Rule::QuestionAfterResult, &at);
            }
        }
        match &*role {
            "assistant" => assistant(&message, &at, check),
            "tool" => check.calls.result(&message.text("tool_call_id").unwrap_or_default(), &at),
            _ => said(&message, &at, check),
        }
        before = role;
    }
    if first {
        check.fail(Rule::NoMessages, "messages");
    } else if limits::ends_with_user(check.model) && before == "assistant" {
        check.fail(Rule::LastRole, "messages");
    }
}

fn said(message: &Object<'_>, at: &str, check: &mut Check<'_>) {
    let Some(content) = message.get("content").filter(|content| content.kind() == Kind::Array) else {
        return check.text(message, "content", at);
    };
    let pieces = objects(Some(content));
    if pieces.is_empty() {
        check.fail(Rule::EmptyMessage, at);
    }
    for (index, piece) in pieces.iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        let inner = |key: &str| piece.get(key).and_then(Json::as_object).unwrap_or_default();
        match piece.text("type").as_deref() {
            Some("text") => check.text(piece, "text", &at),
            Some("image_url") => check.file_url(&inner("image_url").text("url").unwrap_or_default(), true, &at),
            Some("file") => check.file_url(&inner("file").text("file_data").unwrap_or_default(), false, &at),
            Some("input_audio") => {
                let audio = inner("input_audio");
                let media_type = format!("audio/{}", audio.text("format").unwrap_or_default());
                check.file(&media_type, &audio.text("data").unwrap_or_default(), &at);
            }
            _ => check.fail(Rule::EmptyMessage, &at),
        }
    }
}

fn assistant(message: &Object<'_>, at: &str, check: &mut Check<'_>) {
    let calls = objects(message.get("tool_calls"));
    if calls.is_empty() && message.text("content").is_none_or(|text| blank(&text)) {
        check.fail(Rule::EmptyMessage, at);
    }
    for (index, call) in calls.iter().enumerate() {
        let at = format!("{at}.tool_calls[{index}]");
        check.calls.call(&call.text("id").unwrap_or_default(), &at, check.model);
        let function = call.get("function").and_then(Json::as_object).unwrap_or_default();
        check.tool_name(&function, &at);
        check.input(function.get("arguments"), true, &at);
    }
}
