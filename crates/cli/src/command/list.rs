//! `annalist list`

use super::here;
use crate::args::ListArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::query::{Archived, SessionFilter};
use std::io::Write;

pub(crate) fn run(args: &ListArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let everywhere = SessionFilter {
        roots: args.roots,
        search: args.search.clone(),
        archived: if args.archived { Archived::Include } else { Archived::Exclude },
        limit: Some(args.limit),
        ..SessionFilter::default()
    };
    let folder = if args.all { None } else { Some(here()?) };
    let filter = SessionFilter { project: folder.as_ref().map(|f| f.project.clone()), ..everywhere.clone() };
    let listing = store.sessions(&filter)?;

    if args.json {
        out.write_all(b"[")?;
        for (index, session) in listing.sessions.iter().enumerate() {
            out.write_all(if index == 0 { b"" } else { b",\n" })?;
            out.write_all(session.to_text().as_bytes())?;
        }
        out.write_all(b"]\n")?;
    } else {
        table(&listing.sessions, out)?;
    }
    // The list first, then what it leaves out.
    out.finish()?;

    let shown = listing.sessions.len() as u64;
    let count = |filter: &SessionFilter| store.read(|view| view.count_sessions(filter));
    let with_archived = |filter: &SessionFilter| SessionFilter { archived: Archived::Include, ..filter.clone() };
    let mut notes = Vec::new();
    match &folder {
        Some(folder) => {
            let more = count(&everywhere)?.saturating_sub(listing.total);
            let project = if folder.project == "global" { "outside of git".to_owned() } else { format!("of {}", folder.worktree) };
            let others = if more > 0 { format!("; {more} more with --all") } else { String::new() };
            notes.push(format!("{} {project}{others}.", sessions(listing.total)));
        }
        None => notes.push(format!("{} of all projects.", sessions(listing.total))),
    }
    if listing.total > shown {
        notes.push(format!("Shown: {shown}; the others with --limit {}.", listing.total));
    }
    let archived = count(&with_archived(&filter))?.saturating_sub(listing.total);
    if archived > 0 && !args.archived {
        notes.push(format!("{archived} archived, shown with --archived."));
    }
    output::status(&notes.join(" "));
    if let Some(hint) = place.hint() {
        output::status(&hint);
    }
    Ok(())
}

fn sessions(count: u64) -> String {
    match count {
        0 => "No sessions".to_owned(),
        1 => "1 session".to_owned(),
        count => format!("{count} sessions"),
    }
}

fn table(list: &[Session<'_>], out: &mut dyn Write) -> Result<(), CliError> {
    const TITLE: usize = 60;
    let id = |session: &Session<'_>| output::printable(&session.object().text("id").unwrap_or_default());
    let Some(width) = list.iter().map(|session| id(session).chars().count()).max() else { return Ok(()) };
    writeln!(out, "{:width$}  {:16}  TITLE", "SESSION", "UPDATED")?;
    for session in list {
        let updated = session.time().ok().and_then(|time| time.updated().ok().map(|ms| output::local(ms as f64)));
        let title = session.title().map(|title| output::one_line(&title, TITLE)).unwrap_or_default();
        let archived = session.time().is_ok_and(|time| matches!(time.archived(), Ok(Some(_))));
        let archived = if archived { "  (archived)" } else { "" };
        writeln!(out, "{:width$}  {:16}  {title}{archived}", id(session), updated.unwrap_or_default())?;
    }
    Ok(())
}
