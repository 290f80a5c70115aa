//! What a file's tables look like, compared with what this version knows.

use super::migrations::ledger::Ledger;
use rusqlite::Connection;
use std::collections::HashMap;

/// The tables that are written, with the columns this version knows, in the order in which they are read.
const KNOWN: &[(&str, &[&str])] = &[
    (
        "project",
        &[
            "id",
            "worktree",
            "vcs",
            "name",
            "icon_url",
            "icon_url_override",
            "icon_color",
            "time_created",
            "time_updated",
            "time_initialized",
            "sandboxes",
            "commands",
        ],
    ),
    ("project_directory", &["project_id", "directory", "type", "strategy", "time_created"]),
    ("session", SESSION),
    ("message", &["id", "session_id", "time_created", "time_updated", "data"]),
    ("part", &["id", "message_id", "session_id", "time_created", "time_updated", "data"]),
    ("todo", &["session_id", "content", "status", "priority", "position", "time_created", "time_updated"]),
    ("event_sequence", &["aggregate_id", "seq", "owner_id"]),
    ("event", &["id", "aggregate_id", "seq", "type", "data"]),
];

/// The columns of `session`, in the order of [`crate::row::SessionRow`].
pub(super) const SESSION: &[&str] = &[
    "id",
    "project_id",
    "workspace_id",
    "parent_id",
    "slug",
    "directory",
    "path",
    "title",
    "version",
    "share_url",
    "summary_additions",
    "summary_deletions",
    "summary_files",
    "summary_diffs",
    "metadata",
    "cost",
    "tokens_input",
    "tokens_output",
    "tokens_reasoning",
    "tokens_cache_read",
    "tokens_cache_write",
    "revert",
    "permission",
    "agent",
    "model",
    "time_created",
    "time_updated",
    "time_compacting",
    "time_archived",
];

/// The shape of one file.
#[derive(Debug)]
pub(crate) struct Columns {
    /// Lists for `SELECT`, a column that the file lacks being `NULL`.
    pub(super) session: String,
    pub(super) has_parent: bool,
    pub(super) has_path: bool,
    pub(super) has_workspace: bool,
    pub(super) has_archived: bool,
    pub(super) has_log: bool,
    pub(super) has_todo: bool,
    fit: Fit,
}

/// Whether a file can be written as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fit {
    /// It has all that is written and demands nothing else.
    Writable,
    /// It lacks something that a writing open adds; what.
    Older(String),
    /// It is another version's, and stays as it is; why.
    Foreign(String),
}

impl Columns {
    /// Looks at the tables. `None` if the file has no `session` table.
    pub(super) fn of(db: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut found: HashMap<String, Vec<(String, bool)>> = HashMap::new();
        // Only these: to look at a table of an extension that is not here (vector search) is an error.
        let known = KNOWN.iter().map(|(table, _)| format!("'{table}'")).collect::<Vec<_>>().join(", ");
        let mut statement = db.prepare(&format!(
            "SELECT m.name, c.name, c.\"notnull\" AND c.dflt_value IS NULL
             FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name IN ({known})"
        ))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.entry(row.get(0)?).or_default().push((row.get(1)?, row.get(2)?));
        }
        let Some(session) = found.get("session") else { return Ok(None) };
        let has = |column: &str| session.iter().any(|(name, _)| name == column);
        let list = SESSION.iter().map(|c| if has(c) { format!("s.{c}") } else { format!("NULL AS {c}") });
        Ok(Some(Columns {
            session: list.collect::<Vec<_>>().join(", "),
            has_parent: has("parent_id"),
            has_path: has("path"),
            has_workspace: has("workspace_id"),
            has_archived: has("time_archived"),
            has_log: found.contains_key("event") && found.contains_key("event_sequence"),
            has_todo: found.contains_key("todo"),
            fit: fit(&found, &Ledger::of(db)?),
        }))
    }

    pub(super) fn fit(&self) -> &Fit {
        &self.fit
    }
}

/// Design G7: each table that is written has the columns we know, and any further one is nullable or has a default.
/// Migrations that the reference knows must be recorded: those that are not would empty the log when it opens the file.
fn fit(found: &HashMap<String, Vec<(String, bool)>>, ledger: &Ledger) -> Fit {
    let tables = || KNOWN.iter().filter_map(|(table, known)| Some((table, known, found.get(*table)?)));
    for (table, known, columns) in tables() {
        if let Some((extra, _)) = columns.iter().find(|(column, demanded)| *demanded && !known.contains(&column.as_str())) {
            return Fit::Foreign(format!(
                "its table {table} demands a column {extra} that this version does not know; a newer version of Annalist may"
            ));
        }
    }
    let lacks = KNOWN
        .iter()
        .find(|(table, _)| !found.contains_key(*table))
        .map(|(table, _)| format!("it has no table {table}"))
        .or_else(|| {
            tables().find_map(|(table, known, columns)| {
                let missing = known.iter().find(|name| !columns.iter().any(|(column, _)| column == *name))?;
                Some(format!("its table {table} has no column {missing}"))
            })
        })
        .or_else(|| ledger.missing().next().map(|id| format!("the migration {id} is not recorded")));
    match (lacks, ledger.unknown()) {
        (None, _) => Fit::Writable,
        // What is missing there may have been removed on purpose.
        (Some(lacks), Some(unknown)) => Fit::Foreign(format!(
            "{lacks}, and it went through a migration that this version does not know ({unknown}); a newer version of Annalist may know it"
        )),
        (Some(lacks), None) => Fit::Older(lacks),
    }
}
