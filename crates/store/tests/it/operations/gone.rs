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
