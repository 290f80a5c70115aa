//! `rebuild`: a fresh file from the log, and nothing lost that no log tells of.

use super::support::{Room, append, begin, checked, int, log, open, projected, raw, rebuilt, rows, store, text};
use annalist_store::upkeep::{Copied, LogProblem, Unchecked, rebuild};
use annalist_store::{Error, Flow};
use std::path::Path;

const S: &str = "ses_a";
const M: &str = "msg_ases_a";

/// Every table, in its own order. `time_updated` of messages and parts is the event's millisecond where the reference looked at
/// its clock once more.
fn everything(path: &Path, without: &[&str]) -> Vec<String> {
    let db = raw(path);
    let mut names = db.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").unwrap();
    let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    names
        .iter()
        .filter(|name| !without.contains(&&***name))
        .flat_map(|name| rows(&db, name, "rowid").into_iter().map(move |row| format!("{name}: {row}")))
        .collect()
}

#[test]
fn a_real_file_comes_out_the_same() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    // Things that no event writes.
    raw(&path)
        .execute_batch(
            "INSERT INTO permission SELECT 'per_a', id, 'allow', '*', 1, 2 FROM project LIMIT 1;
             INSERT INTO session_share SELECT id, 'shr', 'secret', 'https://example.com', 1, 2 FROM session LIMIT 1;
             INSERT INTO workspace SELECT 'wrk_a', 'git', 'name', NULL, NULL, NULL, id, 5 FROM project LIMIT 1;
             CREATE TABLE theirs (a, b UNIQUE); INSERT INTO theirs VALUES (X'00ff', CAST(X'ff61' AS TEXT));
             CREATE TRIGGER told AFTER INSERT ON theirs BEGIN DELETE FROM theirs; END;
             CREATE VIRTUAL TABLE found USING fts5(text); INSERT INTO found VALUES ('words');
             UPDATE event_sequence SET owner_id = 'wrk_a' WHERE rowid = 2",
        )
        .unwrap();
    let into = room.path("new.db");
    let mut told = 0;
    let done = rebuild(&path, &into, &mut |progress| {
        told = progress.sessions;
        Flow::Continue
    });
    let done = done.unwrap();
    assert_eq!(
        (done.replayed, told, done.copied.len(), done.partly.len(), done.unlogged.len(), done.dangling),
        (20, 20, 0, 0, 0, 0)
    );
    let skip = ["message", "part", "found", "found_data", "found_idx", "found_content", "found_docsize", "found_config"];
    assert_eq!(everything(&into, &skip), everything(&path, &skip));
    assert_eq!(done.left_out.len(), 6);
    assert_eq!(done.rows.iter().map(|(_, before, after)| before - after).sum::<u64>(), 0);
    assert_eq!(done.tables["event"], 614);
    // The same messages in the same order, save for the clock's second look.
    for table in ["message", "part"] {
        let sql = format!(
            "SELECT count(*) FROM (SELECT id, session_id, time_created FROM {table} EXCEPT SELECT id, session_id, time_created FROM old.{table})"
        );
        let db = raw(&into);
        db.execute("ATTACH ?1 AS old", [path.to_str().unwrap()]).unwrap();
        assert_eq!(db.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
    assert_eq!(checked(&into).1, []);
    assert_eq!(int(&into, "SELECT count(*) FROM sqlite_master WHERE type = 'trigger'"), 1);
    let open = open(&into, true);
    open.writable().unwrap();
    let session: String = raw(&into).query_row("SELECT id FROM session LIMIT 1", [], |row| row.get(0)).unwrap();
    open.session(&session).unwrap();
}

#[cfg(unix)]
#[test]
fn the_new_file_is_private_and_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let into = room.path("new.db");
    rebuilt(&path, &into);
    assert_eq!(std::fs::metadata(&into).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(room.names(), ["new.db", "opencode-small.db"]);
}

#[test]
fn nothing_is_ever_written_over() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let into = room.path("new.db");
    for name in ["new.db", "new.db-wal"] {
        std::fs::write(room.path(name), "here").unwrap();
        match rebuild(&path, &into, &mut |_| Flow::Continue) {
            Err(Error::Io { source, .. }) => assert_eq!(source.kind(), std::io::ErrorKind::AlreadyExists),
            other => panic!("{other:?}"),
        }
        assert_eq!(std::fs::read(room.path(name)).unwrap(), b"here");
        std::fs::remove_file(room.path(name)).unwrap();
    }
    // Somebody else's file that comes while it runs stays too.
    let raced = rebuild(&path, &into, &mut |_| {
        std::fs::write(&into, "here").unwrap();
        Flow::Continue
    });
    assert!(matches!(raced, Err(Error::Io { .. })), "{raced:?}");
    assert_eq!(std::fs::read(&into).unwrap(), b"here");
    std::fs::remove_file(&into).unwrap();
    let stopped = rebuild(&path, &into, &mut |progress| if progress.sessions == 2 { Flow::Stop } else { Flow::Continue });
    assert!(stopped.unwrap().stopped);
    assert_eq!(room.names(), ["opencode-small.db"], "a stopped one leaves nothing");
}

