//! A message as people read it: who and when, what was said, and a line for each thing done.

use super::{Undone, part};
use crate::command::problem;
use crate::output;
use annalist_schema::{AssistantMessage, Json, Message};
use annalist_store::hydrate;
use annalist_store::row::{MessageRow, PartRow};
use std::io::{self, Write};

const UNDONE: &str = "(undone from here on: the next prompt removes it)";

pub(super) fn write(row: &MessageRow<'_>, parts: &[PartRow<'_>], undone: &Undone, out: &mut dyn Write) -> io::Result<()> {
    let info = Message::from_object(hydrate::message(row).into_object().unwrap_or_default());
    let unreadable = problem::unreadable(info.object());
    let who = if unreadable.is_some() { "A message that cannot be read".to_owned() } else { who(&info) };
    let here = undone.message.as_deref() == Some(&*row.id);
    if here && undone.part.is_none() {
        writeln!(out, "\n{UNDONE}")?;
    }
    writeln!(out, "\n── {who} · {}", output::local(row.created.ms() as f64))?;
    if let Some(problem) = &unreadable {
        writeln!(out, "! {}", output::one_line(problem, 150))?;
    }
    for row in parts {
        if here && undone.part.as_deref() == Some(&*row.id) {
            writeln!(out, "{UNDONE}")?;
        }
        part::write(row, out)?;
    }
    if unreadable.is_none() {
        if let Message::Assistant(assistant) = &info {
            failure(assistant, out)?;
        }
        for problem in problem::lines(&info.problems()) {
            writeln!(out, "! message: {problem}")?;
        }
    }
    Ok(())
}

fn who(info: &Message<'_>) -> String {
    match info {
        Message::User(_) => "You".to_owned(),
        Message::Assistant(assistant) => {
            let model = assistant.model_id().unwrap_or_default();
            let agent = assistant.agent().unwrap_or_default();
            let by: Vec<&str> = [&*agent, &*model].into_iter().filter(|text| !text.is_empty()).collect();
            if by.is_empty() { "Assistant".to_owned() } else { format!("Assistant ({})", output::one_line(&by.join(", "), 80)) }
        }
        _ => "A message of an unknown kind".to_owned(),
    }
}

/// How an answer failed.
fn failure(assistant: &AssistantMessage<'_>, out: &mut dyn Write) -> io::Result<()> {
    let Ok(Some(error)) = assistant.error() else { return Ok(()) };
    let name = error.tag().unwrap_or_default();
    let data = error.object().get("data").and_then(Json::as_object).unwrap_or_default();
    let text = data.text("message").unwrap_or_default();
    let text = if text.trim().is_empty() { String::new() } else { format!(": {}", output::one_line(&text, 200)) };
    writeln!(out, "! {}{text}", output::one_line(&name, 40))
}
