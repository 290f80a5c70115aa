//! `annalist show`

mod message;
mod part;

use super::{problem, session};
use crate::args::ShowArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::query::{Cursor, Direction, MessageRange};
use annalist_store::row::{MessageRow, PartRow};
use annalist_store::{Flow, Snapshot, hydrate, transcript};
use std::io::{self, Write};

/// Messages shown when nobody says how many.
const USUAL: u32 = 20;

pub(crate) fn run(args: &ShowArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let id = session::named(&store, place, &args.id)?;
    let last = match (args.last, args.all || args.json) {
        (Some(last), _) => Some(last),
        (None, true) => None,
        (None, false) => Some(USUAL),
    };
    let mut failed: io::Result<()> = Ok(());
    let (older, empty) = store.read(|view| {
        let row = view.session(&id)?.ok_or_else(|| annalist_store::Error::NotFound { what: "Session", id: id.clone() })?;
        let session = hydrate::session(&row);
        let (start, older) = start(view, &id, last)?;
        let undone = Undone::of(&session);
        failed =
            if args.json { write!(out, "{{\"info\":{},\"messages\":[", session.to_text()) } else { heading(&session, older, out) };
        if failed.is_err() {
            return Ok((older, false));
        }
        let mut first = true;
        let range = MessageRange { session: &id, direction: Direction::OldestFirst, beyond: start, limit: last };
        transcript::visit(view, &range, &mut |row, parts| {
            let first = std::mem::take(&mut first);
            failed = if args.json { json(row, parts, first, out) } else { message::write(row, parts, &undone, out) };
            if failed.is_ok() { Flow::Continue } else { Flow::Stop }
        })?;
        Ok((older, first))
    })?;
    failed?;
    if args.json {
        out.write_all(b"]}\n")?;
    }
    out.finish()?;
    if !args.json {
        match (older, empty) {
            (true, _) => output::status("Earlier messages are not shown: --last N or --all shows them."),
            (false, true) if last != Some(0) => output::status("The session has no messages."),
            _ => {}
        }
    }
    Ok(())
}

/// From where on the messages are undone; they stay in the record until the next prompt (reference-storage 6.4).
#[derive(Default)]
struct Undone {
    message: Option<String>,
    part: Option<String>,
}

impl Undone {
    fn of(session: &Session<'_>) -> Self {
        let Ok(Some(revert)) = session.revert() else { return Undone::default() };
        let text = |name: &str| revert.object().text(name).map(|id| id.into_owned());
        Undone { message: text("messageID"), part: text("partID") }
    }
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
    writeln!(out, "{}", session::title(session, 100))?;
    let text = |name: &str| output::line(&session.object().text(name).unwrap_or_default());
    writeln!(out, "{}  {}", text("id"), text("directory"))?;
    for (column, problem) in problem::columns(session) {
        writeln!(out, "! column {}: {}", output::one_line(&column, 40), output::one_line(&problem, 150))?;
    }
    for problem in problem::lines(&session.problems()) {
        writeln!(out, "! {problem}")?;
    }
    if older {
        writeln!(out, "\n[...]")?;
    }
    Ok(())
}
