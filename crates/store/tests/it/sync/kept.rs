//! The trail that a server leaves to the next one: a position leads on although its event was erased while none ran.

use super::support::{
    Room, append, append_raw, at_once, created, deleted, drain, erase_raw, import_raw, insert_event, plain, project, raw, told,
    write,
};
use annalist_store::bus::Interest;
use annalist_store::{Create, Start, Store};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};

fn resumed(store: &Store, position: &str) -> Vec<String> {
    told(&drain(&mut store.catch_up(Interest::all(), Start::resume(position)).unwrap()))
}

/// A server begins on a file.
fn server(path: &Path) -> Store {
    let store = Store::open(path, Create::IfMissing).unwrap();
    store.keep_trail().unwrap();
    store
}

struct Place {
    room: Room,
    path: PathBuf,
    db: Connection,
}

impl Place {
    fn new() -> Self {
        let room = Room::new();
        let path = room.path("opencode.db");
        drop(Store::open(&path, Create::IfMissing).unwrap());
        let db = raw(&path);
        project(&db);
        Place { room, path, db }
    }

    fn trail(&self) -> PathBuf {
        self.room.path("opencode.db-annalist/trail")
    }

    /// A server ran, and a client has the position of the end of the log: the fourth event of two sessions.
    fn with_a_client(&self) -> String {
        let store = server(&self.path);
        let mut live = store.subscribe(Interest::all()).unwrap();
        write(&store, "ses_1", vec![created("ses_1")]);
        write(&store, "ses_2", vec![created("ses_2"), plain("ses_2"), plain("ses_2")]);
        assert_eq!(drain(&mut live).len(), 4);
        let position = live.position().unwrap().to_string();
        assert!(position.starts_with("4."), "{position}");
        drop(live);
        store.keep_trail().unwrap();
        position
    }

    /// The newest session goes, and its rows are given out again.
    fn erase_the_newest(&self) {
        at_once(&self.db, || {
            self.db.execute("DELETE FROM session WHERE id = 'ses_2'", []).unwrap();
            erase_raw(&self.db, "ses_2");
            (0..4).for_each(|_| insert_event(&self.db, "ses_1", &plain("ses_1")));
        });
    }
}

const RIGHT: [&str; 5] = ["ses_1:1", "ses_1:2", "ses_1:3", "ses_1:4", "Deleted ses_2"];

#[test]
fn the_newest_session_was_erased_while_no_server_ran() {
    let place = Place::new();
    let position = place.with_a_client();
    place.erase_the_newest();
    assert_eq!(resumed(&server(&place.path), &position), RIGHT);
    // That server may go without a word: the next one knows what it did not see either.
    assert_eq!(resumed(&server(&place.path), &position), RIGHT);
    // Without the trail it is a position of nowhere.
    fs::remove_file(place.trail()).unwrap();
    assert_eq!(resumed(&server(&place.path), &position), ["Unknown"]);
}

#[test]
fn what_happened_before_is_handed_on() {
    let place = Place::new();
    let position = place.with_a_client();
    let store = server(&place.path);
    write(&store, "ses_3", vec![created("ses_3")]);
    write(&store, "ses_3", vec![deleted("ses_3")]);
    erase_raw(&place.db, "ses_3");
    append(&store, "ses_1");
    store.keep_trail().unwrap();
    drop(store);
    place.erase_the_newest();
    let store = server(&place.path);
    assert_eq!(
        resumed(&store, &position),
        ["Deleted ses_3", "ses_1:1", "ses_1:2", "ses_1:3", "ses_1:4", "ses_1:5", "Deleted ses_2"]
    );
}

#[test]
fn a_log_that_was_erased_as_a_whole_begins_anew() {
    let place = Place::new();
    let store = server(&place.path);
    let mut live = store.subscribe(Interest::all()).unwrap();
    write(&store, "ses_2", vec![created("ses_2"), plain("ses_2")]);
    assert_eq!(drain(&mut live).len(), 2);
    let position = live.position().unwrap().to_string();
    drop(live);
    store.keep_trail().unwrap();
    drop(store);
    place.db.execute("DELETE FROM session WHERE id = 'ses_2'", []).unwrap();
    erase_raw(&place.db, "ses_2");
    append_raw(&place.db, "ses_3");
    assert_eq!(resumed(&server(&place.path), &position), ["ses_3:0", "Deleted ses_2"]);
}

