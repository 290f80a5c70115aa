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

/// Empties one event; false if the log does not hold it (any more), or holds it as something else.
pub(super) fn empty(db: &Connection, session: &str, seq: i64, id: &str, kind: &str) -> rusqlite::Result<bool> {
    // The id as well as the number: a log that was erased and grew again has other events under the same numbers.
    let changed = db
        .prepare_cached("UPDATE event SET type = ?1, data = ?2 WHERE aggregate_id = ?3 AND seq = ?4 AND id = ?5 AND type = ?6")?
        .execute(params![EMPTIED, emptied(session), session, seq, id, kind])?;
    Ok(changed == 1)
}
