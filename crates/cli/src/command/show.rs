//! `annalist show`

use super::session_named;
use crate::args::ShowArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::part::ToolState;
use annalist_schema::raw::Object;
use annalist_schema::{Message, Part, Session};
use annalist_store::query::{Cursor, Direction, MessageRange};
use annalist_store::row::{MessageRow, PartRow};
use annalist_store::{Flow, Snapshot, hydrate, transcript};
use std::io::{self, Write};

/// Messages shown when nobody says how many.
const USUAL: u32 = 20;

pub(crate) fn run(args: &ShowArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let id = session_named(&store, place, &args.id)?;
    let last = match (args.last, args.all || args.json) {
        (Some(last), _) => Some(last),
        (None, true) => None,
        (None, false) => Some(USUAL),
    };
    let mut failed: Result<(), io::Error> = Ok(());
    let older = store.read(|view| {
        let row = view.session(&id)?.ok_or_else(|| annalist_store::Error::NotFound { what: "Session", id: id.clone() })?;
        let session = hydrate::session(&row);
        let (start, older) = start(view, &id, last)?;
        failed =
            if args.json { write!(out, "{{\"info\":{},\"messages\":[", session.to_text()) } else { heading(&session, older, out) };
        if failed.is_err() {
            return Ok(older);
        }
        let mut first = true;
        let range = MessageRange { session: &id, direction: Direction::OldestFirst, beyond: start, limit: last };
        transcript::visit(view, &range, &mut |message, parts| {
            failed = if args.json { json(message, parts, std::mem::take(&mut first), out) } else { people(message, parts, out) };
            if failed.is_ok() { Flow::Continue } else { Flow::Stop }
        })?;
        Ok(older)
    })?;
    failed?;
    if args.json {
        out.write_all(b"]}\n")?;
    }
    out.finish()?;
    if older && !args.json {
        output::status("Earlier messages are not shown: --last N or --all shows them.");
    }
    Ok(())
}

/// The position just before the last `last` messages, and whether there are any before it.
fn start(view: &dyn Snapshot, session: &str, last: Option<u32>) -> Result<(Option<Cursor>, bool), annalist_store::Error> {
    let Some(last) = last else { return Ok((None, false)) };
    let limit = Some(last.saturating_add(1));
    let ask = MessageRange { session, direction: Direction::NewestFirst, beyond: None, limit };
    let mut seen = 0_u32;
    let mut before = None;
    view.messages(&ask, &mut |row| {
        seen = seen.saturating_add(1);
        before = (seen > last).then(|| Cursor { id: row.id.to_string(), time: row.created });
        Flow::Continue
    })?;
    Ok((before.clone(), before.is_some()))
}

fn json(message: &MessageRow<'_>, parts: &[PartRow<'_>], first: bool, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}{{\"info\":{},\"parts\":[", if first { "" } else { "," }, hydrate::message(message))?;
    for (index, part) in parts.iter().enumerate() {
        write!(out, "{}{}", if index == 0 { "" } else { "," }, hydrate::part(part))?;
    }
    out.write_all(b"]}")
}

fn heading(session: &Session<'_>, older: bool, out: &mut dyn Write) -> io::Result<()> {
    let title = session.title().unwrap_or_default();
    writeln!(out, "{}", output::one_line(&title, 100))?;
    let text = |name: &str| output::printable(&session.object().text(name).unwrap_or_default());
    writeln!(out, "{}  {}", text("id"), text("directory"))?;
    if older {
        writeln!(out, "\n[...]")?;
    }
    Ok(())
}

