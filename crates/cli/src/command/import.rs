//! `annalist import`

use super::here;
use crate::args::ImportArgs;
use crate::error::{CliError, io_step};
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::Json;
use annalist_store::document::{self, Imported};
use annalist_store::folder::{self, Folder, Remember};
use annalist_store::{Error, Store};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

pub(crate) fn run(args: &ImportArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    if let Some(folder) = &args.legacy {
        return super::legacy::run(folder, place, out);
    }
    if args.files.iter().filter(|file| is_standard_input(file)).count() > 1 {
        return Err(refused(Path::new("-"), "can be read only once; name it once"));
    }
    // All documents are looked at before the first one is written, so that a typing error costs nothing.
    let mut documents = Vec::new();
    for file in &args.files {
        let text = read(file)?;
        document::check(&text).map_err(|error| about(file, Some(&text), error))?;
        documents.push((file, Kept::of(file, text)));
    }
    let folder = here("import from within another folder")?;
    let new = !place.exists()?;
    let store = place.open_or_make()?;
    if new {
        output::status(&format!("New database: {}", place.file.display()));
    }
    // A receiver that went away stops the lines about the work and not the work.
    let mut told = Ok(());
    for (index, (file, kept)) in documents.into_iter().enumerate() {
        let done = Progress::during("importing", || bring(&store, file, kept, &folder))?;
        if index == 0 {
            // OpenCode looks for the project's id in the repository; nothing is left there by an import that failed.
            folder::resolve(Path::new("."), Remember::Yes).ok();
        }
        // Said at once: of several files, a later one may still fail.
        told = told.and_then(|()| writeln!(out, "Imported session: {}", done.session)).and_then(|()| out.finish());
        output::status(&summary(&done, &folder));
    }
    Ok(told?)
}

fn bring(store: &Store, file: &Path, kept: Kept, folder: &Folder) -> Result<Imported, CliError> {
    let text = match kept {
        Kept::Text(text) => text,
        Kept::OnDisk => read(file)?,
    };
    store.import(text, folder.clone()).map_err(|error| about(file, None, error))
}

/// A checked document until its turn comes.
enum Kept {
    /// What can be read only once: standard input, a pipe.
    Text(String),
    /// Read again when it is needed: a whole history must not be in memory at once.
    OnDisk,
}

impl Kept {
    fn of(file: &Path, text: String) -> Self {
        // Below this, reading again would cost more than keeping.
        const SMALL: usize = 1 << 20;
        if text.len() > SMALL && !is_standard_input(file) && file.is_file() { Kept::OnDisk } else { Kept::Text(text) }
    }
}

fn summary(done: &Imported, folder: &Folder) -> String {
    let (messages, parts) = (output::count(done.messages, "message"), output::count(done.parts, "part"));
    if done.new {
        format!("{messages} and {parts}; its folder is now {}", folder.directory)
    } else {
        format!("The session was here already; new: {messages} and {parts}.")
    }
}

fn is_standard_input(file: &Path) -> bool {
    file.as_os_str() == "-"
}

fn refused(file: &Path, problem: &str) -> CliError {
    let name = if is_standard_input(file) { "standard input".to_owned() } else { file.display().to_string() };
    CliError::Document { name, problem: problem.to_owned() }
}

fn read(file: &Path) -> Result<String, CliError> {
    let bytes = if is_standard_input(file) {
        let mut bytes = Vec::new();
        io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    let bytes = bytes.map_err(|e| match e.kind() {
        io::ErrorKind::NotFound if file.to_string_lossy().contains("://") => {
            refused(file, "shared sessions are not fetched; save the document and import the file")
        }
        io::ErrorKind::NotFound => refused(file, "no such file; check the path"),
        io::ErrorKind::IsADirectory => refused(file, "a folder; name the documents in it"),
        _ => refused(file, &format!("{e}{}", io_step(&e))),
    })?;
    String::from_utf8(bytes)
        .map_err(|e| refused(file, &format!("not JSON: not UTF-8 at byte {}; {EXPECTED}", e.utf8_error().valid_up_to())))
}

/// What an import takes.
const EXPECTED: &str = "what `annalist export` or `opencode export` prints is needed";

/// Problems of a document name its file, and where its `text` is at hand the line; others are the database's.
fn about(file: &Path, text: Option<&str>, error: Error) -> CliError {
    match error {
        Error::Invalid { .. } => match text.map(|text| (text, Json::parse(text))) {
            Some((text, Err(_))) if text.trim().is_empty() => refused(file, &format!("empty; {EXPECTED}")),
            Some((text, Err(malformed))) => {
                let (line, column) = position(text, malformed.offset);
                refused(file, &format!("not JSON: {} in line {line}, column {column}; {EXPECTED}", malformed.what))
            }
            _ => refused(file, &format!("{error}; {EXPECTED}")),
        },
        Error::IdTaken { .. } => refused(file, &format!("{error}; nothing of this document was imported")),
        other => CliError::Store(other),
    }
}

/// Line and column of a byte, as editors count them.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.rsplit('\n').next().unwrap_or_default();
    (before.matches('\n').count() + 1, line.chars().count() + 1)
}
