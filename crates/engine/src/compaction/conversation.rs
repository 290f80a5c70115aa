//! A history as plain text, for the agent that sums it up: it is to read it and not to take part in it.

use annalist_schema::raw::{Json, Object};
use annalist_store::transcript::WithParts;

/// Characters of a tool's output that are shown.
const OUTPUT: usize = 2_000;
const CLEARED: &str = "[Old tool result content cleared]";

/// The messages, a blank line apart (reference-engine 5.2).
#[must_use]
pub fn conversation(messages: &[WithParts]) -> String {
    let mut blocks = Vec::new();
    for message in messages {
        let parts = message.parts.iter().filter_map(Json::as_object);
        let lines: Vec<String> = match message.info.as_object().unwrap_or_default().text("role").as_deref() {
            Some("user") => user(parts),
            _ => parts.flat_map(|part| assistant(&part)).collect(),
        };
        if !lines.is_empty() {
            blocks.push(lines.join("\n"));
        }
    }
    blocks.join("\n\n")
}

fn user<'p>(parts: impl Iterator<Item = Object<'p>>) -> Vec<String> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        match part.text("type").as_deref() {
            Some("text") if part.get("ignored").and_then(Json::as_bool) != Some(true) => {
                texts.extend(part.text("text").filter(|text| !text.is_empty()).map(std::borrow::Cow::into_owned));
            }
            Some("file") => files.push(attached(&part)),
            _ => {}
        }
    }
    let text = (!texts.is_empty()).then(|| format!("[User]: {}", texts.join("\n")));
    text.into_iter().chain(files).collect()
}

fn assistant(part: &Object<'_>) -> Vec<String> {
    let text = |key: &str| part.text(key).filter(|text| !text.trim().is_empty());
    match part.text("type").as_deref() {
        Some("text") => text("text").map(|text| format!("[Assistant]: {text}")).into_iter().collect(),
        Some("reasoning") => text("text").map(|text| format!("[Assistant reasoning]: {text}")).into_iter().collect(),
        Some("tool") => tool(part),
        _ => Vec::new(),
    }
}

fn tool(part: &Object<'_>) -> Vec<String> {
    let state = part.get("state").and_then(Json::as_object).unwrap_or_default();
    let input = state.get("input").map_or("{}", Json::as_str);
    let mut lines = vec![format!("[Assistant tool call]: {}({input})", part.text("tool").unwrap_or_default())];
    match state.text("status").as_deref() {
        Some("completed") => {
            let compacted = state.get("time").and_then(Json::as_object).is_some_and(|time| time.has("compacted"));
            if compacted {
                lines.push(format!("[Tool result]: {CLEARED}"));
            } else {
                lines.push(format!("[Tool result]: {}", cut(&state.text("output").unwrap_or_default())));
                let files = state.get("attachments").and_then(Json::as_array).unwrap_or_default();
                lines.extend(files.iter().filter_map(Json::as_object).map(|file| attached(&file)));
            }
        }
        Some("error") => lines.push(format!("[Tool error]: {}", cut(&state.text("error").unwrap_or_default()))),
        _ => {}
    }
    lines
}

fn attached(file: &Object<'_>) -> String {
    format!("[Attached {}: {}]", file.text("mime").unwrap_or_default(), file.text("filename").as_deref().unwrap_or("file"))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(OUTPUT) {
        Some((end, _)) => format!("{}\n[truncated]", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn message(role: &str, parts: &[&str]) -> WithParts {
        let json = |text: &str| Json::parse(text.to_owned()).unwrap();
        WithParts { info: json(&format!(r#"{{"role":"{role}"}}"#)), parts: parts.iter().map(|part| json(part)).collect() }
    }

    #[test]
    fn everything_that_was_said_and_done_is_there_once() {
        let long = "ä".repeat(OUTPUT + 1);
        let output = format!(
            r#"{{"type":"tool","tool":"read","state":{{"status":"completed","input":{{"a":1}},"output":"{long}",
            "attachments":[{{"mime":"image/png"}}],"time":{{"start":1,"end":2}}}}}}"#
        );
        let history = [
            message(
                "user",
                &[
                    r#"{"type":"text","text":"one"}"#,
                    r#"{"type":"text","text":"hidden","ignored":true}"#,
                    r#"{"type":"file","mime":"image/png","filename":"p.png"}"#,
                    r#"{"type":"text","text":"two","synthetic":true}"#,
                ],
            ),
            message("assistant", &[r#"{"type":"step-start"}"#]),
            message(
                "assistant",
                &[
                    r#"{"type":"reasoning","text":"hm"}"#,
                    r#"{"type":"text","text":"yes"}"#,
                    &output,
                    r#"{"type":"tool","tool":"bash","state":{"status":"completed","input":{},"output":"x","time":{"compacted":3}}}"#,
                    r#"{"type":"tool","tool":"bash","state":{"status":"error","input":{},"error":"no"}}"#,
                    r#"{"type":"tool","tool":"bash","state":{"status":"running","input":{}}}"#,
                ],
            ),
        ];
        let expected = format!(
            "[User]: one\ntwo\n[Attached image/png: p.png]\n\n[Assistant reasoning]: hm\n[Assistant]: yes\n[Assistant tool call]: \
             read({{\"a\":1}})\n[Tool result]: {}\n[truncated]\n[Attached image/png: file]\n[Assistant tool call]: bash({{}})\n\
             [Tool result]: {CLEARED}\n[Assistant tool call]: bash({{}})\n[Tool error]: no\n[Assistant tool call]: bash({{}})",
            "ä".repeat(OUTPUT)
        );
        assert_eq!(conversation(&history), expected);
    }
}
