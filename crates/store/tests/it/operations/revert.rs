//! Undoing in two steps (reference-storage 6.4; user reports C48, C84, C86, C87).

use super::room::{Logged, Room, assistant, part_ids, step_finish, texts, user};
use annalist_store::session::{Boundary, Reverted};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const START: i64 = 1_790_000_000_000;

fn patch(id: &str, files: &[&str]) -> Value {
    json!({"id": id, "type": "patch", "hash": "h", "files": files})
}

/// q1 a1 q2 a2 b2 q3: two questions with answers, the second in two messages, and one without. Each answer changes files.
fn conversation(room: &Room) -> String {
    let session = room.session();
    room.say(&session, user("msg_q1", START + 1), &["q1"]);
    room.say(&session, assistant("msg_a1", "msg_q1", START + 2), &["a1"]);
    room.part(&session, "msg_a1", patch("prt_ap1", &["/one", "/both"]));
    room.say(&session, user("msg_q2", START + 3), &["q2"]);
    room.say(&session, assistant("msg_a2", "msg_q2", START + 4), &[]);
    room.part(&session, "msg_a2", json!({"id": "prt_a2_0", "type": "step-start"}));
    room.part(&session, "msg_a2", json!({"id": "prt_a2_1", "type": "text", "text": "a2"}));
    room.part(&session, "msg_a2", patch("prt_a2_2", &["/two", "/both"]));
    room.part(&session, "msg_a2", step_finish("prt_a2_3", 1.0));
    room.say(&session, assistant("msg_b2", "msg_q2", START + 5), &[]);
    room.part(&session, "msg_b2", patch("prt_b2_0", &["/three"]));
    room.part(&session, "msg_b2", step_finish("prt_b2_1", 2.0));
    room.say(&session, user("msg_q3", START + 6), &["q3"]);
    session
}

fn revert(room: &Room, session: &str, message: &str, part: Option<&str>) -> Reverted {
    room.store.revert_session(session, message, part).wait().unwrap()
}

#[test]
fn the_boundary_and_the_files_behind_it() {
    let room = Room::new();
    let session = conversation(&room);
    // Another session's patches are none of ours, though it works in the same folder (C84).
    let other = room.session();
    room.say(&other, assistant("msg_other", "msg_x", START), &[]);
    room.part(&other, "msg_other", patch("prt_other", &["/other"]));
    let before = room.ids(&session);
    let of_2 = &["/two", "/both", "/three"][..];
    for (message, part, boundary, files) in [
        ("msg_q3", None, ("msg_q3", None), &[][..]),
        ("msg_q2", None, ("msg_q2", None), of_2),
        ("msg_q1", None, ("msg_q1", None), &["/one", "/both", "/two", "/three"]),
        // An assistant's message: from the question on, with the files of all of that turn.
        ("msg_a2", None, ("msg_q2", None), of_2),
        ("msg_b2", None, ("msg_q2", None), of_2),
        // Behind text only the rest of the message goes.
        ("msg_a2", Some("prt_a2_2"), ("msg_a2", Some("prt_a2_2")), of_2),
        ("msg_a2", Some("prt_a2_3"), ("msg_a2", Some("prt_a2_3")), &["/three"]),
        // Before it there is nothing to keep.
        ("msg_a2", Some("prt_a2_1"), ("msg_q2", None), of_2),
        ("msg_b2", Some("prt_b2_1"), ("msg_q2", None), of_2),
        ("msg_q2", Some("prt_q2_0"), ("msg_q2", None), of_2),
        // The part decides, whatever message is said to hold it.
        ("msg_nowhere", Some("prt_a2_2"), ("msg_a2", Some("prt_a2_2")), of_2),
    ] {
        let found = revert(&room, &session, message, part);
        let expected = Boundary { message: boundary.0.into(), part: boundary.1.map(Into::into) };
        assert_eq!(found.boundary, Some(expected), "{message} {part:?}");
        assert_eq!(found.files, files, "{message} {part:?}");
        assert_eq!(room.store.files_of_revert(&session, message, part).unwrap(), files);
        let mut mark = json!({"messageID": boundary.0});
        if let Some(part) = boundary.1 {
            mark["partID"] = json!(part);
        }
        assert_eq!(room.info(&session)["revert"], mark);
        assert_eq!(room.ids(&session), before, "a mark hides and removes nothing");
    }
}

