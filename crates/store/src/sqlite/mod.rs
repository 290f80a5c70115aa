//! The record in an SQLite file that OpenCode reads and writes too.
//!
//! One thread owns the one write connection and commits waiting jobs as a group (`writer.rs`); readers come from a small pool
//! (`readers.rs`); a third kind of connection moves the log into the file (`checkpoint.rs`). The file may have other users at
//! the same time: `neighbours.rs` tells who, `pace.rs` leaves them room, `side.rs` holds what is ours alone. All SQL of the
//! project stands in this folder.

mod checkpoint;
mod claims;
mod columns;
mod erase;
mod neighbours;
mod open;
mod pace;
mod project;
mod read;
mod readers;
mod side;
mod spent;
mod todo;
mod value;
mod view;
mod writer;

use crate::backend::{Backend, Durability, Job, Settle, Snapshot};
use crate::claim::SessionLocks;
use crate::error::Error;
use crate::neighbours::Neighbours;
use columns::Columns;
use readers::Readers;
use rusqlite::ErrorCode;
use side::Side;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use writer::Writer;

pub use open::{Create, MINIMUM_SQLITE, Options};
pub use project::projected;

/// What every connection to one file shares.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) columns: Columns,
}

/// The SQLite backend.
pub struct Sqlite {
    file: Arc<File>,
    readers: Readers,
    options: Options,
    side: Arc<Side>,
    /// Started by the first write: a command that only reads never takes a write connection.
    writer: Mutex<Option<Writer>>,
}

impl Sqlite {
    /// Opens a file, or makes one.
    ///
    /// # Errors
    /// [`Error::NoFile`], [`Error::EmptyFile`], [`Error::NotADatabase`], [`Error::Damaged`], [`Error::Io`],
    /// [`Error::OldSqlite`]. A file is never changed by opening it.
    pub fn open(path: &Path, create: Create, options: Options) -> Result<Self, Error> {
        // Absolute, so that SQLite takes a name such as `:memory:` or `file:x` for the file it is.
        let path = std::path::absolute(path).map_err(|source| Error::Io { file: path.to_owned(), source })?;
        let (file, first) = open::open(&path, create)?;
        let side = Arc::new(Side::of(&path));
        let file = Arc::new(file);
        Ok(Sqlite { readers: Readers::new(Arc::clone(&file), first), file, options, side, writer: Mutex::new(None) })
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }
}

impl Backend for Sqlite {
    fn read(&self, read: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        self.readers.with(read)
    }

    fn write(&self, durability: Durability, job: Job, settle: Settle) {
        if let Err(error) = self.writable() {
            return settle(Err(error));
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            match Writer::start(Arc::clone(&self.file), Arc::clone(&self.side), self.options) {
                Ok(started) => *writer = Some(started),
                Err(error) => return settle(Err(error)),
            }
        }
        if let Some(writer) = writer.as_ref() {
            writer.queue(durability, job, settle);
        }
    }

    fn writable(&self) -> Result<(), Error> {
        match self.file.columns.not_writable() {
            None => Ok(()),
            Some(reason) => Err(Error::ReadOnly { file: self.file.path.clone(), reason: reason.to_owned() }),
        }
    }

    fn neighbours(&self) -> Neighbours {
        neighbours::look(&self.side)
    }

    fn session_locks(&self) -> &dyn SessionLocks {
        &*self.side
    }
}

/// Turns SQLite's codes into the kinds of [`Error`] (one place, so that a code means the same everywhere).
pub(crate) fn error(path: &Path, source: &rusqlite::Error) -> Error {
    let file = path.to_owned();
    let code = source.sqlite_error_code();
    let detail = match source {
        rusqlite::Error::SqliteFailure(failure, message) => message.clone().unwrap_or_else(|| failure.to_string()),
        other => other.to_string(),
    };
    match code {
        Some(ErrorCode::NotADatabase) => Error::NotADatabase { file, reason: "its first bytes are not SQLite's".to_owned() },
        Some(ErrorCode::DatabaseCorrupt) => Error::Damaged { file, detail },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { file, waited_ms: open::READER_WAIT_MS },
        Some(ErrorCode::DiskFull) => Error::Full { file },
        Some(ErrorCode::ReadOnly) => Error::ReadOnly { file, reason: "the file or its folder cannot be written".to_owned() },
        Some(ErrorCode::PermissionDenied) => Error::Io { file, source: std::io::ErrorKind::PermissionDenied.into() },
        Some(ErrorCode::CannotOpen) => {
            // SQLite says only that it could not; the operating system says why.
            let source = match std::fs::File::open(path) {
                Err(source) => source,
                Ok(_) => std::io::Error::other("cannot be opened together with its -wal and -shm files"),
            };
            Error::Io { file, source }
        }
        _ => Error::Sqlite { file, source: again(source, detail) },
    }
}

/// rusqlite's errors cannot be cloned, and one failed commit has to be told to every job of its group.
fn again(source: &rusqlite::Error, detail: String) -> rusqlite::Error {
    let code = source.sqlite_error().copied().unwrap_or(rusqlite::ffi::Error { code: ErrorCode::Unknown, extended_code: 1 });
    rusqlite::Error::SqliteFailure(code, Some(detail))
}
