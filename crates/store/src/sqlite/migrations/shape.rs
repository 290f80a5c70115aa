//! The tables of a file beside those it should have.
//!
//! What it should have is read out of `schema.sql` itself, built in memory, so that there is one list of columns.

use super::super::open::SCHEMA;
use super::Migrated;
use rusqlite::{Connection, OptionalExtension as _};

/// Tables with the record in them: columns are added to these and nothing else is ever done.
const RECORD: &[&str] = &["project", "session", "message", "part", "todo", "event_sequence", "event"];

/// Indexes of earlier shapes that the reference drops.
const OLD_INDEXES: &[&str] = &[
    "message_session_idx",
    "part_message_idx",
    "session_message_session_idx",
    "session_message_session_type_idx",
    "session_message_session_type_time_created_id_idx",
    "session_input_session_pending_seq_idx",
    "credential_connector_active_idx",
];

/// A column as `PRAGMA table_info` tells it.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    kind: String,
    not_null: bool,
    default: Option<String>,
    key: i64,
}

impl Column {
    /// Whether a row can be written without it.
    fn optional(&self) -> bool {
        self.key == 0 && (!self.not_null || self.default.is_some())
    }

    fn definition(&self) -> String {
        let mut sql = format!("{} {}", self.name, self.kind);
        if let Some(default) = &self.default {
            sql.push_str(" DEFAULT ");
            sql.push_str(default);
        }
        if self.not_null {
            sql.push_str(" NOT NULL");
        }
        sql
    }
}

/// What a table needs to become the one it should be.
enum Need {
    Nothing,
    Table,
    Columns(Vec<Column>),
    /// Adding is not enough, for the reason given.
    Rebuild(String),
}

fn target() -> rusqlite::Result<Connection> {
    let db = Connection::open_in_memory()?;
    db.execute_batch(SCHEMA)?;
    Ok(db)
}

fn columns(db: &Connection, table: &str) -> rusqlite::Result<Vec<Column>> {
    let mut statement = db.prepare_cached("SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?1)")?;
    let rows = statement.query_map([table], |row| {
        Ok(Column { name: row.get(0)?, kind: row.get(1)?, not_null: row.get(2)?, default: row.get(3)?, key: row.get(4)? })
    })?;
    rows.collect()
}

/// Name and statement of everything of a kind, in the order of `schema.sql`.
fn objects(db: &Connection, kind: &str) -> rusqlite::Result<Vec<(String, String)>> {
    let mut statement = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = ?1 AND sql IS NOT NULL ORDER BY rowid")?;
    let rows = statement.query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?;
    rows.collect()
}

fn need(db: &Connection, target: &Connection, table: &str) -> rusqlite::Result<Need> {
    let found = columns(db, table)?;
    if found.is_empty() {
        return Ok(Need::Table);
    }
    let wanted = columns(target, table)?;
    let named = |list: &[Column], name: &str| list.iter().find(|c| c.name.eq_ignore_ascii_case(name)).cloned();
    let mut missing = Vec::new();
    for column in wanted.iter().cloned() {
        match named(&found, &column.name) {
            None if column.optional() => missing.push(column),
            None => return Ok(Need::Rebuild(format!("its table {table} has no column {}", column.name))),
            Some(is) if (is.key == 0) != (column.key == 0) => {
                return Ok(Need::Rebuild(format!("its table {table} has another primary key")));
            }
            Some(is) if column.optional() && !is.optional() => {
                return Ok(Need::Rebuild(format!("its table {table} demands a value for {}", column.name)));
            }
            Some(_) => {}
        }
    }
    match found.iter().find(|c| !c.optional() && named(&wanted, &c.name).is_none()) {
        Some(extra) => {
            Ok(Need::Rebuild(format!("its table {table} demands a column {} that this version does not know", extra.name)))
        }
        None if missing.is_empty() => Ok(Need::Nothing),
        None => Ok(Need::Columns(missing)),
    }
}

/// Why a file cannot be brought up, if it cannot: a table of the record that adding columns does not mend.
pub(super) fn impossible(db: &Connection) -> rusqlite::Result<Option<String>> {
    let target = target()?;
    for table in RECORD {
        if let Need::Rebuild(reason) = need(db, &target, table)? {
            return Ok(Some(reason));
        }
    }
    Ok(None)
}

