//! Catching up: after each cut exactly what was missed, once, in order; and a position that is none is answered.

use super::support::{Room, append, append_raw, check_seqs, drain, event, events, ids, log, logged, plain, raw, seqs, told, write};
use annalist_store::bus::Interest;
use annalist_store::{Delivery, Durability, Expect, Position, Reset, Start, Store};
use proptest::prelude::*;
use serde_json::json;

/// Reads until `take` events are there, or nothing is left; then cuts. Answers where to go on.
fn some(store: &Store, interest: &Interest, start: Start, take: usize, received: &mut Vec<annalist_store::log::Logged>) -> Start {
    let fallback = start.clone();
    let mut subscription = store.catch_up(interest.clone(), start).unwrap();
    for _ in 0..take {
        match subscription.try_next().unwrap() {
            Some(delivery) => received.push(logged(delivery)),
            None => break,
        }
    }
    subscription.position().map_or(fallback, |position| Start::resume(&position.to_string()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_subscriber_cut_at_100_points_receives_everything_once(
        cuts in proptest::collection::vec((0_usize..15, 0_usize..9, 0_usize..3, any::<bool>()), 100)
    ) {
        let room = Room::new();
        let (path, store) = room.store("opencode.db");
        let other = raw(&path);
        let all = Interest::all();
        let one = Interest::session("ses_1");
        let (mut from_all, mut from_one) = (Start::Beginning, Start::Beginning);
        let (mut in_all, mut in_one) = (Vec::new(), Vec::new());
        for (take, write, session, foreign) in cuts {
            let session = format!("ses_{session}");
            for n in 0..write {
                if foreign && n % 2 == 0 { append_raw(&other, &session); } else { append(&store, &session); }
            }
            from_all = some(&store, &all, from_all, take, &mut in_all);
            from_one = some(&store, &one, from_one, take, &mut in_one);
        }
        some(&store, &all, from_all, usize::MAX, &mut in_all);
        some(&store, &one, from_one, usize::MAX, &mut in_one);
        prop_assert_eq!(ids(&in_all), log(&other));
        check_seqs(&in_all);
        check_seqs(&in_one);
        prop_assert_eq!(in_one.len(), in_all.iter().filter(|event| event.session == "ses_1").count());
    }
}

#[test]
fn history_then_live_while_others_write() {
    const EACH: usize = 400;
    const THREADS: usize = 4;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    for _ in 0..300 {
        append(&store, "ses_0");
    }
    let mut stale = store.catch_up(Interest::all(), Start::Beginning).unwrap();
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let store = store.clone();
                scope.spawn(move || {
                    for n in 0..EACH {
                        append(&store, if n % 3 == 0 { "ses_0" } else { ["ses_1", "ses_2", "ses_3", "ses_4"][thread] });
                    }
                })
            })
            .collect();
        let foreign = scope.spawn({
            let path = path.clone();
            move || {
                let db = raw(&path);
                for n in 0..EACH {
                    append_raw(&db, if n % 2 == 0 { "ses_0" } else { "ses_1" });
                }
            }
        });
        let readers: Vec<_> = [None, Some("ses_0"), Some("ses_1")]
            .into_iter()
            .map(|session| {
                let store = store.clone();
                scope.spawn(move || {
                    let interest = session.map_or(Interest::all(), Interest::session);
                    let expected = match session {
                        None => 300 + (THREADS + 1) * EACH,
                        // A third of each thread's, rounded up, and half of the foreign ones.
                        Some("ses_0") => 300 + THREADS * EACH.div_ceil(3) + EACH / 2,
                        Some(_) => EACH - EACH.div_ceil(3) + EACH / 2,
                    };
                    let mut received = Vec::new();
                    let mut subscription = store.catch_up(interest.clone(), Start::Beginning).unwrap();
                    while received.len() < expected {
                        received.push(logged(subscription.wait().unwrap()));
                        if received.len() % 97 == 0 {
                            let position = subscription.position().unwrap().to_string();
                            subscription = store.catch_up(interest.clone(), Start::resume(&position)).unwrap();
                        }
                    }
                    received
                })
            })
            .collect();
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        foreign.join().unwrap();
        for reader in readers {
            check_seqs(&reader.join().unwrap());
        }
    });
    store.poll().unwrap();
    let received = events(&mut stale);
    assert_eq!(ids(&received), log(&raw(&path)));
    check_seqs(&received);
}

