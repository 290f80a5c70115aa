//! Emptying superseded events (design G4): the log never holds much more than twice what it is worth.
//!
//! Each event carries a message, a part or a session whole, so of the snapshots of one part only the first (it fixes the
//! part's place) and the last (it fixes the content) matter to a replay. One in between is emptied: it keeps its id and its
//! number and becomes the removal of a part that never existed, which the reference replays without complaint.
//!
//! *An event may be emptied only if replaying the whole log without its content gives the same rows.* That is so for
//! - a snapshot of a message or part, if an earlier and a later one of the same id stay and nothing between those two removes
//!   it or its message, and no snapshot of the part was ever a `step-finish` (what those cost is summed on the session's row,
//!   and a `session.updated` in between overwrites the sum);
//! - a `session.updated`, if one later one carries every optional field that it carries (an absent field leaves its column as
//!   it is).
//!
//! [`step`] says what an event does to which id, [`cache`] finds the snapshot that an append supersedes without searching,
//! `upkeep::compact` does the same for logs that already grew.

mod cache;
mod step;

use annalist_schema::Json;
use rusqlite::{Connection, params};

pub(super) use cache::Cache;
pub(super) use step::{Carries, Step};

/// What an emptied event becomes.
pub(super) const EMPTIED: &str = "message.part.removed.1";
/// The part that it pretends to remove. A real part of this name would be removed indeed: see [`Step::Part`].
pub(super) const NOBODY: &str = "prt_emptied";

/// The data of an emptied event: these keys exactly, with these prefixes, or the reference's replay fails.
pub(super) fn emptied(session: &str) -> String {
    format!(r#"{{"sessionID":{},"messageID":"msg_","partID":"{NOBODY}"}}"#, Json::text(session))
}

/// Where an event stands.
pub(super) struct Place {
    /// its row, as it was when it was written: others may have packed the file since
    rowid: i64,
    seq: i64,
    event: String,
}

/// Empties one event; false if the log does not hold it (any more), or holds it as something else.
fn empty(db: &Connection, session: &str, at: &Place, kind: &str) -> rusqlite::Result<bool> {
    // All of it is compared: a log that was erased and grew again has other events under the same numbers, and in the same rows.
    let changed = db
        .prepare_cached(
            "UPDATE event SET type = ?1, data = ?2 WHERE rowid = ?3 AND +id = ?4 AND +aggregate_id = ?5 AND +seq = ?6 AND +type = ?7",
        )?
        .execute(params![EMPTIED, emptied(session), at.rowid, at.event, session, at.seq, kind])?;
    Ok(changed == 1)
}
