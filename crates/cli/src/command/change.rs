//! `annalist rename`, `archive`, `unarchive` and `fork`: a session changed, or copied.

use super::session::{named, title};
use crate::args::{ForkArgs, RenameArgs, SessionArgs};
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::{Error, Pending, Store};
use std::io::Write as _;

pub(crate) fn rename(args: &RenameArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    change(&args.session, place, out, "Renamed", |store, id| store.set_title(id, &args.title))
}

pub(crate) fn archive(args: &SessionArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    change(args, place, out, "Archived", Store::archive)
}

pub(crate) fn unarchive(args: &SessionArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    change(args, place, out, "Taken back out", Store::unarchive)
}

fn change(
    args: &SessionArgs,
    place: &Place,
    out: &mut Out,
    done: &str,
    change: impl FnOnce(&Store, &str) -> Pending<Session<'static>>,
) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.id)?;
    let session = change(&store, &id).wait()?;
    tell(&session, args.json, done, out)
}

pub(crate) fn fork(args: &ForkArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.session.id)?;
    if let Some(message) = &args.before {
        // The store copies everything where it does not find the place; who asks for a place should hear that it is not there.
        store.get(&id, message).map_err(|error| if error.is_not_found() { not_there(message) } else { error })?;
    }
    let fork = store.fork_session(&id, args.before.as_deref()).wait()?;
    tell(&fork.session, args.session.json, "Forked", out)?;
    let (messages, parts) = (output::count(fork.messages, "message"), output::count(fork.parts, "part"));
    output::status(&format!("{messages} and {parts} copied; the copy is named \"{}\"", title(&fork.session, 80)));
    Ok(())
}

fn not_there(message: &str) -> Error {
    Error::NotFound { what: "Message", id: message.to_owned() }
}

/// The session as it is now: its id, or all of it.
pub(super) fn tell(session: &Session<'_>, json: bool, done: &str, out: &mut Out) -> Result<(), CliError> {
    let id = session.object().text("id").unwrap_or_default();
    if json { writeln!(out, "{}", session.to_text()) } else { writeln!(out, "{done}: {}", output::printable(&id)) }?;
    Ok(())
}
