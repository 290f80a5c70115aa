//! The log never holds much more than twice what it is worth.

use super::support::{
    Room, append, begin, checked, emptied, finish, info, int, log, long, message, part, part_removed, projected, raw, replayed,
    store, text, updated, with,
};
use annalist_store::{Durability, Error, Expect};
use serde_json::json;

const S: &str = "ses_a";
const M: &str = "msg_ases_a";

fn bytes(path: &std::path::Path) -> i64 {
    int(path, "SELECT sum(length(CAST(data AS BLOB))) FROM event")
}

#[test]
fn an_answer_streamed_in_500_updates_leaves_two_and_a_half_times_its_size() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    let answer = "All happy builds are alike. ".repeat(1_250);
    for update in 1..=500 {
        append(&store, S, text(S, M, "prt_answer", &answer[..answer.len() * update / 500])).unwrap();
    }
    assert_eq!(answer.len(), 35_000);
    assert!(bytes(&path) <= 35_000 * 5 / 2, "{} bytes", bytes(&path));
    assert_eq!(emptied(&path), 498);
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn titles_of_a_message_with_large_diffs_leave_its_first_and_last_form() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    let size = if long() { 5_000_000 } else { 500_000 };
    let patch = "+ a line that was added\n".repeat(usize::try_from(size / 24).unwrap());
    for title in 0..50 {
        let summary =
            json!({"title": format!("title {title}"), "diffs": [{"file": "a", "patch": patch, "additions": 1, "deletions": 0}]});
        append(&store, S, message(S, "msg_diffs", &json!({"summary": summary}))).unwrap();
    }
    assert!(bytes(&path) < size * 22 / 10, "{} bytes", bytes(&path));
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn a_job_of_many_appends_empties_what_it_supersedes_itself() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    let events = (0..100).map(|n| text(S, M, "prt_a", &"x".repeat(n * 10 + 100))).collect();
    store.append(S, Expect::Any, events, Durability::Process).wait().unwrap();
    assert_eq!(emptied(&path), 98);
    assert_eq!(checked(&path).1, []);
}

#[test]
fn a_step_finish_is_never_emptied_and_a_session_only_when_covered() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    for cost in 0..4 {
        append(&store, S, finish(S, M, "prt_finish", f64::from(cost))).unwrap();
    }
    assert_eq!(emptied(&path), 0);
    let shared = with(info(S), &json!({"share": {"url": "https://example.com/s"}}));
    let agent = with(info(S), &json!({"agent": "build"}));
    let both = with(shared.clone(), &json!({"agent": "plan"}));
    // A plain one is covered by each; one with a share only by one with a share.
    for (info, gone) in [(&info(S), 0), (&shared, 1), (&agent, 1), (&info(S), 1), (&agent, 3), (&both, 5)] {
        append(&store, S, updated(info)).unwrap();
        assert_eq!(emptied(&path), gone, "after {info}");
    }
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn what_a_failed_job_taught_is_forgotten() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    append(&store, S, text(S, M, "prt_a", "one")).unwrap();
    for _ in 0..3 {
        let failed: Result<(), Error> = store
            .write(Durability::Process, |tx| {
                // Were this one remembered, the next would empty the event that stands under its number by then.
                tx.append(S, Expect::Any, text(S, M, "prt_b", "never"))?;
                tx.append(S, Expect::Any, text(S, M, "prt_b", "never either"))?;
                Err(Error::Closed)
            })
            .wait();
        assert!(failed.is_err());
        append(&store, S, text(S, M, "prt_a", &"x".repeat(200))).unwrap();
    }
    assert_eq!(replayed(&path), projected(&path));
    // The failed job's first snapshot of an id is none, even if another process's event stands in its place now.
    let other = super::support::open(&path, true);
    append(&store, S, text(S, M, "prt_c", "a first one, which stands")).unwrap();
    let failed: Result<(), Error> = store
        .write(Durability::Process, |tx| {
            tx.append(S, Expect::Any, text(S, M, "prt_d", "never"))?;
            Err(Error::Closed)
        })
        .wait();
    assert!(failed.is_err());
    append(&other, S, text(S, M, "prt_e", "theirs")).unwrap();
    for n in 0..3 {
        append(&store, S, text(S, M, "prt_d", &"x".repeat(200 + n))).unwrap();
    }
    assert_eq!(replayed(&path), projected(&path));
    assert_eq!(checked(&path).1, []);
}

