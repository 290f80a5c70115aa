//! What is ours alone, beside the file: the folder `<file>-annalist`.
//!
//! ```text
//! opencode.db-annalist/       0700
//!   present                   every process of ours that writes holds a shared lock on it
//!   trail                     the newest positions of the log, for clients of a server that comes back
//!   claims/<session>-<hash>   one file a session that is run: the holder's lock, and lines for people and for recovery
//! ```
//! Nothing in it is part of the record, and the last process to close the file removes it unless a claim or a trail was left.
//! It may be deleted at any time and is made again when it is needed; whoever held a claim in it has lost it. The reference ignores it. Whatever else is ours and can be rebuilt belongs here too.

use super::open::{private_file, private_folder, with_suffix};
use crate::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The folder beside one file.
#[derive(Debug)]
pub(super) struct Side {
    /// The file itself, links resolved, as SQLite names what lies beside it.
    file: PathBuf,
    folder: PathBuf,
    /// This process's lock on `present`.
    present: Mutex<Option<fs::File>>,
}

impl Side {
    /// The folder beside a file; nothing is made.
    pub(super) fn of(file: &Path) -> Self {
        let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        Side { folder: with_suffix(&file, "-annalist"), file, present: Mutex::new(None) }
    }

    pub(super) fn shared_memory_file(&self) -> PathBuf {
        with_suffix(&self.file, "-shm")
    }

    pub(super) fn present_file(&self) -> PathBuf {
        self.folder.join("present")
    }

    pub(super) fn hint_file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn claims_folder(&self) -> PathBuf {
        self.folder.join("claims")
    }

    pub(super) fn make_it(&self) -> Result<(), Error> {
        self.make(&self.folder)
    }

    /// Makes a folder in it, and it.
    pub(super) fn make(&self, folder: &Path) -> Result<(), Error> {
        private_folder(folder).map_err(|source| Error::Io { file: folder.to_owned(), source })
    }

    /// Lets others of our kind know that this process writes the file. Again after the folder was deleted.
    pub(super) fn announce(&self) -> Result<(), Error> {
        let path = self.present_file();
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            if present.as_ref().is_some_and(|file| is_at(file, &path)) {
                return Ok(());
            }
            self.make(&self.folder)?;
            let shared = private_file(&path, fs::OpenOptions::new().write(true).create(true))
                .and_then(|file| file.try_lock_shared().map_err(io::Error::from).map(|()| file));
            match shared {
                Ok(file) => *present = Some(file),
                // Deleted again in between, or just about to be.
                Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::WouldBlock) => std::thread::yield_now(),
                Err(source) => return Err(Error::Io { file: path, source }),
            }
        }
        Err(unstable(&path))
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let present = self.present.get_mut().unwrap_or_else(PoisonError::into_inner);
        let Some(file) = present.take() else { return };
        let path = self.present_file();
        // Whoever can have it alone is the last. What cannot be removed stays, and disturbs nobody.
        if file.unlock().is_ok() && file.try_lock().is_ok() && is_at(&file, &path) {
            fs::remove_file(&path).ok();
            for folder in [&self.claims_folder(), &self.folder] {
                // Only if it is empty.
                fs::remove_dir(folder).ok();
            }
        }
    }
}

/// How often something that was deleted at the wrong moment is made again.
pub(super) const TRIES: u32 = 100;

/// A file that is another one each time.
pub(super) fn unstable(path: &Path) -> Error {
    Error::Io { file: path.to_owned(), source: io::Error::other("it is deleted or replaced as fast as it is made") }
}

/// Whether the path still leads to this open file: not deleted, not replaced.
#[cfg(unix)]
pub(super) fn is_at(file: &fs::File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(there)) => (open.dev(), open.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Here a file that somebody has open keeps its name.
#[cfg(not(unix))]
pub(super) fn is_at(_: &fs::File, path: &Path) -> bool {
    path.exists()
}
