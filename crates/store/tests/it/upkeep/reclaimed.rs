//! `reclaim`: space goes back to the disk, and nobody is held up without being asked.

use super::support::{Room, append, begin, checked, compacted, int, open, projected, raw, store, text};
use annalist_store::Flow;
use annalist_store::upkeep::{Reclaim, Reclaimed, reclaim};
use std::path::{Path, PathBuf};

const S: &str = "ses_a";

/// A compacted file whose log had 6 MB to empty.
fn emptied(room: &Room, pragma: &str) -> PathBuf {
    let path = room.path("opencode.db");
    drop(store(&path, false));
    // What auto_vacuum is, only an empty file or a rewrite can change.
    raw(&path).execute_batch(pragma).unwrap();
    let writer = open(&path, false);
    begin(&writer, S);
    for _ in 0..12 {
        append(&writer, S, text(S, "msg_ases_a", "prt_a", &"x".repeat(600_000))).unwrap();
    }
    drop(writer);
    compacted(&path);
    path
}

fn ask(path: &Path, force: bool, neighbours: bool) -> Reclaimed {
    reclaim(path, Reclaim { force, ..Reclaim::default() }, || neighbours, &mut |_| Flow::Continue).unwrap()
}

fn check_done(path: &Path, done: &Reclaimed) {
    let Reclaimed::Done { before, after } = done else { panic!("{done:?}") };
    assert!(*before > 6_000_000 && *after < 2_500_000, "{done:?}");
    assert_eq!(std::fs::metadata(path).unwrap().len(), *after);
    assert_eq!(int(path, "PRAGMA freelist_count"), 0);
    assert_eq!(checked(path).1, []);
}

#[test]
fn a_file_of_the_reference_is_rewritten_when_nobody_has_it_open() {
    let room = Room::new();
    let path = emptied(&room, "");
    let rows = projected(&path);
    assert_eq!(int(&path, "PRAGMA auto_vacuum"), 0);
    let held = std::fs::read(&path).unwrap();
    let Reclaimed::Neighbours { free } = ask(&path, false, true) else { panic!("it was rewritten beside a neighbour") };
    assert!(free > 5_000_000);
    assert_eq!(std::fs::read(&path).unwrap(), held);
    check_done(&path, &ask(&path, false, false));
    assert_eq!(projected(&path), rows);
    assert_eq!(int(&path, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
    assert_eq!(ask(&path, false, true), Reclaimed::Nothing);
}

#[test]
fn force_does_it_beside_a_neighbour() {
    let room = Room::new();
    let path = emptied(&room, "");
    check_done(&path, &ask(&path, true, true));
}

#[test]
fn a_file_made_for_it_gives_pages_back_in_steps() {
    let room = Room::new();
    let path = emptied(&room, "PRAGMA journal_mode = DELETE; PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA journal_mode = WAL");
    assert_eq!(int(&path, "PRAGMA auto_vacuum"), 2);
    let free = int(&path, "PRAGMA freelist_count");
    // Stopped behind the first step, then carried on.
    let stopped = reclaim(&path, Reclaim::default(), || true, &mut |_| Flow::Stop).unwrap();
    assert!(matches!(stopped, Reclaimed::Stopped { .. }), "{stopped:?}");
    assert_eq!(int(&path, "PRAGMA freelist_count"), free - 256);
    let mut steps = 0;
    let done = reclaim(&path, Reclaim::default(), || true, &mut |_| {
        steps += 1;
        Flow::Continue
    });
    assert!(matches!(done.unwrap(), Reclaimed::Done { .. }));
    assert!(steps > 3);
    assert_eq!(int(&path, "PRAGMA freelist_count"), 0);
    assert_eq!(checked(&path).1, []);
}
