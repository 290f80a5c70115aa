//! Copies of fixtures, and ways to look at a file from outside of the store.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(super) const VINTAGES: &[&str] = &["1.2.1", "1.14.34", "1.17.0", "both-ledgers"];

pub(super) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/fixtures")
}

/// A folder of its own with a copy of a vintage in it.
pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) file: PathBuf,
}

impl Place {
    pub(super) fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opencode.db");
        Place { folder, file }
    }

    pub(super) fn of(fixture: &Path) -> Self {
        let place = Place::empty();
        fs::copy(fixture, &place.file).unwrap();
        place
    }

    pub(super) fn vintage(version: &str) -> Self {
        Place::of(&fixtures().join("vintages").join(format!("{version}.db")))
    }

    pub(super) fn current() -> Self {
        Place::of(&fixtures().join("opencode-small.db"))
    }

    /// Every file of the folder with its bytes.
    pub(super) fn bytes(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        entries.map(|e| e.unwrap()).map(|e| (e.file_name().into_string().unwrap(), fs::read(e.path()).unwrap())).collect()
    }

    pub(super) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A connection that has nothing to do with the store.
    pub(super) fn raw(&self) -> Connection {
        raw(&self.file)
    }
}

pub(super) fn raw(file: &Path) -> Connection {
    Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

/// All rows of a query, each as one line of text.
pub(super) fn lines(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(sql).unwrap();
    let columns = statement.column_count();
    let rows = statement
        .query_map([], |row| {
            let values: Vec<String> = (0..columns).map(|at| shown(row.get_ref(at).unwrap())).collect();
            Ok(values.join("|"))
        })
        .unwrap();
    rows.map(|row| row.unwrap()).collect()
}

fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Text(bytes) => format!("'{}'", String::from_utf8_lossy(bytes)),
        other => format!("{other:?}"),
    }
}

pub(super) fn number(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Names and columns of all tables, and the columns of all named indexes.
pub(super) fn shape(db: &Connection) -> BTreeMap<String, Vec<String>> {
    let mut shape = BTreeMap::new();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'";
    let mut statement = db.prepare(tables).unwrap();
    let names: Vec<String> = statement.query_map([], |row| row.get(0)).unwrap().map(|n| n.unwrap()).collect();
    for table in names {
        let mut columns = lines(
            db,
            &format!(
                "SELECT name, lower(type), \"notnull\", dflt_value IS NOT NULL, pk FROM pragma_table_info('{table}') WHERE pk = 0"
            ),
        );
        columns.extend(lines(db, &format!("SELECT name, pk FROM pragma_table_info('{table}') WHERE pk > 0")));
        columns
            .extend(lines(db, &format!("SELECT \"from\", \"table\", \"to\", on_delete FROM pragma_foreign_key_list('{table}')")));
        columns.sort();
        shape.insert(format!("table {table}"), columns);
    }
    let mut statement = db
        .prepare("SELECT m.name, l.\"unique\" FROM sqlite_master m JOIN pragma_index_list(m.tbl_name) l ON l.name = m.name WHERE m.type = 'index' AND m.sql IS NOT NULL")
        .unwrap();
    let indexes: Vec<(String, bool)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(|n| n.unwrap()).collect();
    for (index, unique) in indexes {
        let columns = lines(db, &format!("SELECT name FROM pragma_index_info('{index}') ORDER BY seqno"));
        shape.insert(format!("index {index} unique {unique}"), columns);
    }
    shape
}
