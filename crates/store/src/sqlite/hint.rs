//! Small files in the folder beside the record that help a later process. A file is replaced as a whole, so that nobody sees
//! half of one; that it survives a loss of power is not waited for.

use super::open::private_file;
use super::side::{Side, is_at};
use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

impl Side {
    /// Replaces a file. While another process replaces it, that one's bytes are as good.
    pub(super) fn keep_hint(&self, name: &str, bytes: &[u8]) -> Result<(), Error> {
        let path = self.hint_file(name);
        // One name for the draft, so that a process that dies here leaves one file, however often that happens.
        let draft = self.hint_file(&format!("{name}-new"));
        self.make_it()?;
        replace(&path, &draft, bytes).map_err(|source| Error::Io { file: path, source })
    }

    /// The bytes of a file of at most so many.
    pub(super) fn hint(&self, name: &str, most: usize) -> Result<Option<Vec<u8>>, Error> {
        let path = self.hint_file(name);
        let failed = |source| Error::Io { file: path.clone(), source };
        let file = match File::open(&path) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => return Ok(None),
            opened => opened.map_err(failed)?,
        };
        let mut bytes = Vec::new();
        // A byte more tells that there are more.
        file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        Ok((bytes.len() <= most).then_some(bytes))
    }
}

fn replace(path: &Path, draft: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = private_file(draft, fs::OpenOptions::new().write(true).create(true))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Ok(()),
        Err(fs::TryLockError::Error(error)) => return Err(error),
    }
    // Whoever had the lock before us may have made it the file itself.
    if !is_at(&file, draft) {
        return Ok(());
    }
    file.set_len(0)?;
    file.write_all(bytes)?;
    fs::rename(draft, path)
}
