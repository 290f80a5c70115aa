//! What sessions cost: own, inherited, with children (user reports C82, C94, C95).

use super::room::{Room, assistant, step_finish, user};
use annalist_store::session::Spent;
use serde_json::json;

/// A session whose messages were made in 2020, hence before any session of these tests.
fn spent_ten(room: &Room, session: &str, start: i64) {
    room.say(session, user(&format!("msg_u{start}"), start), &["x"]);
    let id = format!("msg_a{start}");
    room.say(session, assistant(&id, &format!("msg_u{start}"), start + 1), &[]);
    room.part(session, &id, step_finish(&format!("prt_s{start}"), 4.0));
    room.part(session, &id, step_finish(&format!("prt_t{start}"), 6.0));
}

fn made_at(room: &Room, session: &str, ms: i64) {
    room.sql().execute("UPDATE session SET time_created = ?1 WHERE id = ?2", rusqlite::params![ms, session]).unwrap();
}

const START: i64 = 1_580_000_000_000;

#[test]
fn totals_over_forks_do_not_double() {
    let room = Room::new();
    let source = room.session();
    made_at(&room, &source, START);
    spent_ten(&room, &source, START);
    let one = room.store.fork_session(&source, None).wait().unwrap().session.id().unwrap().into_owned();
    let two = room.store.fork_session(&one, None).wait().unwrap().session.id().unwrap().into_owned();
    assert_eq!(room.store.spent(&source).unwrap(), Spent { inherited: 0.0, own: 10.0, tokens: [20, 4, 2, 8, 6] });
    for fork in [&one, &two] {
        assert_eq!(room.store.spent(fork).unwrap(), Spent { inherited: 10.0, own: 0.0, tokens: [0; 5] });
        assert_eq!(room.info(fork)["cost"], 10.0, "the row has all, as the reference's");
    }
    // What happens in the fork is its own.
    let now = annalist_schema::id::now_ms() + 1_000;
    room.say(&two, assistant("msg_new", "msg_x", now), &[]);
    room.part(&two, "msg_new", step_finish("prt_new", 1.5));
    assert_eq!(room.store.spent(&two).unwrap().own, 1.5);
    let total: f64 = [&source, &one, &two].iter().map(|session| room.store.spent(session).unwrap().own).sum();
    assert_eq!(total, 11.5);
}

/// OpenCode's forks have rows of the same kind: old messages in a young session.
#[test]
fn a_fork_that_opencode_made_inherits_too() {
    let room = Room::new();
    let fork = room.session();
    let step = step_finish("", 3.0);
    room.plant_message(&fork, "msg_1", START, r#"{"role":"assistant","time":{"created":1580000000000}}"#);
    room.plant_part(&fork, "msg_1", "prt_1", annalist_schema::id::now_ms(), &step.to_string());
    assert_eq!(room.store.spent(&fork).unwrap(), Spent { inherited: 3.0, own: 0.0, tokens: [0; 5] });
}

#[test]
fn with_children_and_theirs() {
    let room = Room::new();
    let root = room.session();
    let children = [room.child(&root), room.child(&root)];
    let grandchild = room.child(&children[1]);
    for (index, session) in [&root, &children[0], &children[1], &grandchild].into_iter().enumerate() {
        made_at(&room, session, START);
        spent_ten(&room, session, START + 10 * i64::try_from(index).unwrap());
    }
    assert_eq!(room.store.spent_with_children(&root).unwrap(), Spent { inherited: 0.0, own: 40.0, tokens: [80, 16, 8, 32, 24] });
    assert_eq!(room.store.spent_with_children(&children[1]).unwrap().own, 20.0);
    assert_eq!(room.store.spent_with_children(&grandchild).unwrap().own, 10.0);
    assert!(room.store.spent("ses_nowhere").unwrap_err().is_not_found());
    assert!(room.store.spent_with_children("ses_nowhere").unwrap_err().is_not_found());
}

#[test]
fn counts_that_are_none_cost_nothing_and_stay_as_they_are() {
    let room = Room::new();
    let session = room.session();
    made_at(&room, &session, START);
    room.say(&session, assistant("msg_1", "msg_0", START), &[]);
    let odd = json!({"id": "prt_1", "type": "step-finish", "reason": "stop", "cost": 1,
                     "tokens": {"input": -423, "output": "7", "reasoning": null, "cache": {"read": 5}}});
    room.part(&session, "msg_1", odd.clone());
    room.part(&session, "msg_1", json!({"id": "prt_2", "type": "step-finish", "reason": "stop", "cost": 9}));
    room.plant_part(&session, "msg_1", "prt_3", 1, "step-finish {broken");
    assert_eq!(room.store.spent(&session).unwrap(), Spent { inherited: 0.0, own: 1.0, tokens: [0, 0, 0, 5, 0] });
    let message = room.store.get(&session, "msg_1").unwrap();
    let stored = super::room::parts(&message).into_iter().find(|part| part["id"] == "prt_1").unwrap();
    assert_eq!(stored["tokens"], odd["tokens"]);
}
