//! Which migrations a file went through, as it says itself.

use super::super::open::MIGRATIONS;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use std::collections::BTreeSet;

/// Respells the paths of Windows.
const PATHS: &str = "20260601010001_normalize_storage_paths";

/// Those that empty the state of the second generation and, in the reference, every log.
const RESETS: &[&str] = &[
    "20260604172448_event_sourced_session_input",
    "20260622170816_reset_v2_session_state",
    "20260622202450_simplify_session_input",
];

/// The ids a file has recorded.
#[derive(Debug, Default)]
pub(in crate::sqlite) struct Ledger {
    recorded: BTreeSet<String>,
    /// Only in the ledger that came before 1.16, and to be carried over.
    imported: bool,
}

impl Ledger {
    /// Reads `migration`; where that is missing or empty, the ledger of the versions before it.
    pub(in crate::sqlite) fn of(db: &Connection) -> rusqlite::Result<Self> {
        if has_column(db, "migration", "id")? {
            let mut statement = db.prepare("SELECT CAST(id AS TEXT) FROM migration WHERE id IS NOT NULL")?;
            let recorded = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<BTreeSet<String>>>()?;
            if !recorded.is_empty() {
                return Ok(Ledger { recorded, imported: false });
            }
        }
        Ok(Ledger { recorded: older(db)?, imported: true })
    }

    /// Known ids that are not recorded.
    pub(in crate::sqlite) fn missing(&self) -> impl Iterator<Item = &'static str> {
        MIGRATIONS.iter().copied().filter(|id| !self.recorded.contains(*id))
    }

    /// A recorded id that this version does not know.
    pub(in crate::sqlite) fn unknown(&self) -> Option<&str> {
        self.recorded.iter().map(String::as_str).find(|id| !MIGRATIONS.contains(id))
    }

    pub(super) fn resets_pending(&self) -> bool {
        RESETS.iter().any(|id| !self.recorded.contains(*id))
    }

    pub(super) fn paths_pending(&self) -> bool {
        !self.recorded.contains(PATHS)
    }

    /// Records every known id; answers those that were not there.
    pub(super) fn record(&self, db: &Connection, now_ms: i64) -> rusqlite::Result<Vec<String>> {
        let mut insert = db.prepare("INSERT INTO migration (id, time_completed) VALUES (?1, ?2) ON CONFLICT DO NOTHING")?;
        let carried = self.recorded.iter().map(String::as_str).filter(|_| self.imported);
        let mut new = Vec::new();
        for id in carried.chain(MIGRATIONS.iter().copied()) {
            if insert.execute(params![id, now_ms])? > 0 {
                new.push(id.to_owned());
            }
        }
        Ok(new)
    }
}

/// `__drizzle_migrations`: by name where it has names, else by the time that starts an id (1.2 wrote no names).
fn older(db: &Connection) -> rusqlite::Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    if has_column(db, "__drizzle_migrations", "name")? {
        let mut statement = db.prepare("SELECT name, created_at FROM __drizzle_migrations")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get_ref(0)? {
                ValueRef::Text(name) => found.extend(std::str::from_utf8(name).map(str::to_owned)),
                _ => found.extend(dated(row.get_ref(1)?)),
            }
        }
    } else if has_column(db, "__drizzle_migrations", "created_at")? {
        let mut statement = db.prepare("SELECT created_at FROM __drizzle_migrations")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            found.extend(dated(row.get_ref(0)?));
        }
    }
    Ok(found)
}

/// The id whose first fourteen digits are this time, if there is one. Where there is none, the tables decide.
fn dated(value: ValueRef<'_>) -> Option<String> {
    let ms = match value {
        ValueRef::Integer(ms) => ms,
        ValueRef::Real(ms) => ms as i64,
        ValueRef::Text(text) => std::str::from_utf8(text).ok()?.trim().parse().ok()?,
        ValueRef::Null | ValueRef::Blob(_) => return None,
    };
    let stamp = super::backup::utc(ms.div_euclid(1_000)).digits();
    MIGRATIONS.iter().find(|id| id.starts_with(&stamp)).map(|id| (*id).to_owned())
}

pub(super) fn has_column(db: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?.exists([table, column])
}
