//! Twenty processes open an older file for writing at once: one brings it up, all can write it.

use crate::common::{Place, lines, number};
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
fn one_of_twenty_brings_it_up() {
    for version in ["1.2.1", "1.17.0"] {
        let place = Place::vintage(version);
        let mut children: Vec<_> = (0..MANY)
            .map(|_| {
                Command::new(std::env::current_exe().unwrap())
                    .args(["--exact", "processes::child_opens_for_writing", "--nocapture"])
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
        let told: Vec<String> = children
            .into_iter()
            .map(|child| String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap())
            .collect();
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
