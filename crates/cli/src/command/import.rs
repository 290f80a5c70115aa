//! `annalist import`

use crate::args::ImportArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_store::Error;
use annalist_store::folder::{self, Remember};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

pub(crate) fn run(args: &ImportArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    // All documents are looked at before the first one is written, so that a typing error costs nothing.
    let documents = args.files.iter().map(|file| Ok((file, read(file)?))).collect::<Result<Vec<_>, CliError>>()?;
    for (file, document) in &documents {
        annalist_store::document::check(document).map_err(|error| about(file, error))?;
    }
    let folder = folder::resolve(Path::new("."), Remember::Yes)?;
    let store = place.open_or_make()?;
    for (file, document) in documents {
        let done = store.import(document, folder.clone()).map_err(|error| about(file, error))?;
        writeln!(out, "Imported session: {}", done.session)?;
        // Said at once: of several files, a later one may still fail.
        out.finish()?;
        if !done.new {
            let (messages, parts) = (done.messages, done.parts);
            output::status(&format!("The session was here already; {messages} messages and {parts} parts were new."));
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, CliError> {
    let failed = |problem: String| CliError::Document { file: file.to_owned(), problem };
    let bytes = if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    let bytes = bytes.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound if file.to_string_lossy().contains("://") => {
            failed("shared sessions are not fetched; save the document and import the file".to_owned())
        }
        io::ErrorKind::NotFound => failed("no such file".to_owned()),
        _ => failed(e.to_string()),
    })?;
    String::from_utf8(bytes).map_err(|e| failed(format!("not JSON: not UTF-8 at byte {}", e.utf8_error().valid_up_to())))
}

/// Problems of a document name its file; others are the database's.
fn about(file: &Path, error: Error) -> CliError {
    match error {
        Error::Invalid { .. } | Error::IdTaken { .. } => CliError::Document { file: file.to_owned(), problem: error.to_string() },
        other => CliError::Store(other),
    }
}
