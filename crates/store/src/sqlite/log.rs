//! The queries of the log: by place, by session, by owner.

use super::value::{bytes, text};
use crate::backend::Flow;
use crate::log::{LogHead, LogRange, Take};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

const HEAD: &str = "rowid, id, aggregate_id, seq, type";

fn head<'r>(row: &'r Row<'_>) -> rusqlite::Result<LogHead<'r>> {
    Ok(LogHead {
        rowid: row.get(0)?,
        id: text(row.get_ref(1)?),
        session: text(row.get_ref(2)?),
        // What is no number is before every number: such a row costs nobody else anything (design G6).
        seq: row.get_ref(3)?.as_i64().unwrap_or(-1),
        kind: text(row.get_ref(4)?),
    })
}

pub(super) fn log(
    db: &Connection,
    range: &LogRange<'_>,
    wanted: &mut dyn FnMut(&LogHead<'_>) -> Take,
    take: &mut dyn FnMut(&LogHead<'_>, &[u8]) -> Flow,
) -> rusqlite::Result<()> {
    let after = range.after.unwrap_or(i64::MIN);
    let upto = range.upto.unwrap_or(i64::MAX);
    // The data is the last column: of a row that is not wanted its pages are not read.
    let mut statement = db.prepare_cached(&match range.session {
        None => format!("SELECT {HEAD}, data FROM event WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid"),
        Some(_) => {
            format!("SELECT {HEAD}, data FROM event WHERE aggregate_id = ?3 AND seq > ?1 AND seq <= ?2 ORDER BY seq")
        }
    })?;
    let mut rows = match range.session {
        None => statement.query(params![after, upto])?,
        Some(session) => statement.query(params![after, upto, session])?,
    };
    while let Some(row) = rows.next()? {
        let head = head(row)?;
        match wanted(&head) {
            Take::Stop => break,
            Take::Skip => {}
            Take::Row => {
                if take(&head, &bytes(row.get_ref(5)?)) == Flow::Stop {
                    break;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn log_head(db: &Connection, session: Option<&str>, at: i64) -> rusqlite::Result<Option<LogHead<'static>>> {
    let own = |row: &Row<'_>| head(row).map(LogHead::into_static);
    match session {
        None => db.prepare_cached(&format!("SELECT {HEAD} FROM event WHERE rowid = ?1"))?.query_row([at], own),
        Some(session) => db
            .prepare_cached(&format!("SELECT {HEAD} FROM event WHERE aggregate_id = ?1 AND seq = ?2"))?
            .query_row(params![session, at], own),
    }
    .optional()
}

pub(super) fn log_end(db: &Connection, session: Option<&str>, below: Option<i64>) -> rusqlite::Result<Option<LogHead<'static>>> {
    let own = |row: &Row<'_>| head(row).map(LogHead::into_static);
    let below = below.unwrap_or(i64::MAX);
    match session {
        None => db
            .prepare_cached(&format!("SELECT {HEAD} FROM event WHERE rowid < ?1 ORDER BY rowid DESC LIMIT 1"))?
            .query_row([below], own),
        Some(session) => db
            .prepare_cached(&format!("SELECT {HEAD} FROM event WHERE aggregate_id = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1"))?
            .query_row(params![session, below], own),
    }
    .optional()
}

pub(super) fn logs(db: &Connection, visit: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached("SELECT aggregate_id FROM event_sequence")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(&text(row.get_ref(0)?));
    }
    Ok(())
}

/// In the order of the ids' bytes, from the key's index alone.
pub(super) fn each_session_id(db: &Connection, visit: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached("SELECT id FROM session ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        visit(&text(row.get_ref(0)?));
    }
    Ok(())
}

pub(super) fn log_owner(db: &Connection, session: &str) -> rusqlite::Result<Option<String>> {
    let mut statement = db.prepare_cached("SELECT owner_id FROM event_sequence WHERE aggregate_id = ?1")?;
    statement.query_row([session], |row| row.get(0)).optional().map(Option::flatten)
}

pub(super) fn own_log(db: &Connection, session: &str, owner: &str, only_free: bool) -> rusqlite::Result<bool> {
    let sql = "UPDATE event_sequence SET owner_id = ?2 WHERE aggregate_id = ?1 AND (NOT ?3 OR owner_id IS NULL)";
    Ok(db.prepare_cached(sql)?.execute(params![session, owner, only_free])? > 0)
}
