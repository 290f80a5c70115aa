//! Files are respected (design G7): new ones are the reference's, damaged ones are told and left alone.

use super::child::Worker;
use super::support::{
    Room, THEN, append, begin, check_integrity, conformance, event, export, info, int, message, open, raw, rows, sequence, user,
    write,
};
use annalist_store::query::SessionFilter;
use annalist_store::row::Cell;
use annalist_store::{Create, Durability, Error, Expect, Store};
use rusqlite::Connection;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Barrier;

/// Everything in the folder belongs to the file: no draft was left. (Two that close at the same moment may both take the
/// other for the last one, and leave -wal and -shm.)
fn assert_no_litter(folder: &Path) {
    let names = names(folder);
    assert!(names.iter().all(|name| ["opencode.db", "opencode.db-shm", "opencode.db-wal"].contains(&&**name)), "{names:?}");
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// What SQLite says of the shape of a file, however its `CREATE` statements are written.
fn shape(db: &Connection) -> Vec<(String, Vec<Vec<Cell>>)> {
    let mut shape = Vec::new();
    let objects = rows(db, "SELECT type, name, tbl_name FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%' ORDER BY type, name");
    for object in &objects {
        let (kind, name) = (object[0].text().unwrap(), object[1].text().unwrap());
        let queries = match kind {
            "table" => vec![
                // The default as text: '0' and 0 differ.
                format!("SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo('{name}')"),
                format!(
                    "SELECT \"table\", \"from\", \"to\", on_update, on_delete, \"match\" FROM pragma_foreign_key_list('{name}') ORDER BY 1, 2"
                ),
                format!("SELECT name, \"unique\", origin, partial FROM pragma_index_list('{name}') ORDER BY 1"),
                format!("SELECT type, ncol, wr, strict FROM pragma_table_list('{name}')"),
            ],
            "index" => vec![format!("SELECT seqno, name, \"desc\", coll, key FROM pragma_index_xinfo('{name}')")],
            other => panic!("a {other}"),
        };
        for query in queries {
            shape.push((query.clone(), rows(db, &query)));
        }
    }
    shape.push(("objects".to_owned(), objects));
    shape
}

#[test]
fn a_new_file_has_the_shape_of_the_references() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let reference = raw(&room.copy("opencode-empty.db"));
    let ours = raw(&path);
    let (wanted, got) = (shape(&reference), shape(&ours));
    assert!(wanted.len() > 60);
    for (wanted, got) in wanted.iter().zip(&got) {
        assert_eq!(got, wanted);
    }
    assert_eq!(got.len(), wanted.len());
    let ledger = "SELECT id FROM migration ORDER BY id";
    assert_eq!(rows(&ours, ledger), rows(&reference, ledger));
    assert_eq!(int(&ours, "SELECT count(*) FROM migration WHERE time_completed > 1700000000000"), 38);
    // The empty fixture was written by a script; what a running OpenCode sets is seen in the other.
    let reference = raw(&room.copy("opencode-small.db"));
    for pragma in ["journal_mode", "page_size", "user_version", "encoding", "auto_vacuum", "application_id"] {
        let pragma = format!("PRAGMA {pragma}");
        assert_eq!(rows(&ours, &pragma), rows(&reference, &pragma), "{pragma}");
    }
    for (table, rows) in super::support::everything(&path) {
        assert_eq!(rows.len(), 0, "{table} of a new file is empty");
    }
    store.writable().unwrap();
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_new_file_is_private_with_all_that_belongs_to_it() {
    let room = Room::new();
    let path = room.path("new/below/opencode.db");
    let store = Store::open(&path, Create::IfMissing).unwrap();
    begin(&store, &info("ses_1"));
    for suffix in ["", "-wal", "-shm"] {
        assert_eq!(mode(&PathBuf::from(format!("{}{suffix}", path.display()))), 0o600, "{suffix}");
    }
    assert_eq!(mode(&room.path("new")), 0o700);
    assert_eq!(mode(&room.path("new/below")), 0o700);
}

#[test]
fn many_threads_make_one_file() {
    const THREADS: usize = 20;
    for _ in 0..5 {
        let room = Room::new();
        let path = room.path("opencode.db");
        let start = Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (path, start) = (&path, &start);
                scope.spawn(move || {
                    start.wait();
                    let store = Store::open(path, Create::IfMissing).unwrap();
                    begin(&store, &info(&format!("ses_{thread}")));
                });
            }
        });
        // Whoever had made a file of its own would have lost its session.
        assert_eq!(open(&path).sessions(&SessionFilter::default()).unwrap().total, THREADS as u64);
        assert_no_litter(room.folder());
    }
}

