//! The log: numbers without gap or repeat, expectations, and failures that leave no trace (design G2).

use super::child::Worker;
use super::support::{
    Room, THEN, append, begin, check_integrity, check_log, created, event, everything, info, int, message, open, part, raw, rows,
    sequence, text, updated, user, with, write,
};
use annalist_store::row::Cell;
use annalist_store::{Durability, Error, Expect, NewEvent, Recorded};
use rusqlite::Connection;
use serde_json::json;
use std::path::Path;
use std::sync::{Barrier, Mutex};

/// An event that no projector looks at.
fn plain(session: &str) -> NewEvent {
    event("session.next.synthetic.1", &json!({"sessionID": session}))
}

/// What callers were told is what the file holds.
fn check_recorded(db: &Connection, session: &str, recorded: &mut [Recorded]) {
    recorded.sort_by_key(|event| event.seq);
    let told: Vec<_> = recorded.iter().map(|e| vec![Cell::Int(e.seq), Cell::Text(e.id.clone())]).collect();
    assert_eq!(rows(db, &format!("SELECT seq, id FROM event WHERE aggregate_id = '{session}' ORDER BY seq")), told);
    assert_eq!(int(db, &format!("SELECT seq FROM event_sequence WHERE aggregate_id = '{session}'")), recorded.len() as i64 - 1);
}

#[test]
fn numbers_have_neither_gap_nor_repeat_under_many_threads() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 60;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let sessions = ["ses_a", "ses_b", "ses_c", "ses_d", "ses_e"];
    let recorded: Vec<Mutex<Vec<Recorded>>> = sessions.iter().map(|_| Mutex::new(Vec::new())).collect();
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, recorded, start) = (store.clone(), &recorded, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..ROUNDS {
                    let at = (thread + round) % sessions.len();
                    // One, two or three events at a time, sometimes not waited for before the next.
                    let events = |count: usize| (0..count).map(|_| plain(sessions[at])).collect::<Vec<_>>();
                    let first = store.append(sessions[at], Expect::Any, events(1 + round % 3), Durability::Process);
                    let second = store.append(sessions[at], Expect::Any, events(1), Durability::Process);
                    let (second, first) = (second.wait().unwrap(), first.wait().unwrap());
                    assert!(first.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq), "one append is one run of numbers");
                    recorded[at].lock().unwrap().extend(first.into_iter().chain(second));
                }
            });
        }
    });
    let db = raw(&path);
    check_log(&db);
    for (session, recorded) in sessions.iter().zip(recorded) {
        check_recorded(&db, session, &mut recorded.into_inner().unwrap());
    }
}

#[test]
fn a_session_with_rows_and_no_log_starts_at_0() {
    // Sessions that OpenCode imported, or whose log one of its migrations wiped.
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let db = raw(&path);
    let session = db.query_row("SELECT session_id FROM message LIMIT 1", [], |row| row.get::<_, String>(0)).unwrap();
    db.execute("DELETE FROM event_sequence WHERE aggregate_id = ?1", [&session]).unwrap();
    assert_eq!(int(&db, &format!("SELECT count(*) FROM event WHERE aggregate_id = '{session}'")), 0, "the log goes along");
    let store = open(&path);
    assert_eq!(sequence(&store, &session), None);
    let first = store.append(&session, Expect::NoStream, vec![plain(&session)], Durability::Process).wait().unwrap();
    assert_eq!(first[0].seq, 0);
    assert_eq!(append(&store, &session, plain(&session)).unwrap().seq, 1);
    check_log(&db);
}

