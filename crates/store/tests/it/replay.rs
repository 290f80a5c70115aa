//! Replaying a log gives the rows again (design G3): for the log that OpenCode 1.18.33 wrote, and for our own.

use super::support::{
    Room, THEN, begin, check_log, created, info, int, message, open, part, part_removed, raw, rows, text, updated, user, with,
    write,
};
use annalist_store::row::Cell;
use annalist_store::{Create, Durability, Expect, NewEvent, Options, Store};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A file, and another made from its log alone.
pub struct Replay {
    _room: Room,
    of: PathBuf,
    again: PathBuf,
}

/// Appends all events of a file to a new one, under their own ids and in their order. Only the rows of the projects come
/// along, for which there are no events.
pub fn replayed(of: &Path) -> Replay {
    let room = Room::new();
    let again = room.path("again.db");
    // The log itself is compared as well.
    let options = Options { empty_superseded: false, ..Options::default() };
    let store = Store::open_with(&again, Create::IfMissing, options).unwrap();
    let attach = format!(
        "ATTACH '{}' AS old; INSERT INTO project SELECT * FROM old.project;
         INSERT INTO project_directory SELECT * FROM old.project_directory; DETACH old;",
        of.display()
    );
    raw(&again).execute_batch(&attach).unwrap();
    let from = raw(of);
    let mut statement = from.prepare("SELECT aggregate_id, seq, id, type, data FROM event ORDER BY rowid").unwrap();
    let events: Vec<(String, i64, NewEvent)> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, NewEvent { id: row.get(2)?, kind: row.get(3)?, data: row.get(4)? })))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let done = store.write(Durability::Process, move |tx| {
        for (session, seq, event) in events {
            let recorded = tx.append(&session, if seq == 0 { Expect::NoStream } else { Expect::At(seq - 1) }, event)?;
            assert_eq!(recorded.seq, seq);
        }
        Ok(())
    });
    done.wait().unwrap();
    Replay { _room: room, of: of.to_owned(), again }
}

impl Replay {
    fn both(&self, sql: &str) -> [Vec<Vec<Cell>>; 2] {
        [rows(&raw(&self.of), sql), rows(&raw(&self.again), sql)]
    }

    /// Every byte and every time is the same.
    pub fn assert_same_rows(&self) {
        for table in ["session", "message", "part", "event", "event_sequence"] {
            let [was, is] = self.both(&format!("SELECT * FROM {table} ORDER BY 1"));
            assert_eq!(was.len(), is.len(), "{table}");
            for (was, is) in was.iter().zip(&is) {
                assert_eq!(was, is, "{table}");
            }
        }
    }
}

/// A row with its JSON read, so that the order of keys does not matter.
fn by_value(rows: Vec<Vec<Cell>>) -> Vec<Vec<Value>> {
    let value = |cell: Cell| match cell {
        Cell::Null => Value::Null,
        Cell::Int(number) => json!(number),
        // 0.0 and 0 are one cost: which of them stands in the column depends on the steps of the sum.
        Cell::Real(number) if number.fract() == 0.0 => json!(number as i64),
        Cell::Real(number) => json!(number),
        Cell::Text(text) if text.starts_with(['{', '[']) => serde_json::from_str(&text).unwrap(),
        Cell::Text(text) => json!(text),
        Cell::Bytes(bytes) => panic!("{bytes:?}"),
    };
    rows.into_iter().map(|row| row.into_iter().map(value).collect()).collect()
}

#[test]
fn the_log_of_the_reference_gives_the_rows_of_the_reference() {
    let room = Room::new();
    let replay = replayed(&room.copy("opencode-small.db"));
    // The reference writes the moment of the write into `time_updated` of messages and parts, which no event has; ours is
    // the event's own time. Everything else must be equal.
    for sql in [
        "SELECT * FROM session ORDER BY id",
        "SELECT id, session_id, time_created, data FROM message ORDER BY id",
        "SELECT id, message_id, session_id, time_created, data FROM part ORDER BY id",
        "SELECT * FROM event_sequence ORDER BY 1",
        "SELECT * FROM event ORDER BY id",
    ] {
        let [was, is] = replay.both(sql).map(by_value);
        assert!(was.len() > 15, "{sql}");
        assert_eq!(was.len(), is.len(), "{sql}");
        for (was, is) in was.iter().zip(&is) {
            assert_eq!(was, is, "{sql}");
        }
    }
    check_log(&raw(&replay.again));
    // The ids tell nearly the same time as the reference's clock.
    let [was, is] = replay.both("SELECT time_updated FROM part ORDER BY id").map(by_value);
    let late = was.iter().zip(&is).map(|(was, is)| (was[0].as_i64().unwrap() - is[0].as_i64().unwrap()).abs()).max();
    assert!(late.unwrap() < 10_000, "{late:?} ms apart");
}

#[test]
fn our_own_log_gives_our_own_rows() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let step = |id: &str, input: i64| {
        json!({"id": id, "sessionID": "ses_1", "messageID": "msg_1", "type": "step-finish", "reason": "stop", "cost": 0.1,
            "tokens": {"input": input, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}})
    };
    write(
        &store,
        "ses_1",
        vec![
            message(&user("ses_1", "msg_1", &json!(THEN))),
            part(&text("ses_1", "msg_1", "prt_1", "one"), THEN + 5),
            part(&text("ses_1", "msg_1", "prt_1", "two"), THEN + 9),
            part(&step("prt_2", 100), THEN + 6),
            updated(&with(
                info("ses_1"),
                &json!({"title": "other", "share": {"url": "https://x"}, "time": {"created": THEN, "updated": THEN + 7}}),
            )),
            part(&step("prt_2", 200), THEN + 7),
            part(&step("prt_3", 10), THEN + 7),
            part_removed("ses_1", "msg_1", "prt_3"),
            part_removed("ses_1", "msg_1", "prt_emptied"),
            message(&user("ses_1", "msg_1", &json!(THEN + 9))),
            NewEvent::new("session.next.prompted.1", json!({"sessionID": "ses_1", "unknown": true}).to_string()),
            NewEvent::new("message.updated.2", json!({"sessionID": "ses_1", "info": {"id": "msg_9"}}).to_string()),
        ],
    );
    begin(&store, &with(info("ses_2"), &json!({"parentID": "ses_1"})));
    write(&store, "ses_3", vec![created(&info("ses_3"))]);
    drop(store);
    replayed(&path).assert_same_rows();
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM message"), 1, "an unknown version of an event makes no rows");
    assert_eq!(open(&path).page("ses_1", None, None).unwrap().messages.len(), 1);
}