/// Three sessions; the second is the one something happens to.
fn three(room: &Room) -> std::path::PathBuf {
    let path = room.path("opencode.db");
    let store = store(&path, true);
    for session in ["ses_0", S, "ses_2"] {
        begin(&store, session);
        let message = format!("msg_a{session}");
        append(&store, session, text(session, &message, &format!("prt_{session}"), "said")).unwrap();
        append(&store, session, text(session, &message, &format!("prt_{session}"), "said more")).unwrap();
    }
    path
}

#[test]
fn a_session_whose_log_does_not_tell_all_is_copied() {
    for (sql, why) in [
        (
            "DELETE FROM event WHERE aggregate_id = 'ses_a'; DELETE FROM event_sequence WHERE aggregate_id = 'ses_a'",
            Copied::Late(Unchecked::NoLog),
        ),
        ("DELETE FROM event WHERE aggregate_id = 'ses_a' AND seq < 2", Copied::Late(Unchecked::StartsAt { seq: 2 })),
        ("DELETE FROM event WHERE aggregate_id = 'ses_a' AND seq = 2", Copied::Log(LogProblem::Gap { after: 1, next: 3 })),
    ] {
        let room = Room::new();
        let path = three(&room);
        raw(&path).execute_batch(sql).unwrap();
        let into = room.path("new.db");
        let done = rebuilt(&path, &into);
        assert_eq!((done.replayed, done.copied), (2, vec![(S.to_owned(), why)]), "{sql}");
        assert_eq!(everything(&into, &[]), everything(&path, &[]), "{sql}");
    }
}

#[test]
fn rows_that_are_gone_or_wrong_come_back_from_the_log() {
    for sql in [
        "DELETE FROM session",
        "DELETE FROM message; DELETE FROM part",
        "UPDATE part SET data = 'gone'",
        "UPDATE session SET title = '', cost = 99, time_created = 0",
    ] {
        let room = Room::new();
        let path = three(&room);
        let before = projected(&path);
        raw(&path).execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
        let into = room.path("new.db");
        assert_eq!(rebuilt(&path, &into).replayed, 3);
        assert_eq!(projected(&into), before, "{sql}");
    }
}

#[test]
fn rows_that_no_event_mentions_stay_and_removed_ones_do_not() {
    let room = Room::new();
    let path = three(&room);
    let store = open(&path, true);
    append(&store, S, super::support::part_removed(S, M, "prt_ses_a")).unwrap();
    drop(store);
    let before = projected(&path);
    let db = raw(&path);
    // OpenCode's import into a session that has a log; and a row that an event removed.
    db.execute_batch(
        "INSERT INTO message VALUES ('msg_z', 'ses_a', 1, 1, '{}'); INSERT INTO part VALUES ('prt_z', 'msg_z', 'ses_a', 1, 1, 'odd');
         INSERT INTO part VALUES ('prt_ses_a', 'msg_ases_a', 'ses_a', 1, 1, '{}')",
    )
    .unwrap();
    let into = room.path("new.db");
    let done = rebuilt(&path, &into);
    assert_eq!(done.unlogged, [(S.to_owned(), 1, 1)]);
    let after = projected(&into);
    assert_eq!(after.len(), before.len() + 2);
    assert!(before.iter().all(|row| after.contains(row)));
    assert!(after.iter().any(|row| row.contains("'odd'")));
}

#[test]
fn a_damaged_log_without_rows_gives_what_it_can() {
    let room = Room::new();
    let path = three(&room);
    raw(&path)
        .execute_batch("UPDATE event SET data = substr(data, 1, 30) WHERE aggregate_id = 'ses_a' AND seq = 3; DELETE FROM session")
        .unwrap();
    let into = room.path("new.db");
    let done = rebuilt(&path, &into);
    assert_eq!(done.replayed, 3);
    assert!(matches!(&done.partly[..], [(session, problems)] if session == S && problems.len() == 1), "{:?}", done.partly);
    assert_eq!(int(&into, "SELECT count(*) FROM part WHERE session_id = 'ses_a' AND data LIKE '%said%'"), 1);
    assert_eq!(log(&into, S), log(&path, S), "the log is kept as it is");
}

#[test]
fn a_counter_that_is_wrong_is_set_right() {
    let room = Room::new();
    let path = three(&room);
    raw(&path).execute_batch("UPDATE event_sequence SET seq = 1 WHERE aggregate_id = 'ses_a'").unwrap();
    let into = room.path("new.db");
    assert_eq!(rebuilt(&path, &into).counters, [S]);
    append(&open(&into, true), S, text(S, M, "prt_ses_a", "and on")).unwrap();
    assert_eq!(checked(&into).1, []);
}

#[test]
fn references_that_dangle_are_copied_and_counted() {
    let room = Room::new();
    let path = three(&room);
    raw(&path).execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM project").unwrap();
    let into = room.path("new.db");
    let done = rebuilt(&path, &into);
    // Without its project no session can be replayed; its rows are there.
    assert_eq!((done.copied.len(), done.dangling), (3, 3));
    assert_eq!(projected(&into), projected(&path));
}
