//! What the tests share: files to work on, events to append, and the rows as they stand in the file.

use annalist_store::row::Cell;
use annalist_store::{Create, Durability, Error, Expect, Folder, NewEvent, Recorded, Store};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A file of the repository's `conformance` folder. Databases among them are copied before they are opened.
pub fn conformance(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(name)
}

/// A folder that is gone after the test.
pub struct Room(TempDir);

impl Room {
    pub fn new() -> Self {
        Room(tempfile::tempdir().unwrap())
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A copy of a fixture.
    pub fn copy(&self, fixture: &str) -> PathBuf {
        let path = self.path(fixture);
        std::fs::copy(conformance("fixtures").join(fixture), &path).unwrap();
        path
    }

    /// What stands in the folder, sorted.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A new, empty record.
    pub fn store(&self, name: &str) -> (PathBuf, Store) {
        let path = self.path(name);
        let store = Store::open(&path, Create::IfMissing).unwrap();
        (path, store)
    }
}

pub fn open(path: &Path) -> Store {
    Store::open(path, Create::Never).unwrap()
}

/// A connection that knows nothing of the store: another process, as far as SQLite can tell.
pub fn raw(path: &Path) -> Connection {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap();
    db.busy_timeout(Duration::from_secs(60)).unwrap();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    // No test pulls the plug.
    db.pragma_update(None, "synchronous", "OFF").unwrap();
    db
}

/// The result of a query, whatever stands in the columns.
pub fn rows(db: &Connection, sql: &str) -> Vec<Vec<Cell>> {
    let mut statement = db.prepare(sql).unwrap();
    let width = statement.column_count();
    let mut rows = statement.query([]).unwrap();
    let mut out = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        out.push((0..width).map(|at| cell(row.get_ref(at).unwrap())).collect());
    }
    out
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(value) => Cell::Int(value),
        ValueRef::Real(value) => Cell::Real(value),
        ValueRef::Text(bytes) => {
            std::str::from_utf8(bytes).map_or_else(|_| Cell::Bytes(bytes.to_owned()), |text| Cell::Text(text.to_owned()))
        }
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_owned()),
    }
}

pub fn int(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap_or_else(|e| panic!("{sql}: {e}"))
}

/// The tables that an append may touch.
pub const TABLES: &[&str] =
    &["project", "project_directory", "session", "message", "part", "todo", "event_sequence", "event", "session_share"];

/// Everything in these tables.
pub fn everything(path: &Path) -> Vec<(&'static str, Vec<Vec<Cell>>)> {
    let db = raw(path);
    TABLES.iter().map(|table| (*table, rows(&db, &format!("SELECT * FROM {table} ORDER BY rowid")))).collect()
}

/// Every session's log counts 0, 1, 2 ... up to the number that `event_sequence` has.
pub fn check_log(db: &Connection) {
    let gaps = rows(
        db,
        "SELECT q.aggregate_id, q.seq, count(e.seq), min(e.seq), max(e.seq), count(DISTINCT e.seq)
         FROM event_sequence q LEFT JOIN event e ON e.aggregate_id = q.aggregate_id
         GROUP BY q.aggregate_id
         HAVING count(e.seq) != q.seq + 1 OR min(e.seq) != 0 OR max(e.seq) != q.seq OR count(DISTINCT e.seq) != q.seq + 1",
    );
    assert!(gaps.is_empty(), "logs with gaps: {gaps:?}");
    assert_eq!(int(db, "SELECT count(*) FROM event WHERE aggregate_id NOT IN (SELECT aggregate_id FROM event_sequence)"), 0);
}

/// SQLite finds nothing wrong with the file.
pub fn check_integrity(db: &Connection) {
    assert_eq!(rows(db, "PRAGMA integrity_check"), [[Cell::Text("ok".into())]]);
    assert_eq!(rows(db, "PRAGMA foreign_key_check"), Vec::<Vec<Cell>>::new());
}

/// Where sessions of the tests live: no repository.
pub fn folder() -> Folder {
    Folder {
        project: "global".into(),
        worktree: "/".into(),
        directory: "/home/dev".into(),
        path: "home/dev".into(),
        git: false,
        previous: None,
    }
}

/// The time of everything that has no reason to have another: 2026-09-21, after the wrap of ids.
pub const THEN: i64 = 1_790_000_000_000;

