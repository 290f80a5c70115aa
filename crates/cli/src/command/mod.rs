//! One file a verb.

pub(crate) mod db;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod show;

use crate::error::CliError;
use crate::output;
use crate::place::Place;
use annalist_schema::Session;
use annalist_store::folder::{self, Remember};
use annalist_store::query::SessionFilter;
use annalist_store::{Folder, Store};
use std::path::Path;

/// What the current folder belongs to, for a command that reads.
fn here() -> Result<Folder, CliError> {
    Ok(folder::resolve(Path::new("."), Remember::No)?)
}

/// The session that a person means: an id, the unique beginning of one (with or without `ses_`), or `latest`.
fn session_named(store: &Store, place: &Place, id: &str) -> Result<String, CliError> {
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

fn latest(store: &Store, place: &Place) -> Result<String, CliError> {
    let folder = here()?;
    let newest = |project: Option<String>| {
        let filter = SessionFilter { project, limit: Some(1), ..SessionFilter::default() };
        store.sessions(&filter).map(|listing| listing.sessions.into_iter().next())
    };
    let id = |session: &Session<'_>| session.object().text("id").unwrap_or_default().into_owned();
    if let Some(session) = newest(Some(folder.project))? {
        return Ok(id(&session));
    }
    let session = newest(None)?.ok_or_else(|| CliError::Empty { file: place.file.clone() })?;
    let from = session.object().text("directory").unwrap_or_default().into_owned();
    output::status(&format!("No session of this folder's project; the latest of all is from {}", output::printable(&from)));
    Ok(id(&session))
}
