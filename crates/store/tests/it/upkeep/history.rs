//! Random histories of all durable operations, by several writers: the log gives the rows at every prefix before emptying,
//! at the end after it, and emptying never changes a replay.

use super::reference::publish;
use super::support::{
    Room, checked, compacted, created, emptied, event, finish, info, log, long, message, message_removed, open, part, part_removed,
    projected, projected_by, raw, replayed, store, updated, with,
};
use annalist_store::{Durability, Error, Expect, NewEvent, Store};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;

const SESSIONS: [&str; 2] = ["ses_one", "ses_two"];

#[derive(Debug, Clone)]
enum Op {
    Create(usize),
    Update(usize, u16, u8),
    Message(usize, u8, u8),
    Part(usize, u8, u8, u8),
    MessageRemoved(usize, u8),
    PartRemoved(usize, u8, u8),
    Foreign(usize),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Writer {
    /// The store, and a second one as another process of ours would have.
    First,
    Second,
    /// The store, in a job that fails after its append.
    Failing,
    /// A program that knows nothing of ours.
    Reference,
}

/// Which optional fields a `session.updated` carries: mostly the same ones, as of programs that write the whole info.
fn fields() -> impl Strategy<Value = u16> {
    prop_oneof![3 => Just(0b1111), 2 => Just(0b11_1111), 1 => any::<u16>()]
}

fn ops() -> impl Strategy<Value = Vec<(Op, Writer)>> {
    let session = prop_oneof![4 => Just(0), 1 => Just(1_usize)];
    let op = prop_oneof![
        1 => session.clone().prop_map(Op::Create),
        5 => (session.clone(), fields(), any::<u8>()).prop_map(|(s, fields, value)| Op::Update(s, fields, value)),
        6 => (session.clone(), 0..2_u8, any::<u8>()).prop_map(|(s, m, value)| Op::Message(s, m, value)),
        16 => (session.clone(), 0..2_u8, 0..2_u8, any::<u8>()).prop_map(|(s, m, p, value)| Op::Part(s, m, p, value)),
        1 => (session.clone(), 0..2_u8).prop_map(|(s, m)| Op::MessageRemoved(s, m)),
        2 => (session.clone(), 0..2_u8, 0..2_u8).prop_map(|(s, m, p)| Op::PartRemoved(s, m, p)),
        1 => session.prop_map(Op::Foreign),
    ];
    let writer = prop_oneof![
        8 => Just(Writer::First),
        2 => Just(Writer::Second),
        1 => Just(Writer::Failing),
        2 => Just(Writer::Reference),
    ];
    let begin =
        SESSIONS.iter().enumerate().flat_map(|(s, _)| [(Op::Create(s), Writer::First), (Op::Message(s, 0, 1), Writer::First)]);
    let begin: Vec<_> = begin.collect();
    prop::collection::vec((op, writer), 10..60).prop_map(move |rest| begin.iter().cloned().chain(rest).collect())
}

/// The event of an operation, made once: all files get the same one.
fn make(op: &Op) -> (&'static str, NewEvent) {
    match op {
        Op::Create(s) => (SESSIONS[*s], created(&info(SESSIONS[*s]))),
        Op::Update(s, fields, value) => {
            let mut event = updated(&session_info(SESSIONS[*s], *fields, *value));
            for (mark, spelled) in [(CLEARED_OBJECT, "{  }"), (CLEARED_LIST, "[  ]")] {
                event.data = event.data.replace(mark, spelled);
            }
            (SESSIONS[*s], event)
        }
        Op::Message(s, m, value) => {
            let (session, id) = (SESSIONS[*s], format!("msg_{s}{m}"));
            // Its time moves, the row's must not.
            let more =
                json!({"time": {"created": super::support::THEN + i64::from(*value)}, "system": "x".repeat(usize::from(*value))});
            (session, message(session, &id, &more))
        }
        Op::Part(s, m, p, value) => {
            let (session, of, id) = (SESSIONS[*s], format!("msg_{s}{m}"), format!("prt_{s}{m}{p}"));
            // One part of each message is mostly the end of a step.
            (session, any_part(session, &of, &id, if *p == 1 && *value < 200 { *value & 0x81 } else { *value }))
        }
        Op::MessageRemoved(s, m) => (SESSIONS[*s], message_removed(SESSIONS[*s], &format!("msg_{s}{m}"))),
        Op::PartRemoved(s, m, p) => (SESSIONS[*s], part_removed(SESSIONS[*s], &format!("msg_{s}{m}"), &format!("prt_{s}{m}{p}"))),
        Op::Foreign(s) => (SESSIONS[*s], event("session.next.synthetic.1", &json!({"sessionID": SESSIONS[*s], "text": "later"}))),
    }
}

/// Mostly one type an id, as in real histories, and now and then another.
fn any_part(session: &str, message: &str, id: &str, value: u8) -> NewEvent {
    let long = "y".repeat(usize::from(value) * 3);
    match value % 64 {
        0 | 1 => finish(session, message, id, f64::from(value) / 4.0),
        2 => part(session, message, id, &json!({"type": "reasoning", "text": long, "time": {"start": 1}})),
        3 => part(
            session,
            message,
            id,
            &json!({"type": "tool", "tool": "bash", "callID": "c", "state": {"status": "pending", "input": {}, "raw": long}}),
        ),
        4 => part(session, message, id, &json!({"type": "file", "mime": "text/plain", "url": format!("data:,{long}")})),
        5 => part(session, message, id, &json!({"type": "step-start", "snapshot": long})),
        6 => part(session, message, id, &json!({"type": "patch", "hash": long, "files": []})),
        7 => part(session, message, id, &json!({"type": "compaction", "auto": true, "text": long})),
        _ => part(session, message, id, &json!({"text": long})),
    }
}

/// What stands for an empty value that clears, until it is spelled as one.
const CLEARED_OBJECT: &str = r#"{"cleared":true}"#;
const CLEARED_LIST: &str = r#"["cleared"]"#;

/// An info with some of the optional fields, each with its value or with the one that clears it.
fn session_info(session: &str, fields: u16, value: u8) -> Value {
    let has = |bit: u16| fields >> bit & 1 == 1;
    let mut info = with(info(session), &json!({"title": "t".repeat(usize::from(value) + 40)}));
    let v = i64::from(value);
    let clears = value % 4 == 1;
    let optional = [
        ("parentID", json!("ses_parent")),
        ("path", json!(format!("p/{value}"))),
        ("share", json!({"url": if value.is_multiple_of(3) { String::new() } else { format!("https://x/{value}") }})),
        (
            "summary",
            if clears {
                json!({"additions": 0, "deletions": 0, "files": 0, "diffs": ["cleared"]})
            } else if has(12) {
                json!({"additions": v, "deletions": 1, "files": 2, "diffs": [{"file": "a", "additions": v, "deletions": 0}]})
            } else {
                json!({"additions": v, "deletions": 0, "files": 0})
            },
        ),
        ("metadata", if clears { json!({"cleared": true}) } else { json!({"v": v}) }),
        (
            "permission",
            if clears { json!(["cleared"]) } else { json!([{"permission": "bash", "pattern": v.to_string(), "action": "ask"}]) },
        ),
        ("agent", json!(format!("agent{value}"))),
        ("model", json!({"id": "m", "providerID": format!("p{value}")})),
        ("revert", json!({"messageID": "msg_00", "snapshot": v.to_string()})),
        ("workspaceID", json!(format!("wrk_{value}"))),
    ];
    for (bit, (key, value)) in optional.into_iter().enumerate() {
        if has(u16::try_from(bit).unwrap()) {
            info[key] = value;
        } else if key == "path" {
            info.as_object_mut().unwrap().shift_remove("path");
        }
    }
    info["time"]["updated"] = json!(super::support::THEN + v);
    if has(10) {
        info["time"]["archived"] = json!(if value.is_multiple_of(2) { 0 } else { v });
    }
    if has(11) {
        info["time"]["compacting"] = json!(v);
    }
    if has(13) {
        info["cost"] = json!(v as f64 / 4.0);
        info["tokens"] = json!({"input": v, "output": v, "reasoning": 0, "cache": {"read": 1, "write": v}});
    } else if has(14) {
        info.as_object_mut().unwrap().shift_remove("cost");
        info.as_object_mut().unwrap().shift_remove("tokens");
    }
    info
}

/// One file and the writers that work on it.
struct Desk {
    first: Store,
    second: Store,
    foreign: rusqlite::Connection,
}

impl Desk {
    fn new(path: &Path, empty_superseded: bool) -> Self {
        Desk { first: store(path, empty_superseded), second: open(path, empty_superseded), foreign: raw(path) }
    }