#[test]
fn what_others_removed_and_made_again_is_a_first_one() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    let other = super::support::open(&path, true);
    for n in 0..3 {
        append(&store, S, text(S, M, "prt_a", &"x".repeat(200 + n))).unwrap();
        append(&other, S, part_removed(S, M, "prt_a")).unwrap();
        append(&other, S, text(S, M, "prt_a", &"y".repeat(200 + n))).unwrap();
        append(&store, S, text(S, M, "prt_a", &"z".repeat(200 + n))).unwrap();
        append(&other, S, super::support::message_removed(S, M)).unwrap();
        append(&other, S, message(S, M, &json!({}))).unwrap();
        append(&store, S, text(S, M, "prt_a", "again")).unwrap();
        append(&store, S, text(S, M, "prt_a", "and again")).unwrap();
        assert_eq!(replayed(&path), projected(&path));
        append(&store, S, super::support::message_removed(S, M)).unwrap();
        append(&store, S, message(S, M, &json!({}))).unwrap();
        assert_eq!(replayed(&path), projected(&path));
    }
}

#[test]
fn a_text_that_becomes_a_step_finish_is_not_emptied_from_then_on() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    append(&store, S, text(S, M, "prt_a", "first")).unwrap();
    append(&store, S, finish(S, M, "prt_a", 1.0)).unwrap();
    append(&store, S, updated(&info(S))).unwrap();
    append(&store, S, text(S, M, "prt_a", "last")).unwrap();
    append(&store, S, text(S, M, "prt_a", "really")).unwrap();
    assert_eq!(emptied(&path), 0);
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn a_log_that_was_erased_and_grew_again_keeps_its_events() {
    for snapshots in [1, 3] {
        let room = Room::new();
        let path = room.path("opencode.db");
        let store = store(&path, true);
        begin(&store, S);
        for n in 0..snapshots {
            append(&store, S, text(S, M, "prt_a", &"x".repeat(100 + n))).unwrap();
        }
        // OpenCode's deletion, and the same session made again by it, with as many events, none of which supersedes another.
        raw(&path).execute_batch("PRAGMA foreign_keys = ON; DELETE FROM session; DELETE FROM event_sequence").unwrap();
        let other = super::support::open(&path, true);
        begin(&other, S);
        for n in 0..snapshots {
            append(&other, S, text(S, M, &format!("prt_only_once_{n}"), &"y".repeat(100 + n))).unwrap();
        }
        drop(other);
        for n in 0..3 {
            append(&store, S, text(S, M, "prt_a", &"z".repeat(100 + n))).unwrap();
            assert_eq!(replayed(&path), projected(&path));
            assert_eq!(checked(&path).1, []);
        }
    }
}

#[test]
fn a_part_with_the_name_of_emptied_events_is_safe() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    append(&store, S, text(S, M, "prt_emptied", "here")).unwrap();
    for n in 0..5 {
        append(&store, S, text(S, M, "prt_a", &"x".repeat(100 + n))).unwrap();
    }
    // A process that starts now has not seen it come.
    drop(store);
    let store = super::support::open(&path, true);
    for n in 0..5 {
        append(&store, S, text(S, M, "prt_a", &"y".repeat(100 + n))).unwrap();
    }
    assert_eq!(log(&path, S).iter().filter(|(_, kind, _)| kind == "message.part.removed.1").count(), 0);
    let done = super::support::compacted(&path);
    assert_eq!((done.events(), done.skipped.len()), (0, 1));
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn more_ids_and_sessions_than_are_remembered_only_stay_longer() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    for round in 0..4 {
        let events = (0..700).map(|n| text(S, M, &format!("prt_{n}"), &"x".repeat(100 + round))).collect();
        store.append(S, Expect::Any, events, Durability::Process).wait().unwrap();
    }
    let sessions: Vec<String> = (0..300).map(|n| format!("ses_{n}")).collect();
    for session in &sessions {
        begin(&store, session);
    }
    for _ in 0..3 {
        for session in &sessions {
            append(&store, session, text(session, &format!("msg_a{session}"), &format!("prt_{session}"), &"x".repeat(120)))
                .unwrap();
        }
    }
    assert_eq!(replayed(&path), projected(&path));
    assert_eq!(checked(&path).1, []);
    // What stayed is there to be found.
    assert!(super::support::compacted(&path).events() > 0);
    assert_eq!(replayed(&path), projected(&path));
}

#[test]
fn a_removal_makes_the_next_snapshot_a_first_one() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    for n in 0..3 {
        for m in 0..3 {
            append(&store, S, part(S, M, "prt_a", &json!({"text": "x".repeat(100 + n + m)}))).unwrap();
        }
        append(&store, S, part_removed(S, M, "prt_a")).unwrap();
    }
    // Of each life the middle one.
    assert_eq!(emptied(&path), 3);
    append(&store, S, text(S, M, "prt_a", "again")).unwrap();
    assert_eq!(replayed(&path), projected(&path));
}