/// A session that went while a server ran and came again, without a word, while none did.
#[test]
fn a_session_that_came_again_is_told() {
    let place = Place::new();
    let position = place.with_a_client();
    let store = server(&place.path);
    let mut live = store.subscribe(Interest::all()).unwrap();
    place.erase_the_newest();
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut live)), RIGHT);
    drop(live);
    store.keep_trail().unwrap();
    drop(store);
    import_raw(&place.db, "ses_2");
    let store = server(&place.path);
    assert_eq!(resumed(&store, &position), [&RIGHT[..], &["Created ses_2"]].concat());
}

#[test]
fn a_damaged_one_is_none() {
    let place = Place::new();
    let position = place.with_a_client();
    place.erase_the_newest();
    let whole = fs::read(place.trail()).unwrap();
    let half = whole[..whole.len() / 2].to_vec();
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for bytes in [Vec::new(), half, changed, b"nonsense".to_vec(), vec![b'x'; 5 << 20]] {
        fs::write(place.trail(), bytes).unwrap();
        let store = server(&place.path);
        assert_eq!(resumed(&store, &position), ["Unknown"]);
        // It is written anew with what is known now.
        store.keep_trail().unwrap();
        assert!(fs::metadata(place.trail()).unwrap().len() < 2_000);
    }
    fs::write(place.trail(), whole).unwrap();
    assert_eq!(resumed(&server(&place.path), &position), RIGHT);
}

/// The folder may be deleted at any time, also below a server.
#[test]
fn the_folder_may_be_deleted_at_any_time() {
    let place = Place::new();
    let store = server(&place.path);
    write(&store, "ses_1", vec![created("ses_1")]);
    store.keep_trail().unwrap();
    fs::remove_dir_all(place.room.path("opencode.db-annalist")).unwrap();
    store.keep_trail().unwrap();
    assert!(!place.trail().exists(), "nothing is new, so nothing is written");
    append(&store, "ses_1");
    store.keep_trail().unwrap();
    assert!(place.trail().exists());
}

#[cfg(unix)]
#[test]
fn it_is_private_and_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.with_a_client();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.trail()), 0o600);
    assert_eq!(mode(&place.room.path("opencode.db-annalist")), 0o700);
    let names: Vec<_> = fs::read_dir(place.room.path("opencode.db-annalist")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["trail"], "no draft, and no lock of a process that ended");
    // A draft that a killed process left is used up.
    fs::write(place.room.path("opencode.db-annalist/trail-new"), "half").unwrap();
    let store = server(&place.path);
    append(&store, "ses_1");
    store.keep_trail().unwrap();
    drop(store);
    assert!(!place.room.path("opencode.db-annalist/trail-new").exists());
}

/// A folder that cannot be written costs the hint, and is told.
#[test]
fn what_cannot_be_kept_is_told() {
    let place = Place::new();
    fs::write(place.room.path("opencode.db-annalist"), "in the way").unwrap();
    let store = server(&place.path);
    let mut live = store.subscribe(Interest::all()).unwrap();
    append_raw(&place.db, "ses_1");
    store.poll().unwrap();
    assert_eq!(drain(&mut live).len(), 1);
    assert!(matches!(store.keep_trail(), Err(annalist_store::Error::Io { .. })));
    append_raw(&place.db, "ses_1");
    store.poll().unwrap();
    assert_eq!(drain(&mut live).len(), 1);
}

/// Several servers on one file keep theirs in turn; each is one that a client can go on from.
#[test]
fn several_keep_it_in_turn() {
    let place = Place::new();
    let position = place.with_a_client();
    let stores = [server(&place.path), server(&place.path)];
    std::thread::scope(|scope| {
        for store in &stores {
            scope.spawn(move || {
                for _ in 0..50 {
                    append(store, "ses_1");
                    store.keep_trail().unwrap();
                }
            });
        }
    });
    drop(stores);
    place.erase_the_newest();
    let got = resumed(&server(&place.path), &position);
    assert_eq!((got.len(), got.last().map(String::as_str)), (105, Some("Deleted ses_2")));
}