#[test]
fn what_is_not_there_changes_nothing() {
    let room = Room::new();
    let session = conversation(&room);
    let before = room.events(&session);
    for (message, part) in [("msg_nowhere", None), ("msg_q1", Some("prt_nowhere"))] {
        let found = revert(&room, &session, message, part);
        assert_eq!((found.boundary, found.files), (None, vec![]));
        assert_eq!(super::room::value(&found.session), room.info(&session));
    }
    room.store.unrevert_session(&session).wait().unwrap();
    assert!(room.store.commit_revert(&session).wait().unwrap().is_empty());
    assert_eq!(room.events(&session), before);
    for error in [
        room.store.revert_session("ses_nowhere", "msg_q1", None).wait().map(drop),
        room.store.unrevert_session("ses_nowhere").wait().map(drop),
        room.store.commit_revert("ses_nowhere").wait().map(drop),
        room.store.files_of_revert("ses_nowhere", "msg_q1", None).map(drop),
    ] {
        assert!(error.unwrap_err().is_not_found());
    }
}

#[test]
fn messages_that_others_would_not_find() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, assistant("msg_a", "msg_x", START), &["no question before"]);
    room.plant_message(&session, "msg_bad", START + 1, "{broken");
    room.plant_part(&session, "msg_bad", "prt_bad", 1, "{broken");
    room.say(&session, user("msg_empty", START + 2), &[]);
    for (message, part, found) in [
        ("msg_empty", None, "msg_empty"),
        ("msg_bad", None, "msg_bad"),
        ("msg_a", None, "msg_a"),
        ("x", Some("prt_bad"), "msg_bad"),
    ] {
        let boundary = revert(&room, &session, message, part).boundary.unwrap();
        assert_eq!(boundary, Boundary { message: found.into(), part: None }, "{message}");
    }
}

/// User report C48: ten messages before the ids wrapped, ten after; ids compared, the wrong side would go.
#[test]
fn across_the_wrap_of_the_ids() {
    let wrap = 1_786_706_395_136_i64;
    let room = Room::new();
    let session = room.session();
    let ids: Vec<String> = (0..20_i64)
        .map(|n| {
            let at = wrap - 10_000 + n * 1_000;
            let id = format!("msg_{:012x}", (at.unsigned_abs() * 4096 + 1) & ((1 << 48) - 1));
            let info = if n % 2 == 0 { user(&id, at) } else { assistant(&id, "msg_x", at) };
            room.say(&session, info, &[&n.to_string()]);
            id
        })
        .collect();
    assert!(ids[9] > ids[10] && room.ids(&session) == ids);
    assert_eq!(revert(&room, &session, &ids[14], None).boundary.unwrap().message, ids[14]);
    room.store.unrevert_session(&session).wait().unwrap();
    assert_eq!(room.ids(&session).len(), 20);
    revert(&room, &session, &ids[14], None);
    assert_eq!(room.store.commit_revert(&session).wait().unwrap(), ids[14..]);
    assert_eq!(room.ids(&session), ids[..14]);
    revert(&room, &session, &ids[8], None);
    room.store.commit_revert(&session).wait().unwrap();
    assert_eq!(room.ids(&session), ids[..8]);
}

#[test]
fn a_mark_can_be_moved_and_taken_back() {
    let room = Room::new();
    let session = conversation(&room);
    let shown = texts(&room.messages(&session));
    room.sql()
        .execute("UPDATE session SET revert = '{\"messageID\":\"msg_q3\",\"snapshot\":\"tree\",\"diff\":\"old\",\"novel\":1}'", [])
        .unwrap();
    revert(&room, &session, "msg_q2", None);
    // The tree before the first mark is still the one to go back to; the diff was another one's.
    assert_eq!(room.info(&session)["revert"], json!({"messageID": "msg_q2", "snapshot": "tree", "novel": 1}));
    revert(&room, &session, "msg_a2", Some("prt_a2_2"));
    revert(&room, &session, "msg_q3", None);
    assert_eq!(room.info(&session)["revert"]["messageID"], "msg_q3");
    assert!(room.info(&session)["revert"].get("partID").is_none());
    let events = room.events(&session).len();
    room.store.unrevert_session(&session).wait().unwrap();
    assert!(room.info(&session).get("revert").is_none());
    room.store.unrevert_session(&session).wait().unwrap();
    assert_eq!(room.kinds(&session, events), ["session.updated.1"]);
    assert_eq!(texts(&room.messages(&session)), shown);
}

fn removals(events: &[Logged]) -> Vec<String> {
    let id = |event: &Logged| event.data["partID"].as_str().or(event.data["messageID"].as_str()).map(str::to_owned);
    events.iter().filter(|event| event.kind.contains("removed")).filter_map(id).collect()
}

