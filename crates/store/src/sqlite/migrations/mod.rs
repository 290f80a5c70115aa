//! Older files, brought up to the tables of the reference (reference-storage 4.3, design G7).
//!
//! Each step comes from what is in the file, not from its ledger alone: files exist whose ledger says less or more than
//! their tables (C34). The ledger decides about two things that tables do not show: whether the paths of Windows were
//! respelled, and whether the state of the second generation was reset.
//!
//! Before anything is written there is a copy of the file next to it. What takes long and only reads, the copy and the
//! replaying of old logs, happens ahead of the transaction; if another process commits meanwhile, it is done again, and in
//! the last round with the write lock held. All changes are one transaction.

mod backup;
mod effects;
pub(super) mod ledger;
mod logs;
mod same;
mod shape;

use super::columns::{Columns, Fit};
use super::{Options, error, open};
use crate::error::Error;
use ledger::Ledger;
use logs::Logs;
use rusqlite::{Connection, ErrorCode};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Rounds that prepare without the write lock.
const ROUNDS: u32 = 2;

/// What bringing a file up did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Migrated {
    /// the copy of the file as it was
    pub backup: PathBuf,
    /// ids that the migration ledger has now and had not before
    pub recorded: Vec<String>,
    /// tables that were missing
    pub tables: Vec<String>,
    /// columns that were missing, as `table.column`
    pub columns: Vec<String>,
    /// tables that had another shape and were made anew, with the rows that did not fit into it and are in the copy alone
    pub rebuilt: Vec<(String, u64)>,
    /// sessions whose usage was summed up from their assistant messages
    pub usage_filled: u64,
    /// sessions whose log replays to their rows and was kept
    pub logs_kept: u64,
    /// logs that were dropped, with the reason; the session itself is untouched
    pub logs_dropped: Vec<(String, String)>,
}

/// Brings a file up. `None` if there was nothing to do, because another process had done it.
///
/// # Errors
/// [`Error::ReadOnly`] if the file cannot be brought up, [`Error::NoRoom`], [`Error::Busy`], [`Error::Full`]; the file is
/// then as it was.
pub(super) fn bring_up(path: &Path, options: Options) -> Result<Option<Migrated>, Error> {
    let failed = |e: rusqlite::Error| error(path, &e);
    let db = open::writer(path)?;
    // Tables are made anew inside the transaction, and only outside of one can this be switched: dropping the old one must
    // not take along what hangs on it.
    db.pragma_update(None, "foreign_keys", false).map_err(failed)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    // Of several processes one makes the copy; the others wait here and find the work done.
    let _turn = backup::Turn::take(path);
    for round in 0.. {
        let locked = round >= ROUNDS;
        if locked {
            begin(path, &db, options)?;
        }
        let before = data_version(&db).map_err(failed)?;
        if !is_older(path, &db)? {
            return Ok(None);
        }
        // Dropped without `keep`, the copy goes again.
        let (copy, logs) = prepare(path)?;
        if !locked {
            begin(path, &db, options)?;
            // Whatever it was (another program that brought the file up, too), all of the above is to be looked at again.
            if data_version(&db).map_err(failed)? != before {
                db.execute_batch("ROLLBACK").map_err(failed)?;
                continue;
            }
        }
        // The connection goes away with an error, and the transaction with it.
        let mut done = apply(&db, &logs).map_err(failed)?;
        db.execute_batch("COMMIT").map_err(failed)?;
        done.backup = copy.keep();
        return Ok(Some(done));
    }
    Ok(None)
}

/// Whether there is something to do; an error if nothing can be done.
fn is_older(path: &Path, db: &Connection) -> Result<bool, Error> {
    let failed = |e: rusqlite::Error| error(path, &e);
    let read_only = |reason: String| Error::ReadOnly { file: path.to_owned(), reason };
    let Some(columns) = Columns::of(db).map_err(failed)? else {
        return Err(Error::NotADatabase { file: path.to_owned(), reason: "it has no table named session".to_owned() });
    };
    match columns.fit() {
        Fit::Writable => Ok(false),
        Fit::Foreign(reason) => Err(read_only(reason.clone())),
        Fit::Older(_) => match shape::impossible(db).map_err(failed)? {
            Some(reason) => Err(read_only(reason)),
            None => Ok(true),
        },
    }
}

/// The copy and the verdict over each log, from one view of the file.
fn prepare(path: &Path) -> Result<(backup::Copy, Logs), Error> {
    let failed = |e: rusqlite::Error| error(path, &e);
    let source = open::reader(path)?;
    source.execute_batch("BEGIN").map_err(failed)?;
    let copy = backup::Copy::make(path, &source)?;
    let ledger = Ledger::of(&source).map_err(failed)?;
    let logs = if ledger.resets_pending() { logs::judge(path, &source)? } else { Logs::default() };
    source.execute_batch("ROLLBACK").map_err(failed)?;
    Ok((copy, logs))
}

fn apply(db: &Connection, logs: &Logs) -> rusqlite::Result<Migrated> {
    let now = annalist_schema::id::now_ms();
    let ledger = Ledger::of(db)?;
    let mut done = Migrated::default();
    // First, so that the unique indexes of a later shape find no rows of an earlier one.
    let reset = if ledger.resets_pending() { effects::reset(db, logs, &mut done)? } else { Vec::new() };
    shape::complete(db, &mut done)?;
    done.tables.retain(|table| !reset.contains(&table.as_str()));
    effects::fill(db, &ledger, &mut done)?;
    shape::drop_old(db)?;
    done.recorded = ledger.record(db, now)?;
    Ok(done)
}

/// Changes whenever another connection commits.
fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("PRAGMA data_version", [], |row| row.get(0))
}

fn begin(path: &Path, db: &Connection, options: Options) -> Result<(), Error> {
    let begun = Instant::now();
    loop {
        let Err(failure) = db.execute_batch("BEGIN IMMEDIATE") else { return Ok(()) };
        if !matches!(failure.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)) {
            return Err(error(path, &failure));
        }
        if begun.elapsed() >= options.patience {
            let waited_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            return Err(Error::Busy { file: path.to_owned(), waited_ms });
        }
        std::thread::sleep(Duration::from_micros(u64::from(rand::random_range(500..1_500_u16))));
    }
}
