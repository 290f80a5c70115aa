//! The queries.

use super::columns::{Columns, SESSION};
use super::value::{bytes, cell, stamp, text};
use crate::backend::Flow;
use crate::query::{Archived, Direction, MessageRange, SessionFilter};
use crate::row::{EventRow, MessageRow, PartRow, ProjectRow, SessionRow, TodoRow};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params, params_from_iter};

pub(super) fn session(db: &Connection, columns: &Columns, id: &str) -> rusqlite::Result<Option<SessionRow>> {
    let sql = format!("SELECT {} FROM session s WHERE s.id = ?1", columns.session);
    db.prepare_cached(&sql)?.query_row([id], session_row).optional()
}

pub(super) fn session_ids(db: &Connection, prefix: &str, limit: usize) -> rusqlite::Result<Vec<String>> {
    // A range instead of LIKE: it uses the key's index, and an id may hold LIKE's wildcards.
    let sql = "SELECT id FROM session WHERE id >= ?1 AND id < ?1 || char(1114111) LIMIT ?2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    db.prepare_cached(sql)?.query_map(params![prefix, limit], |row| row.get(0))?.collect()
}

fn session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    let mut at = 0;
    let mut next = || {
        at += 1;
        row.get_ref(at).map(cell)
    };
    debug_assert_eq!(SESSION.len(), 29, "SessionRow and SESSION list the same columns");
    Ok(SessionRow {
        id: text(row.get_ref(0)?).into_owned(),
        project_id: next()?,
        workspace_id: next()?,
        parent_id: next()?,
        slug: next()?,
        directory: next()?,
        path: next()?,
        title: next()?,
        version: next()?,
        share_url: next()?,
        summary_additions: next()?,
        summary_deletions: next()?,
        summary_files: next()?,
        summary_diffs: next()?,
        metadata: next()?,
        cost: next()?,
        tokens_input: next()?,
        tokens_output: next()?,
        tokens_reasoning: next()?,
        tokens_cache_read: next()?,
        tokens_cache_write: next()?,
        revert: next()?,
        permission: next()?,
        agent: next()?,
        model: next()?,
        time_created: next()?,
        time_updated: next()?,
        time_compacting: next()?,
        time_archived: next()?,
    })
}

/// The `WHERE` of a filter and its values. A filter on a column that the file does not have behaves as if it held NULL.
fn condition(columns: &Columns, filter: &SessionFilter) -> (String, Vec<Value>) {
    let mut parts: Vec<String> = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    let mut bind = |value: &str| {
        values.push(Value::Text(value.to_owned()));
        format!("?{}", values.len())
    };
    let or_null = |has: bool, column: &'static str| if has { column } else { "NULL" };
    let path_column = or_null(columns.has_path, "path");

    if let Some(project) = &filter.project {
        parts.push(format!("project_id = {}", bind(project)));
    }
    if let Some(workspace) = &filter.workspace {
        parts.push(format!("{} = {}", or_null(columns.has_workspace, "workspace_id"), bind(workspace)));
    }
    match (filter.path.as_deref(), filter.directory.as_deref()) {
        // An empty path is the whole project: it turns the folder filter off (reference-storage 1.4).
        (Some(""), _) | (None, None) => {}
        (Some(path), directory) => {
            let at = bind(path);
            let fallback =
                directory.map(|d| format!(" OR ({path_column} IS NULL AND directory = {})", bind(d))).unwrap_or_default();
            parts.push(format!("({path_column} = {at} OR {path_column} LIKE {at} || '/%'{fallback})"));
        }
        (None, Some(directory)) => parts.push(format!("directory = {}", bind(directory))),
    }
    let parent = or_null(columns.has_parent, "parent_id");
    if let Some(id) = &filter.parent {
        parts.push(format!("{parent} = {}", bind(id)));
    }
    if filter.roots {
        parts.push(format!("{parent} IS NULL"));
    }
    if let Some(search) = filter.search.as_deref().filter(|s| !s.is_empty()) {
        parts.push(format!("title LIKE '%' || {} || '%'", bind(search)));
    }
    let archived = or_null(columns.has_archived, "time_archived");
    match filter.archived {
        Archived::Include => {}
        Archived::Exclude => parts.push(format!("{archived} IS NULL")),
        Archived::Only => parts.push(format!("{archived} IS NOT NULL")),
    }
    // Numbers need no binding, and no quoting.
    parts.extend(filter.updated_since.map(|since| format!("time_updated >= {since}")));
    parts.extend(filter.updated_before.map(|before| format!("time_updated < {before}")));
    let condition = if parts.is_empty() { "TRUE".to_owned() } else { parts.join(" AND ") };
    (condition, values)
}

