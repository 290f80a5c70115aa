//! Creating and updating messages and parts (reference-storage 2.3): what is a conflict, and what is no event at all.

use super::room::{Room, info, message, part, part_ids, parts, texts, user, with};
use annalist_store::{Durability, Error};
use serde_json::{Value, json};

fn text(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "text", "text": text})
}

fn in_message(part: Value, session: &str, message: &str) -> Value {
    with(with(part, "sessionID", session), "messageID", message)
}

fn create(room: &Room, session: &str, info: Value, parts: &[Value]) -> Result<annalist_store::transcript::WithParts, Error> {
    let parts = parts.iter().map(part).collect();
    room.store.create_message(message(&with(info, "sessionID", session)), parts).wait()
}

fn taken(result: Result<impl std::fmt::Debug, Error>) -> Option<String> {
    match result {
        Err(Error::IdTaken { owner, .. }) => owner.or_else(|| Some(String::new())),
        other => panic!("{other:?}"),
    }
}

#[test]
fn creating_the_same_again_is_no_event() {
    let room = Room::new();
    let session = room.session();
    let body = [text("prt_b", "one"), json!({"type": "text", "text": "two"}), text("prt_a", "three")];
    let first = create(&room, &session, user("msg_1", 5), &body).unwrap();
    assert_eq!(texts(std::slice::from_ref(&first)), [["one", "two", "three"]], "parts keep the order given");
    assert_eq!(room.kinds(&session, 1).len(), 4);

    assert_eq!(create(&room, &session, user("msg_1", 5), &body).unwrap(), first);
    // The same in another spelling.
    let respelled = r#"{"agent":"\u0062uild","role":"user","model":{ "modelID":"m","providerID":"p"},"time":{"created":5.0},"id":"msg_1","sessionID":"S"}"#;
    let respelled = annalist_schema::Message::parse(&respelled.replace('S', &session)).unwrap().into_static();
    let again = room.store.create_message(respelled, body.iter().map(part).collect()).wait().unwrap();
    assert_eq!(again, first);
    assert_eq!(room.kinds(&session, 1).len(), 4, "nothing was recorded");
}

#[test]
fn creating_something_else_under_the_same_id_is_a_conflict() {
    let room = Room::new();
    let (session, other) = (room.session(), room.session());
    let body = [text("prt_a", "one")];
    create(&room, &session, user("msg_1", 5), &body).unwrap();
    let before = room.events(&session).len();
    let conflicts = [
        create(&room, &session, user("msg_1", 6), &body),
        create(&room, &session, with(user("msg_1", 5), "system", "x"), &body),
        create(&room, &session, user("msg_1", 5), &[text("prt_a", "two")]),
        create(&room, &session, user("msg_1", 5), &[]),
        create(&room, &session, user("msg_1", 5), &[text("prt_a", "one"), text("prt_b", "two")]),
    ];
    for conflict in conflicts {
        assert_eq!(taken(conflict).unwrap(), "");
    }
    assert_eq!(taken(create(&room, &other, user("msg_1", 5), &body)).unwrap(), format!("session {session}"));
    assert!(taken(create(&room, &other, user("msg_2", 5), &body)).unwrap().contains(&session), "the part is another message's");
    assert!(room.ids(&other).is_empty(), "the message of a refused part is not there either");
    assert_eq!((room.events(&session).len(), room.events(&other).len()), (before, 1));
}

#[test]
fn a_part_is_created_once() {
    let room = Room::new();
    let (session, other) = (room.session(), room.session());
    for (session, id) in [(&session, "msg_1"), (&session, "msg_2"), (&other, "msg_3")] {
        room.say(session, user(id, 5), &[]);
    }
    let made = |message: &str, session: &str, body: &str| {
        room.store.create_part(part(&in_message(text("prt_a", body), session, message))).wait()
    };
    made("msg_1", &session, "x").unwrap();
    made("msg_1", &session, "x").unwrap();
    assert_eq!(room.kinds(&session, 3).len(), 1);
    assert_eq!(taken(made("msg_1", &session, "y")).unwrap(), "");
    assert_eq!(taken(made("msg_2", &session, "x")).unwrap(), format!("message msg_1 of session {session}"));
    assert!(taken(made("msg_3", &other, "x")).is_some());
    let moved = room.store.update_part(part(&in_message(text("prt_a", "x"), &session, "msg_2")), Durability::Power).wait();
    assert!(taken(moved).is_some());
}

#[test]
fn updating_is_writing_whole_new_or_not() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 5), &["a"]);
    room.say(&session, with(user("msg_1", 99), "system", "s"), &[]);
    let there = room.store.get(&session, "msg_1").unwrap();
    assert_eq!((&info(&there)["system"], &info(&there)["time"]["created"]), (&json!("s"), &json!(99)));
    let column: i64 = room.sql().query_row("SELECT time_created FROM message", [], |row| row.get(0)).unwrap();
    assert_eq!(column, 5, "the first write fixes the place");
    assert_eq!(part_ids(&there), ["prt_1_0"]);
    room.part(&session, "msg_1", text("prt_1_0", "b"));
    assert_eq!(texts(&room.messages(&session)), [["b"]]);
    let other = room.session();
    let elsewhere = room.store.update_message(message(&with(user("msg_1", 5), "sessionID", other.as_str()))).wait();
    assert_eq!(taken(elsewhere).unwrap(), format!("session {session}"));
}