/// User report C86: one event for each thing removed, in order; C87: it is gone for good.
#[test]
fn a_commit_removes_what_is_behind_the_boundary() {
    let room = Room::new();
    let session = conversation(&room);
    assert_eq!(room.info(&session)["cost"], 3.0);
    revert(&room, &session, "msg_a2", Some("prt_a2_2"));
    let before = room.events(&session).len();
    let removed = room.store.commit_revert(&session).wait().unwrap();
    assert_eq!(removed, ["msg_b2", "msg_q3", "prt_a2_2", "prt_a2_3"]);
    let events = room.events(&session)[before..].to_vec();
    assert_eq!(removals(&events), removed);
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let (message, part) = ("message.removed.1", "message.part.removed.1");
    assert_eq!(kinds, [message, message, part, part, "session.updated.1"]);
    assert_eq!(room.ids(&session), ["msg_q1", "msg_a1", "msg_q2", "msg_a2"]);
    assert_eq!(part_ids(&room.messages(&session)[3]), ["prt_a2_0", "prt_a2_1"]);
    let info = room.info(&session);
    assert!(info.get("revert").is_none());
    assert_eq!(info["cost"].as_f64(), Some(0.0), "what was removed costs nothing any more");
    for table in ["message", "part"] {
        for id in &removed {
            let sql = format!("SELECT count(*) FROM {table} WHERE id = ?1 OR instr(data, ?1)");
            assert_eq!(room.sql().query_row(&sql, [id], |row| row.get::<_, i64>(0)).unwrap(), 0, "{table} {id}");
        }
    }
    assert!(room.store.commit_revert(&session).wait().unwrap().is_empty());
}

#[test]
fn a_whole_message_goes_with_its_parts() {
    let room = Room::new();
    let session = conversation(&room);
    revert(&room, &session, "msg_b2", None);
    let removed = room.store.commit_revert(&session).wait().unwrap();
    assert_eq!(removed, ["msg_q2", "msg_a2", "msg_b2", "msg_q3"]);
    assert_eq!(room.ids(&session), ["msg_q1", "msg_a1"]);
    assert_eq!(room.count("part"), 3);
}

#[test]
fn a_mark_whose_message_or_part_is_gone() {
    let room = Room::new();
    let session = conversation(&room);
    let all = room.ids(&session);
    for mark in [r#"{"messageID":"msg_nowhere"}"#, r#"{"messageID":"msg_nowhere","partID":"prt_a2_2"}"#, r#"{"odd":1}"#] {
        room.sql().execute("UPDATE session SET revert = ?1", [mark]).unwrap();
        assert!(room.store.commit_revert(&session).wait().unwrap().is_empty());
        assert_eq!(room.ids(&session), all);
        assert!(room.info(&session).get("revert").is_none());
    }
    revert(&room, &session, "msg_a2", Some("prt_a2_2"));
    room.store.remove_part(&session, "msg_a2", "prt_a2_2").wait().unwrap();
    assert_eq!(room.store.commit_revert(&session).wait().unwrap(), ["msg_b2", "msg_q3"], "later messages go all the same");
}

/// User report C86: who only follows the events ends with what a fresh reader sees, after a mark, its undoing and a commit.
#[test]
fn a_follower_of_the_events_sees_the_same() {
    let room = Room::new();
    let session = conversation(&room);
    let followed = |room: &Room| {
        let mut messages: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
        let mut mark = Value::Null;
        for Logged { kind, data, .. } in room.events(&session) {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            match kind.as_str() {
                "message.updated.1" => drop(messages.entry(text(&data["info"]["id"])).or_default()),
                "message.part.updated.1" => {
                    let part = &data["part"];
                    messages.get_mut(part["messageID"].as_str().unwrap()).unwrap().insert(text(&part["id"]), part.clone());
                }
                "message.removed.1" => drop(messages.remove(data["messageID"].as_str().unwrap()).unwrap()),
                "message.part.removed.1" => {
                    let parts = messages.get_mut(data["messageID"].as_str().unwrap()).unwrap();
                    parts.remove(data["partID"].as_str().unwrap()).unwrap();
                }
                _ => mark = data["info"]["revert"].clone(),
            }
        }
        (messages, mark)
    };
    let fresh = |room: &Room| {
        let messages = room.messages(&session);
        let messages = messages.iter().map(|message| {
            let parts = super::room::parts(message).into_iter().map(|part| (part["id"].as_str().unwrap().to_owned(), part));
            (super::room::id(message), parts.collect::<BTreeMap<_, _>>())
        });
        (messages.collect::<BTreeMap<_, _>>(), room.info(&session)["revert"].clone())
    };
    revert(&room, &session, "msg_q3", None);
    assert_eq!(followed(&room), fresh(&room));
    room.store.unrevert_session(&session).wait().unwrap();
    assert_eq!(followed(&room), fresh(&room));
    revert(&room, &session, "msg_a2", Some("prt_a2_2"));
    room.store.commit_revert(&session).wait().unwrap();
    assert_eq!(followed(&room), fresh(&room));
}