/// A message as people read it: who and when, what was said, and a line for each thing done.
fn people(message: &MessageRow<'_>, parts: &[PartRow<'_>], out: &mut dyn Write) -> io::Result<()> {
    let info = Message::from_object(hydrate::message(message).into_object().unwrap_or_default());
    let who = match &info {
        Message::User(_) => "You".to_owned(),
        Message::Assistant(assistant) => {
            let model = assistant.model_id().map(std::borrow::Cow::into_owned).unwrap_or_default();
            let agent = assistant.agent().map(std::borrow::Cow::into_owned).unwrap_or_default();
            let by: Vec<&str> = [agent.as_str(), model.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
            format!("Assistant ({})", output::printable(&by.join(", ")))
        }
        _ => "Message of an unknown kind".to_owned(),
    };
    writeln!(out, "\n── {who} · {}", output::local(message.created.ms() as f64))?;
    for part in parts {
        let json = hydrate::part(part);
        if let Ok(object) = Object::parse(json.as_str()) {
            say(&Part::from_object(object), out)?;
        }
    }
    if let Message::Assistant(assistant) = &info
        && let Ok(Some(error)) = assistant.error()
    {
        let name = error.tag().unwrap_or_default().into_owned();
        let data = error.object().get("data").and_then(annalist_schema::Json::as_object).unwrap_or_default();
        let text = data.text("message").unwrap_or_default();
        writeln!(out, "! {}: {}", output::printable(&name), output::one_line(&text, 200))?;
    }
    Ok(())
}

fn say(part: &Part<'_>, out: &mut dyn Write) -> io::Result<()> {
    match part {
        Part::Text(text) => {
            if let Some(problem) = unreadable(text.object()) {
                return writeln!(out, "! a part that cannot be read: {}", output::one_line(&problem, 150));
            }
            let hidden = text.synthetic().ok().flatten() == Some(true) || text.ignored().ok().flatten() == Some(true);
            match text.text() {
                Ok(body) if body.trim().is_empty() => Ok(()),
                // What the program added for the model is only named: it is not part of the conversation.
                Ok(body) if hidden => writeln!(out, "  + {}", output::one_line(&body, 100)),
                Ok(body) => writeln!(out, "{}", output::printable(body.trim_end())),
                Err(problem) => writeln!(out, "! text part: {problem}"),
            }
        }
        Part::Reasoning(reasoning) => match reasoning.text() {
            Ok(body) if body.trim().is_empty() => Ok(()),
            Ok(body) => writeln!(out, "  ~ {}", output::one_line(&body, 100)),
            Err(problem) => writeln!(out, "! reasoning part: {problem}"),
        },
        Part::Tool(tool) => {
            let name = tool.tool().unwrap_or_default().into_owned();
            let (status, about) = match tool.state() {
                Ok(state) => (state.tag().unwrap_or_default().into_owned(), about(&state)),
                Err(problem) => ("?".to_owned(), problem.to_string()),
            };
            writeln!(out, "  * {} [{}] {}", output::printable(&name), output::printable(&status), output::one_line(&about, 100))
        }
        Part::File(file) => {
            let name = file.filename().ok().flatten().or_else(|| file.url().ok()).unwrap_or_default();
            writeln!(out, "  @ {}", output::one_line(&name, 100))
        }
        Part::Agent(agent) => writeln!(out, "  @ agent {}", output::one_line(&agent.name().unwrap_or_default(), 80)),
        Part::Subtask(task) => writeln!(out, "  > {}", output::one_line(&task.description().unwrap_or_default(), 100)),
        Part::Patch(patch) => {
            let files = patch.files().map(|files| files.join(", ")).unwrap_or_default();
            writeln!(out, "  # changed {}", output::one_line(&files, 100))
        }
        Part::Compaction(_) => writeln!(out, "  = the conversation up to here was summarised"),
        Part::Retry(_) => writeln!(out, "  ! tried again"),
        Part::StepStart(_) | Part::StepFinish(_) | Part::Snapshot(_) => Ok(()),
        other => writeln!(out, "  ? part of type {:?}", output::printable(&other.tag().unwrap_or_default())),
    }
}

fn about(state: &ToolState<'_>) -> String {
    let text = |name: &str| state.object().text(name).filter(|text| !text.trim().is_empty());
    if let Some(text) = text("error").or_else(|| text("title")) {
        return text.into_owned();
    }
    state.object().get("input").map(|input| input.as_str().to_owned()).unwrap_or_default()
}

/// What a stand-in for unreadable bytes says of them.
fn unreadable(object: &Object<'_>) -> Option<String> {
    hydrate::carried(object)?;
    let metadata = object.get("metadata")?.as_object()?;
    let ours = metadata.get(hydrate::OURS)?.as_object()?;
    ours.text("problem").map(std::borrow::Cow::into_owned)
}
