//! `compact`: what it empties, what it leaves, how it stops and goes on.

use super::support::{
    Room, append, begin, checked, compacted, emptied, int, log, message, message_removed, projected, raw, replayed, store, text,
};
use annalist_store::sqlite::Sqlite;
use annalist_store::upkeep::{Compact, Skipped, compact};
use annalist_store::{Create, Error, Flow, NewEvent, Options};
use std::path::{Path, PathBuf};
use std::time::Duration;

const S: &str = "ses_a";
const M: &str = "msg_ases_a";

/// A log that kept everything: `parts` parts of `size` bytes, each written `times` times.
fn grown(room: &Room, parts: usize, times: usize, size: usize) -> PathBuf {
    let path = room.path("grown.db");
    let store = store(&path, false);
    begin(&store, S);
    for part in 0..parts {
        for _ in 0..times {
            append(&store, S, text(S, M, &format!("prt_{part}"), &"x".repeat(size))).unwrap();
        }
    }
    path
}

fn dry(path: &Path) -> u64 {
    compact(path, Compact { dry_run: true, ..Compact::default() }, &mut |_| Flow::Continue).unwrap().events()
}

#[test]
fn a_dry_run_counts_what_a_run_empties() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let before = std::fs::read(&path).unwrap();
    let counted = compact(&path, Compact { dry_run: true, ..Compact::default() }, &mut |_| Flow::Continue).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), before, "nothing is written");
    let rows = projected(&path);
    let done = compacted(&path);
    assert_eq!(counted.emptied, done.emptied);
    assert_eq!(
        done.emptied.map(|kind| (kind.kind, kind.events)),
        [("message.updated.1", 65), ("message.part.updated.1", 17), ("session.updated.1", 94)]
    );
    let lost = done.emptied.iter().map(|kind| kind.bytes).sum::<u64>();
    let now = int(&path, "SELECT sum(length(CAST(data AS BLOB))) FROM event").unsigned_abs();
    assert_eq!(now + lost, done.read.bytes, "the bytes told are the bytes gone");
    assert_eq!(projected(&path), rows);
    assert_eq!(checked(&path).1, []);
    assert_eq!(dry(&path), 0);
}

#[test]
fn it_stops_when_told_and_goes_on_where_it_was() {
    let room = Room::new();
    let path = grown(&room, 3, 60, 60_000);
    let rows = projected(&path);
    let all = dry(&path);
    assert_eq!(all, 3 * 58);
    let mut left = all;
    // Stops behind the first batch of each run: a batch is 1 MB at most, so 17 events of 60 KB.
    for _ in 0..3 {
        let done = compact(&path, Compact::default(), &mut |progress| {
            if progress.sessions == 0 && emptied(&path).unsigned_abs() > all - left { Flow::Stop } else { Flow::Continue }
        });
        let done = done.unwrap();
        assert!(done.stopped && done.batches == 1 && (1..=18).contains(&done.events()), "{done:?}");
        left -= done.events();
        assert_eq!(dry(&path), left);
    }
    let done = compacted(&path);
    assert_eq!((done.events(), done.stopped), (left, false));
    assert!(done.batches >= left / 18);
    assert_eq!(projected(&path), rows);
    assert_eq!(replayed(&path), rows);
}

#[test]
fn logs_that_start_late_and_sessions_without_rows_follow_the_same_rules() {
    let room = Room::new();
    let path = grown(&room, 2, 5, 200);
    // Begun again by OpenCode after a migration wiped it: the first event is some snapshot, its number 0.
    let db = raw(&path);
    db.execute_batch("DELETE FROM event WHERE seq < 3; UPDATE event SET seq = seq - 3; UPDATE event_sequence SET seq = seq - 3")
        .unwrap();
    let rows = projected(&path);
    let done = compacted(&path);
    assert_eq!(done.events(), 2 + 3, "the first that is left stays");
    assert_eq!(log(&path, S)[0].1, "message.part.updated.1");
    assert_eq!(projected(&path), rows);

    let room = Room::new();
    let path = grown(&room, 2, 5, 200);
    raw(&path).execute_batch("DELETE FROM part; DELETE FROM message; DELETE FROM session").unwrap();
    let before = replayed(&path);
    assert_eq!(compacted(&path).events(), 6);
    assert_eq!(replayed(&path), before);
    assert!(!before.is_empty());
}

