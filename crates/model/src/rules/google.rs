//! Google generative language. Calls have no ids here: results are told by their number and names.

use super::{Check, Rule, limits, objects};
use annalist_schema::Json;
use annalist_schema::raw::Object;

pub(super) fn check(contents: &[Json<'_>], check: &mut Check<'_>) {
    let mut before = String::new();
    let mut open: Vec<String> = Vec::new();
    for (index, content) in contents.iter().enumerate() {
        let at = format!("contents[{index}]");
        let content = content.as_object().unwrap_or_default();
        let role = content.text("role").unwrap_or_default().into_owned();
        let parts = objects(content.get("parts"));
        if parts.is_empty() {
            check.fail(Rule::EmptyMessage, &at);
        }
        if index == 0 && role != "user" {
            check.fail(Rule::FirstRole, &at);
        }
        let calls = names(&parts, "functionCall");
        let results = names(&parts, "functionResponse");
        if results.len() > open.len() || results.iter().zip(&open).any(|(result, call)| result != call) {
            check.fail(Rule::ResultWithoutCall, &at);
        }
        if results.len() < open.len() {
            check.fail(Rule::CallWithoutResult, &at);
        }
        if !calls.is_empty() && before == "model" {
            check.fail(Rule::CallTurn, &at);
        }
        let mut unsigned = limits::signs_calls(check.model);
        for (index, part) in parts.iter().enumerate() {
            unsigned = self::part(part, unsigned, &format!("{at}.parts[{index}]"), check);
        }
        open = calls;
        before = role;
    }
    if !open.is_empty() {
        check.fail(Rule::CallWithoutResult, "contents");
    }
    if contents.is_empty() {
        check.fail(Rule::NoMessages, "contents");
    } else if before != "user" {
        check.fail(Rule::LastRole, "contents");
    }
}

fn names(parts: &[Object<'_>], key: &str) -> Vec<String> {
    let name = |part: &Object<'_>| part.get(key)?.as_object()?.text("name").map(std::borrow::Cow::into_owned);
    parts.iter().filter(|part| part.has(key)).map(|part| name(part).unwrap_or_default()).collect()
}

/// Checks one part; gives whether the first call is still to come.
fn part(part: &Object<'_>, unsigned: bool, at: &str, check: &mut Check<'_>) -> bool {
    let inner = |key: &str| part.get(key).and_then(Json::as_object).unwrap_or_default();
    if part.has("text") {
        check.text(part, "text", at);
    } else if part.has("functionCall") {
        let call = inner("functionCall");
        check.tool_name(&call, at);
        check.input(call.get("args"), false, at);
        if unsigned && part.text("thoughtSignature").is_none_or(|signature| signature.is_empty()) {
            check.fail(Rule::CallSigned, at);
        }
        return false;
    } else if part.has("functionResponse") {
        let response = inner("functionResponse");
        check.tool_name(&response, at);
        for inner in objects(response.get("parts")) {
            self::part(&inner, false, at, check);
        }
    } else if part.has("inlineData") {
        let data = inner("inlineData");
        check.file(&data.text("mimeType").unwrap_or_default(), &data.text("data").unwrap_or_default(), at);
    } else if part.has("fileData") {
        check.file_url(&inner("fileData").text("fileUri").unwrap_or_default(), true, at);
    } else {
        check.fail(Rule::EmptyMessage, at);
    }
    unsigned
}
