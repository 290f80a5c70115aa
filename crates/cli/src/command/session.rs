//! Which session a person means.

use super::here;
use crate::error::CliError;
use crate::output;
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::Store;
use annalist_store::query::{Archived, SessionFilter};

/// An id, the unique beginning of one (with or without `ses_`), or `latest`.
pub(super) fn named(store: &Store, place: &Place, id: &str) -> Result<String, CliError> {
    if id == "latest" {
        return latest(store, place);
    }
    const SHOWN: usize = 4;
    for prefix in [id.to_owned(), format!("ses_{id}")] {
        let mut found = store.read(|view| {
            if view.session(&prefix)?.is_some() {
                return Ok(vec![prefix.clone()]);
            }
            view.session_ids(&prefix, SHOWN + 1)
        })?;
        match found.len() {
            0 => {}
            1 => return Ok(found.remove(0)),
            count => {
                found.truncate(SHOWN);
                return Err(CliError::Ambiguous { id: id.to_owned(), some: found, more: count > SHOWN });
            }
        }
    }
    Err(CliError::NoSession { id: id.to_owned(), file: place.file.clone() })
}

/// The first line of `annalist list`; if that is empty, of `annalist list --all`; if that is, of both with `--archived`.
fn latest(store: &Store, place: &Place) -> Result<String, CliError> {
    let project = here("name the session by its id")?.project;
    let newest = |project: Option<&str>, archived| {
        let filter = SessionFilter { project: project.map(str::to_owned), archived, limit: Some(1), ..SessionFilter::default() };
        store.sessions(&filter).map(|listing| listing.sessions.into_iter().next())
    };
    let id = |session: &Session<'_>| session.object().text("id").unwrap_or_default().into_owned();
    for archived in [Archived::Exclude, Archived::Include] {
        if let Some(session) = newest(Some(&project), archived)? {
            return Ok(id(&session));
        }
        if let Some(session) = newest(None, archived)? {
            let from = session.object().text("directory").unwrap_or_default().into_owned();
            output::status(&format!("No session of this folder's project; the latest of all is from {from}"));
            return Ok(id(&session));
        }
    }
    Err(CliError::Empty { file: place.file.clone() })
}

/// A title for a line of its own or of a table; there is always something to read.
pub(super) fn title(session: &Session<'_>, width: usize) -> String {
    let title = output::one_line(&session.title().unwrap_or_default(), width);
    if title.is_empty() { "(untitled)".to_owned() } else { title }
}
