//! A folder with a file in it, and rows to put there.

use crate::support::{self, check_integrity, check_log, event, info, message};
use annalist_store::{NewEvent, Store};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::path::PathBuf;

pub struct Room {
    pub room: support::Room,
    pub path: PathBuf,
}

impl Room {
    /// A new file with these sessions.
    pub fn with(sessions: &[&str]) -> (Self, Store) {
        let room = support::Room::new();
        let (path, store) = room.store("opencode.db");
        for session in sessions {
            support::begin(&store, &info(session));
        }
        (Room { room, path }, store)
    }

    pub fn empty() -> Self {
        let room = support::Room::new();
        Room { path: room.path("opencode.db"), room }
    }

    pub fn side(&self) -> PathBuf {
        self.room.path("opencode.db-annalist")
    }

    pub fn file(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

pub fn check(db: &Connection) {
    check_integrity(db);
    check_log(db);
}

pub fn user(session: &str, id: &str, created: i64) -> NewEvent {
    message(&support::user(session, id, &json!(created)))
}

/// An open answer.
pub fn answer(session: &str, id: &str, created: i64) -> NewEvent {
    answer_with(session, id, &json!({"created": created}))
}

pub fn answer_with(session: &str, id: &str, time: &Value) -> NewEvent {
    let info = json!({"id": id, "sessionID": session, "role": "assistant", "time": time, "parentID": "msg_0", "modelID": "m",
        "providerID": "p", "mode": "build", "agent": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0, "kept": "as it was",
        "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    message(&info)
}

/// A part, given without its ids.
pub fn part(session: &str, message: &str, id: &str, time: i64, mut part: Value) -> NewEvent {
    let object = part.as_object_mut().unwrap();
    for (name, value) in [("id", id), ("sessionID", session), ("messageID", message)] {
        object.insert(name.to_owned(), value.into());
    }
    event("message.part.updated.1", &json!({"sessionID": session, "part": part, "time": time}))
}