#[test]
fn a_closure_that_changes_nothing_records_nothing_and_none_can_move() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 5), &["a"]);
    let before = room.events(&session).len();
    room.store.update_message_with(&session, "msg_1", |_| ()).wait().unwrap();
    room.store.update_part_with(&session, "msg_1", "prt_1_0", |_| ()).wait().unwrap();
    let moved = room.store.update_message_with(&session, "msg_1", |message| message.object_mut().set_text("id", "msg_9")).wait();
    assert!(matches!(moved, Err(Error::Invalid { .. })), "{moved:?}");
    for key in ["id", "sessionID", "messageID"] {
        let moved = room.store.update_part_with(&session, "msg_1", "prt_1_0", move |part| part.object_mut().set_text(key, "x"));
        assert!(matches!(moved.wait(), Err(Error::Invalid { .. })), "{key}");
    }
    let panicked = room.store.update_message_with(&session, "msg_1", |message| {
        message.object_mut().set_text("system", "x");
        panic!("on purpose");
    });
    assert!(matches!(panicked.wait(), Err(Error::Panicked { .. })));
    assert_eq!(room.events(&session).len(), before);
    assert_eq!(room.ids(&session), ["msg_1"]);
}

#[test]
fn a_closure_sees_one_part_and_writes_one() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 5), &["a", "b"]);
    // What no program can read next to it does not matter.
    room.plant_part(&session, "msg_1", "prt_bad", 1, "{broken");
    let changed = room.store.update_part_with(&session, "msg_1", "prt_1_1", |part| part.object_mut().set_text("text", "c"));
    assert_eq!(changed.wait().unwrap().object().text("text").as_deref(), Some("c"));
    let texts: Vec<_> = parts(&room.store.get(&session, "msg_1").unwrap()).iter().map(|part| part["text"].clone()).collect();
    assert_eq!(texts, [json!(""), json!("a"), json!("c")]);
}

#[test]
fn removing_answers_whether_it_was_there() {
    let room = Room::new();
    let (session, other) = (room.session(), room.session());
    room.say(&session, user("msg_1", 5), &["a", "b"]);
    assert!(!room.store.remove_part(&session, "msg_2", "prt_1_0").wait().unwrap());
    assert!(!room.store.remove_message(&other, "msg_1").wait().unwrap());
    assert!(room.store.remove_message("ses_nowhere", "msg_1").wait().unwrap_err().is_not_found());
    assert!(room.store.remove_part("ses_nowhere", "msg_1", "prt_1_0").wait().unwrap_err().is_not_found());
    assert!(room.store.remove_part(&session, "msg_1", "prt_1_0").wait().unwrap());
    assert!(!room.store.remove_part(&session, "msg_1", "prt_1_0").wait().unwrap());
    assert!(room.store.remove_message(&session, "msg_1").wait().unwrap());
    assert!(!room.store.remove_message(&session, "msg_1").wait().unwrap());
    assert_eq!(room.kinds(&session, 4), ["message.part.removed.1", "message.removed.1"]);
    assert_eq!(room.count("part"), 0);
}

#[test]
fn what_the_record_needs_is_asked_for() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 5), &[]);
    let invalid = |result: Result<(), Error>| assert!(matches!(result, Err(Error::Invalid { .. })), "{result:?}");
    invalid(room.store.update_message(message(&user("msg_1", 5))).wait().map(drop));
    invalid(create(&room, &session, user("x_1", 5), &[]).map(drop));
    for missing in ["id", "sessionID", "messageID"] {
        let mut body = in_message(text("prt_a", "x"), &session, "msg_1");
        body.as_object_mut().unwrap().remove(missing);
        invalid(room.store.create_part(part(&body)).wait().map(drop));
    }
    // The reference shows nothing at all of a session with such a part; those that are there can be changed.
    invalid(room.store.create_part(part(&in_message(text("call_9", "x"), &session, "msg_1"))).wait().map(drop));
    invalid(create(&room, &session, user("msg_2", 5), &[text("call_9", "x")]).map(drop));
    room.plant_part(&session, "msg_1", "call_9", 1, r#"{"type":"text","text":"x"}"#);
    room.part(&session, "msg_1", text("call_9", "y"));
    assert_eq!(texts(&room.messages(&session)), [["y"]]);

    let not_found = |result: Result<(), Error>| assert!(result.as_ref().is_err_and(Error::is_not_found), "{result:?}");
    not_found(create(&room, "ses_nowhere", user("msg_3", 5), &[]).map(drop));
    not_found(room.store.create_part(part(&in_message(text("prt_a", "x"), &session, "msg_9"))).wait().map(drop));
    not_found(room.store.update_message_with(&session, "msg_9", |_| ()).wait().map(drop));
    not_found(room.store.update_part_with(&session, "msg_1", "prt_9", |_| ()).wait().map(drop));
    not_found(room.store.get(&session, "msg_9").map(drop));
    not_found(room.store.messages("ses_nowhere", None).map(drop));
}
