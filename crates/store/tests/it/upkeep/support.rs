//! Files to work on, events to append, rows as they stand.

use crate::support::folder;
pub use crate::support::{Room, THEN, created, event, message_removed, part_removed, raw, updated, with};
use annalist_store::upkeep::{Compact, Compacted, Finding, News, Rebuilt, Verified, compact, rebuild, verify};
use annalist_store::{Create, Durability, Error, Expect, Flow, NewEvent, Options, Store};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};
use tempfile::TempDir;

const PROJECT: &str = "global";
/// A file with a project and nothing else: a copy of one that is made once.
pub fn store(path: &Path, empty_superseded: bool) -> Store {
    static MADE: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let (_, made) = MADE.get_or_init(|| {
        let room = tempfile::tempdir().unwrap();
        let path = room.path().join("empty.db");
        let store = open(&path, true);
        store.write(Durability::Process, |tx| tx.ensure_project(&folder(), THEN)).wait().unwrap();
        (room, path)
    });
    std::fs::copy(made, path).unwrap();
    open(path, empty_superseded)
}

pub fn open(path: &Path, empty_superseded: bool) -> Store {
    Store::open_with(path, Create::IfMissing, Options { empty_superseded, ..Options::default() }).unwrap()
}

pub fn info(session: &str) -> Value {
    json!({"id": session, "slug": "quiet-fox", "projectID": PROJECT, "directory": "/home/dev", "path": "home/dev",
        "title": "A session", "version": "1.18.33", "cost": 0, "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}},
        "time": {"created": THEN, "updated": THEN}})
}

pub fn message(session: &str, id: &str, more: &Value) -> NewEvent {
    let base = json!({"id": id, "sessionID": session, "role": "user", "time": {"created": THEN}, "agent": "build",
        "model": {"providerID": "p", "modelID": "m"}});
    event("message.updated.1", &json!({"sessionID": session, "info": with(base, more)}))
}

/// A snapshot of a part. Each is of another time, so that a row tells which one made it.
pub fn part(session: &str, message: &str, id: &str, more: &Value) -> NewEvent {
    static TIME: AtomicI64 = AtomicI64::new(THEN);
    let base = json!({"id": id, "sessionID": session, "messageID": message, "type": "text", "text": ""});
    let time = TIME.fetch_add(1, Ordering::Relaxed);
    event("message.part.updated.1", &json!({"sessionID": session, "part": with(base, more), "time": time}))
}

pub fn text(session: &str, message: &str, id: &str, text: &str) -> NewEvent {
    part(session, message, id, &json!({"text": text}))
}

pub fn finish(session: &str, message: &str, id: &str, cost: f64) -> NewEvent {
    let tokens = json!({"input": 100, "output": 10, "reasoning": 1, "cache": {"read": 7, "write": 3}});
    part(session, message, id, &json!({"type": "step-finish", "reason": "stop", "cost": cost, "tokens": tokens}))
}

pub fn append(store: &Store, session: &str, event: NewEvent) -> Result<(), Error> {
    store.append(session, Expect::Any, vec![event], Durability::Process).wait().map(drop)
}

/// A session with a message `msg_a`.
pub fn begin(store: &Store, session: &str) {
    append(store, session, created(&info(session))).unwrap();
    append(store, session, message(session, &format!("msg_a{session}"), &json!({}))).unwrap();
}

/// Every row of a table, its values spelled as SQL.
pub fn rows(db: &Connection, table: &str, order: &str) -> Vec<String> {
    let mut columns = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
    let columns: Vec<String> = columns.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let list: Vec<_> = columns.iter().map(|c| format!("'{c}=' || quote({c})")).collect();
    let sql = format!("SELECT CAST({} AS BLOB) FROM {table} ORDER BY {order}", list.join(" || ' ' || "));
    let mut rows = db.prepare(&sql).unwrap();
    // Not all that stands in a text column is UTF-8.
    let rows = rows.query_map([], |row| row.get::<_, Vec<u8>>(0)).unwrap();
    rows.map(|row| String::from_utf8_lossy(&row.unwrap()).into_owned()).collect()
}

/// What a replay has to give again.
pub fn projected(path: &Path) -> Vec<String> {
    projected_by(&raw(path))
}

pub fn projected_by(db: &Connection) -> Vec<String> {
    ["session", "message", "part"].into_iter().flat_map(|table| rows(db, table, "id")).collect()
}

/// Type and size of each event of a session.
pub fn log(path: &Path, session: &str) -> Vec<(i64, String, i64)> {
    let db = raw(path);
    let mut statement =
        db.prepare("SELECT seq, type, length(CAST(data AS BLOB)) FROM event WHERE aggregate_id = ?1 ORDER BY seq").unwrap();
    statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap().map(Result::unwrap).collect()
}

pub fn emptied(path: &Path) -> i64 {
    int(path, "SELECT count(*) FROM event WHERE type = 'message.part.removed.1' AND data LIKE '%\"prt_emptied\"%'")
}

/// Whether the long form of a test is wanted.
pub fn long() -> bool {
    std::env::var_os("ANNALIST_LONG_TESTS").is_some()
}

pub fn int(path: &Path, sql: &str) -> i64 {
    raw(path).query_row(sql, [], |row| row.get(0)).unwrap()
}

pub fn checked(path: &Path) -> (Verified, Vec<Finding>) {
    let mut findings = Vec::new();
    let verified = verify(path, None, &mut |news| {
        if let News::Finding(finding) = news {
            findings.push(finding);
        }
        Flow::Continue
    });
    (verified.unwrap(), findings)
}

pub fn compacted(path: &Path) -> Compacted {
    compact(path, Compact::default(), &mut |_| Flow::Continue).unwrap()
}

pub fn rebuilt(from: &Path, into: &Path) -> Rebuilt {
    rebuild(from, into, &mut |_| Flow::Continue).unwrap()
}

/// The rows that the file's log gives.
pub fn replayed(path: &Path) -> Vec<String> {
    let room = Room::new();
    let into = room.path("rebuilt.db");
    let done = rebuilt(path, &into);
    // Nothing of it may come from elsewhere.
    assert_eq!((done.copied, done.partly, done.unlogged), (vec![], vec![], vec![]));
    projected(&into)
}
