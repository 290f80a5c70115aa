//! What the reference's migrations do to rows, done so that the rows end up the same, with one difference: a log that
//! replays to its session's rows is kept, where the reference drops every log three times.

use super::Migrated;
use super::ledger::{Ledger, has_column};
use super::logs::Logs;
use rusqlite::{Connection, params};

/// The state of the second generation, which the reference rebuilds as it goes. Its workspaces go with it.
const SECOND_GENERATION: &[&str] = &["session_message", "session_input", "session_context_epoch", "workspace"];

/// The column of a session and what is summed up for it.
const USAGE: &[(&str, &str)] = &[
    ("cost", "$.cost"),
    ("tokens_input", "$.tokens.input"),
    ("tokens_output", "$.tokens.output"),
    ("tokens_reasoning", "$.tokens.reasoning"),
    ("tokens_cache_read", "$.tokens.cache.read"),
    ("tokens_cache_write", "$.tokens.cache.write"),
];

/// Drops the tables of the second generation, to be made anew empty, and the logs that do not replay.
/// Answers which tables there were.
pub(super) fn reset(db: &Connection, logs: &Logs, done: &mut Migrated) -> rusqlite::Result<Vec<&'static str>> {
    let mut dropped = Vec::new();
    for table in SECOND_GENERATION {
        if db.table_exists(None, *table)? {
            db.execute_batch(&format!("DROP TABLE {table}"))?;
            dropped.push(*table);
        }
    }
    if has_column(db, "session", "workspace_id")? {
        db.execute("UPDATE session SET workspace_id = NULL WHERE workspace_id IS NOT NULL", [])?;
    }
    for (session, _) in &logs.dropped {
        db.prepare_cached("DELETE FROM event WHERE aggregate_id = ?1")?.execute([session])?;
        db.prepare_cached("DELETE FROM event_sequence WHERE aggregate_id = ?1")?.execute([session])?;
    }
    done.logs_kept = logs.kept;
    done.logs_dropped.clone_from(&logs.dropped);
    Ok(dropped)
}

/// Fills the columns that were just added, and respells paths.
pub(super) fn fill(db: &Connection, ledger: &Ledger, done: &mut Migrated) -> rusqlite::Result<()> {
    let added = |column: &str| done.columns.iter().any(|c| c == column);
    if added("project.icon_url_override") {
        db.execute("UPDATE project SET icon_url_override = icon_url WHERE icon_url IS NOT NULL", [])?;
    }
    if added("account_state.active_org_id") && has_column(db, "account", "selected_org_id")? {
        db.execute("UPDATE account_state SET active_org_id = a.selected_org_id FROM account a WHERE a.id = active_account_id", [])?;
    }
    if USAGE.iter().any(|(column, _)| added(&format!("session.{column}"))) {
        done.usage_filled = usage(db)?;
    }
    if ledger.paths_pending() {
        paths(db)?;
    }
    Ok(())
}

/// Usage from the assistant messages, as the reference's `session_usage` does it: old sessions have no other count. A
/// message that is no JSON counts nothing, where the reference's migration fails.
fn usage(db: &Connection) -> rusqlite::Result<u64> {
    let names: Vec<&str> = USAGE.iter().map(|(column, _)| *column).collect();
    let sums: Vec<String> = USAGE.iter().map(|(column, path)| format!("coalesce(sum(data ->> '{path}'), 0) AS {column}")).collect();
    let assignments: Vec<String> = names.iter().map(|column| format!("{column} = u.{column}")).collect();
    // Materialized, so that no JSON function ever sees a row that is none.
    let sql = format!(
        "WITH valid AS MATERIALIZED (SELECT session_id, data FROM message WHERE json_valid(CAST(data AS TEXT))),
              used AS (SELECT session_id, {sums} FROM valid WHERE data ->> '$.role' = 'assistant' GROUP BY session_id)
         UPDATE session SET {assignments} FROM used u WHERE u.session_id = session.id",
        sums = sums.join(", "),
        assignments = assignments.join(", ")
    );
    db.execute(&sql, []).map(|n| u64::try_from(n).unwrap_or(u64::MAX))
}

/// Backslashes become slashes in folders that start with a drive or a share.
fn paths(db: &Connection) -> rusqlite::Result<()> {
    let windows = |column: &str| format!("({column} GLOB '[A-Za-z]:*' OR substr({column}, 1, 2) IN ('\\\\', '//'))");
    // Such a list is JSON: each backslash is written twice.
    db.execute(
        &format!(
            "UPDATE project SET sandboxes = replace(sandboxes, ?1, '/') WHERE instr(sandboxes, ?1) > 0 AND {}",
            windows("worktree")
        ),
        params![r"\\"],
    )?;
    let plain: [(&str, &str, &str); 3] =
        [("project", "worktree", "worktree"), ("session", "path", "directory"), ("session", "directory", "directory")];
    for (table, column, of) in plain {
        db.execute(
            &format!("UPDATE {table} SET {column} = replace({column}, ?1, '/') WHERE instr({column}, ?1) > 0 AND {}", windows(of)),
            params![r"\"],
        )?;
    }
    Ok(())
}