#[test]
fn a_log_that_is_not_in_order_is_left_alone_and_named() {
    let spoil = |sql: &str| {
        let room = Room::new();
        let path = grown(&room, 2, 5, 200);
        raw(&path).execute_batch(sql).unwrap();
        let before = log(&path, S);
        let done = compacted(&path);
        assert_eq!((done.events(), log(&path, S)), (0, before), "{sql}");
        done.skipped.into_iter().next().unwrap().1
    };
    assert!(matches!(spoil("DELETE FROM event WHERE seq = 4"), Skipped::Numbers(_)));
    assert_eq!(spoil("UPDATE event SET data = '{\"sessionID\":' WHERE seq = 4"), Skipped::Undecodable { seq: 4 });
    let newer = Skipped::Newer { seq: 4, kind: "message.removed.2".into() };
    assert_eq!(spoil("UPDATE event SET type = 'message.removed.2' WHERE seq = 4"), newer);
}

#[test]
fn an_event_that_changed_after_the_plan_is_not_touched() {
    let room = Room::new();
    // Several batches, so that there is a moment between the plan and the last of them.
    let path = grown(&room, 1, 60, 60_000);
    let mut spoilt = false;
    let done = compact(&path, Compact::default(), &mut |progress| {
        if progress.sessions == 0 && !spoilt && emptied(&path) > 0 {
            spoilt = true;
            // Erased by OpenCode, and made again with other events under the same numbers,
            // of the same type and size.
            raw(&path).execute_batch("PRAGMA foreign_keys = ON; DELETE FROM session; DELETE FROM event_sequence").unwrap();
            let again = super::support::open(&path, false);
            begin(&again, S);
            for n in 'a'..='z' {
                append(&again, S, text(S, M, &format!("prt_{n}"), &"y".repeat(60_000))).unwrap();
            }
        }
        Flow::Continue
    });
    let done = done.unwrap();
    assert!(spoilt && done.moved > 0, "{done:?}");
    assert_eq!(emptied(&path), 0);
    assert_eq!(checked(&path).1, []);
}

#[test]
fn a_file_that_another_process_holds_gives_busy_and_stays_whole() {
    let room = Room::new();
    let path = grown(&room, 1, 5, 200);
    let holder = raw(&path);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let hasty = Compact { patience: Duration::from_millis(20), ..Compact::default() };
    assert!(matches!(compact(&path, hasty, &mut |_| Flow::Continue), Err(Error::Busy { .. })));
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(compacted(&path).events(), 3);
}

#[test]
fn it_takes_an_open_file_and_works_beside_its_writer() {
    let room = Room::new();
    let path = grown(&room, 4, 40, 2_000);
    let open = Sqlite::open(&path, Create::Never, Options::default()).unwrap();
    let store = super::support::open(&path, true);
    let done = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for n in 0..200 {
                append(&store, S, text(S, M, &format!("prt_{}", n % 4), &"y".repeat(500 + n))).unwrap();
                if n % 40 == 0 {
                    append(&store, S, message_removed(S, M)).unwrap();
                    append(&store, S, message(S, M, &serde_json::json!({}))).unwrap();
                }
            }
        });
        let mut events = 0;
        while !writer.is_finished() {
            events += compact(&open, Compact::default(), &mut |_| Flow::Continue).unwrap().events();
        }
        writer.join().unwrap();
        events
    });
    assert!(done > 0);
    compacted(&path);
    assert_eq!(dry(&path), 0);
    assert_eq!(replayed(&path), projected(&path));
    assert_eq!(checked(&path).1, []);
}

#[test]
fn an_append_after_a_compact_knows_nothing_wrong() {
    let room = Room::new();
    let path = grown(&room, 1, 5, 200);
    let store = super::support::open(&path, true);
    let more = |n: usize| -> NewEvent { text(S, M, "prt_0", &"z".repeat(n)) };
    for n in 0..3 {
        append(&store, S, more(200 + n)).unwrap();
        compacted(&path);
        append(&store, S, more(300 + n)).unwrap();
        assert_eq!(replayed(&path), projected(&path));
    }
    // The first and the last.
    compacted(&path);
    assert_eq!(log(&path, S).iter().filter(|(_, kind, _)| kind == "message.part.updated.1").count(), 2);
}