#[test]
fn many_processes_make_one_file() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let mut workers: Vec<Worker> = (0..8).map(|_| Worker::start("make", &[path.to_str().unwrap()])).collect();
    workers.iter_mut().for_each(Worker::ready);
    workers.iter_mut().for_each(Worker::go);
    for worker in workers {
        assert_eq!(worker.finish(), ["0"]);
    }
    assert_no_litter(room.folder());
    check_integrity(&raw(&path));
}

#[test]
fn a_missing_file_is_not_made_by_looking() {
    let room = Room::new();
    let path = room.path("none/opencode.db");
    match Store::open(&path, Create::Never).err() {
        Some(Error::NoFile { file }) => assert_eq!(file, path),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(room.folder()), Vec::<String>::new());
}

/// Opens and, if that works, reads everything: somewhere on the way the damage has to be told.
fn told(path: &Path) -> Error {
    let look = || -> Result<(), Error> {
        let store = Store::open(path, Create::IfMissing)?;
        for session in store.sessions(&SessionFilter::default())?.sessions {
            store.page(&session.id().unwrap(), None, None)?;
        }
        Ok(())
    };
    look().expect_err("no damage was seen")
}

#[test]
fn what_is_no_database_is_told_and_left_alone() {
    let room = Room::new();
    let check = |name: &str, bytes: &[u8], kind: fn(&Error) -> bool| {
        let path = room.path(name);
        fs::write(&path, bytes).unwrap();
        let before = names(room.folder());
        let error = told(&path);
        assert!(kind(&error), "{name}: {error:?}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
        assert!(fs::read(&path).unwrap() == bytes, "{name} was changed");
        assert_eq!(names(room.folder()), before, "{name}: nothing beside it");
    };
    let not_a_database: fn(&Error) -> bool = |e| matches!(e, Error::NotADatabase { .. });
    let damaged: fn(&Error) -> bool = |e| matches!(e, Error::Damaged { .. });
    let whole = fs::read(conformance("fixtures/opencode-small.db")).unwrap();
    check("empty.db", b"", |e| matches!(e, Error::EmptyFile { .. }));
    check(
        "words.db",
        b"no database at all, and longer than a header of one hundred bytes, so that size alone does not tell it",
        not_a_database,
    );
    check("short.db", b"SQLite", not_a_database);
    check("zeros.db", &[0; 8192], not_a_database);
    check("header.db", &whole[..100], |e| matches!(e, Error::Damaged { .. } | Error::NotADatabase { .. }));
    check("page.db", &whole[..4096], damaged);
    check("half.db", &whole[..whole.len() / 2], damaged);
    check("cut.db", &whole[..whole.len() - 4096], damaged);
    // Pages that contradict each other: all but the schema's filled with rubbish.
    let mut rubbish = whole.clone();
    rubbish[200_000..].fill(0xA5);
    check("rubbish.db", &rubbish, damaged);
    let mut schema = whole;
    schema[100..4096].fill(0xA5);
    check("schema.db", &schema, damaged);

    let folder = room.path("folder.db");
    fs::create_dir(&folder).unwrap();
    assert!(not_a_database(&told(&folder)));
    assert_eq!(names(&folder), Vec::<String>::new());

    let other = room.path("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE notes (x)").unwrap();
    let bytes = fs::read(&other).unwrap();
    assert!(not_a_database(&told(&other)));
    assert!(fs::read(&other).unwrap() == bytes);
}

#[test]
fn a_damaged_page_costs_what_stands_on_it() {
    // One session's message is on a broken page: the list and other sessions answer.
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let db = raw(&path);
    let root = int(&db, "SELECT rootpage FROM sqlite_master WHERE name = 'part'") as usize;
    drop(db);
    let mut bytes = fs::read(&path).unwrap();
    bytes[(root - 1) * 4096..root * 4096].fill(0xA5);
    fs::write(&path, &bytes).unwrap();
    let store = open(&path);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap().total, 20);
    assert!(matches!(told(&path), Error::Damaged { .. }));
    drop(store);
    assert!(fs::read(&path).unwrap() == bytes);
}