pub fn info(session: &str) -> Value {
    json!({
        "id": session, "slug": "calm-river", "projectID": "global", "directory": "/home/dev", "path": "home/dev",
        "cost": 0, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "title": "a session", "version": "1.18.33", "time": {"created": THEN, "updated": THEN},
    })
}

/// `base` with the members of `more` in it.
pub fn with(mut base: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().unwrap() {
        base[key] = value.clone();
    }
    base
}

pub fn without(mut base: Value, keys: &[&str]) -> Value {
    for key in keys {
        base.as_object_mut().unwrap().shift_remove(*key);
    }
    base
}

pub fn event(kind: &str, data: &Value) -> NewEvent {
    NewEvent::new(kind, data.to_string())
}

pub fn created(info: &Value) -> NewEvent {
    event("session.created.1", &json!({"sessionID": info["id"], "info": info}))
}

pub fn updated(info: &Value) -> NewEvent {
    event("session.updated.1", &json!({"sessionID": info["id"], "info": info}))
}

pub fn user(session: &str, id: &str, time: &Value) -> Value {
    json!({
        "id": id, "sessionID": session, "role": "user", "time": {"created": time}, "agent": "build",
        "model": {"providerID": "chat", "modelID": "m1"},
    })
}

pub fn message(info: &Value) -> NewEvent {
    event("message.updated.1", &json!({"sessionID": info["sessionID"], "info": info}))
}

pub fn text(session: &str, message: &str, id: &str, text: &str) -> Value {
    json!({"id": id, "sessionID": session, "messageID": message, "type": "text", "text": text})
}

pub fn part(part: &Value, time: i64) -> NewEvent {
    event("message.part.updated.1", &json!({"sessionID": part["sessionID"], "part": part, "time": time}))
}

pub fn message_removed(session: &str, message: &str) -> NewEvent {
    event("message.removed.1", &json!({"sessionID": session, "messageID": message}))
}

pub fn part_removed(session: &str, message: &str, part: &str) -> NewEvent {
    event("message.part.removed.1", &json!({"sessionID": session, "messageID": message, "partID": part}))
}

/// Makes a session, with the row of its project.
pub fn begin(store: &Store, info: &Value) {
    let session = info["id"].as_str().unwrap().to_owned();
    let event = created(info);
    let written = store.write(Durability::Process, move |tx| {
        tx.ensure_project(&folder(), THEN)?;
        tx.append(&session, Expect::Any, event)
    });
    written.wait().unwrap();
}

/// Appends one event and waits for it.
pub fn append(store: &Store, session: &str, event: NewEvent) -> Result<Recorded, Error> {
    let recorded = store.append(session, Expect::Any, vec![event], Durability::Process).wait()?;
    Ok(recorded.into_iter().next().unwrap())
}

/// Appends that must work.
pub fn write(store: &Store, session: &str, events: Vec<NewEvent>) {
    store.append(session, Expect::Any, events, Durability::Process).wait().unwrap();
}

/// The document of a session.
pub fn export(store: &Store, session: &str) -> String {
    exported(store, session, false)
}

pub fn exported(store: &Store, session: &str, sanitize: bool) -> String {
    let mut out = Vec::new();
    store.export(session, sanitize, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

pub fn session_ids(db: &Connection) -> Vec<String> {
    let mut statement = db.prepare("SELECT id FROM session ORDER BY id").unwrap();
    let ids = statement.query_map([], |row| row.get(0)).unwrap();
    ids.map(Result::unwrap).collect()
}

/// The id and the part ids of each message, oldest first, as a page shows them.
pub fn shown(store: &Store, session: &str) -> Vec<(String, Vec<String>)> {
    store.page(session, None, None).unwrap().messages.iter().map(ids_of).collect()
}

pub fn ids_of(message: &annalist_store::transcript::WithParts) -> (String, Vec<String>) {
    let id = |json: &annalist_schema::Json<'_>| json.as_object().unwrap().text("id").unwrap().into_owned();
    (id(&message.info), message.parts.iter().map(id).collect())
}

/// A read of the store that the test ends with `unwrap`.
pub fn sequence(store: &Store, session: &str) -> Option<i64> {
    store.read(|view| view.sequence(session)).unwrap()
}
