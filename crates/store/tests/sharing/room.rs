//! A folder with a file in it, and rows to put there.

use annalist_store::{Create, Durability, Expect, NewEvent, Store};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub struct Room {
    folder: tempfile::TempDir,
    pub path: PathBuf,
}

impl Room {
    /// A new file with these sessions.
    pub fn with(sessions: &[&str]) -> (Self, Store) {
        let room = Room::empty();
        let store = Store::open(&room.path, Create::IfMissing).unwrap();
        for session in sessions {
            begin(&store, session);
        }
        (room, store)
    }

    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Room { path: folder.path().join("opencode.db"), folder }
    }

    pub fn side(&self) -> PathBuf {
        self.folder.path().join("opencode.db-annalist")
    }

    pub fn file(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

pub fn open(path: &Path) -> Store {
    Store::open(path, Create::Never).unwrap()
}

/// A connection as any program has it.
pub fn raw(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

pub fn int(db: &Connection, sql: &str) -> i64 {
    db.query_row(sql, [], |row| row.get(0)).unwrap()
}

/// Numbers without gap or repeat in every session, and a sound file.
pub fn check(db: &Connection) {
    let wrong = "SELECT count(*) FROM event_sequence s WHERE s.seq + 1 <> (SELECT count(*) FROM event e WHERE e.aggregate_id = s.aggregate_id)
        OR s.seq <> (SELECT max(seq) FROM event e WHERE e.aggregate_id = s.aggregate_id)
        OR 0 <> (SELECT min(seq) FROM event e WHERE e.aggregate_id = s.aggregate_id)
        OR s.seq + 1 <> (SELECT count(DISTINCT seq) FROM event e WHERE e.aggregate_id = s.aggregate_id)";
    assert_eq!(int(db, wrong), 0, "a session's numbers have a gap or a repeat");
    let sound: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(sound, "ok");
}

pub fn event(kind: &str, data: &Value) -> NewEvent {
    NewEvent::new(kind, data.to_string())
}

pub fn write(store: &Store, session: &str, events: Vec<NewEvent>) {
    store.append(session, Expect::Any, events, Durability::Process).wait().unwrap();
}

fn begin(store: &Store, session: &str) {
    let info = json!({"id": session, "slug": "s", "projectID": "global", "directory": "/", "title": "t", "version": "1.18.33",
        "time": {"created": 1, "updated": 1}});
    let created = event("session.created.1", &json!({"sessionID": session, "info": info}));
    let session = session.to_owned();
    let folder = annalist_store::Folder {
        project: annalist_store::folder::GLOBAL.to_owned(),
        worktree: "/".to_owned(),
        directory: "/".to_owned(),
        path: String::new(),
        git: false,
        previous: None,
    };
    let write = store.write(Durability::Process, move |tx| {
        tx.ensure_project(&folder, 1)?;
        tx.append(&session, Expect::NoStream, created)
    });
    write.wait().unwrap();
}

pub fn user(session: &str, id: &str, created: i64) -> NewEvent {
    let info = json!({"id": id, "sessionID": session, "role": "user", "time": {"created": created}, "agent": "build",
        "model": {"providerID": "p", "modelID": "m"}});
    event("message.updated.1", &json!({"sessionID": session, "info": info}))
}

/// An open answer.
pub fn answer(session: &str, id: &str, created: i64) -> NewEvent {
    answer_with(session, id, &json!({"created": created}))
}

pub fn answer_with(session: &str, id: &str, time: &Value) -> NewEvent {
    let info = json!({"id": id, "sessionID": session, "role": "assistant", "time": time, "parentID": "msg_0", "modelID": "m",
        "providerID": "p", "mode": "build", "agent": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0, "kept": "as it was",
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    event("message.updated.1", &json!({"sessionID": session, "info": info}))
}

/// A part, given without its ids.
pub fn part(session: &str, message: &str, id: &str, time: i64, mut part: Value) -> NewEvent {
    let object = part.as_object_mut().unwrap();
    for (name, value) in [("id", id), ("sessionID", session), ("messageID", message)] {
        object.insert(name.to_owned(), value.into());
    }
    event("message.part.updated.1", &json!({"sessionID": session, "part": part, "time": time}))
}
