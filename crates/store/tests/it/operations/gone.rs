//! A late write to something that was deleted answers `Gone` and brings nothing back (user report C56).

use super::room::{Room, message, part, user, with};
use annalist_store::{Durability, Error, Expect, NewEvent};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn text(session: &str, message: &str, id: &str) -> Value {
    json!({"id": id, "sessionID": session, "messageID": message, "type": "text", "text": "late"})
}

fn gone(result: Result<impl std::fmt::Debug, Error>, what: &str) {
    match result {
        Err(Error::Gone { what: found, .. }) => assert_eq!(found, what),
        other => panic!("{other:?}"),
    }
}

#[test]
fn to_a_removed_message() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a"]);
    room.store.remove_message(&session, "msg_1").wait().unwrap();
    let before = room.events(&session);
    let late = || message(&with(user("msg_1", 1), "sessionID", session.as_str()));
    gone(room.store.update_message(late()).wait(), "message");
    gone(room.store.create_message(late(), vec![]).wait(), "message");
    gone(room.store.update_message_with(&session, "msg_1", |_| ()).wait(), "message");
    gone(room.store.update_part(part(&text(&session, "msg_1", "prt_1_0")), Durability::Power).wait(), "message");
    gone(room.store.create_part(part(&text(&session, "msg_1", "prt_9"))).wait(), "message");
    gone(room.store.update_part_with(&session, "msg_1", "prt_1_0", |_| ()).wait(), "message");
    assert_eq!(room.events(&session), before);
    assert_eq!((room.count("message"), room.count("part")), (0, 0));
    // It is known from the log, by whoever opens the file.
    let reopened = annalist_store::Store::open(&room.file, annalist_store::Create::Never).unwrap();
    gone(reopened.update_message(late()).wait(), "message");
}

#[test]
fn to_a_removed_part() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a", "b"]);
    room.store.remove_part(&session, "msg_1", "prt_1_0").wait().unwrap();
    let late = || part(&text(&session, "msg_1", "prt_1_0"));
    gone(room.store.update_part(late(), Durability::Process).wait(), "part");
    gone(room.store.create_part(late()).wait(), "part");
    gone(room.store.update_part_with(&session, "msg_1", "prt_1_0", |_| ()).wait(), "part");
    assert_eq!(room.count("part"), 1);
}

/// What the reference does to remove a part: the event and the row, in one transaction.
fn removed_elsewhere(room: &Room, session: &str, message: &str, part: &str) {
    let db = room.sql();
    let data = json!({"sessionID": session, "messageID": message, "partID": part}).to_string();
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    db.execute("UPDATE event_sequence SET seq = seq + 1 WHERE aggregate_id = ?1", [session]).unwrap();
    db.execute(
        "INSERT INTO event SELECT ?1, aggregate_id, seq, 'message.part.removed.1', ?2 FROM event_sequence WHERE aggregate_id = ?3",
        [&annalist_schema::id::new(annalist_schema::id::Kind::Event), &data, session],
    )
    .unwrap();
    db.execute("DELETE FROM part WHERE id = ?1", [part]).unwrap();
    db.execute_batch("COMMIT").unwrap();
}

