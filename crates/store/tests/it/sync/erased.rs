//! Positions whose events were erased: row ids are given out again after the newest session is deleted.

use super::support::{
    Room, append, append_raw, append_raw_event, at_once, created, deleted, drain, erase_raw, event, events, ids, insert_event, int,
    plain, project, raw, seqs, told, write,
};
use annalist_store::bus::Interest;
use annalist_store::trail::{Happened, LENGTH};
use annalist_store::{Create, Durability, Expect, Start, Store};
use serde_json::json;

fn resumed(store: &Store, position: &str) -> Vec<String> {
    told(&drain(&mut store.catch_up(Interest::all(), Start::resume(position)).unwrap()))
}

/// The newest session is deleted, as another process does it, and its row ids go to another.
#[test]
fn row_ids_that_are_given_out_again() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    write(&store, "ses_1", vec![created("ses_1")]);
    let mut live = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_2")).unwrap();
    write(&store, "ses_2", vec![created("ses_2"), plain("ses_2"), plain("ses_2")]);
    append(&store, "ses_1");
    write(&store, "ses_2", vec![plain("ses_2")]);
    // ses_1 has the rows 1 and 5, ses_2 those from 2 to 4, and 6.
    assert_eq!(told(&drain(&mut live)).len(), 5);
    assert_eq!(seqs(&events(&mut one)), [0, 1, 2, 3]);
    let position = live.position().unwrap().to_string();
    assert!(position.starts_with("6."));
    let earlier = {
        let mut subscription = store.catch_up(Interest::all(), Start::Beginning).unwrap();
        (0..4).for_each(|_| drop(subscription.try_next().unwrap()));
        subscription.position().unwrap().to_string()
    };
    assert!(earlier.starts_with("4."));

    let event = plain("ses_3");
    at_once(&db, || {
        db.execute("DELETE FROM session WHERE id = 'ses_2'", []).unwrap();
        erase_raw(&db, "ses_2");
        insert_event(&db, "ses_3", &event);
    });
    let reused = event.id;
    assert_eq!(int(&db, "SELECT max(rowid) FROM event"), 6, "the row id was not given out again");
    store.poll().unwrap();

    let expected = ["ses_3:0", "Deleted ses_2"];
    let received = drain(&mut live);
    assert_eq!(told(&received), expected);
    assert_eq!(told(&drain(&mut one)), ["Deleted ses_2"]);
    assert_eq!(resumed(&store, &position), expected);
    assert_eq!(resumed(&store, &earlier), ["ses_1:1", "ses_3:0", "Deleted ses_2"]);
    // From the deletion itself, nothing is left.
    let position = live.position().unwrap().to_string();
    assert_eq!(resumed(&store, &position), Vec::<String>::new());
    assert_eq!(resumed(&store, &format!("6.{reused}")), ["Deleted ses_2"]);
    // For a process that knows nothing, the position is none.
    let other = Store::open(&path, Create::Never).unwrap();
    assert_eq!(resumed(&other, &earlier), ["Unknown"]);
    append_raw(&db, "ses_3");
    assert_eq!(resumed(&store, &position), ["ses_3:1"]);
}

