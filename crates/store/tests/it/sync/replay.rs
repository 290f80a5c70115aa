//! Replay: each case of the reference (reference-storage 3.3, asked of 1.18.33 through `POST /sync/replay`), by its type.

use super::support::{Room, append, created, deleted, drain, info, int, plain, project, raw, told, write};
use annalist_schema::event::SyncEvent;
use annalist_store::bus::Interest;
use annalist_store::replay::{ForeignEvent, Outcome, Replay, ReplayError, Replayed};
use annalist_store::{Create, Durability, Error, Store};
use rusqlite::Connection;
use serde_json::{Value, json};

const SESSION: &str = "ses_1";

fn id(n: i64) -> String {
    format!("evt_1b2c3d4e5{n:03}abcdefghijklmn")
}

fn foreign(seq: i64, kind: &str, data: &Value) -> ForeignEvent {
    ForeignEvent { id: id(seq), session: SESSION.into(), seq, kind: kind.into(), data: data.to_string() }
}

fn user(text: &str) -> Value {
    json!({"sessionID": SESSION, "info": {
        "id": "msg_1", "sessionID": SESSION, "role": "user", "time": {"created": 1}, "agent": text,
        "model": {"providerID": "chat", "modelID": "m1"},
    }})
}

/// A log as another copy has it: the session, a message, its title.
fn copy() -> Vec<ForeignEvent> {
    vec![
        foreign(0, "session.created.1", &json!({"sessionID": SESSION, "info": info(SESSION)})),
        foreign(1, "message.updated.1", &user("build")),
        foreign(2, "session.updated.1", &json!({"sessionID": SESSION, "info": info(SESSION)})),
    ]
}

fn here() -> (Room, Connection, Store) {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    (room, db, store)
}

/// The same with the copy's log in it.
fn with_copy() -> (Room, Connection, Store) {
    let (room, db, store) = here();
    let replayed = store.replay_all(copy(), Replay::default()).wait().unwrap();
    assert_eq!(replayed, Replayed { session: SESSION.into(), outcomes: vec![Outcome::Applied; 3] });
    (room, db, store)
}

fn replay(store: &Store, event: ForeignEvent) -> Result<Outcome, Error> {
    store.replay(event, Replay::default()).wait()
}

