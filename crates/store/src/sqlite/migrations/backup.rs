//! The copy of a file from before its tables are changed.

use super::super::{error, open};
use crate::error::Error;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Pages copied at a time.
const STEP: i32 = 4_096;
/// Beyond the copy: what the transaction itself may need, in the log and then in the file. A part of the file's size, for
/// the indexes, and a floor.
const WORK_PART: u64 = 4;
const WORK_LEAST: u64 = 16 << 20;

/// The right to bring up the files of a folder, shared by all Annalist processes.
///
/// The lock is on the folder itself: a lock file would have to be left behind, and closing a second descriptor of the
/// database would drop SQLite's own locks in this process. Where a folder cannot be locked, several processes may make a
/// copy; the transaction still lets only one of them change the file.
pub(super) struct Turn {
    _folder: Option<fs::File>,
}

impl Turn {
    pub(super) fn take(path: &Path) -> Self {
        let folder = fs::File::open(folder_of(path)).ok();
        Turn { _folder: folder.filter(|folder| folder.lock().is_ok()) }
    }
}

/// A copy that goes away again unless it is kept.
pub(super) struct Copy {
    path: PathBuf,
    keep: bool,
}

impl Copy {
    /// Copies the whole file as `source`'s open transaction sees it.
    pub(super) fn make(path: &Path, source: &Connection) -> Result<Self, Error> {
        let failed = |e: rusqlite::Error| error(path, &e);
        let pages: i64 = source.query_row("PRAGMA page_count", [], |row| row.get(0)).map_err(failed)?;
        let size: i64 = source.query_row("PRAGMA page_size", [], |row| row.get(0)).map_err(failed)?;
        let bytes = u64::try_from(pages.saturating_mul(size)).unwrap_or(0);
        room(path, bytes.saturating_add((bytes / WORK_PART).max(WORK_LEAST)))?;

        let copy = Copy { path: reserve(path)?, keep: false };
        let of_copy = |e: rusqlite::Error| error(&copy.path, &e);
        let mut target = Connection::open(&copy.path).map_err(of_copy)?;
        {
            let backup = Backup::new(source, &mut target).map_err(of_copy)?;
            // The source's transaction keeps others from changing what is copied: every step gets on.
            while backup.step(STEP).map_err(of_copy)? != StepResult::Done {}
        }
        target.close().map_err(|(_, e)| error(&copy.path, &e))?;
        let synced = fs::File::open(&copy.path).and_then(|file| file.sync_all());
        let synced = synced.and_then(|()| sync_folder(folder_of(path)));
        synced.map_err(|source| Error::Io { file: copy.path.clone(), source })?;
        Ok(copy)
    }

    pub(super) fn keep(mut self) -> PathBuf {
        self.keep = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        if !self.keep {
            for suffix in ["", "-journal", "-wal", "-shm"] {
                // What is not there is what is wanted.
                fs::remove_file(open::with_suffix(&self.path, suffix)).ok();
            }
        }
    }
}

/// `<file>.backup-<date>`, made empty and private; of two in one second the later gets a number.
fn reserve(path: &Path) -> Result<PathBuf, Error> {
    let date = utc(annalist_schema::id::now_ms().div_euclid(1_000));
    for attempt in 1.. {
        let number = if attempt == 1 { String::new() } else { format!("-{attempt}") };
        let candidate = open::with_suffix(path, &format!(".backup-{}{number}", date.readable()));
        match open::private_file(&candidate, fs::OpenOptions::new().write(true).create_new(true)) {
            Ok(_) => return Ok(candidate),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists && attempt < 1_000 => {}
            Err(source) => return Err(Error::Io { file: candidate, source }),
        }
    }
    Err(Error::Io { file: path.to_owned(), source: io::ErrorKind::AlreadyExists.into() })
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn room(path: &Path, needed: u64) -> Result<(), Error> {
    let folder = folder_of(path);
    let found = rustix::fs::statvfs(folder).map_err(|e| Error::Io { file: folder.to_owned(), source: e.into() })?;
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    if free < needed { Err(Error::NoRoom { folder: folder.to_owned(), needed, free }) } else { Ok(()) }
}

/// Not asked elsewhere: a copy that does not fit fails as it is written, before anything is changed.
#[cfg(not(unix))]
fn room(_path: &Path, _needed: u64) -> Result<(), Error> {
    Ok(())
}

/// A new name is durable when its folder is.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// A second of the calendar, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Utc {
    date: (i64, i64, i64),
    time: (i64, i64, i64),
}

/// The date of a time in seconds since 1970, by the calendar that started in 1582, as far as numbers go.
pub(super) fn utc(seconds: i64) -> Utc {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Years that start in March put the leap day last; 400 of them always have the same length.
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    Utc { date: (year + era * 400 + next, month, day), time: (second / 3_600, second / 60 % 60, second % 60) }
}

impl Utc {
    fn readable(self) -> String {
        let ((year, month, day), (hour, minute, second)) = (self.date, self.time);
        format!("{year:04}-{month:02}-{day:02}-{hour:02}{minute:02}{second:02}")
    }

    /// Fourteen digits, as the ids of migrations start.
    pub(super) fn digits(self) -> String {
        self.readable().replace('-', "")
    }
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn dates() {
        assert_eq!(utc(0).digits(), "19700101000000");
        assert_eq!(utc(951_782_399).digits(), "20000228235959");
        assert_eq!(utc(951_782_400).digits(), "20000229000000");
        assert_eq!(utc(1_769_552_633).digits(), "20260127222353");
        assert_eq!(utc(-1).readable(), "1969-12-31-235959");
        assert_eq!(utc(4_107_542_400).digits(), "21000301000000");
    }
}
