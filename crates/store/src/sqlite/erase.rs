//! Erasing the log of a deleted session.

use rusqlite::{Connection, params};

/// Erases events from the log's beginning until about `bytes` are gone, and the sequence with the last of them. Answers
/// whether there is more.
pub(super) fn erase(db: &Connection, session: &str, bytes: u64) -> rusqlite::Result<bool> {
    let mut last = -1_i64;
    let mut sum = 0_u64;
    {
        let mut statement = db.prepare_cached("SELECT seq, octet_length(data) FROM event WHERE aggregate_id = ?1 ORDER BY seq")?;
        let mut rows = statement.query([session])?;
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            // A row costs about as much again in its three indexes.
            sum += row.get::<_, i64>(1)?.unsigned_abs() + 200;
            if sum >= bytes {
                break;
            }
        }
    }
    db.prepare_cached("DELETE FROM event WHERE aggregate_id = ?1 AND seq <= ?2")?.execute(params![session, last])?;
    let more = db.prepare_cached("SELECT 1 FROM event WHERE aggregate_id = ?1 LIMIT 1")?.exists([session])?;
    if !more {
        db.prepare_cached("DELETE FROM event_sequence WHERE aggregate_id = ?1")?.execute([session])?;
    }
    Ok(more)
}
