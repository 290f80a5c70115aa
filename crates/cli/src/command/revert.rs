//! `annalist revert` and `unrevert`

use super::change::tell;
use super::session::named;
use crate::args::{RevertArgs, SessionArgs};
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;

pub(crate) fn revert(args: &RevertArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.session.id)?;
    if let Some(message) = &args.message {
        let marked = Progress::during("marking", || store.revert_session(&id, message, args.part.as_deref()).wait())?;
        let Some(boundary) = marked.boundary else {
            // The message may be there, and the part not.
            let (what, named) = match &args.part {
                Some(part) if store.get(&id, message).is_ok() => ("part", part),
                _ => ("message", message),
            };
            return Err(CliError::NotInSession { what, id: named.clone(), session: id });
        };
        if !args.commit {
            tell(&marked.session, args.session.json, "Undone", out)?;
        }
        let part = boundary.part.map(|part| format!(", part {part}")).unwrap_or_default();
        let back = if args.commit { String::new() } else { format!("; `annalist unrevert {id}` takes it back") };
        output::status(&format!("Undone from {} on{part}{back}.", boundary.message));
        for file in marked.files {
            output::status(&format!("Changed there and left as it is: {file}"));
        }
    }
    if args.commit {
        let removed = Progress::during("removing", || store.commit_revert(&id).wait())?;
        tell(&store.session(&id)?, args.session.json, "Removed", out)?;
        output::status(&match removed.len() {
            0 => "Nothing was undone in it, so nothing was removed.".to_owned(),
            _ => format!("Removed for good: {}", removed.join(", ")),
        });
    }
    Ok(())
}

pub(crate) fn unrevert(args: &SessionArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.id)?;
    let marked = store.session(&id)?.object().has("revert");
    let session = Progress::during("unmarking", || store.unrevert_session(&id).wait())?;
    tell(&session, args.json, "As before", out)?;
    if !marked {
        output::status("Nothing was undone in it.");
    }
    Ok(())
}
