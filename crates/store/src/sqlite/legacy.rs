//! Rows of old files that no event makes.

use crate::legacy::{Beside, OldProject};
use rusqlite::{Connection, params};

/// A project's row as its file says, unless there is one. Answers whether there was none.
pub(super) fn project(db: &Connection, project: &OldProject) -> rusqlite::Result<bool> {
    let new = db
        .prepare_cached(
            "INSERT INTO project (id, worktree, vcs, name, icon_url, icon_url_override, icon_color, time_created, time_updated,
                                  time_initialized, sandboxes, commands)
             VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            project.id,
            project.worktree,
            project.vcs,
            project.name,
            project.icon_url,
            project.icon_color,
            project.time_created,
            project.time_updated,
            project.time_initialized,
            project.sandboxes,
            project.commands
        ])?;
    if new > 0 && project.id != crate::folder::GLOBAL {
        db.prepare_cached(
            "INSERT INTO project_directory (project_id, directory, time_created) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute(params![project.id, project.worktree, project.time_created])?;
    }
    Ok(new > 0)
}

/// A session's todo list, if it has none, and its share, if it has none. Answers how many entries, and whether a share.
pub(super) fn beside(db: &Connection, session: &str, beside: &Beside) -> rusqlite::Result<(u64, bool)> {
    let mut todos = 0;
    let has_list = db.prepare_cached("SELECT 1 FROM todo WHERE session_id = ?1")?.exists([session])?;
    if !has_list {
        let mut insert = db.prepare_cached(
            "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)",
        )?;
        for (position, todo) in &beside.todos {
            insert.execute(params![session, todo.content, todo.status, todo.priority, position, beside.time_ms])?;
            todos += 1;
        }
    }
    let Some([id, secret, url]) = &beside.share else { return Ok((todos, false)) };
    let shared = db
        .prepare_cached(
            "INSERT INTO session_share (session_id, id, secret, url, time_created, time_updated) VALUES (?1, ?2, ?3, ?4, ?5, ?5)
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![session, id, secret, url, beside.time_ms])?;
    Ok((todos, shared > 0))
}
