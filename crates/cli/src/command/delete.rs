//! `annalist delete`

use super::session::{named, title};
use crate::args::DeleteArgs;
use crate::error::{CliError, io_step};
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use annalist_store::document::ExportError;
use annalist_store::session::Deleted;
use annalist_store::{Flow, Store};
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufWriter, IsTerminal as _, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &DeleteArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.id)?;
    let order = store.with_children(&id)?;
    for session in &order {
        output::status(&going(&store, session)?);
    }
    if !args.yes {
        ask(order.len())?;
    }
    let deleted = Progress::during("deleting", || match &args.export {
        None => Ok(store.delete_session(&id)?),
        Some(folder) => keep_and_delete(&store, &id, folder),
    })?;
    if args.json {
        let sessions: Vec<Json<'_>> = deleted.sessions.iter().map(|id| Json::text(id)).collect();
        let mut object = Object::new();
        object.set("sessions", annalist_schema::Field::to_json(&sessions));
        writeln!(out, "{}", object.to_text())?;
    } else {
        for session in deleted.sessions {
            writeln!(out, "Deleted: {}", output::line(&session))?;
        }
    }
    Ok(())
}

/// A line about a session that will be gone.
fn going(store: &Store, session: &str) -> Result<String, CliError> {
    let info = store.session(session)?;
    let messages = store.read(|view| {
        let mut count = 0_u64;
        view.messages(&annalist_store::query::MessageRange::oldest_first(session), &mut |_| {
            count += 1;
            Flow::Continue
        })?;
        Ok(count)
    })?;
    Ok(format!("{session}  {}  {}", output::count(messages, "message"), title(&info, 60)))
}

/// Asks a person; where there is none to ask, nobody agreed.
fn ask(sessions: usize) -> Result<(), CliError> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(CliError::NobodyToAsk);
    }
    let what = if sessions == 1 { "this session".to_owned() } else { format!("these {sessions} sessions") };
    // A question that cannot be asked is not answered with yes either.
    write!(io::stderr(), "Delete {what} for good? [y/N] ").ok();
    let mut answer = Vec::new();
    let read = stdin.lock().read_until(b'\n', &mut answer);
    let answer = String::from_utf8_lossy(&answer).trim().to_lowercase();
    if read.is_ok() && ["y", "yes"].contains(&&*answer) { Ok(()) } else { Err(CliError::NotDeleted) }
}

fn keep_and_delete(store: &Store, session: &str, folder: &Path) -> Result<Deleted, CliError> {
    fs::create_dir_all(folder).map_err(|source| CliError::File { file: folder.to_owned(), source })?;
    let mut made = Vec::new();
    let deleted = store.export_and_delete(session, |session| {
        let document = Document::new(folder, session)?;
        made.push(document.file.clone());
        Ok(document)
    });
    deleted.map_err(|error| match error {
        // Some may be deleted by now; their documents are all that is left of them.
        ExportError::Store(error) => CliError::Store(error),
        ExportError::Out(error) => {
            // Nothing was deleted. What is begun would be in the way of the next attempt; if it cannot be removed, that says so.
            made.iter().for_each(|file| drop(fs::remove_file(file)));
            CliError::NotKept(error)
        }
    })
}

/// The file of a document. When it is complete it is on the disk, because what it was made from is about to go.
struct Document {
    file: PathBuf,
    to: BufWriter<File>,
}

impl Document {
    /// A new file, private as the record is: one that is there already may be all that is left of something else.
    fn new(folder: &Path, session: &str) -> io::Result<Self> {
        // An id is a label that may hold anything; it must not lead out of the folder.
        let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' };
        let file = folder.join(format!("{}.json", session.chars().map(plain).collect::<String>()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&file) {
            Ok(open) => Ok(Document { file, to: BufWriter::new(open) }),
            Err(error) => Err(named_error(&file, &error)),
        }
    }
}

impl Write for Document {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to.write(bytes).map_err(|error| named_error(&self.file, &error))
    }

    /// The last thing that an export does.
    fn flush(&mut self) -> io::Result<()> {
        let synced = self.to.flush().and_then(|()| self.to.get_ref().sync_all());
        synced.map_err(|error| named_error(&self.file, &error))
    }
}

fn named_error(file: &Path, error: &io::Error) -> io::Error {
    let what = match error.kind() {
        io::ErrorKind::AlreadyExists => "there is such a file already; choose another folder, or move it away".to_owned(),
        _ => format!("{error}{}", io_step(error)),
    };
    io::Error::new(error.kind(), format!("{}: {what}", file.display()))
}