pub(super) fn sessions(
    db: &Connection,
    columns: &Columns,
    filter: &SessionFilter,
    visit: &mut dyn FnMut(SessionRow) -> Flow,
) -> rusqlite::Result<()> {
    let (condition, values) = condition(columns, filter);
    let limit = filter.limit.map_or(-1, i64::from);
    // The inner query sorts row ids only: a session row may hold megabytes of diffs, which a sort would carry around.
    let sql = format!(
        "SELECT {} FROM (SELECT rowid AS picked FROM session WHERE {condition} ORDER BY time_updated DESC, id DESC LIMIT {limit})
         CROSS JOIN session s ON s.rowid = picked",
        columns.session
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        if visit(session_row(row)?) == Flow::Stop {
            break;
        }
    }
    Ok(())
}

pub(super) fn count_sessions(db: &Connection, columns: &Columns, filter: &SessionFilter) -> rusqlite::Result<u64> {
    let (condition, values) = condition(columns, filter);
    let sql = format!("SELECT count(*) FROM session WHERE {condition}");
    let count: i64 = db.prepare_cached(&sql)?.query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

fn message_row<'r>(row: &'r Row<'_>) -> rusqlite::Result<MessageRow<'r>> {
    Ok(MessageRow {
        id: text(row.get_ref(0)?),
        session: text(row.get_ref(1)?),
        created: stamp(row.get_ref(2)?),
        data: bytes(row.get_ref(3)?),
    })
}

pub(super) fn message(db: &Connection, session: &str, id: &str, visit: &mut dyn FnMut(MessageRow<'_>)) -> rusqlite::Result<()> {
    let sql = "SELECT id, session_id, time_created, data FROM message WHERE id = ?1 AND session_id = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![id, session])?;
    if let Some(row) = rows.next()? {
        visit(message_row(row)?);
    }
    Ok(())
}

pub(super) fn messages(
    db: &Connection,
    range: &MessageRange<'_>,
    visit: &mut dyn FnMut(MessageRow<'_>) -> Flow,
) -> rusqlite::Result<()> {
    let (order, beyond) = match range.direction {
        Direction::OldestFirst => ("ASC", ">"),
        Direction::NewestFirst => ("DESC", "<"),
    };
    // A time that is no number (a damaged row) sorts behind all numbers, so it has to be compared as what it is: a page that
    // ends on such a row must not end the session.
    let odd =
        "SELECT time_created FROM message WHERE id = ?3 AND session_id = ?1 AND typeof(time_created) NOT IN ('integer', 'real')";
    let beyond =
        if range.beyond.is_some() { format!("AND (time_created, id) {beyond} (coalesce(({odd}), ?2), ?3)") } else { String::new() };
    let limit = range.limit.map_or(-1, i64::from);
    let sql = format!(
        "SELECT id, session_id, time_created, data FROM message WHERE session_id = ?1 {beyond}
         ORDER BY time_created {order}, id {order} LIMIT {limit}"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = match &range.beyond {
        Some(cursor) => statement.query(params![range.session, cursor.time, cursor.id])?,
        None => statement.query([range.session])?,
    };
    while let Some(row) = rows.next()? {
        if visit(message_row(row)?) == Flow::Stop {
            break;
        }
    }
    Ok(())
}

fn part_row<'r>(row: &'r Row<'_>) -> rusqlite::Result<PartRow<'r>> {
    Ok(PartRow {
        id: text(row.get_ref(0)?),
        message: text(row.get_ref(1)?),
        session: text(row.get_ref(2)?),
        created: stamp(row.get_ref(3)?),
        data: bytes(row.get_ref(4)?),
    })
}

/// Message ids bound at a time: one statement for every page size.
const PAGE: usize = 64;

pub(super) fn parts(db: &Connection, messages: &[&str], visit: &mut dyn FnMut(PartRow<'_>)) -> rusqlite::Result<()> {
    let marks = vec!["?"; PAGE].join(",");
    // In the order of the index, so that no sort carries the data around.
    let sql = format!(
        "SELECT id, message_id, session_id, time_created, data FROM part WHERE message_id IN ({marks}) ORDER BY message_id, id"
    );
    for page in messages.chunks(PAGE) {
        let mut statement = db.prepare_cached(&sql)?;
        // The places left over hold NULL, which equals nothing.
        let ids = page.iter().map(|id| Some(*id)).chain(std::iter::repeat(None)).take(PAGE);
        let mut rows = statement.query(params_from_iter(ids))?;
        while let Some(row) = rows.next()? {
            visit(part_row(row)?);
        }
    }
    Ok(())
}

pub(super) fn part_ids(db: &Connection, session: &str, visit: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
    let sql = "SELECT p.id FROM message m JOIN part p ON p.message_id = m.id WHERE m.session_id = ?1
               ORDER BY m.time_created, m.id, p.time_created, p.id";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query([session])?;
    while let Some(row) = rows.next()? {
        visit(&text(row.get_ref(0)?));
    }
    Ok(())
}

pub(super) fn part(db: &Connection, message: &str, id: &str, visit: &mut dyn FnMut(PartRow<'_>)) -> rusqlite::Result<()> {
    let sql = "SELECT id, message_id, session_id, time_created, data FROM part WHERE id = ?1 AND message_id = ?2";
    let mut statement = db.prepare_cached(sql)?;
    let mut rows = statement.query(params![id, message])?;
    if let Some(row) = rows.next()? {
        visit(part_row(row)?);
    }
    Ok(())
}

pub(super) fn todos(db: &Connection, session: &str) -> rusqlite::Result<Vec<TodoRow>> {
    let sql = "SELECT content, status, priority FROM todo WHERE session_id = ?1 ORDER BY position";
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query_map([session], |row| {
        let column = |at| row.get_ref(at).map(|v| text(v).into_owned());
        Ok(TodoRow { content: column(0)?, status: column(1)?, priority: column(2)? })
    })?;
    rows.collect()
}

pub(super) fn project(db: &Connection, id: &str) -> rusqlite::Result<Option<ProjectRow>> {
    let mut statement = db.prepare_cached("SELECT id, worktree, name FROM project WHERE id = ?1")?;
    statement
        .query_row([id], |row| {
            Ok(ProjectRow {
                id: text(row.get_ref(0)?).into_owned(),
                worktree: text(row.get_ref(1)?).into_owned(),
                name: match cell(row.get_ref(2)?) {
                    crate::row::Cell::Text(name) => Some(name),
                    _ => None,
                },
            })
        })
        .optional()
}

pub(super) fn events(
    db: &Connection,
    session: &str,
    after: i64,
    visit: &mut dyn FnMut(EventRow<'_>) -> Flow,
) -> rusqlite::Result<()> {
    let mut statement =
        db.prepare_cached("SELECT id, seq, type, data FROM event WHERE aggregate_id = ?1 AND seq > ?2 ORDER BY seq")?;
    let mut rows = statement.query(params![session, after])?;
    while let Some(row) = rows.next()? {
        let event =
            EventRow { id: text(row.get_ref(0)?), seq: row.get(1)?, kind: text(row.get_ref(2)?), data: bytes(row.get_ref(3)?) };
        if visit(event) == Flow::Stop {
            break;
        }
    }
    Ok(())
}
