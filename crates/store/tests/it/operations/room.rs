//! A record of its own for a test, and short ways to fill it and to look into it.

use annalist_schema::{Message, Part, Session};
use annalist_store::session::NewSession;
use annalist_store::transcript::WithParts;
use annalist_store::{Create, Durability, Folder, Options, Store};
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) struct Room {
    _folder: TempDir,
    pub(crate) file: PathBuf,
    pub(crate) store: Store,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Logged {
    pub(crate) seq: i64,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

pub(crate) fn folder() -> Folder {
    Folder {
        project: "global".into(),
        worktree: "/".into(),
        directory: "/work/app".into(),
        path: "work/app".into(),
        git: false,
        previous: None,
    }
}

impl Room {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opencode.db");
        // Superseded events stay as they were: these suites look at what an operation records.
        let options = Options { empty_superseded: false, ..Options::default() };
        let store = Store::open_with(&file, Create::IfMissing, options).unwrap();
        Room { _folder: folder, file, store }
    }

    /// A connection beside the store, as another program has one.
    pub(crate) fn sql(&self) -> Connection {
        let db = Connection::open(&self.file).unwrap();
        db.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
        db
    }

    /// A new session's id.
    pub(crate) fn session(&self) -> String {
        self.created(NewSession::new(folder()))
    }

    pub(crate) fn child(&self, parent: &str) -> String {
        let mut new = NewSession::new(folder());
        new.parent = Some(parent.into());
        self.created(new)
    }

    pub(crate) fn created(&self, new: NewSession) -> String {
        self.store.create_session(new).wait().unwrap().id().unwrap().into_owned()
    }

    pub(crate) fn info(&self, session: &str) -> Value {
        value(&self.store.session(session).unwrap())
    }

    pub(crate) fn events(&self, session: &str) -> Vec<Logged> {
        let mut events = Vec::new();
        self.store
            .read(|view| {
                view.events(session, -1, &mut |row| {
                    let data = serde_json::from_slice(&row.data).unwrap();
                    events.push(Logged { seq: row.seq, kind: row.kind.into_owned(), data });
                    annalist_store::Flow::Continue
                })
            })
            .unwrap();
        events
    }

    /// The types of a session's events behind the first `after`.
    pub(crate) fn kinds(&self, session: &str, after: usize) -> Vec<String> {
        self.events(session).into_iter().skip(after).map(|event| event.kind).collect()
    }

    /// A message with one text part for each of `texts`, whose ids are made of the message's.
    pub(crate) fn say(&self, session: &str, info: Value, texts: &[&str]) {
        let id = info["id"].as_str().unwrap().to_owned();
        self.store.update_message(message(&with(info, "sessionID", session))).wait().unwrap();
        for (index, text) in texts.iter().enumerate() {
            self.part(session, &id, json!({"id": format!("prt_{}_{index}", &id[4..]), "type": "text", "text": text}));
        }
    }

    pub(crate) fn part(&self, session: &str, message: &str, part: Value) {
        let part = with(with(part, "sessionID", session), "messageID", message);
        self.store.update_part(self::part(&part), Durability::Process).wait().unwrap();
    }

    pub(crate) fn messages(&self, session: &str) -> Vec<WithParts> {
        self.store.messages(session, None).unwrap()
    }

    pub(crate) fn ids(&self, session: &str) -> Vec<String> {
        self.messages(session).iter().map(id).collect()
    }

    /// A message as another program left it: a row and no event.
    pub(crate) fn plant_message(&self, session: &str, id: &str, created: impl rusqlite::ToSql, data: &str) {
        self.sql().execute("INSERT INTO message VALUES (?1, ?2, ?3, 1, ?4)", params![id, session, created, data]).unwrap();
    }

    pub(crate) fn plant_part(&self, session: &str, message: &str, id: &str, created: i64, data: &str) {
        self.sql()
            .execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4, 1, ?5)", params![id, message, session, created, data])
            .unwrap();
    }

    /// Where a text stands in the whole file: table and column.
    pub(crate) fn traces(&self, of: &str) -> Vec<String> {
        let db = self.sql();
        let mut tables = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
        let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert!(tables.len() > 15, "{tables:?}");
        let mut found = Vec::new();
        for table in tables {
            let mut columns = db.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
            let columns: Vec<String> = columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
            for column in columns {
                let sql = format!("SELECT count(*) FROM \"{table}\" WHERE instr(\"{column}\", ?1) > 0");
                let count: i64 = db.query_row(&sql, [of], |row| row.get(0)).unwrap();
                if count > 0 {
                    found.push(format!("{table}.{column}"));
                }
            }
        }
        found
    }

    pub(crate) fn count(&self, table: &str) -> i64 {
        self.sql().query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn value(session: &Session<'_>) -> Value {
    serde_json::from_str(&session.to_text()).unwrap()
}

pub(crate) fn with(mut object: Value, key: &str, value: impl Into<Value>) -> Value {
    object[key] = value.into();
    object
}

pub(crate) fn message(info: &Value) -> Message<'static> {
    Message::parse(&info.to_string()).unwrap().into_static()
}

pub(crate) fn part(part: &Value) -> Part<'static> {
    Part::parse(&part.to_string()).unwrap().into_static()
}

pub(crate) fn user(id: &str, created: i64) -> Value {
    json!({"id": id, "role": "user", "time": {"created": created}, "agent": "build",
           "model": {"providerID": "p", "modelID": "m"}})
}

pub(crate) fn assistant(id: &str, parent: &str, created: i64) -> Value {
    json!({"id": id, "role": "assistant", "time": {"created": created}, "parentID": parent, "modelID": "m",
           "providerID": "p", "mode": "build", "agent": "build", "path": {"cwd": "/", "root": "/"}, "cost": 0,
           "tokens": {"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}, "finish": "stop"})
}

pub(crate) fn step_finish(id: &str, cost: f64) -> Value {
    json!({"id": id, "type": "step-finish", "reason": "stop", "cost": cost,
           "tokens": {"input": 10, "output": 2, "reasoning": 1, "cache": {"read": 4, "write": 3}}})
}

pub(crate) fn id(message: &WithParts) -> String {
    info(message)["id"].as_str().unwrap().to_owned()
}

pub(crate) fn info(message: &WithParts) -> Value {
    serde_json::from_str(message.info.as_str()).unwrap()
}

pub(crate) fn parts(message: &WithParts) -> Vec<Value> {
    message.parts.iter().map(|part| serde_json::from_str(part.as_str()).unwrap()).collect()
}

pub(crate) fn part_ids(message: &WithParts) -> Vec<String> {
    parts(message).iter().map(|part| part["id"].as_str().unwrap().to_owned()).collect()
}

/// The text parts of messages, one list a message.
pub(crate) fn texts(messages: &[WithParts]) -> Vec<Vec<String>> {
    let texts = |message| parts(message).iter().filter_map(|part| part["text"].as_str().map(str::to_owned)).collect();
    messages.iter().map(texts).collect()
}
