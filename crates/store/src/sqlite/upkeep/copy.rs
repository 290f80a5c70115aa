//! Copying tables from one database into another, row by row and byte by byte.

use super::super::{File, error};
use crate::error::Error;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, params_from_iter};

/// Rows and bytes of one transaction of the copy.
const ROWS: u64 = 4_096;
const BYTES: usize = 8 << 20;

/// The tables, indexes, views and triggers of a file, as it says them itself.
pub(super) struct Shape {
    /// name and statement
    pub(super) tables: Vec<(String, String)>,
    pub(super) indexes: Vec<String>,
    /// To be made when the rows are in: triggers must not run for them.
    pub(super) later: Vec<String>,
    /// Virtual tables (search indexes and the like) with the tables they keep their things in. Whoever made them makes them
    /// again.
    pub(super) left_out: Vec<String>,
}

impl Shape {
    pub(super) fn of(db: &Connection) -> rusqlite::Result<Self> {
        let mut shape = Shape { tables: Vec::new(), indexes: Vec::new(), later: Vec::new(), left_out: Vec::new() };
        let mut statement = db.prepare(
            "SELECT m.name, m.type, m.sql, coalesce(l.type, '') FROM sqlite_master m
             LEFT JOIN pragma_table_list l ON l.name = m.name AND l.schema = 'main'
             WHERE m.sql IS NOT NULL AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY m.rowid",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (name, kind, sql, table): (String, String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            match (&*kind, &*table) {
                ("table", "virtual" | "shadow") => shape.left_out.push(name),
                ("table", _) => shape.tables.push((name, sql)),
                ("index", _) => shape.indexes.push(sql),
                _ => shape.later.push(sql),
            }
        }
        Ok(shape)
    }
}

/// A value as it stands, a text that is no UTF-8 included.
struct AsIs<'r>(ValueRef<'r>);

impl ToSql for AsIs<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(self.0))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Where rows come from and go to.
pub(super) struct Copier<'c> {
    pub(super) from: &'c Connection,
    pub(super) from_file: &'c File,
    pub(super) to: &'c Connection,
    pub(super) to_file: &'c File,
}

impl Copier<'_> {
    pub(super) fn source(&self) -> impl Fn(rusqlite::Error) -> Error + use<'_> {
        |e| error(&self.from_file.path, &e)
    }

    pub(super) fn target(&self) -> impl Fn(rusqlite::Error) -> Error + use<'_> {
        |e| error(&self.to_file.path, &e)
    }

    /// Copies a whole table in its own order, in transactions of its own; gives the number of rows. `seen` hears the size of
    /// each.
    pub(super) fn table(&self, name: &str, seen: &mut dyn FnMut(usize) -> Result<(), Error>) -> Result<u64, Error> {
        let (mut rows, mut bytes) = (0_u64, 0);
        self.to.execute_batch("BEGIN").map_err(self.target())?;
        self.rows(name, "1", &[], &mut |size| {
            rows += 1;
            bytes += size;
            if rows.is_multiple_of(ROWS) || bytes > BYTES {
                bytes = 0;
                self.to.execute_batch("COMMIT; BEGIN").map_err(self.target())?;
            }
            seen(size)
        })?;
        self.to.execute_batch("COMMIT").map_err(self.target())?;
        Ok(rows)
    }

    /// Copies some rows, those that are there already left alone. `seen` hears the size of each.
    pub(super) fn rows(
        &self,
        table: &str,
        condition: &str,
        params: &[&dyn ToSql],
        seen: &mut dyn FnMut(usize) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let names = self.columns(table).map_err(self.source())?;
        let list = names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
        let marks = vec!["?"; names.len()].join(", ");
        let table = quoted(table);
        // Without a condition the table's own order is wanted, not that of an index that happens to hold all of it.
        let own_order = if params.is_empty() { "NOT INDEXED" } else { "" };
        let mut select = self
            .from
            .prepare_cached(&format!("SELECT {list} FROM {table} {own_order} WHERE {condition}"))
            .map_err(self.source())?;
        let mut insert =
            self.to.prepare_cached(&format!("INSERT OR IGNORE INTO {table} ({list}) VALUES ({marks})")).map_err(self.target())?;
        let mut rows = select.query(params).map_err(self.source())?;
        while let Some(row) = rows.next().map_err(self.source())? {
            let mut size = 0;
            let mut values = Vec::with_capacity(names.len());
            for at in 0..names.len() {
                let value = row.get_ref(at).map_err(self.source())?;
                size += match value {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len(),
                    _ => 8,
                };
                values.push(AsIs(value));
            }
            insert.execute(params_from_iter(values)).map_err(self.target())?;
            seen(size)?;
        }
        Ok(())
    }

    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.from.prepare_cached("SELECT name FROM pragma_table_info(?1)")?;
        statement.query_map([table], |row| row.get(0))?.collect()
    }
}
