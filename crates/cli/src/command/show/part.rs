//! A part as people read it: what was said in full, everything else in a line.

use crate::command::problem;
use crate::output::{one_line, printable};
use annalist_schema::part::{TextPart, ToolPart, ToolState};
use annalist_schema::{Object, Part};
use annalist_store::hydrate;
use annalist_store::row::PartRow;
use std::io::{self, Write};

pub(super) fn write(row: &PartRow<'_>, out: &mut dyn Write) -> io::Result<()> {
    let json = hydrate::part(row);
    // A hydrated part is an object, whatever its bytes were.
    let part = Part::from_object(Object::parse(json.as_str()).unwrap_or_default());
    if let Some(problem) = problem::unreadable(part.object()) {
        return writeln!(out, "! a part that cannot be read: {}", one_line(&problem, 150));
    }
    content(&part, out)?;
    // That its type is not known here was said.
    if matches!(part, Part::Unknown(_)) {
        return Ok(());
    }
    let kind = part.tag().unwrap_or_default();
    for problem in problem::lines(&part.problems()) {
        writeln!(out, "! {kind} part: {problem}")?;
    }
    Ok(())
}

fn content(part: &Part<'_>, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Text(part) => text(part, out),
        Part::Reasoning(part) => about("~", &part.text().unwrap_or_default(), out),
        Part::Tool(part) => tool(part, out),
        Part::File(part) => {
            let name = part.filename().ok().flatten().or_else(|| part.url().ok()).unwrap_or_default();
            about("@", &name, out)
        }
        Part::Agent(part) => about("@", &part.name().map(|name| format!("agent {name}")).unwrap_or_default(), out),
        Part::Subtask(part) => about(">", &part.description().unwrap_or_default(), out),
        Part::Patch(part) => {
            about("#", &part.files().map(|files| format!("changed {}", files.join(", "))).unwrap_or_default(), out)
        }
        Part::Compaction(_) => about("=", "the conversation up to here was summarised", out),
        Part::Retry(_) => about("!", "tried again", out),
        Part::StepStart(_) | Part::StepFinish(_) | Part::Snapshot(_) => Ok(()),
        other => match other.tag() {
            Some(tag) => about("?", &format!("part of type {tag:?}"), out),
            None => about("?", "part without a type", out),
        },
    }
}

/// A line about a part; none where there is nothing to say.
fn about(sign: &str, text: &str, out: &mut dyn Write) -> io::Result<()> {
    if text.trim().is_empty() { Ok(()) } else { writeln!(out, "  {sign} {}", one_line(text, 100)) }
}

fn text(part: &TextPart<'_>, out: &mut dyn Write) -> io::Result<()> {
    let body = part.text().unwrap_or_default();
    let set = |flag: Option<bool>| flag == Some(true);
    // What the program added for the model is only named: it is not part of the conversation.
    if set(part.synthetic().ok().flatten()) || set(part.ignored().ok().flatten()) {
        return about("+", &body, out);
    }
    if body.trim().is_empty() { Ok(()) } else { writeln!(out, "{}", printable(body.trim_end())) }
}

fn tool(part: &ToolPart<'_>, out: &mut dyn Write) -> io::Result<()> {
    let state = part.state().ok();
    let status = state.as_ref().and_then(ToolState::tag).unwrap_or("?".into());
    let name = part.tool().unwrap_or("?".into());
    let doing = state.as_ref().map(doing).unwrap_or_default();
    about("*", &format!("{name} [{status}] {doing}"), out)
}

/// What a tool was about: how it failed, else its own title, else what it was asked.
fn doing(state: &ToolState<'_>) -> String {
    let text = |name: &str| state.object().text(name).filter(|text| !text.trim().is_empty());
    if let Some(text) = text("error").or_else(|| text("title")) {
        return text.into_owned();
    }
    state.object().get("input").map(|input| input.as_str().to_owned()).unwrap_or_default()
}