fn typed<T: std::fmt::Debug>(result: Result<T, Error>) -> ReplayError {
    match result {
        Err(Error::Replay(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn rows(db: &Connection) -> Vec<i64> {
    ["event", "event_sequence", "session", "message", "part"]
        .map(|table| int(db, &format!("SELECT count(*) FROM {table}")))
        .to_vec()
}

fn owner(store: &Store) -> Option<String> {
    store.read(|view| view.log_owner(SESSION)).unwrap()
}

fn set_owner(db: &Connection, owner: Option<&str>) {
    db.execute("UPDATE event_sequence SET owner_id = ?1", [owner]).unwrap();
}

#[test]
fn what_is_replayed_has_its_ids_numbers_and_rows() {
    let (_room, db, store) = with_copy();
    let log = store.session_history(SESSION, -1, 10).unwrap().events;
    for (here, there) in log.iter().zip(copy()) {
        assert_eq!((&here.id, here.seq, &here.kind), (&there.id, there.seq, &there.kind));
        assert_eq!(here.data, there.data.as_bytes());
    }
    assert_eq!(rows(&db), [3, 1, 1, 1, 0]);
    // Local writes go on from there.
    append(&store, SESSION);
    assert_eq!(store.read(|view| view.sequence(SESSION)).unwrap(), Some(3));
}

#[test]
fn a_frame_of_the_wire_is_an_event() {
    let frame = SyncEvent::parse(r#"{"id":"evt_1","type":"x.1","seq":7,"aggregateID":"ses_1","data":{"b":1.0}}"#).unwrap();
    let event = ForeignEvent::of(&frame).unwrap();
    assert_eq!((&*event.id, &*event.kind, event.seq, &*event.session, &*event.data), ("evt_1", "x.1", 7, "ses_1", r#"{"b":1.0}"#));
    for broken in [
        r#"{"type":"x.1","seq":7,"aggregateID":"ses_1","data":{}}"#,
        r#"{"id":"evt_1","type":"x.1","seq":-1,"aggregateID":"s","data":{}}"#,
    ] {
        assert!(ForeignEvent::of(&SyncEvent::parse(broken).unwrap()).is_err(), "{broken}");
    }
}

#[test]
fn what_is_there_already_is_known() {
    let (_room, db, store) = with_copy();
    // Somebody changed the rows: a known event does not project again.
    db.execute("UPDATE message SET data = '{}'", []).unwrap();
    let all = store.replay_all(copy(), Replay::default()).wait().unwrap();
    assert_eq!(all.outcomes, [Outcome::Known; 3]);
    assert_eq!(int(&db, "SELECT count(*) FROM message WHERE data = '{}'"), 1);
    // Equal as values: members in another order, numbers spelled otherwise.
    let mut event = copy().swap_remove(1);
    let info = user("build")["info"]
        .as_object()
        .unwrap()
        .iter()
        .rev()
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect::<serde_json::Map<_, _>>();
    event.data =
        format!(r#"{{ "info": {}, "sessionID": "ses_1" }}"#, Value::from(info)).replace(r#""created":1"#, r#""created":1.0"#);
    assert_eq!(replay(&store, event).unwrap(), Outcome::Known);
    // One the log does not need, some that it has, and one that is new.
    let mut tail = copy().split_off(1);
    tail.push(foreign(3, "session.next.later.1", &json!({})));
    assert_eq!(
        store.replay_all(tail, Replay::default()).wait().unwrap().outcomes,
        [Outcome::Known, Outcome::Known, Outcome::Applied]
    );
}

#[test]
fn something_else_at_the_number_is_diverged() {
    let (_room, db, store) = with_copy();
    let before = rows(&db);
    let changed = |change: &dyn Fn(&mut ForeignEvent)| {
        let mut event = copy().swap_remove(1);
        change(&mut event);
        typed(replay(&store, event))
    };
    let diverged = |differs| ReplayError::Diverged { session: SESSION.into(), seq: 1, differs };
    assert_eq!(changed(&|event| event.id = id(99)), diverged("id"));
    assert_eq!(changed(&|event| event.kind = "message.updated.2".into()), diverged("type"));
    assert_eq!(changed(&|event| event.data = user("plan").to_string()), diverged("data"));
    assert_eq!(changed(&|event| event.data = "{}".into()), diverged("data"));
    // A log that begins late has nothing there.
    db.execute("DELETE FROM event WHERE seq = 1", []).unwrap();
    assert_eq!(changed(&|_| {}), diverged("presence"));
    db.execute("UPDATE event SET seq = 1 WHERE seq = 2", []).unwrap();
    assert_eq!(rows(&db)[1..], before[1..]);
}

#[test]
fn an_emptied_event_is_another_one() {
    let (_room, db, store) = with_copy();
    let no_op = json!({"sessionID": SESSION, "messageID": "msg_", "partID": "prt_emptied"});
    db.execute("UPDATE event SET type = 'message.part.removed.1', data = ?1 WHERE seq = 1", [no_op.to_string()]).unwrap();
    let original = copy().swap_remove(1);
    let expected = ReplayError::Diverged { session: SESSION.into(), seq: 1, differs: "type" };
    assert_eq!(typed(replay(&store, original.clone())), expected);
    let emptied = ForeignEvent { kind: "message.part.removed.1".into(), data: no_op.to_string(), ..original };
    assert_eq!(replay(&store, emptied.clone()).unwrap(), Outcome::Known);
    // And a compacted log replays into an empty record.
    let (_room, db, store) = here();
    let mut compacted = copy();
    compacted[1] = emptied;
    assert_eq!(store.replay_all(compacted, Replay::default()).wait().unwrap().outcomes, [Outcome::Applied; 3]);
    assert_eq!(rows(&db), [3, 1, 1, 0, 0]);
}

#[test]
fn numbers_follow_each_other() {
    let (_room, db, store) = with_copy();
    let later = |seq| foreign(seq, "session.next.later.1", &json!({}));
    let gap = ReplayError::Gap { session: SESSION.into(), expected: 3, found: 4 };
    assert_eq!(typed(replay(&store, later(4))), gap);
    assert_eq!(rows(&db)[0], 3);
    assert_eq!(replay(&store, later(3)).unwrap(), Outcome::Applied);
    // The first of a log is 0.
    let first = ForeignEvent { session: "ses_2".into(), ..later(5) };
    assert_eq!(typed(replay(&store, first)), ReplayError::Gap { session: "ses_2".into(), expected: 0, found: 5 });
}

#[test]
fn types_that_nobody_knows_are_kept() {
    // The reference refuses them, and with them the rest of the log.
    let (_room, db, store) = with_copy();
    let event = foreign(3, "session.next.of.tomorrow.3", &json!({"sessionID": SESSION, "new": [1, {"x": 1.0}]}));
    assert_eq!(replay(&store, event.clone()).unwrap(), Outcome::Applied);
    assert_eq!(replay(&store, event).unwrap(), Outcome::Known);
    assert_eq!(rows(&db), [4, 1, 1, 1, 0]);
}

#[test]
fn what_cannot_be_an_event_leaves_no_trace() {
    let (_room, db, store) = with_copy();
    let before = rows(&db);
    let mut event = foreign(3, "session.next.later.1", &json!({}));
    event.id = "nope".into();
    assert!(matches!(replay(&store, event.clone()), Err(Error::Invalid { .. })));
    // The id of another event.
    event.id = id(0);
    assert!(matches!(replay(&store, event.clone()), Err(Error::IdTaken { what: "event", .. })));
    event.id = id(3);
    for data in ["", "no json", "[]", "null"] {
        assert!(
            matches!(replay(&store, ForeignEvent { data: data.into(), ..event.clone() }), Err(Error::Invalid { .. })),
            "{data:?}"
        );
    }
    // Data of another session, and data that lacks something.
    let other = foreign(3, "message.updated.1", &json!({"sessionID": "ses_2", "info": {}}));
    assert!(matches!(replay(&store, other), Err(Error::Invalid { .. })));
    let lacking = foreign(3, "message.updated.1", &json!({"sessionID": SESSION, "info": {"bad": 1}}));
    assert!(matches!(replay(&store, lacking), Err(Error::Invalid { .. })));
    // What it belongs to is not here.
    let mut elsewhere = info("ses_2");
    elsewhere["projectID"] = "somewhere".into();
    let project = ForeignEvent {
        session: "ses_2".into(),
        ..foreign(0, "session.created.1", &json!({"sessionID": "ses_2", "info": elsewhere}))
    };
    let project = ForeignEvent { id: id(50), ..project };
    match replay(&store, project) {
        Err(Error::NotFound { what: "Project", id }) => assert_eq!(id, "somewhere"),
        other => panic!("{other:?}"),
    }
    let mut message = user("build");
    message["sessionID"] = "ses_2".into();
    message["info"]["id"] = "msg_2".into();
    message["info"]["sessionID"] = "ses_2".into();
    let session = ForeignEvent { session: "ses_2".into(), id: id(51), ..foreign(0, "message.updated.1", &message) };
    match replay(&store, session) {
        Err(Error::NotFound { what: "Session", id }) => assert_eq!(id, "ses_2"),
        other => panic!("{other:?}"),
    }
    assert_eq!(rows(&db), before);
}

#[test]
fn a_batch_is_checked_before_and_applied_whole() {
    let (_room, db, store) = with_copy();
    let before = rows(&db);
    let later = |seq| foreign(seq, "session.next.later.1", &json!({}));
    let all = |events: Vec<ForeignEvent>| store.replay_all(events, Replay::default()).wait();
    assert_eq!(typed(all(vec![])), ReplayError::Empty);
    let hole = ReplayError::NotConsecutive { session: SESSION.into(), expected: 4, found: 5 };
    assert_eq!(typed(all(vec![later(3), later(5)])), hole);
    let twice = ReplayError::NotConsecutive { session: SESSION.into(), expected: 4, found: 3 };
    assert_eq!(typed(all(vec![later(3), later(3)])), twice);
    let other = ForeignEvent { session: "ses_2".into(), ..later(4) };
    assert_eq!(typed(all(vec![later(3), other])), ReplayError::Mixed { session: SESSION.into(), other: "ses_2".into() });
    // The reference keeps the first of these.
    let lacking = foreign(4, "message.updated.1", &json!({"sessionID": SESSION, "info": {"bad": 1}}));
    assert!(matches!(all(vec![later(3), lacking]), Err(Error::Invalid { .. })));
    assert_eq!(rows(&db), before);
    assert_eq!(all(vec![later(3), later(4)]).unwrap().outcomes, [Outcome::Applied; 2]);
}

#[test]
fn owners() {
    let (_room, db, store) = with_copy();
    let with = |owner: Option<&str>, strict_owner| Replay { owner: owner.map(str::to_owned), strict_owner, publish: false };
    let later = |seq| foreign(seq, "session.next.later.1", &json!({}));
    let try_it = |event: ForeignEvent, how: Replay| store.replay(event, how).wait();
    let mismatch = ReplayError::OwnerMismatch { session: SESSION.into(), owner: "wrk_x".into() };
    let known = || copy().swap_remove(0);
    let diverged = || ForeignEvent { data: "{}".into(), ..known() };

    // Strict: before everything else, and without an owner too.
    set_owner(&db, Some("wrk_x"));
    for owner in [None, Some("wrk_y")] {
        for event in [known(), diverged(), later(9), later(3)] {
            assert_eq!(typed(try_it(event, with(owner, true))), mismatch);
        }
    }
    assert_eq!(try_it(known(), with(Some("wrk_x"), true)).unwrap(), Outcome::Known);
    // Not strict: what is there is compared all the same; what is new is ignored, with a gap too.
    for owner in [None, Some("wrk_y")] {
        assert_eq!(try_it(known(), with(owner, false)).unwrap(), Outcome::Known);
        assert!(matches!(typed(try_it(diverged(), with(owner, false))), ReplayError::Diverged { .. }));
        assert_eq!(try_it(later(9), with(owner, false)).unwrap(), Outcome::Ignored);
        assert_eq!(try_it(later(3), with(owner, false)).unwrap(), Outcome::Ignored);
    }
    assert_eq!(owner(&store).as_deref(), Some("wrk_x"), "nobody takes what is owned");
    assert_eq!(rows(&db)[0], 3);
    assert_eq!(try_it(later(3), with(Some("wrk_x"), false)).unwrap(), Outcome::Applied);
    // Local writes are not bound by it, and leave it.
    append(&store, SESSION);
    assert_eq!(owner(&store).as_deref(), Some("wrk_x"));
    // A log without an owner becomes the sender's: by a known event and by a new one.
    set_owner(&db, None);
    assert_eq!(try_it(known(), with(None, true)).unwrap(), Outcome::Known);
    assert_eq!(owner(&store), None);
    assert!(try_it(diverged(), with(Some("wrk_y"), false)).is_err());
    assert_eq!(owner(&store), None);
    assert_eq!(try_it(known(), with(Some("wrk_y"), true)).unwrap(), Outcome::Known);
    assert_eq!(owner(&store).as_deref(), Some("wrk_y"));
    set_owner(&db, None);
    assert_eq!(try_it(later(5), with(Some("wrk_z"), true)).unwrap(), Outcome::Applied);
    assert_eq!(owner(&store).as_deref(), Some("wrk_z"));
    // A claim takes what is owned.
    store.claim_log(SESSION, "wrk_a").wait().unwrap();
    assert_eq!(owner(&store).as_deref(), Some("wrk_a"));
    assert!(store.claim_log("ses_none", "wrk_a").wait().unwrap_err().is_not_found());
}

#[test]
fn a_new_log_is_the_senders_from_the_start() {
    let (_room, _db, store) = here();
    store.replay_all(copy(), Replay { owner: Some("wrk_x".into()), strict_owner: true, publish: false }).wait().unwrap();
    assert_eq!(owner(&store).as_deref(), Some("wrk_x"));
}

#[test]
fn told_only_if_that_is_wanted() {
    let (_room, db, store) = here();
    let mut live = store.subscribe(Interest::all()).unwrap();
    let quiet = store.replay_all(copy(), Replay::default());
    quiet.wait().unwrap();
    assert_eq!(drain(&mut live), []);
    store.replay_all(copy(), Replay { publish: true, ..Replay::default() }).wait().unwrap();
    assert_eq!(drain(&mut live), [], "a known event is no news");
    let later = |seq| foreign(seq, "session.next.later.1", &json!({}));
    store.replay(later(3), Replay { publish: true, ..Replay::default() }).wait().unwrap();
    store.replay(later(4), Replay::default()).wait().unwrap();
    append(&store, SESSION);
    assert_eq!(told(&drain(&mut live)), ["ses_1:3", "ses_1:5"]);
    store.poll().unwrap();
    assert_eq!(drain(&mut live), []);
    assert_eq!(rows(&db)[0], 6);
}

#[test]
fn a_deletion_that_is_replayed_keeps_its_log() {
    let (_room, db, store) = with_copy();
    let event = deleted(SESSION);
    let gone = ForeignEvent { id: id(3), session: SESSION.into(), seq: 3, kind: event.kind, data: event.data };
    assert_eq!(replay(&store, gone.clone()).unwrap(), Outcome::Applied);
    assert_eq!(rows(&db), [4, 1, 0, 0, 0]);
    assert_eq!(replay(&store, gone.clone()).unwrap(), Outcome::Known);
    assert_eq!(replay(&store, ForeignEvent { id: id(4), seq: 4, ..gone }).unwrap(), Outcome::Applied);
}

/// `/sync/history` of one record into `/sync/replay` of another gives the same rows.
#[test]
fn a_whole_record_is_copied() {
    let (_room, db, store) = here();
    for session in ["ses_1", "ses_2"] {
        write(&store, session, vec![created(session), plain(session)]);
    }
    write(&store, "ses_1", vec![annalist_store::NewEvent::new("message.updated.1", user("build").to_string())]);
    let (_other_room, other_db, other) = here();
    let mut of_session: std::collections::BTreeMap<String, Vec<ForeignEvent>> = std::collections::BTreeMap::new();
    store
        .history(&std::collections::HashMap::new(), |head, data| {
            let event = head.with(data);
            let data = String::from_utf8(event.data).unwrap();
            let event = ForeignEvent { id: event.id, session: event.session.clone(), seq: event.seq, kind: event.kind, data };
            of_session.entry(event.session.clone()).or_default().push(event);
            annalist_store::Flow::Continue
        })
        .unwrap();
    for events in of_session.into_values() {
        other.replay_all(events, Replay::default()).wait().unwrap();
    }
    let dump = |db: &Connection, sql: &str| {
        let mut statement = db.prepare(sql).unwrap();
        let width = statement.column_count();
        let rows = statement
            .query_map([], |row| (0..width).map(|at| row.get::<_, rusqlite::types::Value>(at)).collect::<Result<Vec<_>, _>>());
        rows.unwrap().map(Result::unwrap).collect::<Vec<_>>()
    };
    for sql in [
        "SELECT * FROM event_sequence ORDER BY 1",
        "SELECT * FROM event ORDER BY aggregate_id, seq",
        "SELECT * FROM session ORDER BY id",
        "SELECT * FROM message ORDER BY id",
    ] {
        assert_eq!(dump(&db, sql), dump(&other_db, sql), "{sql}");
        assert!(!dump(&db, sql).is_empty());
    }
}

#[test]
fn a_record_that_is_only_read_replays_nothing() {
    let (room, db, store) = with_copy();
    drop(store);
    db.execute_batch("ALTER TABLE part ADD COLUMN later text").unwrap();
    db.execute_batch("CREATE TABLE spare AS SELECT * FROM part; DROP TABLE part").unwrap();
    let path = db.path().unwrap().to_owned();
    let store = Store::open(std::path::Path::new(&path), Create::Never).unwrap();
    assert!(matches!(replay(&store, copy().swap_remove(0)), Err(Error::ReadOnly { .. })));
    let untouched = store.write(Durability::Process, |_| Ok(()));
    assert!(untouched.wait().is_err());
    drop(room);
}
