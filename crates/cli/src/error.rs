//! What a person is told when a command fails: one line that names the thing and the next step.

use annalist_store::Error;
use annalist_store::document::ExportError;
use annalist_store::folder::FolderError;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error("{0}")]
    Store(#[from] Error),
    #[error("{0}")]
    Folder(#[from] FolderError),
    #[error("{}: no such database; run `annalist db path` to see where it is looked for, or name one with --db", .file.display())]
    NoDatabase { file: PathBuf },
    #[error("no session {id:?} in {}; `annalist list --all` shows what there is", .file.display())]
    NoSession { id: String, file: PathBuf },
    #[error("there is no session yet in {}", .file.display())]
    Empty { file: PathBuf },
    #[error("{id:?} is the beginning of several sessions: {}{}; give more of it", .some.join(", "), if *.more { " and more" } else { "" })]
    Ambiguous { id: String, some: Vec<String>, more: bool },
    #[error("{}: {problem}", .file.display())]
    Document { file: PathBuf, problem: String },
    #[error("OPENCODE_DB is \":memory:\", a database that only its own process sees; name a file with --db")]
    InMemory,
    #[error("neither XDG_DATA_HOME nor HOME is set, so there is no usual place for the database; name one with --db")]
    NoHome,
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