#[test]
fn expectations_hold_or_conflict() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let ask = |expect| store.append("ses_1", expect, vec![plain("ses_1")], Durability::Process).wait().map(|e| e[0].seq);
    let conflict = |expect, at| match ask(expect) {
        Err(Error::Conflict { session, found, .. }) => assert_eq!((&*session, found), ("ses_1", at)),
        other => panic!("{expect:?}: {other:?}"),
    };
    conflict(Expect::At(0), None);
    conflict(Expect::At(-1), None);
    assert_eq!(ask(Expect::NoStream).unwrap(), 0);
    conflict(Expect::NoStream, Some(0));
    conflict(Expect::At(1), Some(0));
    assert_eq!(ask(Expect::At(0)).unwrap(), 1);
    conflict(Expect::At(0), Some(1));
    assert_eq!(ask(Expect::Any).unwrap(), 2);
    assert_eq!(sequence(&store, "ses_1"), Some(2), "conflicts used no number");
    assert_eq!(sequence(&store, "ses_2"), None);
    assert!(ask(Expect::At(7)).unwrap_err().is_conflict());
    check_log(&raw(&path));
}

#[test]
fn an_expectation_speaks_of_the_log_before_the_first_of_several_events() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let both = || vec![plain("ses_1"), plain("ses_1")];
    store.append("ses_1", Expect::NoStream, both(), Durability::Process).wait().unwrap();
    store.append("ses_1", Expect::At(1), both(), Durability::Process).wait().unwrap();
    assert!(store.append("ses_1", Expect::At(2), both(), Durability::Process).wait().unwrap_err().is_conflict());
    assert_eq!(sequence(&store, "ses_1"), Some(3));
}

#[test]
fn of_many_that_expect_the_same_place_one_gets_it() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let waiting: Vec<_> =
        (0..50).map(|_| store.append("ses_1", Expect::NoStream, vec![plain("ses_1")], Durability::Process)).collect();
    let won = waiting.into_iter().filter_map(|pending| pending.wait().ok()).count();
    assert_eq!(won, 1);
    assert_eq!(sequence(&store, "ses_1"), Some(0));
}

#[test]
fn an_event_id_is_taken_once_in_the_whole_file() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    begin(&store, &info("ses_2"));
    let first = append(&store, "ses_1", message(&user("ses_1", "msg_1", &json!(THEN)))).unwrap();
    let before = everything(&path);
    for session in ["ses_1", "ses_2"] {
        let mut again = message(&user(session, "msg_2", &json!(THEN)));
        again.id.clone_from(&first.id);
        match append(&store, session, again) {
            Err(Error::IdTaken { what: "event", id, .. }) => assert_eq!(id, first.id),
            other => panic!("{other:?}"),
        }
        assert_eq!(everything(&path), before, "no row and no number of it");
    }
    assert_eq!(append(&store, "ses_2", plain("ses_2")).unwrap().seq, 1);
}