/// A file whose last writer was killed: its log is beside it. Answers what there is.
fn left_behind(room: &Room) -> PathBuf {
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    drop(store);
    let mut worker = Worker::start("write and die", &[path.to_str().unwrap(), "ses_1"]);
    assert_eq!(worker.line().as_deref(), Some("written"));
    worker.process.kill().unwrap();
    worker.process.wait().unwrap();
    assert!(fs::metadata(room.path("opencode.db-wal")).unwrap().len() > 0);
    path
}

#[test]
fn the_log_of_a_killed_writer_is_read_and_stays() {
    let room = Room::new();
    let path = left_behind(&room);
    let files = ["opencode.db", "opencode.db-wal"].map(|name| room.path(name));
    let before = files.clone().map(|file| fs::read(file).unwrap());
    for _ in 0..2 {
        let store = open(&path);
        assert_eq!(store.page("ses_1", None, None).unwrap().messages.len(), 1, "what it said is there");
        export(&store, "ses_1");
        drop(store);
        let after = files.clone().map(|file| fs::read(file).unwrap());
        assert!(after == before, "a reader leaves the files as they were");
    }
    // Without its -shm, as after a loss of power.
    fs::remove_file(room.path("opencode.db-shm")).unwrap();
    assert_eq!(open(&path).page("ses_1", None, None).unwrap().messages.len(), 1);
    assert!(files.clone().map(|file| fs::read(file).unwrap()) == before);
}

#[test]
fn a_writer_goes_on_after_a_killed_one() {
    let room = Room::new();
    let path = left_behind(&room);
    let store = open(&path);
    assert_eq!(append(&store, "ses_1", message(&user("ses_1", "msg_2", &json!(THEN)))).unwrap().seq, 2);
    drop(store);
    assert_eq!(open(&path).page("ses_1", None, None).unwrap().messages.len(), 2);
    check_integrity(&raw(&path));
}

#[test]
fn a_torn_log_gives_what_was_committed_before() {
    let room = Room::new();
    let path = left_behind(&room);
    let log = room.path("opencode.db-wal");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() - 100]).unwrap();
    let store = open(&path);
    assert_eq!(store.session("ses_1").unwrap().title().unwrap(), "a session");
    assert_eq!(store.page("ses_1", None, None).unwrap().messages.len(), 0, "half a commit is none");
    assert_eq!(sequence(&store, "ses_1"), Some(0));
}

#[test]
fn reading_keeps_the_journal_mode() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let mode = |path: &Path| raw(path).query_row("PRAGMA journal_mode", [], |row| row.get::<_, String>(0)).unwrap();
    raw(&path).execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    assert_eq!(mode(&path), "delete");
    let before = fs::read(&path).unwrap();
    let store = open(&path);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap().total, 20);
    for session in store.sessions(&SessionFilter::default()).unwrap().sessions {
        export(&store, &session.id().unwrap());
    }
    drop(store);
    assert!(fs::read(&path).unwrap() == before);
    assert_eq!(names(room.folder()), ["opencode-small.db"]);
    assert_eq!(mode(&path), "delete");
    // The first write does what every start of OpenCode does.
    let store = open(&path);
    append(&store, "ses_x", event("session.next.synthetic.1", &json!({"sessionID": "ses_x"}))).unwrap();
    assert_eq!(mode(&path), "wal");
}

#[test]
fn opening_and_closing_leaks_no_descriptor() {
    // In a process of its own: other tests open files too.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store);
    let worker = Worker::start("open and close", &[path.to_str().unwrap(), "1000"]);
    let said = worker.finish();
    let (before, after) = said[0].split_once(' ').unwrap();
    assert_eq!(before, after);
    assert_eq!(names(room.folder()), ["opencode.db"]);
}

#[test]
fn an_open_snapshot_does_not_change() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    store
        .read(|view| {
            let before = view.sequence("ses_1")?;
            write(&store, "ses_1", vec![message(&user("ses_1", "msg_1", &json!(1)))]);
            assert_eq!(view.sequence("ses_1")?, before);
            assert_eq!(view.message_owner("msg_1")?, None);
            Ok(())
        })
        .unwrap();
    assert_eq!(sequence(&store, "ses_1"), Some(1));
}

#[test]
fn a_reader_cannot_write() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let store = open(&path);
    // A write through a store whose file has gone read-only in the meantime is an error and no panic.
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let refused =
        store.append("ses_1", Expect::Any, vec![event("session.next.synthetic.1", &json!({}))], Durability::Process).wait();
    assert!(matches!(refused, Err(Error::Io { .. })), "{refused:?}");
}
