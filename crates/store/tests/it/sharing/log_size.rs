//! The log (`-wal`) stays bounded while writing never pauses (user report C22).

use super::room::{Room, answer, part};
use crate::support::{raw, write};
use annalist_store::{Durability, Expect, Store};
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const MB: u64 = 1 << 20;

/// Writes `megabytes` into the log without a pause; gives the largest size it had.
fn write_densely(store: &Store, path: &Path, megabytes: u64) -> u64 {
    let wal = path.with_file_name("opencode.db-wal");
    let text = "x".repeat(60_000);
    let mut largest = 0;
    let mut pending = VecDeque::new();
    // Each is written twice, as an event and as a row.
    for at in 0..megabytes * MB / 120_000 {
        let part = part("ses_1", "msg_1", &format!("prt_{}", at % 20), 5, json!({"type": "text", "text": text}));
        pending.push_back(store.append("ses_1", Expect::Any, vec![part], Durability::Process));
        if pending.len() == 8 {
            pending.pop_front().unwrap().wait().unwrap();
        }
        largest = largest.max(std::fs::metadata(&wal).map_or(0, |meta| meta.len()));
    }
    pending.into_iter().for_each(|pending| drop(pending.wait().unwrap()));
    largest.max(std::fs::metadata(&wal).map_or(0, |meta| meta.len()))
}

#[test]
fn dense_writing_beside_readers_keeps_the_log_short() {
    let (room, store) = Room::with(&["ses_1"]);
    write(&store, "ses_1", vec![answer("ses_1", "msg_1", 5)]);
    let stop = AtomicBool::new(false);
    let largest = std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    store.get("ses_1", "msg_1").unwrap();
                }
            });
        }
        let largest = write_densely(&store, &room.path, 100);
        stop.store(true, Ordering::Relaxed);
        largest
    });
    // 16 MB, what is written on top before the writer is between two transactions again, and patience with slow readers.
    assert!(largest < 48 * MB, "100 MB were written, and the log had {largest} bytes");
}

#[test]
fn a_long_reader_makes_it_longer_and_afterwards_it_is_cut() {
    let (room, store) = Room::with(&["ses_1"]);
    write(&store, "ses_1", vec![answer("ses_1", "msg_1", 5)]);
    let reader = raw(&room.path);
    reader.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    let under_it = write_densely(&store, &room.path, 60);
    assert!(under_it > 32 * MB, "the reader was meant to stand on the log: {under_it}");
    reader.execute_batch("COMMIT").unwrap();
    drop(reader);
    // By a quarter more at the latest it is begun anew, and its file cut down.
    write_densely(&store, &room.path, 60);
    let cut = std::fs::metadata(room.path.with_file_name("opencode.db-wal")).unwrap().len();
    assert!(cut < 24 * MB, "{cut}");
    drop(store);
    assert!(!room.path.with_file_name("opencode.db-wal").exists(), "closing takes it in");
}
