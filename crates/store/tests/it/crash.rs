//! kill -9 at any moment leaves a prefix of the acknowledged commits (design G5).

use super::child::Worker;
use super::replay::replayed;
use super::support::{Room, begin, check_integrity, check_log, info, raw, rows};
use annalist_store::row::Cell;
use std::collections::HashMap;

#[test]
fn a_killed_writer_loses_nothing_it_acknowledged() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let sessions = ["ses_a", "ses_b", "ses_c"];
    for session in sessions {
        begin(&store, &info(session));
    }
    drop(store);
    let mut acknowledged: HashMap<String, (String, i64)> = HashMap::new();
    // The long form kills 200 times: ANNALIST_LONG_TESTS=1 cargo test -p annalist-store --test it crash
    let rounds = if std::env::var_os("ANNALIST_LONG_TESTS").is_some() { 200_usize } else { 10 };
    for round in 0..rounds {
        let mut worker = Worker::start("append for ever", &[&[path.to_str().unwrap()], &sessions[..]].concat());
        worker.ready();
        // Killed after one acknowledgement, or in full run. What was said and not yet read counts as well.
        let wanted = 1 + (round % 10) * (round % 10) * 7;
        let mut heard = 0;
        let mut note = |line: String| {
            let [session, seq, id] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
            acknowledged.insert(id.to_owned(), (session.to_owned(), seq.parse().unwrap()));
        };
        while heard < wanted {
            note(worker.line().expect("it goes on until it is killed"));
            heard += 1;
        }
        worker.process.kill().unwrap();
        worker.process.wait().unwrap();
        while let Some(line) = worker.line() {
            note(line);
        }

        let db = raw(&path);
        check_integrity(&db);
        check_log(&db);
        let stored: HashMap<String, (String, i64)> = rows(&db, "SELECT id, aggregate_id, seq FROM event")
            .into_iter()
            .map(|row| match &row[..] {
                [Cell::Text(id), Cell::Text(session), Cell::Int(seq)] => (id.clone(), (session.clone(), *seq)),
                other => panic!("{other:?}"),
            })
            .collect();
        for (id, place) in &acknowledged {
            assert_eq!(stored.get(id), Some(place), "round {round}: {id} was acknowledged");
        }
        // Each append was a message and its part: both or none.
        let halves = "SELECT m.id FROM message m LEFT JOIN part p ON p.message_id = m.id WHERE p.id IS NULL";
        assert_eq!(rows(&db, halves), Vec::<Vec<Cell>>::new());
        replayed(&path).assert_same_rows();
    }
    assert!(acknowledged.len() > 1_000);
}
