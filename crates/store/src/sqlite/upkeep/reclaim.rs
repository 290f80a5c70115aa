//! Giving the space of emptied events back to the disk.

use super::super::error;
use super::super::open::{self, Create, Options};
use super::batch::patiently;
use super::{Progress, room};
use crate::backend::Flow;
use crate::error::Error;
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pages given back in one step: 1 MB of the usual ones.
const STEP: u32 = 256;

/// How to reclaim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reclaim {
    /// Rewrite the file even while another process has it open: that process stands still for seconds a gigabyte.
    pub force: bool,
    /// How long to wait for a lock that another process holds, each time.
    pub patience: Duration,
}

impl Default for Reclaim {
    fn default() -> Self {
        Reclaim { force: false, patience: Options::default().patience }
    }
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reclaimed {
    /// No page of the file is free.
    Nothing,
    /// The file is smaller.
    Done {
        /// bytes of the file and its log before
        before: u64,
        /// and after
        after: u64,
    },
    /// The file can only be rewritten as a whole, which would hold up the processes that have it open.
    Neighbours {
        /// bytes that would be given back
        free: u64,
    },
    /// The file can only be rewritten as a whole, and there is no room for that.
    NoRoom {
        /// the folder that lacks it
        folder: PathBuf,
        /// bytes needed there
        needed: u64,
        /// bytes it has
        free: u64,
    },
    /// The caller said stop; running it again carries on.
    Stopped {
        /// bytes of the file and its log before
        before: u64,
        /// and after
        after: u64,
    },
}

/// Gives free pages back to the disk: in small steps if the file was made for that (`auto_vacuum`; OpenCode's are not), else
/// by rewriting all of it (`VACUUM`), if nobody else has it open or with `force`, after checking that there is room for the
/// new copy and for the write-ahead log, which for a moment is as large as the file.
///
/// `neighbours` says whether another process has the file open.
///
/// # Errors
/// [`Error::ReadOnly`], [`Error::Busy`], [`Error::Full`], [`Error::Io`]; those of opening the file. A failed rewrite leaves
/// the file as it was.
pub fn reclaim(
    place: impl AsRef<Path>,
    how: Reclaim,
    neighbours: impl Fn() -> bool,
    tell: &mut dyn FnMut(Progress) -> Flow,
) -> Result<Reclaimed, Error> {
    let (file, _) = open::open(place.as_ref(), Create::Never)?;
    file.writable()?;
    let path = &*file.path;
    let db = open::writer(path)?;
    let number = |pragma: &str| pragma_number(&db, pragma).map_err(|e| error(path, &e));
    let page = number("page_size")?;
    let free = number("freelist_count")?;
    if free == 0 {
        return Ok(Reclaimed::Nothing);
    }
    let before = on_disk(path);
    // 2 is incremental; with 1, full, there never are free pages.
    if number("auto_vacuum")? == 2 {
        let flow = in_steps(&db, path, how, free, tell)?;
        checkpoint(&db, path)?;
        let after = on_disk(path);
        return Ok(if flow == Flow::Stop { Reclaimed::Stopped { before, after } } else { Reclaimed::Done { before, after } });
    }
    if !how.force && neighbours() {
        return Ok(Reclaimed::Neighbours { free: free * page });
    }
    if let Some(short) = short_of(path, (number("page_count")? - free) * page)? {
        return Ok(short);
    }
    patiently(path, how.patience, || db.execute_batch("VACUUM"))?;
    checkpoint(&db, path)?;
    Ok(Reclaimed::Done { before, after: on_disk(path) })
}

fn in_steps(db: &Connection, path: &Path, how: Reclaim, free: u64, tell: &mut dyn FnMut(Progress) -> Flow) -> Result<Flow, Error> {
    let mut progress = Progress { of: free, ..Progress::default() };
    let mut left = free;
    while left > 0 {
        let begun = Instant::now();
        // It gives back a page a row, so the rows have to be asked for.
        patiently(path, how.patience, || {
            let mut statement = db.prepare(&format!("PRAGMA incremental_vacuum({STEP})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            Ok(())
        })?;
        let now = pragma_number(db, "freelist_count").map_err(|e| error(path, &e))?;
        if now >= left {
            // Others use up or make free pages faster than we give them back.
            break;
        }
        left = now;
        progress.sessions = free.saturating_sub(left);
        if tell(progress) == Flow::Stop {
            return Ok(Flow::Stop);
        }
        std::thread::sleep(begun.elapsed());
    }
    Ok(Flow::Continue)
}

/// Whether a rewrite of so many bytes lacks room: a copy among the temporary files, then the log beside the file.
fn short_of(path: &Path, size: u64) -> Result<Option<Reclaimed>, Error> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let temporary = room::temporary();
    let io = |folder: &Path| {
        let file = folder.to_owned();
        move |source| Error::Io { file, source }
    };
    let together = room::same_disk(folder, &temporary).map_err(io(&temporary))?;
    let wants: &[(&Path, u64)] = if together { &[(folder, size * 2)] } else { &[(folder, size), (&temporary, size)] };
    for (folder, needed) in wants {
        if let Some(free) = room::free(folder).map_err(io(folder))?.filter(|free| free < needed) {
            return Ok(Some(Reclaimed::NoRoom { folder: folder.to_path_buf(), needed: *needed, free }));
        }
    }
    Ok(None)
}

/// Brings the log into the file and empties it, as far as readers of other processes allow.
fn checkpoint(db: &Connection, path: &Path) -> Result<(), Error> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).map_err(|e| error(path, &e))
}

fn pragma_number(db: &Connection, pragma: &str) -> rusqlite::Result<u64> {
    let number: i64 = db.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
    Ok(number.unsigned_abs())
}

fn on_disk(path: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    size(path) + size(&open::with_suffix(path, "-wal"))
}
