//! `annalist list`

use super::{here, problem, session};
use crate::args::ListArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::folder::GLOBAL;
use annalist_store::query::{Archived, SessionFilter};
use annalist_store::{Folder, Listing, Store};
use std::io::{self, Write};

pub(crate) fn run(args: &ListArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let everywhere = SessionFilter {
        roots: args.roots,
        search: args.search.clone(),
        archived: if args.archived { Archived::Include } else { Archived::Exclude },
        limit: Some(args.limit),
        ..SessionFilter::default()
    };
    let folder = if args.all { None } else { Some(here("`annalist list --all` works everywhere")?) };
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
        table(&listing.sessions, args.all, out)?;
    }
    // The list first, then what it leaves out.
    out.finish()?;
    output::status(&notes(&store, args, folder.as_ref(), &everywhere, &filter, &listing)?.join(" "));
    if let Some(hint) = place.hint() {
        output::status(&hint);
    }
    Ok(())
}

/// Which project it is, and what is not in the list.
fn notes(
    store: &Store,
    args: &ListArgs,
    folder: Option<&Folder>,
    everywhere: &SessionFilter,
    filter: &SessionFilter,
    listing: &Listing,
) -> Result<Vec<String>, CliError> {
    let count = |filter: &SessionFilter| store.read(|view| view.count_sessions(filter));
    let mut notes = Vec::new();
    match folder {
        None => notes.push(format!("All projects: {}.", sessions(listing.total))),
        Some(folder) => {
            let project = match (folder.project.as_str(), folder.git) {
                (GLOBAL, false) => "Folders outside of git".to_owned(),
                (GLOBAL, true) => format!("{} has no commit yet and counts to the folders outside of git", folder.worktree),
                _ => format!("Project {}", folder.worktree),
            };
            let more = count(everywhere)?.saturating_sub(listing.total);
            let more = if more > 0 { format!("; {more} more with --all") } else { String::new() };
            notes.push(format!("{project}: {}{more}.", sessions(listing.total)));
            if let Some(previous) = &folder.previous {
                let earlier = count(&SessionFilter { project: Some(previous.clone()), ..filter.clone() })?;
                if earlier > 0 {
                    notes.push(format!(
                        "{earlier} of the others are filed under this repository's earlier id, until OpenCode is started here."
                    ));
                }
            }
        }
    }
    let shown = listing.sessions.len() as u64;
    if listing.total > shown {
        notes.push(format!("Shown: {shown}; the others with --limit {}.", listing.total));
    }
    let archived = count(&SessionFilter { archived: Archived::Include, ..filter.clone() })?.saturating_sub(listing.total);
    if archived > 0 && !args.archived {
        notes.push(format!("{archived} archived, shown with --archived."));
    }
    Ok(notes)
}

fn sessions(count: u64) -> String {
    if count == 0 { "no sessions".to_owned() } else { output::count(count, "session") }
}

/// A line of the table.
struct Line {
    id: String,
    updated: String,
    folder: String,
    title: String,
}

/// At most so many characters of a folder and of a title.
#[derive(Clone, Copy)]
struct Widths {
    folder: usize,
    title: usize,
}

impl Widths {
    const WIDE: Widths = Widths { folder: 40, title: 60 };
    /// Less than this says nothing; then a line is longer than the terminal is wide.
    const NARROW: Widths = Widths { folder: 12, title: 12 };

    /// What fits beside the id and the time.
    fn for_terminal(folders: bool, width: usize) -> Self {
        const BEFORE: usize = "ses_dd1bafc32ffecZTBvB6nv7BhzX  2026-11-30 21:03  ".len();
        let left = width.saturating_sub(BEFORE);
        let folder = (left.saturating_sub(2) / 2).clamp(Self::NARROW.folder, Self::WIDE.folder);
        let left = if folders { left.saturating_sub(folder + 2) } else { left };
        Widths { folder, title: left.clamp(Self::NARROW.title, Self::WIDE.title) }
    }
}

impl Line {
    fn of(session: &Session<'_>, widths: Widths) -> Self {
        let text = |name: &str| output::line(&session.object().text(name).unwrap_or_default());
        let broken = problem::columns(session);
        let updated = session.time().ok().and_then(|time| time.updated().ok()).map(|ms| output::local(ms as f64));
        // The stand-in for a broken time is no time.
        let updated = updated.filter(|_| !broken.iter().any(|(column, _)| column == "time_updated"));
        let mut title = vec![session::title(session, widths.title)];
        if session.time().is_ok_and(|time| matches!(time.archived(), Ok(Some(_)))) {
            title.push("(archived)".to_owned());
        }
        if !broken.is_empty() {
            let columns: Vec<&str> = broken.iter().map(|(column, _)| column.as_str()).collect();
            title.push(format!("! cannot be read: {}", output::one_line(&columns.join(", "), Widths::WIDE.title)));
        }
        let folder = output::tail(&text("directory"), widths.folder);
        Line { id: text("id"), updated: updated.unwrap_or_else(|| "?".to_owned()), folder, title: title.join("  ") }
    }
}

fn table(list: &[Session<'_>], folders: bool, out: &mut dyn Write) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let head = Line { id: "SESSION".into(), updated: "UPDATED".into(), folder: "FOLDER".into(), title: "TITLE".into() };
    let widths = output::width().map_or(Widths::WIDE, |width| Widths::for_terminal(folders, width));
    let lines: Vec<Line> = std::iter::once(head).chain(list.iter().map(|session| Line::of(session, widths))).collect();
    let widest = |text: fn(&Line) -> &str| lines.iter().map(|line| text(line).chars().count()).max().unwrap_or_default();
    let (ids, updates, places) = (widest(|line| &line.id), widest(|line| &line.updated), widest(|line| &line.folder));
    for Line { id, updated, folder, title } in &lines {
        let folder = if folders { format!("{folder:places$}  ") } else { String::new() };
        writeln!(out, "{}", format!("{id:ids$}  {updated:updates$}  {folder}{title}").trim_end())?;
    }
    Ok(())
}
