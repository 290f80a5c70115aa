//! Many processes that write.

use super::room::{Room, check};
use crate::child::Worker;
use crate::support::{int, raw};
use std::collections::BTreeMap;

/// Starts them all at once; gives what each said.
fn together(workers: impl Iterator<Item = Worker>) -> Vec<Vec<String>> {
    let mut workers: Vec<Worker> = workers.collect();
    workers.iter_mut().for_each(|worker| worker.ready());
    workers.iter_mut().for_each(Worker::go);
    // Each one's pipe is emptied on a thread of its own, or it would wait for the others.
    let threads: Vec<_> = workers.into_iter().map(|worker| std::thread::spawn(|| worker.finish())).collect();
    threads.into_iter().map(|thread| thread.join().unwrap()).collect()
}

/// Everything acknowledged is in the file under its number.
fn check_acknowledged(room: &Room, said: &[Vec<String>], total: usize) {
    let db = raw(&room.path);
    check(&db);
    let mut statement = db.prepare("SELECT id, seq FROM event").unwrap();
    let stored: BTreeMap<String, String> = statement
        .query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.to_string())))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    let mut acknowledged = 0;
    for line in said.iter().flatten() {
        let (id, seq) = line.split_once(' ').unwrap();
        assert_eq!(stored.get(id).map(String::as_str), Some(seq), "{id} was acknowledged");
        acknowledged += 1;
    }
    assert_eq!(acknowledged, total);
}

#[test]
fn eight_processes_append_two_hundred_events_each() {
    let (room, store) = Room::with(&[]);
    let sessions: Vec<String> = (0..8).map(|n| format!("ses_{}", n / 2)).collect();
    let said = together(sessions.iter().map(|session| Worker::start("append to one", &[room.file(), session, "200"])));
    check_acknowledged(&room, &said, 1_600);
    drop(store);
}

#[test]
fn two_processes_append_five_thousand_events_each_to_one_session() {
    let (room, store) = Room::with(&[]);
    let said = together((0..2).map(|_| Worker::start("append to one", &[room.file(), "ses_one", "5000"])));
    check_acknowledged(&room, &said, 10_000);
    assert_eq!(int(&raw(&room.path), "SELECT seq FROM event_sequence WHERE aggregate_id = 'ses_one'"), 9_999);
    drop(store);
}

#[test]
fn twenty_processes_make_one_file() {
    let room = Room::empty();
    let said = together((0..20).map(|_| Worker::start("make and append", &[room.file()])));
    let mut numbers: Vec<i64> = said.iter().flatten().map(|seq| seq.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    let db = raw(&room.path);
    check(&db);
    assert_eq!(int(&db, "SELECT count(*) - count(DISTINCT id) FROM migration"), 0);
    assert!(int(&db, "SELECT count(*) FROM migration") > 30);
    // Only the file, and what SQLite keeps beside it while it is open.
    let names: Vec<String> = std::fs::read_dir(room.path.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !["opencode.db", "opencode.db-wal", "opencode.db-shm"].contains(&&**name))
        .collect();
    assert_eq!(names, Vec::<String>::new());
}
