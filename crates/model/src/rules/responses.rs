//! OpenAI responses.

use super::{Check, Rule, objects};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};

pub(super) fn check(items: &[Json<'_>], check: &mut Check<'_>) {
    let mut any = false;
    // Thoughts that wait for what they led to, and what they are.
    let mut thoughts: Vec<(String, String)> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let at = format!("input[{index}]");
        let item = item.as_object().unwrap_or_default();
        let kind = item.text("type").unwrap_or_default().into_owned();
        let role = item.text("role").unwrap_or_default().into_owned();
        any |= !matches!(&*role, "system" | "developer");
        if kind == "reasoning" {
            let encrypted = item.text("encrypted_content").unwrap_or_default().into_owned();
            if encrypted.is_empty() {
                check.fail(Rule::ReasoningSigned, &at);
            }
            if thoughts.last().is_some_and(|(_, before)| *before == encrypted) {
                check.fail(Rule::ReasoningTwice, &at);
            }
            thoughts.push((at, encrypted));
            continue;
        }
        if kind == "function_call" || role == "assistant" {
            thoughts.clear();
        }
        unfollowed(&mut thoughts, check);
        match (&*kind, &*role) {
            ("function_call", _) => {
                check.calls.call(&item.text("call_id").unwrap_or_default(), &at, check.model);
                check.tool_name(&item, &at);
                check.input(item.get("arguments"), true, &at);
            }
            ("function_call_output", _) => {
                check.calls.result(&item.text("call_id").unwrap_or_default(), &at);
                if item.get("output").is_some_and(|output| output.kind() == Kind::Array) {
                    content(&item, "output", &at, check);
                }
            }
            _ if item.get("content").is_some_and(|content| content.kind() == Kind::String) => check.text(&item, "content", &at),
            _ => content(&item, "content", &at, check),
        }
    }
    unfollowed(&mut thoughts, check);
    if !any {
        check.fail(Rule::NoMessages, "input");
    }
}

fn unfollowed(thoughts: &mut Vec<(String, String)>, check: &mut Check<'_>) {
    for (at, _) in thoughts.drain(..) {
        check.fail(Rule::ReasoningFollowed, &at);
    }
}

fn content(item: &Object<'_>, key: &str, at: &str, check: &mut Check<'_>) {
    let pieces = objects(item.get(key));
    if pieces.is_empty() {
        check.fail(Rule::EmptyMessage, at);
    }
    for (index, piece) in pieces.iter().enumerate() {
        let at = format!("{at}.{key}[{index}]");
        match piece.text("type").as_deref() {
            Some("input_text" | "output_text") => check.text(piece, "text", &at),
            Some("input_image") => check.file_url(&piece.text("image_url").unwrap_or_default(), true, &at),
            Some("input_file") => {
                let url = piece.text("file_url").or_else(|| piece.text("file_data")).unwrap_or_default();
                // A tool may answer with files of text.
                if key == "content" || !url.starts_with("data:text/") {
                    check.file_url(&url, false, &at);
                }
            }
            _ => check.fail(Rule::EmptyMessage, &at),
        }
    }
}
