//! `annalist rename`, `archive`, `unarchive` and `fork`: a session changed, or copied.

use super::session::{named, title};
use crate::args::{ForkArgs, RenameArgs, SessionArgs};
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::{Error, Store};
use std::io::Write as _;

pub(crate) fn rename(args: &RenameArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let (store, id) = open(&args.session, place)?;
    let renamed = Progress::during("renaming", || store.set_title(&id, &args.title).wait())?;
    tell(&renamed, args.session.json, "Renamed", out)
}

pub(crate) fn archive(args: &SessionArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let (store, id) = open(args, place)?;
    // The time at which it was put away is the first one's.
    let session = store.session(&id)?;
    let archived = is_archived(&session);
    let session = if archived { session } else { Progress::during("archiving", || store.archive(&id).wait())? };
    tell(&session, args.json, "Archived", out)?;
    if archived {
        output::status("It was archived already.");
    }
    Ok(())
}

pub(crate) fn unarchive(args: &SessionArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let (store, id) = open(args, place)?;
    let archived = is_archived(&store.session(&id)?);
    let session = Progress::during("taking it back out", || store.unarchive(&id).wait())?;
    tell(&session, args.json, "Taken back out", out)?;
    if !archived {
        output::status("It was not archived.");
    }
    Ok(())
}

fn open(args: &SessionArgs, place: &Place) -> Result<(Store, String), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.id)?;
    Ok((store, id))
}

fn is_archived(session: &Session<'_>) -> bool {
    session.time().is_ok_and(|time| matches!(time.archived(), Ok(Some(_))))
}

pub(crate) fn fork(args: &ForkArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let (store, id) = open(&args.session, place)?;
    if let Some(message) = &args.before {
        // The store copies everything where it does not find the place; who asks for a place should hear that it is not there.
        store.get(&id, message).map_err(|error| match error {
            Error::NotFound { .. } => CliError::NotInSession { what: "message", id: message.clone(), session: id.clone() },
            error => error.into(),
        })?;
    }
    let fork = Progress::during("copying", || store.fork_session(&id, args.before.as_deref()).wait())?;
    tell(&fork.session, args.session.json, "Forked", out)?;
    let (messages, parts) = (output::count(fork.messages, "message"), output::count(fork.parts, "part"));
    output::status(&format!("{messages} and {parts} copied; the copy is named \"{}\"", title(&fork.session, 80)));
    Ok(())
}

/// The session as it is now: its id, or all of it.
pub(super) fn tell(session: &Session<'_>, json: bool, done: &str, out: &mut Out) -> Result<(), CliError> {
    let id = session.object().text("id").unwrap_or_default();
    if json { writeln!(out, "{}", session.to_text()) } else { writeln!(out, "{done}: {}", output::line(&id)) }?;
    Ok(())
}