#[test]
fn what_a_projector_refuses_leaves_no_trace() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    for session in ["ses_1", "ses_2"] {
        begin(&store, &info(session));
    }
    write(&store, "ses_2", vec![message(&user("ses_2", "msg_2", &json!(THEN))), part(&text("ses_2", "msg_2", "prt_2", "x"), THEN)]);
    write(&store, "ses_1", vec![message(&user("ses_1", "msg_1", &json!(THEN)))]);
    let before = everything(&path);
    let good = || message(&user("ses_1", "msg_good", &json!(THEN)));
    type Kind = fn(&Error) -> bool;
    let cases: Vec<(&str, NewEvent, Kind)> = vec![
        ("a part of no message", part(&text("ses_1", "msg_none", "prt_1", "x"), THEN), Error::is_not_found),
        ("a part of another session's message", part(&text("ses_1", "msg_2", "prt_1", "x"), THEN), Error::is_not_found),
        ("another session's part", part(&text("ses_1", "msg_1", "prt_2", "x"), THEN), Error::is_conflict),
        ("another session's message", message(&user("ses_1", "msg_2", &json!(THEN))), Error::is_conflict),
        ("a session that exists", created(&info("ses_1")), Error::is_conflict),
        ("data of another session", created(&info("ses_3")), is_invalid),
        (
            "an info of another session",
            event("session.updated.1", &json!({"sessionID": "ses_1", "info": info("ses_2")})),
            is_invalid,
        ),
        ("no session named", event("message.removed.1", &json!({"messageID": "msg_1"})), is_invalid),
        ("no message named", event("message.removed.1", &json!({"sessionID": "ses_1"})), is_invalid),
        ("no info", event("message.updated.1", &json!({"sessionID": "ses_1"})), is_invalid),
        (
            "a part without a time",
            event("message.part.updated.1", &json!({"sessionID": "ses_1", "part": text("ses_1", "msg_1", "prt_1", "x")})),
            is_invalid,
        ),
        ("an info of wrong shape", updated(&with(info("ses_1"), &json!({"title": 7}))), is_invalid),
        ("a required field missing", updated(&super::support::without(info("ses_1"), &["slug"])), is_invalid),
        ("no object", NewEvent::new("session.next.synthetic.1", "[]".into()), is_invalid),
        ("no JSON", NewEvent::new("session.next.synthetic.1", "{".into()), is_invalid),
    ];
    for (what, bad, kind) in cases {
        // With a good event before it, which has to go too.
        let failed = store.append("ses_1", Expect::Any, vec![good(), bad], Durability::Process).wait().expect_err(what);
        assert!(kind(&failed), "{what}: {failed:?}");
        assert_eq!(everything(&path), before, "{what}");
    }
    assert_eq!(append(&store, "ses_1", good()).unwrap().seq, 2, "no number was used");
}

fn is_invalid(error: &Error) -> bool {
    matches!(error, Error::Invalid { .. })
}

#[test]
fn what_belongs_to_a_missing_row_is_not_found() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let before = everything(&path);
    let named = |error: Error| match error {
        Error::NotFound { what, id } => (what, id),
        other => panic!("{other:?}"),
    };
    let lost = append(&store, "ses_1", message(&user("ses_1", "msg_1", &json!(THEN)))).unwrap_err();
    assert_eq!(named(lost), ("Session", "ses_1".to_owned()));
    let lost = append(&store, "ses_1", created(&with(info("ses_1"), &json!({"projectID": "nowhere"})))).unwrap_err();
    assert_eq!(named(lost), ("Project", "nowhere".to_owned()));
    assert_eq!(everything(&path), before);
    begin(&store, &info("ses_1"));
    let lost = append(&store, "ses_1", updated(&with(info("ses_1"), &json!({"projectID": "nowhere"})))).unwrap_err();
    assert_eq!(named(lost), ("Project", "nowhere".to_owned()));
}

#[test]
fn a_job_that_swallows_the_error_of_an_append_keeps_nothing() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let before = everything(&path);
    let job = store.write(Durability::Process, |tx| {
        tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_1", &json!(THEN))))?;
        // Written halfway: the message is there when the event's id turns out to be taken.
        let mut double = message(&user("ses_1", "msg_2", &json!(THEN)));
        double.id = tx.append("ses_1", Expect::Any, plain("ses_1"))?.id;
        assert!(tx.append("ses_1", Expect::Any, double).is_err());
        tx.append("ses_1", Expect::Any, plain("ses_1"))?;
        Ok(())
    });
    assert!(matches!(job.wait(), Err(Error::RolledBack { .. })));
    assert_eq!(everything(&path), before);
}

#[test]
fn a_conflict_may_be_answered_within_the_job() {
    // Nothing was written when the log was found elsewhere, so a job may go on.
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let job = store.write(Durability::Process, |tx| match tx.append("ses_1", Expect::At(5), plain("ses_1")) {
        Err(Error::Conflict { .. }) => tx.append("ses_1", Expect::NoStream, plain("ses_1")),
        other => other,
    });
    assert_eq!(job.wait().unwrap().seq, 0);
}

