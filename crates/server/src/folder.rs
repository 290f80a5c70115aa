//! Which folder a request is about (reference-storage 1.5, 4.8).

use crate::app::App;
use crate::error::{Problem, Where};
use crate::request::Ask;
use annalist_store::Folder;
use annalist_store::folder::{self, FolderError, Remember};
use percent_encoding::percent_decode_str;
use std::path::{Path, PathBuf};

/// The folder that a request names (the query, then the header), or the server's own.
pub(crate) async fn of(ask: &Ask) -> Result<Folder, Problem> {
    resolve(&ask.app, named(ask), Remember::No).await
}

/// The same for a request that writes there.
pub(crate) async fn of_writer(ask: &Ask) -> Result<Folder, Problem> {
    resolve(&ask.app, named(ask), Remember::Yes).await
}

/// The folder of a path, relative to the server's own.
pub(crate) async fn at(app: &App, path: &str) -> Result<Folder, Problem> {
    resolve(app, app.options.directory.join(path), Remember::No).await
}

fn named(ask: &Ask) -> PathBuf {
    let header = ask.headers.get("x-opencode-directory").map(|value| decoded(value.as_bytes()));
    let given = ask.query.filled("directory").map(str::to_owned).or(header).filter(|given| !given.is_empty());
    given.map_or_else(|| ask.app.options.directory.clone(), |given| ask.app.options.directory.join(given))
}

/// A header is bytes; browsers and the SDK send paths escaped. One that is no escape is taken as it stands.
fn decoded(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    match percent_decode_str(&text).decode_utf8() {
        Ok(decoded) => decoded.into_owned(),
        Err(_) => text.into_owned(),
    }
}

async fn resolve(app: &App, path: PathBuf, remember: Remember) -> Result<Folder, Problem> {
    app.blocking(move |_| folder::resolve(Path::new(&path), remember).map_err(problem)).await
}

fn problem(error: FolderError) -> Problem {
    match error {
        FolderError::Unreadable { .. } | FolderError::NotAFolder { .. } | FolderError::NotUtf8 { .. } => {
            Problem::bad(Where::Query, error.to_string())
        }
        other => Problem::internal(other),
    }
}