/// Adds the tables, columns and indexes that are missing.
pub(super) fn complete(db: &Connection, done: &mut Migrated) -> rusqlite::Result<()> {
    let target = target()?;
    for (table, sql) in objects(&target, "table")? {
        match need(db, &target, &table)? {
            Need::Nothing => {}
            Need::Table => {
                db.execute_batch(&sql)?;
                done.tables.push(table);
            }
            Need::Columns(missing) => {
                for column in missing {
                    db.execute_batch(&format!("ALTER TABLE {table} ADD COLUMN {}", column.definition()))?;
                    done.columns.push(format!("{table}.{}", column.name));
                }
            }
            Need::Rebuild(_) => {
                let lost = rebuild(db, &target, &table, &sql)?;
                done.rebuilt.push((table, lost));
            }
        }
    }
    for name in OLD_INDEXES {
        db.execute_batch(&format!("DROP INDEX IF EXISTS {name}"))?;
    }
    for (name, sql) in objects(&target, "index")? {
        let wanted = index(&target, &name)?;
        let found = index(db, &name)?;
        if found != wanted {
            db.execute_batch(&format!("DROP INDEX IF EXISTS {name}"))?;
            db.execute_batch(&sql)?;
        }
    }
    Ok(())
}

/// Drops what earlier shapes had and the reference drops, once its values are where they belong.
pub(super) fn drop_old(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch("DROP TABLE IF EXISTS session_entry")?;
    if columns(db, "account")?.iter().any(|c| c.name == "selected_org_id") {
        db.execute_batch("ALTER TABLE account DROP COLUMN selected_org_id")?;
    }
    Ok(())
}

/// A table of the right shape with the rows of the old one, as far as they fit. Answers how many did not.
fn rebuild(db: &Connection, target: &Connection, table: &str, sql: &str) -> rusqlite::Result<u64> {
    let found = columns(db, table)?;
    let shared: Vec<String> = columns(target, table)?
        .into_iter()
        .filter(|column| found.iter().any(|f| f.name.eq_ignore_ascii_case(&column.name)))
        .map(|column| column.name)
        .collect();
    let old = format!("annalist_old_{table}");
    // Without this, what refers to the table would be made to refer to the old one.
    db.pragma_update(None, "legacy_alter_table", true)?;
    let renamed = db.execute_batch(&format!("ALTER TABLE {table} RENAME TO {old}"));
    db.pragma_update(None, "legacy_alter_table", false)?;
    renamed?;
    db.execute_batch(sql)?;
    let before: i64 = db.query_row(&format!("SELECT count(*) FROM {old}"), [], |row| row.get(0))?;
    let list = shared.join(", ");
    let kept = if shared.is_empty() {
        0
    } else {
        db.execute(&format!("INSERT OR IGNORE INTO {table} ({list}) SELECT {list} FROM {old}"), [])?
    };
    // Its indexes go with it, so that their names are free again.
    db.execute_batch(&format!("DROP TABLE {old}"))?;
    Ok(u64::try_from(before).unwrap_or(0).saturating_sub(u64::try_from(kept).unwrap_or(u64::MAX)))
}

/// What an index does, whatever its statement's spelling.
#[derive(Debug, PartialEq)]
struct Index {
    table: String,
    unique: bool,
    partial: bool,
    columns: Vec<Option<String>>,
}

fn index(db: &Connection, name: &str) -> rusqlite::Result<Option<Index>> {
    let table: Option<String> = db
        .prepare_cached("SELECT tbl_name FROM sqlite_master WHERE type = 'index' AND name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    let Some(table) = table else { return Ok(None) };
    let (unique, partial) = db
        .prepare_cached("SELECT \"unique\", partial FROM pragma_index_list(?1) WHERE name = ?2")?
        .query_row([&table, name], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut statement = db.prepare_cached("SELECT name FROM pragma_index_info(?1) ORDER BY seqno")?;
    let columns = statement.query_map([name], |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(Some(Index { table, unique, partial, columns }))
}
