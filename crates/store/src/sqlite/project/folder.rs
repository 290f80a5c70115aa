//! The row of a folder's project, and its further work trees (reference-storage 4.8).

use crate::folder::{Folder, GLOBAL};
use annalist_schema::Json;
use rusqlite::{Connection, OptionalExtension as _, params};

/// Makes the row of a folder's project if there is none; sessions hang on it, so this belongs into their transaction. A work
/// tree that the project was not seen in yet joins its `sandboxes`.
pub(in crate::sqlite) fn ensure(db: &Connection, folder: &Folder, now_ms: i64) -> rusqlite::Result<()> {
    let known: Option<(String, String)> = db
        .prepare_cached("SELECT worktree, sandboxes FROM project WHERE id = ?1")?
        .query_row([&folder.project], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if let Some((worktree, sandboxes)) = known {
        // The row of all folders without a project of their own has no work tree to speak of.
        if folder.project != GLOBAL
            && worktree != folder.worktree
            && let Some(sandboxes) = with(&sandboxes, &folder.worktree)
        {
            db.prepare_cached("UPDATE project SET sandboxes = ?1, time_updated = ?2 WHERE id = ?3")?.execute(params![
                sandboxes,
                now_ms,
                folder.project
            ])?;
        }
    } else {
        let vcs = folder.git.then_some("git");
        db.prepare_cached(
            "INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?1, ?2, ?3, ?4, ?4, '[]')",
        )?
        .execute(params![folder.project, folder.worktree, vcs, now_ms])?;
    }
    if folder.project != GLOBAL {
        db.prepare_cached(
            "INSERT INTO project_directory (project_id, directory, time_created) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
        )?
        .execute(params![folder.project, folder.worktree, now_ms])?;
    }
    Ok(())
}

/// The list with one more work tree; nothing if it is in there, or if the list is none of ours to rewrite.
fn with(sandboxes: &str, worktree: &str) -> Option<String> {
    let json = Json::parse(sandboxes).ok()?;
    let mut list: Vec<String> = json.as_array()?.iter().map(|item| item.as_str().to_owned()).collect();
    let wanted = Json::text(worktree);
    if list.iter().any(|item| item == wanted.as_str()) {
        return None;
    }
    list.push(wanted.as_str().to_owned());
    Some(format!("[{}]", list.join(",")))
}
