//! Anthropic messages.

use super::{Check, Rule, objects};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};

pub(super) fn check(body: &Object<'_>, messages: &[Json<'_>], check: &mut Check<'_>) {
    for (index, piece) in objects(body.get("system")).iter().enumerate() {
        let at = format!("system[{index}]");
        check.text(piece, "text", &at);
        check.marks += usize::from(piece.has("cache_control"));
    }
    let mut last = String::new();
    for (index, message) in messages.iter().enumerate() {
        let at = format!("messages[{index}]");
        let message = message.as_object().unwrap_or_default();
        last = message.text("role").unwrap_or_default().into_owned();
        let pieces = objects(message.get("content"));
        if pieces.is_empty() {
            check.fail(Rule::EmptyMessage, &at);
        }
        if index == 0 && last != "user" {
            check.fail(Rule::FirstRole, &at);
        }
        if last == "assistant" {
            check.calls.due();
            answer(&pieces, &at, check);
        } else {
            question(&pieces, &at, check);
            check.calls.due();
        }
    }
    if messages.is_empty() {
        check.fail(Rule::NoMessages, "messages");
    } else if last != "user" {
        check.fail(Rule::LastRole, "messages");
    }
    if check.marks > 4 {
        check.fail(Rule::CacheMarks, "messages");
    }
}

fn answer(pieces: &[Object<'_>], at: &str, check: &mut Check<'_>) {
    let is = |piece: &Object<'_>, kinds: &[&str]| piece.text("type").is_some_and(|kind| kinds.contains(&&*kind));
    let thought = |piece: &Object<'_>| is(piece, &["thinking", "redacted_thinking"]);
    let behind: Vec<&Object<'_>> = pieces.iter().skip_while(|piece| !is(piece, &["tool_use"])).collect();
    if !behind.iter().any(|piece| thought(piece)) && behind.iter().any(|piece| !is(piece, &["tool_use"])) {
        check.fail(Rule::CallsLast, at);
    }
    if pieces.iter().any(thought) && !pieces.first().is_some_and(thought) {
        check.fail(Rule::ReasoningFirst, at);
    }
    if pieces.last().is_some_and(thought) {
        check.fail(Rule::ReasoningLast, at);
    }
    for (index, piece) in pieces.iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        check.marks += usize::from(piece.has("cache_control"));
        let filled = |key: &str| piece.text(key).is_some_and(|text| !text.is_empty());
        match piece.text("type").as_deref() {
            Some("text") => check.text(piece, "text", &at),
            Some("thinking") if filled("signature") && piece.text("thinking").is_some() => {}
            Some("redacted_thinking") if filled("data") => {}
            Some("tool_use") => {
                check.calls.call(&piece.text("id").unwrap_or_default(), &at, check.model);
                check.tool_name(piece, &at);
                check.input(piece.get("input"), false, &at);
            }
            _ => check.fail(Rule::ReasoningSigned, &at),
        }
    }
}

fn question(pieces: &[Object<'_>], at: &str, check: &mut Check<'_>) {
    let mut said = false;
    for (index, piece) in pieces.iter().enumerate() {
        let at = format!("{at}.content[{index}]");
        check.marks += usize::from(piece.has("cache_control"));
        if piece.text("type").as_deref() != Some("tool_result") {
            said = true;
            self::piece(piece, &at, check);
            continue;
        }
        if said {
            check.fail(Rule::ResultsFirst, &at);
        }
        check.calls.result(&piece.text("tool_use_id").unwrap_or_default(), &at);
        if piece.get("content").is_some_and(|content| content.kind() == Kind::Array) {
            for (index, inner) in objects(piece.get("content")).iter().enumerate() {
                self::piece(inner, &format!("{at}.content[{index}]"), check);
            }
        }
    }
}

fn piece(piece: &Object<'_>, at: &str, check: &mut Check<'_>) {
    match piece.text("type").as_deref() {
        Some("text") => check.text(piece, "text", at),
        Some(kind @ ("image" | "document")) => {
            let source = piece.get("source").and_then(Json::as_object).unwrap_or_default();
            match source.text("url") {
                Some(url) => check.file_url(&url, kind == "image", at),
                None => check.file(&source.text("media_type").unwrap_or_default(), &source.text("data").unwrap_or_default(), at),
            }
        }
        _ => check.fail(Rule::EmptyMessage, at),
    }
}
