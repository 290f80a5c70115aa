//! Writing todo lists.

use crate::row::TodoRow;
use rusqlite::{Connection, params};

pub(super) fn replace(db: &Connection, session: &str, todos: &[TodoRow], now_ms: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM todo WHERE session_id = ?1")?.execute([session])?;
    let mut insert = db.prepare_cached(
        "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
    )?;
    for (position, todo) in todos.iter().enumerate() {
        let position = i64::try_from(position).unwrap_or(i64::MAX);
        insert.execute(params![session, todo.content, todo.status, todo.priority, position, now_ms])?;
    }
    Ok(())
}