/// The same by our own hand: the event that says so, then the log, from its beginning.
#[test]
fn our_own_deletion_is_told_once() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    let first = append(&store, "ses_1");
    let mut live = store.subscribe(Interest::all()).unwrap();
    let mut slow = store.subscribe(Interest::all()).unwrap();
    let mut slow_one = store.subscribe(Interest::session("ses_2")).unwrap();
    write(&store, "ses_2", vec![created("ses_2")]);
    assert_eq!(told(&drain(&mut slow_one)), ["ses_2:0"]);
    let position = {
        append(&store, "ses_2");
        assert_eq!(told(&drain(&mut live)), ["ses_2:0", "ses_2:1"]);
        live.position().unwrap().to_string()
    };
    append(&store, "ses_2");
    write(&store, "ses_2", vec![deleted("ses_2")]);
    assert_eq!(told(&drain(&mut live)), ["ses_2:2", "Deleted ses_2"]);
    let after = live.position().unwrap().to_string();
    assert_eq!(resumed(&store, &position), ["ses_2:2", "Deleted ses_2"], "while the log is still there");
    db.execute("DELETE FROM event WHERE aggregate_id = 'ses_2' AND seq < 2", []).unwrap();
    store.poll().unwrap();
    assert_eq!(drain(&mut live), [], "told once");
    assert_eq!(told(&drain(&mut slow_one)), ["Deleted ses_2"], "what is left of a log that is being erased is not told");
    let of_it = |position: &str| told(&drain(&mut store.catch_up(Interest::session("ses_2"), Start::resume(position)).unwrap()));
    assert_eq!(of_it("1"), ["Deleted ses_2"]);
    assert_eq!(of_it("-1"), Vec::<String>::new(), "that is where one is after a deletion");
    let mut beginner = store.catch_up(Interest::all(), Start::Beginning).unwrap();
    assert_eq!(told(&drain(&mut beginner)), ["ses_1:0", "ses_2:2", "Deleted ses_2"], "whoever hears of it hears of its end");
    erase_raw(&db, "ses_2");
    store.poll().unwrap();
    assert_eq!(drain(&mut live), [], "told once");
    assert_eq!(told(&drain(&mut slow)), ["Deleted ses_2"]);
    assert_eq!(resumed(&store, &position), ["Deleted ses_2"]);
    assert_eq!(resumed(&store, &format!("1.{first}")), ["Deleted ses_2"]);
    assert_eq!(resumed(&store, &after), Vec::<String>::new());
    // The session comes again, on the same rows.
    write(&store, "ses_2", vec![created("ses_2")]);
    append(&store, "ses_2");
    for subscription in [&mut live, &mut slow, &mut slow_one, &mut beginner] {
        assert_eq!(told(&drain(subscription)), ["ses_2:0", "ses_2:1"]);
    }
    assert_eq!(resumed(&store, &after), ["ses_2:0", "ses_2:1"]);
}

#[test]
fn who_missed_the_end_of_its_session_is_told() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    drop(store.subscribe(Interest::all()).unwrap());
    write(&store, "ses_1", vec![created("ses_1"), plain("ses_1"), deleted("ses_1")]);
    erase_raw(&db, "ses_1");
    let mut subscription = store.catch_up(Interest::session("ses_1"), Start::resume("1")).unwrap();
    assert_eq!(told(&drain(&mut subscription)), ["Deleted ses_1"]);
    assert_eq!(subscription.position().unwrap().to_string(), "-1");
}

/// The log of one session is replaced by another one before anybody looks.
#[test]
fn a_log_that_was_replaced_resets_its_reader() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut subscription = store.subscribe(Interest::session("ses_1")).unwrap();
    (0..3).for_each(|_| drop(append(&store, "ses_1")));
    assert_eq!(seqs(&events(&mut subscription)), [0, 1, 2]);
    erase_raw(&db, "ses_1");
    (0..5).for_each(|_| drop(append_raw(&db, "ses_1")));
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut subscription)), ["Unknown"]);
    append(&store, "ses_1");
    assert_eq!(seqs(&events(&mut subscription)), [5]);
}

/// More events than the trail has places belong to a session that is deleted.
#[test]
fn a_trail_that_is_all_erased() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut live = store.subscribe(Interest::all()).unwrap();
    let mut slow = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_1");
    let pending = store.write(Durability::Process, |tx| {
        (0..LENGTH + 2_000).try_for_each(|_| tx.append("ses_2", Expect::Any, plain("ses_2")).map(drop))
    });
    pending.wait().unwrap();
    assert_eq!(drain(&mut live).len(), LENGTH + 2_001);
    let position = live.position().unwrap().to_string();
    erase_raw(&db, "ses_2");
    let reused = append_raw(&db, "ses_3");
    assert_eq!(int(&db, "SELECT max(rowid) FROM event"), 2);
    store.poll().unwrap();
    assert_eq!(ids(&events(&mut live)), [&*reused], "what came before the trail is remembered by session");
    assert_eq!(told(&drain(&mut slow)), ["ses_1:0", "ses_3:0"]);
    assert_eq!(resumed(&store, &position), ["ses_3:0"]);
}

/// A reader whose own place is among the forgotten ones is told that it lost it.
#[test]
fn a_place_that_is_forgotten_is_reset() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    append(&store, "ses_1");
    let mut slow = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_2");
    assert_eq!(told(&drain(&mut slow)), ["ses_2:0"]);
    let position = slow.position().unwrap().to_string();
    let pending = store.write(Durability::Process, |tx| {
        (0..LENGTH + 10).try_for_each(|_| tx.append("ses_3", Expect::Any, plain("ses_3")).map(drop))
    });
    pending.wait().unwrap();
    erase_raw(&db, "ses_2");
    store.poll().unwrap();
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "lost with the rest");
    assert_eq!(told(&drain(&mut slow)), ["Unknown"]);
    assert_eq!(resumed(&store, &position), ["Unknown"]);
    append(&store, "ses_1");
    assert_eq!(told(&drain(&mut slow)), ["ses_1:1"]);
}