#[test]
fn a_job_reads_what_it_wrote_and_nobody_else_does() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let (own, others) = store
        .write(Durability::Process, {
            let store = store.clone();
            move |tx| {
                tx.append("ses_1", Expect::Any, plain("ses_1"))?;
                Ok((tx.sequence("ses_1")?, store.read(|view| view.sequence("ses_1"))?))
            }
        })
        .wait()
        .unwrap();
    assert_eq!((own, others), (Some(0), None));
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 1);
}

#[test]
fn four_processes_share_a_log() {
    const PROCESSES: usize = 4;
    const COUNT: usize = 200;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store);
    let name = path.to_str().unwrap();
    let mut workers: Vec<Worker> = (0..PROCESSES)
        .map(|number| Worker::start("append", &[name, &format!("ses_own{number}"), "ses_shared", &COUNT.to_string()]))
        .collect();
    workers.iter_mut().for_each(Worker::ready);
    workers.iter_mut().for_each(Worker::go);
    let mut said: Vec<(String, Recorded)> = Vec::new();
    for worker in workers {
        for line in worker.finish() {
            let [session, seq, id] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            said.push((session.to_owned(), Recorded { id: id.to_owned(), seq: seq.parse().unwrap() }));
        }
    }
    let db = raw(&path);
    check_log(&db);
    check_integrity(&db);
    let owns = (0..PROCESSES).map(|number| format!("ses_own{number}"));
    for session in owns.chain(["ses_shared".to_owned()]) {
        let mut recorded: Vec<Recorded> = said.iter().filter(|(of, _)| *of == session).map(|(_, r)| r.clone()).collect();
        assert_eq!(recorded.len(), if session == "ses_shared" { PROCESSES * COUNT } else { COUNT });
        check_recorded(&db, &session, &mut recorded);
    }
}

/// What OpenCode does for a durable event (reference-storage 3.2), with its lock pattern.
fn foreign_append(db: &Connection, session: &str, id: &str) -> i64 {
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let last: i64 = db
        .query_row("SELECT coalesce(max(seq), -1) FROM event_sequence WHERE aggregate_id = ?1", [session], |row| row.get(0))
        .unwrap();
    db.execute(
        "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2) ON CONFLICT (aggregate_id) DO UPDATE SET seq = ?2",
        (session, last + 1),
    )
    .unwrap();
    db.execute(
        "INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?1, ?2, ?3, 'session.next.synthetic.1', '{}')",
        (id, session, last + 1),
    )
    .unwrap();
    db.execute_batch("COMMIT").unwrap();
    last + 1
}

#[test]
fn two_writers_and_a_foreign_one_share_a_log() {
    const COUNT: usize = 150;
    let room = Room::new();
    let (path, first) = room.store("opencode.db");
    let second = open(&path);
    let start = Barrier::new(3);
    let ours = |store: annalist_store::Store, start: &Barrier| {
        start.wait();
        // Some wait, some are queued behind each other: groups of several as well as single ones.
        let mut recorded = Vec::new();
        for _ in 0..COUNT / 5 {
            let pending: Vec<_> =
                (0..5).map(|_| store.append("ses_1", Expect::Any, vec![plain("ses_1")], Durability::Process)).collect();
            recorded.extend(pending.into_iter().flat_map(|pending| pending.wait().unwrap()));
        }
        recorded
    };
    let foreign = |path: &Path, start: &Barrier| {
        let db = raw(path);
        start.wait();
        let append = |at| format!("evt_foreign{at}");
        (0..COUNT).map(|at| Recorded { id: append(at), seq: foreign_append(&db, "ses_1", &append(at)) }).collect::<Vec<_>>()
    };
    let mut recorded = std::thread::scope(|scope| {
        let start = &start;
        let one = scope.spawn(move || ours(first, start));
        let two = scope.spawn(move || ours(second, start));
        let three = foreign(&path, start);
        [one.join().unwrap(), two.join().unwrap(), three].concat()
    });
    assert_eq!(recorded.len(), 3 * COUNT);
    let db = raw(&path);
    check_log(&db);
    check_recorded(&db, "ses_1", &mut recorded);
}
