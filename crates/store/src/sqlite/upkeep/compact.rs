//! Emptying superseded events of logs that already grew (design G4).

use super::super::open::{self, Create, Options};
use super::super::{File, error};
use super::batch::Batch;
use super::plan::{self, Emptied, Plan, Skipped};
use super::{Progress, log};
use crate::backend::Flow;
use crate::error::Error;
use rusqlite::{Connection, OptionalExtension as _, params};
use std::path::Path;
use std::time::Duration;

/// How to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// Only count what would be emptied.
    pub dry_run: bool,
    /// How long to wait for a lock that another process holds, each time.
    pub patience: Duration,
}

impl Default for Compact {
    fn default() -> Self {
        Compact { dry_run: false, patience: Options::default().patience }
    }
}

/// What was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compacted {
    /// by type
    pub emptied: [Emptied; 3],
    /// planned, but changed by another process meanwhile; the next run sees to them
    pub moved: u64,
    /// sessions whose logs were left as they are, and why
    pub skipped: Vec<(String, Skipped)>,
    /// what was read
    pub read: Progress,
    /// write transactions
    pub batches: u64,
    /// the longest time that one of them held the write lock
    pub longest: Duration,
    /// the caller said stop; running it again carries on
    pub stopped: bool,
}

impl Compacted {
    /// Events emptied, of all types.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.emptied.iter().map(|kind| kind.events).sum()
    }

    /// Bytes of data that they lost.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.emptied.iter().map(|kind| kind.bytes).sum()
    }
}

/// Empties what can be emptied, session by session, in write transactions of at most 1 MB or 20 ms and a pause after each
/// that is as long. Logs that start late and those of sessions without rows are treated by the same rules. The space is free
/// for the file's further growth; [`reclaim`](super::reclaim) gives it back to the disk.
///
/// A peer that holds the originals calls such a log diverged: reference-storage 3.3.
///
/// # Errors
/// [`Error::ReadOnly`] if the file cannot be written; [`Error::Busy`] if another process holds the lock for longer than
/// `patience` (what was emptied before stays so); those of opening and reading the file.
pub fn compact(place: impl AsRef<Path>, how: Compact, tell: &mut dyn FnMut(Progress) -> Flow) -> Result<Compacted, Error> {
    let (file, reader) = open::open(place.as_ref(), Create::Never)?;
    let mut done = Compacted {
        emptied: Emptied::none(),
        moved: 0,
        skipped: Vec::new(),
        read: Progress::default(),
        batches: 0,
        longest: Duration::ZERO,
        stopped: false,
    };
    let writer = if how.dry_run {
        None
    } else {
        file.writable()?;
        Some(open::writer(&file.path)?)
    };
    if !file.columns.has_log {
        return Ok(done);
    }
    let sessions = log::sessions(&reader).map_err(|e| error(&file.path, &e))?;
    done.read.of = sessions.len() as u64;
    for session in sessions {
        let mut flow = Flow::Continue;
        let plan = plan::plan(&reader, &file, &session, &mut |bytes| {
            done.read.events += 1;
            done.read.bytes += bytes;
            if done.read.events.is_multiple_of(256) {
                flow = tell(done.read);
            }
            flow
        })?;
        if flow == Flow::Continue {
            flow = match (&plan.skipped, &writer) {
                (Some(skipped), _) => {
                    done.skipped.push((session.clone(), skipped.clone()));
                    Flow::Continue
                }
                (None, None) => {
                    plan.events.iter().for_each(|event| done.count(&session, event));
                    Flow::Continue
                }
                (None, Some(writer)) => apply(writer, &file, &session, &plan, how, &mut done, tell)?,
            };
        }
        done.read.sessions += 1;
        if flow == Flow::Stop || tell(done.read) == Flow::Stop {
            done.stopped = true;
            break;
        }
    }
    Ok(done)
}

impl Compacted {
    fn count(&mut self, session: &str, event: &plan::Planned) {
        let kind = &mut self.emptied[event.place()];
        kind.events += 1;
        kind.bytes += u64::from(event.bytes).saturating_sub(super::super::supersede::emptied(session).len() as u64);
    }
}

fn apply(
    db: &Connection,
    file: &File,
    session: &str,
    plan: &Plan,
    how: Compact,
    done: &mut Compacted,
    tell: &mut dyn FnMut(Progress) -> Flow,
) -> Result<Flow, Error> {
    let failed = |e: rusqlite::Error| error(&file.path, &e);
    let mut left = &plan.events[..];
    while !left.is_empty() {
        let mut batch = Batch::begin(db, &file.path, how.patience)?;
        if !unmoved(db, session, plan).map_err(failed)? {
            // Erased, or erased and begun again: another log, which was not planned for.
            done.moved += left.len() as u64;
            return Ok(Flow::Continue);
        }
        let mut taken = Vec::new();
        while let Some((event, rest)) = left.split_first() {
            left = rest;
            if plan::apply(db, session, event).map_err(failed)? {
                taken.push(*event);
            } else {
                done.moved += 1;
            }
            if batch.add(u64::from(event.bytes)) {
                break;
            }
        }
        let held = batch.commit()?;
        taken.iter().for_each(|event| done.count(session, event));
        done.batches += 1;
        done.longest = done.longest.max(held);
        if !left.is_empty() && tell(done.read) == Flow::Stop {
            return Ok(Flow::Stop);
        }
    }
    Ok(Flow::Continue)
}

/// Whether the log is still the one that was planned for. It only ever grows at its end or goes as a whole, so one event
/// stands for all before it.
fn unmoved(db: &Connection, session: &str, plan: &Plan) -> rusqlite::Result<bool> {
    let Some((seq, id)) = &plan.newest else { return Ok(false) };
    let mut statement = db.prepare_cached("SELECT 1 FROM event WHERE aggregate_id = ?1 AND seq = ?2 AND id = ?3")?;
    let found: Option<i64> = statement.query_row(params![session, seq, id], |row| row.get(0)).optional()?;
    Ok(found.is_some())
}
