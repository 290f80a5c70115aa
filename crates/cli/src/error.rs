//! What a person is told when a command fails: one line that names the thing and the next step.

use annalist_store::Error;
use annalist_store::document::ExportError;
use annalist_store::folder::FolderError;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{0}{next}", next = next_step(.0))]
    Store(#[from] Error),
    #[error("{source}; {next}")]
    Folder { source: FolderError, next: &'static str },
    #[error("{}: no such database; {next}", .file.display())]
    NoDatabase { file: PathBuf, next: String },
    #[error("{}: not a file; name a database file with --db", .file.display())]
    NotAFile { file: PathBuf },
    #[error("no session {id:?} in {}; `annalist list --all --archived` shows what there is", .file.display())]
    NoSession { id: String, file: PathBuf },
    #[error("there is no session yet in {}; `annalist db path` says why it is this file, `annalist import` brings sessions in", .file.display())]
    Empty { file: PathBuf },
    #[error("{id:?} is the beginning of several sessions: {}{}; give more of it", .some.join(", "), if *.more { " and more" } else { "" })]
    Ambiguous { id: String, some: Vec<String>, more: bool },
    #[error("{name}: {problem}")]
    Document { name: String, problem: String },
    #[error("{source_word} is \":memory:\", a database that only its own process sees; name a file with --db")]
    InMemory { source_word: &'static str },
    #[error("neither XDG_DATA_HOME nor HOME is an absolute path, so there is no usual place for the database; name one with --db")]
    NoHome,
    #[error("{}: JSON cannot hold this path, which is not UTF-8; it is printed as it is without --json", .file.display())]
    NotText { file: PathBuf },
    #[error("no {what} {id:?} in {session}; `annalist show {session} --json` has the ids")]
    NotInSession { what: &'static str, id: String, session: String },
    #[error("nothing was deleted")]
    NotDeleted,
    #[error("nothing was deleted, for nobody can be asked where standard input is no terminal; --yes deletes without asking")]
    NobodyToAsk,
    #[error("{0}; nothing was deleted")]
    NotKept(io::Error),
    #[error("{}: the space was not given back, since {who} has the file open; close that and run this again, or add --force, which makes it wait", .file.display())]
    NotReclaimed { file: PathBuf, who: String },
    #[error("{}: there is such a file already; choose another name, or move it away", .file.display())]
    Exists { file: PathBuf },
    #[error("{findings} found in {}", .file.display())]
    Unsound { findings: String, file: PathBuf },
    #[error("{}: {source}{}", .file.display(), io_step(.source))]
    File { file: PathBuf, source: io::Error },
    #[error("port {port} is taken{holder}; end that, or let the system choose a port with --port 0")]
    PortTaken { port: u16, holder: String },
    #[error("{name:?} is no address to listen on; give one of this machine, such as 127.0.0.1")]
    NoAddress { name: String },
    #[error("{0}")]
    Serve(#[from] annalist_server::StartError),
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Store(error) => CliError::Store(error),
            ExportError::Out(error) => CliError::Output(error),
        }
    }
}

/// The next step, where the store's own text names none.
fn next_step(error: &Error) -> &'static str {
    match error {
        Error::NotADatabase { .. } => "; name another with --db",
        Error::ReadOnly { .. } => "; reading works, and --db names another file to write to",
        Error::Io { source, .. } => io_step(source),
        _ => "",
    }
}

/// What to do about a refusal of the operating system.
pub(crate) fn io_step(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; run this as its owner, or have its permissions changed",
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space and try again",
        _ => "; check the path",
    }
}