#[test]
fn a_trail_outlives_its_process() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    let mut live = store.subscribe(Interest::all()).unwrap();
    write(&store, "ses_1", vec![created("ses_1")]);
    write(&store, "ses_2", vec![created("ses_2"), plain("ses_2")]);
    write(&store, "ses_3", vec![created("ses_3")]);
    assert_eq!(drain(&mut live).len(), 4);
    let position = live.position().unwrap().to_string();
    write(&store, "ses_3", vec![deleted("ses_3")]);
    erase_raw(&db, "ses_3");
    let trail = store.trail();
    assert_eq!(trail.iter().filter(|step| step.what == Happened::Event).count(), 5);
    assert_eq!(trail.last().map(|step| step.what), Some(Happened::Deleted));
    // The first call takes up what is there, which is nothing; the second writes.
    store.keep_trail().unwrap();
    store.keep_trail().unwrap();
    drop((live, store));

    // Meanwhile another program deletes the newest session, and its rows are given out again.
    db.execute("DELETE FROM session WHERE id = 'ses_2'", []).unwrap();
    erase_raw(&db, "ses_2");
    append_raw(&db, "ses_1");
    append_raw(&db, "ses_1");
    let store = Store::open(&path, Create::Never).unwrap();
    store.keep_trail().unwrap();
    assert_eq!(resumed(&store, &position), ["Deleted ses_3", "ses_1:1", "ses_1:2", "Deleted ses_2"]);
    // What is followed by now is not replaced.
    let later = Store::open(&path, Create::Never).unwrap();
    append(&later, "ses_1");
    later.keep_trail().unwrap();
    assert_eq!(resumed(&later, &position), ["Unknown"]);
}

#[test]
fn a_vanished_event_of_a_living_log_is_nothing_to_wait_for() {
    // Not what anybody does; a repair might.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut live = store.subscribe(Interest::all()).unwrap();
    (0..4).for_each(|_| drop(append(&store, "ses_1")));
    db.execute("DELETE FROM event WHERE seq IN (1, 3)", []).unwrap();
    assert_eq!(seqs(&events(&mut live)), [0, 2]);
    append_raw_event(&db, "ses_1", &event("session.next.later.1", &json!({})));
    store.poll().unwrap();
    assert_eq!(seqs(&events(&mut live)), [4]);
}

/// Of what another process wrote before us nothing is left out, even if its rows are where ours were.
#[test]
fn foreign_rows_in_the_place_of_ours_come_before_ours() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut all = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_3")).unwrap();
    append(&store, "ses_1");
    append(&store, "ses_2");
    assert_eq!(drain(&mut all).len(), 2);
    at_once(&db, || {
        erase_raw(&db, "ses_2");
        insert_event(&db, "ses_3", &plain("ses_3"));
    });
    // Our next row is the one after the last that we know, as if nobody had been there.
    append(&store, "ses_1");
    assert_eq!(told(&drain(&mut all)), ["ses_3:0", "ses_1:1"]);
    assert_eq!(told(&drain(&mut one)), ["ses_3:0"]);
}

/// The store's own deletion, whose log goes in steps.
#[test]
fn a_session_deleted_by_the_store_is_told_once() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    project(&raw(&path));
    append(&store, "ses_1");
    let mut live = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_2")).unwrap();
    write(&store, "ses_2", vec![created("ses_2"), plain("ses_2")]);
    assert_eq!(told(&drain(&mut live)), ["ses_2:0", "ses_2:1"]);
    assert_eq!(told(&drain(&mut one)), ["ses_2:0", "ses_2:1"]);
    let position = live.position().unwrap().to_string();
    store.delete_session("ses_2").unwrap();
    append(&store, "ses_1");
    store.poll().unwrap();
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut live)), ["Deleted ses_2", "ses_1:1"]);
    assert_eq!(told(&drain(&mut one)), ["Deleted ses_2"]);
    assert_eq!(resumed(&store, &position), ["Deleted ses_2", "ses_1:1"]);
}