#[test]
fn to_a_part_that_another_process_removed() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a", "b", "c", "d"]);
    removed_elsewhere(&room, &session, "msg_1", "prt_1_3");
    let late = |id: &str| part(&text(&session, "msg_1", id));
    gone(room.store.update_part(late("prt_1_3"), Durability::Process).wait(), "part");
    gone(room.store.create_part(late("prt_1_3")).wait(), "part");
    gone(room.store.update_part_with(&session, "msg_1", "prt_1_3", |_| ()).wait(), "part");
    // Between two appends of ours, and after one of ours that failed and whose rows others took.
    room.part(&session, "msg_1", json!({"id": "prt_new", "type": "text", "text": "new"}));
    removed_elsewhere(&room, &session, "msg_1", "prt_1_2");
    let failed = room.store.write(Durability::Process, {
        let (session, late) = (session.clone(), text(&session, "msg_1", "prt_undone"));
        move |tx| {
            let data = json!({"sessionID": session, "part": late, "time": 1}).to_string();
            tx.append(&session, Expect::Any, NewEvent::new("message.part.updated.1", data))?;
            assert!(!tx.was_part_removed("prt_undone")?);
            Err::<(), _>(Error::Closed)
        }
    });
    assert!(failed.wait().is_err());
    removed_elsewhere(&room, &session, "msg_1", "prt_1_1");
    gone(room.store.update_part(late("prt_1_1"), Durability::Process).wait(), "part");
    assert_eq!(room.count("part"), 2);
    // What is still there is written as before.
    room.store.update_part(late("prt_1_0"), Durability::Process).wait().unwrap();
    room.store.update_part(late("prt_1_9"), Durability::Process).wait().unwrap();
    // Whoever opens the file later knows it too.
    let reopened = annalist_store::Store::open(&room.file, annalist_store::Create::Never).unwrap();
    for id in ["prt_1_3", "prt_1_2", "prt_1_1"] {
        gone(reopened.update_part(late(id), Durability::Process).wait(), "part");
    }
}

/// An id that came again by another's hand is there, and what an emptied event pretends to remove never was.
#[test]
fn a_part_that_came_again_is_not_gone() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a"]);
    removed_elsewhere(&room, &session, "msg_1", "prt_1_0");
    removed_elsewhere(&room, &session, "msg_1", "prt_emptied");
    let late = |id: &str| part(&text(&session, "msg_1", id));
    gone(room.store.update_part(late("prt_1_0"), Durability::Process).wait(), "part");
    room.store.update_part(late("prt_emptied"), Durability::Process).wait().unwrap();
    room.plant_part(&session, "msg_1", "prt_1_0", 1, r#"{"type":"text","text":"again"}"#);
    room.store.update_part(late("prt_1_0"), Durability::Process).wait().unwrap();
}

#[test]
fn to_a_part_that_a_committed_revert_removed() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a", "b"]);
    room.store.revert_session(&session, "msg_1", Some("prt_1_1")).wait().unwrap();
    room.store.commit_revert(&session).wait().unwrap();
    gone(room.store.update_part(part(&text(&session, "msg_1", "prt_1_1")), Durability::Process).wait(), "part");
}

#[test]
fn to_a_deleted_session() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a"]);
    room.store.delete_session(&session).unwrap();
    let late = || message(&with(user("msg_1", 1), "sessionID", session.as_str()));
    gone(room.store.update_message(late()).wait(), "session");
    gone(room.store.create_message(late(), vec![]).wait(), "session");
    gone(room.store.update_part(part(&text(&session, "msg_1", "prt_1_0")), Durability::Power).wait(), "session");
    let event = NewEvent::new("message.updated.1", json!({"sessionID": session, "info": user("msg_1", 1)}).to_string());
    let appended = room.store.append(&session, Expect::Any, vec![event], Durability::Power).wait();
    assert!(appended.unwrap_err().is_not_found());
    assert!(room.store.set_title(&session, "late").wait().unwrap_err().is_not_found());
    assert!(room.store.remove_message(&session, "msg_1").wait().unwrap_err().is_not_found());
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
}

/// Writers that stream into a session while it is deleted hear of it and leave nothing.
#[test]
fn while_others_write() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &["a"]);
    let (stop, written) = (AtomicBool::new(false), AtomicUsize::new(0));
    let refusals = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let (room, session, stop, written) = (&room, &session, &stop, &written);
                scope.spawn(move || {
                    let mut refused = 0;
                    while !stop.load(Ordering::Relaxed) || refused == 0 {
                        let late = text(session, "msg_1", &format!("prt_late{writer}"));
                        match room.store.update_part(part(&late), Durability::Process).wait() {
                            Ok(_) => drop(written.fetch_add(1, Ordering::Relaxed)),
                            Err(Error::Gone { .. }) => refused += 1,
                            Err(other) => panic!("{other}"),
                        }
                    }
                    refused
                })
            })
            .collect();
        while written.load(Ordering::Relaxed) < 40 {
            std::thread::yield_now();
        }
        room.store.delete_session(&session).unwrap();
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(refusals.iter().all(|refused| *refused > 0), "{refusals:?}");
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
}
