//! Twenty processes open an older file for writing at once: one brings it up, all can write it.

use super::common::{Place, lines, number};
use annalist_store::{Create, Durability, Options, Store};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

const FILE: &str = "ANNALIST_TEST_OLDER_FILE";
const MANY: usize = 20;

/// The child's half; nothing without its variable.
#[test]
fn child_opens_for_writing() {
    let Ok(file) = std::env::var(FILE) else { return };
    let mut go = String::new();
    std::io::stdin().read_to_string(&mut go).unwrap();
    let (store, migrated) = Store::open_for_writing(Path::new(&file), Create::Never, Options::default()).unwrap();
    store.write(Durability::Power, |_| Ok(())).wait().unwrap();
    println!("\nopened, migrated: {}", migrated.is_some());
}

#[test]
fn a_program_that_goes_on_writing_loses_nothing() {
    let place = Place::vintage("1.17.0");
    let writer = place.raw();
    writer.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stopped = std::sync::Arc::clone(&stop);
    let (wrote, first) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut n = 0;
        while !stopped.load(std::sync::atomic::Ordering::Relaxed) {
            n += 1;
            // As OpenCode writes: the names of columns, and nothing of what is new.
            let sql = "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated)
                       VALUES ((SELECT min(id) FROM session), ?1, 'pending', 'low', ?1, 1, 1)";
            writer.execute(sql, [1_000 + n]).unwrap();
            wrote.send(n).unwrap();
        }
        n
    });
    first.recv().unwrap();
    let (store, migrated) = Store::open_for_writing(&place.file, Create::Never, Options::default()).unwrap();
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let written = thread.join().unwrap();
    let migrated = migrated.unwrap();
    assert_eq!(migrated.logs_kept, 8);
    let count = "SELECT count(*) FROM todo WHERE position > 1000";
    assert_eq!(number(&place.raw(), count), written);
    let copied = number(&super::common::raw(&migrated.backup), count);
    assert!(copied >= 1 && copied <= written, "{copied} of {written}");
    assert_eq!(place.names().iter().filter(|name| name.contains("backup")).count(), 1, "copies that were overtaken are gone");
    drop(store);
}

#[test]
fn what_was_committed_after_the_copy_was_begun_is_in_the_copy_that_stays() {
    let place = Place::vintage("1.17.0");
    let holder = place.raw();
    holder
        .execute_batch("BEGIN IMMEDIATE; UPDATE session SET title = 'changed at the last moment' WHERE title = 'plain talk'")
        .unwrap();
    let file = place.file.clone();
    let thread = std::thread::spawn(move || Store::open_for_writing(&file, Create::Never, Options::default()).unwrap().1.unwrap());
    // The copy's name appears when what it will hold is settled; the work then waits for the lock.
    while !place.names().iter().any(|name| name.contains("backup")) {
        std::thread::yield_now();
    }
    holder.execute_batch("COMMIT").unwrap();
    let migrated = thread.join().unwrap();
    let changed = "SELECT count(*) FROM session WHERE title = 'changed at the last moment'";
    assert_eq!((number(&super::common::raw(&migrated.backup), changed), number(&holder, changed)), (1, 1));
    assert_eq!((migrated.logs_kept, migrated.logs_dropped.len()), (7, 1), "the log was judged anew, too");
    assert_eq!(place.names().iter().filter(|name| name.contains("backup")).count(), 1);
}

#[test]
fn a_lock_held_for_too_long_is_busy_and_leaves_the_file_as_it_was() {
    let place = Place::vintage("1.2.1");
    let holder = place.raw();
    let before = super::common::shape(&holder);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let options = Options { patience: std::time::Duration::from_millis(50), ..Options::default() };
    let error = Store::open_for_writing(&place.file, Create::Never, options).err().unwrap();
    assert!(error.is_busy(), "{error:?}");
    holder.execute_batch("ROLLBACK").unwrap();
    assert!(!place.names().iter().any(|name| name.contains("backup")), "{:?}", place.names());
    assert_eq!(super::common::shape(&holder), before);
    assert!(Store::open_for_writing(&place.file, Create::Never, Options::default()).unwrap().1.is_some());
}

#[test]
fn one_of_twenty_brings_it_up() {
    for version in ["1.2.1", "1.17.0"] {
        let place = Place::vintage(version);
        let mut children: Vec<_> = (0..MANY)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "vintages::processes::child_opens_for_writing", "--nocapture"])
                    .env(FILE, &place.file)
                    .stdin(Stdio::piped())
                    .stdout(Stdio::piped())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for child in &mut children {
            child.stdin.take().unwrap().write_all(b"go").unwrap();
        }
        let told: Vec<String> =
            children.into_iter().map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()).collect();
        let count = |words: &str| told.iter().filter(|t| t.contains(words)).count();
        assert_eq!((count("migrated: true"), count("migrated: false")), (1, MANY - 1), "{version}: {told:?}");
        let names = place.names();
        assert_eq!(names.iter().filter(|name| name.contains("backup")).count(), 1, "{version}: {names:?}");
        let db = place.raw();
        assert_eq!(number(&db, "SELECT count(*) FROM migration"), 38);
        assert_eq!(lines(&db, "PRAGMA integrity_check").len(), 1);
        if version == "1.17.0" {
            assert_eq!(number(&db, "SELECT count(*) FROM event_sequence"), 8);
        }
    }
}
