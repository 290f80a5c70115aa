//! Parts that other processes removed, so that a late write of ours does not bring them back.
//!
//! The log tells of each removal, but no index finds a part in it, and a bounded log holds many removals of nothing. So only
//! what others appended since the last look is looked through, and only when a part is about to be new: a writer that is
//! alone on its file never does.

use super::supersede::{EMPTIED, NOBODY};
use crate::tombs::Tombs;
use rusqlite::{Connection, params};
use std::cell::Cell;

/// Events that are looked through for what happened before the first look.
const BEFORE: i64 = 4_096;

#[derive(Debug, Default)]
pub(super) struct Removed {
    ids: Tombs,
    /// The row of the newest event there was at the last look.
    last: Cell<Option<i64>>,
    /// Others may have appended since.
    doubt: Cell<bool>,
    /// Rows of ours that the last look may have seen are gone again, and others may have theirs.
    undone: Cell<bool>,
}

impl Removed {
    /// Somebody else committed, or may have.
    pub(super) fn doubt(&self) {
        self.doubt.set(true);
    }

    /// A job was rolled back.
    pub(super) fn undone(&self) {
        self.undone.set(true);
    }

    /// Whether this part was removed, as far as is known.
    pub(super) fn has(&self, db: &Connection, part: &str) -> rusqlite::Result<bool> {
        if self.doubt.get() || self.last.get().is_none() {
            self.look(db)?;
            self.doubt.set(false);
        }
        Ok(self.ids.has(part))
    }

    fn look(&self, db: &Connection) -> rusqlite::Result<()> {
        let newest: i64 = db.prepare_cached("SELECT coalesce(max(rowid), 0) FROM event")?.query_row([], |row| row.get(0))?;
        let known = self.last.get().filter(|_| !self.undone.replace(false));
        // After the newest session was erased its row ids are given out again, too.
        let after = known.filter(|last| *last <= newest).unwrap_or(newest.saturating_sub(BEFORE));
        let mut statement =
            db.prepare_cached("SELECT data ->> 'partID' FROM event WHERE rowid > ?1 AND type = ?2 AND json_valid(data)")?;
        let mut rows = statement.query(params![after, EMPTIED])?;
        while let Some(row) = rows.next()? {
            if let Some(part) = row.get::<_, Option<String>>(0)?.filter(|part| part != NOBODY) {
                self.ids.bury(&part);
            }
        }
        self.last.set(Some(newest));
        Ok(())
    }
}
