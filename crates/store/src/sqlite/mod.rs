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
mod errno;
mod hint;
mod legacy;
mod log;
mod migrations;
mod neighbours;
mod open;
mod pace;
mod project;
mod projects;
mod queue;
mod read;
mod readers;
mod removed;
mod side;
mod spent;
mod supersede;
mod todo;
pub mod upkeep;
mod value;
mod view;
mod watcher;
mod writer;

use crate::backend::{Backend, Durability, Job, Settle, Snapshot};
use crate::claim::SessionLocks;
use crate::error::Error;
use crate::log::{Listener, Watcher};
use crate::neighbours::Neighbours;
use columns::{Columns, Fit};
use readers::Readers;
use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;
use side::Side;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use writer::Writer;

pub use migrations::Migrated;
pub use open::{Create, MINIMUM_SQLITE, Options};
pub use project::projected;

/// What every connection to one file shares.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) path: PathBuf,
    pub(crate) columns: Columns,
}

impl File {
    /// Whether it can be written as it is.
    pub(crate) fn writable(&self) -> Result<(), Error> {
        let reason = match self.columns.fit() {
            Fit::Writable => return Ok(()),
            Fit::Older(lacks) => format!("{lacks}, so an older version of OpenCode made it; opening it for writing brings it up"),
            Fit::Foreign(reason) => reason.clone(),
        };
        Err(Error::ReadOnly { file: self.path.clone(), reason })
    }
}

/// The SQLite backend.
pub struct Sqlite {
    file: Arc<File>,
    readers: Readers,
    options: Options,
    side: Arc<Side>,
    /// Started by the first write: a command that only reads never takes a write connection.
    writer: Mutex<Option<Writer>>,
    listener: Arc<OnceLock<Arc<dyn Listener>>>,
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
        let readers = Readers::new(Arc::clone(&file), first);
        Ok(Sqlite { readers, file, options, side, writer: Mutex::new(None), listener: Arc::default() })
    }

    /// Opens a file to write it: one that an older version of OpenCode made is brought up first, after a copy. What that did
    /// is answered beside the store; nothing if there was nothing to do.
    ///
    /// # Errors
    /// Those of [`Sqlite::open`]; [`Error::ReadOnly`] if another version's tables stand in the way; [`Error::NoRoom`],
    /// [`Error::Full`] and [`Error::Busy`] if bringing it up was not possible: it is then as it was.
    pub fn open_for_writing(path: &Path, create: Create, options: Options) -> Result<(Self, Option<Migrated>), Error> {
        let store = Sqlite::open(path, create, options)?;
        if !matches!(store.file.columns.fit(), Fit::Older(_)) {
            store.writable()?;
            return Ok((store, None));
        }
        // Its connection would see the old tables, and hold the log open.
        drop(store);
        let done = migrations::bring_up(path, options)?;
        let store = Sqlite::open(path, Create::Never, options)?;
        store.writable()?;
        Ok((store, done))
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
            match Writer::start(Arc::clone(&self.file), Arc::clone(&self.side), self.options, Arc::clone(&self.listener)) {
                Ok(started) => *writer = Some(started),
                Err(error) => return settle(Err(error)),
            }
        }
        if let Some(writer) = writer.as_ref() {
            writer.queue(durability, job, settle);
        }
    }

    fn drive(&self, done: &mut dyn FnMut() -> bool) -> bool {
        let queue = self.writer.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Writer::shared);
        queue.is_some_and(|queue| queue.drive(done))
    }

    fn hurry(&self) {
        let queue = self.writer.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Writer::shared);
        if let Some(queue) = queue {
            queue.hurry();
        }
    }

    fn listen(&self, listener: Arc<dyn Listener>) {
        // A second one is a second Store on one backend: the first keeps hearing, and both read the same log.
        self.listener.set(listener).ok();
    }

    fn watcher(&self) -> Result<Box<dyn Watcher>, Error> {
        Ok(Box::new(watcher::Watching::open(&self.file)?))
    }

    fn writable(&self) -> Result<(), Error> {
        self.file.writable()
    }

    fn neighbours(&self) -> Neighbours {
        neighbours::look(&self.side)
    }

    fn keep_hint(&self, name: &'static str, bytes: &[u8]) -> Result<(), Error> {
        self.side.keep_hint(name, bytes)
    }

    fn hint(&self, name: &'static str, most: usize) -> Result<Option<Vec<u8>>, Error> {
        self.side.hint(name, most)
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
        Some(ErrorCode::DiskFull) => Error::Full { file, source: None },
        // The index of the log could not be made as large as it must be, which takes 32 KB.
        Some(ErrorCode::SystemIoFailure) if source.sqlite_error().is_some_and(|e| e.extended_code == SQLITE_IOERR_SHMSIZE) => {
            Error::Full { file, source: None }
        }
        Some(ErrorCode::ReadOnly) => Error::ReadOnly { file, reason: "the file or its folder cannot be written".to_owned() },
        Some(ErrorCode::PermissionDenied) => Error::Io { file, source: std::io::ErrorKind::PermissionDenied.into() },
        Some(ErrorCode::CannotOpen) => {
            // SQLite says only that it could not; the operating system says why.
            let source = match open::may(path, rustix::fs::Access::READ_OK) {
                Err(source) => source,
                Ok(()) => std::io::Error::other(
                    "cannot be opened together with its -wal and -shm files; if its folder cannot be written, copy the file and its -wal to one that can, and open the copy",
                ),
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