#[test]
fn a_position_that_is_none_is_answered_with_a_reset() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let first = append(&store, "ses_1");
    append(&store, "ses_1");
    append(&store, "ses_2");
    let known = format!("1.{first}");
    for (session, position, expected) in [
        (None, "bad", Reset::Malformed),
        (None, "", Reset::Malformed),
        (None, "-5.evt_1", Reset::Malformed),
        (None, "1", Reset::Malformed),
        (None, "2.evt_of_another_database", Reset::Unknown),
        (None, "0.evt_of_another_database", Reset::Unknown),
        (None, "2000.evt_of_another_database", Reset::Ahead),
        (Some("ses_1"), "bad", Reset::Malformed),
        (Some("ses_1"), "-2", Reset::Malformed),
        (Some("ses_1"), known.as_str(), Reset::Malformed),
        (Some("ses_1"), "2", Reset::Ahead),
        (Some("ses_1"), "9223372036854775807", Reset::Ahead),
        (Some("ses_none"), "0", Reset::Unknown),
    ] {
        let interest = session.map_or(Interest::all(), Interest::session);
        let mut subscription = store.catch_up(interest.clone(), Start::resume(position)).unwrap();
        let session = session.unwrap_or("ses_1");
        let before = store.read(|view| view.sequence(session)).unwrap().map_or(0, |seq| seq + 1);
        write(&store, session, vec![event("session.next.later.1", &json!({}))]);
        let received = drain(&mut subscription);
        assert_eq!(told(&received), [format!("{expected:?}"), format!("{session}:{before}")], "{position:?}");
        // And from what it says then, one goes on.
        let position = subscription.position().unwrap().to_string();
        assert_eq!(drain(&mut store.catch_up(interest, Start::resume(&position)).unwrap()), []);
        if session == "ses_1" {
            // Back to two events, for the next row of the table.
            let last = store.read(|view| view.log_end(Some(session), None)).unwrap().unwrap();
            let db = raw(&_path);
            db.execute("DELETE FROM event WHERE id = ?1", [&*last.id]).unwrap();
            db.execute("UPDATE event_sequence SET seq = seq - 1 WHERE aggregate_id = ?1", [session]).unwrap();
        }
    }
}

#[test]
fn where_a_subscription_begins() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut empty = store.catch_up(Interest::all(), Start::Beginning).unwrap();
    let mut now = store.subscribe(Interest::all()).unwrap();
    assert_eq!(now.position(), None, "an empty log has no position");
    let first = append(&store, "ses_1");
    assert_eq!(told(&drain(&mut empty)), ["ses_1:0"]);
    assert_eq!(told(&drain(&mut now)), ["ses_1:0"]);
    append(&store, "ses_1");
    let of = |interest: Interest, start: Start| told(&drain(&mut store.catch_up(interest, start).unwrap()));
    assert_eq!(of(Interest::all(), Start::Beginning), ["ses_1:0", "ses_1:1"]);
    assert_eq!(of(Interest::all(), Start::After(Position::Record { rowid: 1, id: first })), ["ses_1:1"]);
    assert_eq!(of(Interest::all(), Start::Now), Vec::<String>::new());
    assert_eq!(of(Interest::session("ses_1"), Start::resume("-1")), ["ses_1:0", "ses_1:1"]);
    assert_eq!(of(Interest::session("ses_1"), Start::resume("0")), ["ses_1:1"]);
    assert_eq!(of(Interest::session("ses_1"), Start::resume("1")), Vec::<String>::new());
    assert_eq!(of(Interest::session("ses_2"), Start::resume("-1")), Vec::<String>::new());
}

#[test]
fn what_is_not_wanted_moves_the_position_on() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut subscription = store.subscribe(Interest::all().types(["session.next.rare"])).unwrap();
    append(&store, "ses_1");
    let last = append(&store, "ses_1");
    assert_eq!(drain(&mut subscription), []);
    assert_eq!(subscription.position(), Some(&Position::Record { rowid: 2, id: last }));
}

#[test]
fn emptied_events_are_left_out() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let mut live = store.subscribe(Interest::all()).unwrap();
    for _ in 0..5 {
        append(&store, "ses_1");
    }
    let no_op = json!({"sessionID": "ses_1", "messageID": "msg_", "partID": "prt_emptied"}).to_string();
    raw(&path).execute("UPDATE event SET type = 'message.part.removed.1', data = ?1 WHERE seq IN (1, 2, 4)", [no_op]).unwrap();
    assert_eq!(seqs(&events(&mut live)), [0, 3]);
    assert!(live.position().unwrap().to_string().starts_with("5."), "its place is passed all the same");
    let mut later = store.catch_up(Interest::session("ses_1"), Start::Beginning).unwrap();
    assert_eq!(seqs(&events(&mut later)), [0, 3]);
}

#[test]
fn a_long_log_comes_in_pages() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let big = "x".repeat(400_000);
    for _ in 0..20 {
        write(&store, "ses_1", vec![event("session.next.text.1", &json!({"text": big}))]);
    }
    let pending = store
        .write(Durability::Process, |tx| (0..1_000).try_for_each(|_| tx.append("ses_2", Expect::Any, plain("ses_2")).map(drop)));
    pending.wait().unwrap();
    // While one subscriber is in the middle of its history, the rest of it is not in memory: it may still change.
    let mut subscription = store.catch_up(Interest::all(), Start::Beginning).unwrap();
    let first = subscription.try_next().unwrap();
    assert!(matches!(first, Some(Delivery::Event(event)) if event.data.len() > 400_000));
    raw(&_path).execute("UPDATE event SET type = 'session.next.changed.1' WHERE rowid > 10", []).unwrap();
    let received = events(&mut subscription);
    assert_eq!(received.len(), 1_019);
    assert!(received.iter().filter(|event| event.rowid > 10).all(|event| event.kind == "session.next.changed.1"));
    check_seqs(&received[19..]);
}