    /// Whether the event was stored.
    fn write(&mut self, writer: Writer, session: &'static str, event: &NewEvent) -> bool {
        let stored = |result: Result<(), Error>| match result {
            Ok(()) => true,
            // No session, no message, a session that is there already: nothing else may fail here.
            Err(Error::NotFound { .. } | Error::IdTaken { .. } | Error::Sqlite { .. }) => false,
            Err(other) => panic!("{other}"),
        };
        match writer {
            Writer::First => stored(super::support::append(&self.first, session, event.clone())),
            Writer::Second => stored(super::support::append(&self.second, session, event.clone())),
            Writer::Reference => publish(&mut self.foreign, session, event),
            Writer::Failing => {
                let event = event.clone();
                let failed: Result<(), Error> = self
                    .first
                    .write(Durability::Process, move |tx| {
                        tx.append(session, Expect::Any, event)?;
                        Err(Error::Closed)
                    })
                    .wait();
                assert!(failed.is_err());
                false
            }
        }
    }
}

fn history(ops: &[(Op, Writer)], saved: &Cell<(i64, i64)>) {
    let room = Room::new();
    let (kept, bounded, model) = (room.path("kept.db"), room.path("bounded.db"), room.path("model.db"));
    let (mut keeping, mut emptying, mut reference) = (Desk::new(&kept, false), Desk::new(&bounded, true), Desk::new(&model, false));
    for (at, (op, writer)) in ops.iter().enumerate() {
        let (session, event) = make(op);
        let stored = keeping.write(*writer, session, &event);
        assert_eq!(emptying.write(*writer, session, &event), stored);
        let by = if *writer == Writer::Failing { Writer::Failing } else { Writer::Reference };
        assert_eq!(reference.write(by, session, &event), stored);
        let rows = projected_by(&keeping.foreign);
        assert_eq!(projected_by(&reference.foreign), rows, "our projectors against those of the reference, at every prefix");
        assert_eq!(projected_by(&emptying.foreign), rows, "emptying leaves the rows alone, at every prefix");
        assert_eq!(checked(&kept).1, [], "before emptying the log gives the rows at every prefix");
        // A new file costs a wait for the disk: all prefixes in the long form only.
        if stored && (long() || at % 16 == 0) {
            assert_eq!(replayed(&kept), rows, "before emptying a rebuild gives the rows at every prefix");
        }
    }
    let rows = projected(&kept);
    assert_eq!(replayed(&bounded), rows, "emptying never changes a replay");
    assert_eq!(checked(&bounded).1, []);

    let before: Vec<_> = SESSIONS.iter().flat_map(|session| log(&kept, session)).collect();
    compacted(&kept);
    assert_eq!(replayed(&kept), rows, "compacting never changes a replay");
    assert_eq!(projected(&kept), rows);
    let after: Vec<_> = SESSIONS.iter().flat_map(|session| log(&kept, session)).collect();
    assert_eq!(after.iter().map(|e| e.0).collect::<Vec<_>>(), before.iter().map(|e| e.0).collect::<Vec<_>>(), "numbers stay");
    let again = compacted(&kept);
    assert_eq!((again.events(), again.moved), (0, 0), "a second run finds nothing");
    let (on_the_way, in_the_end) = saved.get();
    saved.set((on_the_way + emptied(&bounded), in_the_end + emptied(&kept)));
    compacted(&bounded);
    assert_eq!(replayed(&bounded), rows, "both together");
    assert_eq!(checked(&bounded).1, []);
}

#[test]
fn the_log_is_the_rows_with_and_without_emptying() {
    let cases = if long() { 2_000 } else { 40 };
    let saved = Cell::new((0, 0));
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner
        .run(&ops(), |ops| {
            history(&ops, &saved);
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    let (on_the_way, in_the_end) = saved.get();
    let cases = i64::from(cases);
    assert!(on_the_way > cases && in_the_end > 2 * cases, "the histories give enough to empty: {on_the_way}, {in_the_end}");
}
