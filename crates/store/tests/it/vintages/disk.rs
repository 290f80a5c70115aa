//! Full disks and folders that cannot be written. Each test runs its half again in a child with a small file system of its
//! own (a mount namespace, with or without root); where the system allows no such thing, under a limit of file sizes.
#![cfg(unix)]

use super::common::{Place, VINTAGES, lines, number, raw};
use annalist_store::query::SessionFilter;
use annalist_store::{Create, Durability, Error, Expect, NewEvent, Options, Store};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "ANNALIST_TEST_SMALL_FOLDER";
const LIMITED: &str = "ANNALIST_TEST_LIMITED";

/// How a child gets its file system.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    Mount(&'static [&'static str]),
    Limit,
}

fn way() -> Way {
    for flags in [&["-m"][..], &["-Urm"][..]] {
        let tried = Command::new("unshare").args(flags).args(["mount", "-t", "tmpfs", "none", "/mnt"]).output();
        if tried.is_ok_and(|tried| tried.status.success()) {
            return Way::Mount(flags);
        }
    }
    Way::Limit
}

/// Runs a test of this file in a child, after `setup` (shell) has made `$DIR`.
fn child(test: &str, setup: &str, folder: &Path) {
    child_in(way(), test, setup, folder);
}

fn child_in(way: Way, test: &str, setup: &str, folder: &Path) {
    let mut command = match way {
        Way::Mount(flags) => {
            let mut command = Command::new("unshare");
            command.args(flags).args(["sh", "-c", &format!("{setup} && exec \"$@\""), "sh"]);
            command
        }
        Way::Limit => {
            let mut command = Command::new("sh");
            // A write beyond the limit is to fail, not to kill.
            command.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]).env(LIMITED, "1");
            command
        }
    };
    let done = command
        .arg(program())
        .args(["--exact", &format!("vintages::disk::{test}"), "--nocapture"])
        .env("DIR", folder)
        .env(FOLDER, folder)
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&done.stdout);
    let told = format!("{out}{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && out.contains("the child is done"), "{told}");
}

fn program() -> PathBuf {
    std::env::current_exe().unwrap()
}

/// Where nothing can be mounted: the folder and its files lose their write permission, and a child of root its rights.
fn closed(test: &str, folder: &Path) {
    let mode = |path: &Path, mode| fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        mode(&entry.unwrap().path(), 0o444);
    }
    mode(folder, 0o555);
    // The way to the program may be closed to others.
    let elsewhere = tempfile::tempdir().unwrap();
    mode(elsewhere.path(), 0o755);
    let copy = elsewhere.path().join("tests");
    fs::copy(program(), &copy).unwrap();
    let mut command = if rustix::process::geteuid().is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&copy);
        command
    } else {
        Command::new(&copy)
    };
    let done = command.args(["--exact", &format!("vintages::disk::{test}"), "--nocapture"]).env(FOLDER, folder).output().unwrap();
    mode(folder, 0o755);
    let told = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && told.contains("the child is done"), "{told}");
}

/// In the child: its folder. Nothing in the parent's own run of all tests.
fn small_folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

fn event(session: &str, kind: &str, rest: &str) -> NewEvent {
    NewEvent::new(kind, format!(r#"{{"sessionID":"{session}",{rest}}}"#))
}

fn create(store: &Store, session: &str) {
    let info = format!(
        r#""info":{{"id":"{session}","slug":"s","projectID":"global","directory":"/x","title":"t","version":"1.18.33","time":{{"created":1,"updated":1}}}}"#
    );
    let created = event(session, "session.created.1", &info);
    let session = session.to_owned();
    store
        .write(Durability::Power, move |tx| {
            let folder = annalist_store::Folder {
                project: "global".into(),
                worktree: "/".into(),
                directory: "/x".into(),
                path: "x".into(),
                git: false,
                previous: None,
            };
            tx.ensure_project(&folder, 1)?;
            tx.append(&session, Expect::NoStream, created)
        })
        .wait()
        .unwrap();
}

fn say(store: &Store, session: &str, n: i64, size: usize) -> Result<i64, Error> {
    let info = format!(r#""info":{{"id":"msg_{n}","role":"user","time":{{"created":{n}}},"text":"{}"}}"#, "x".repeat(size));
    let events = vec![event(session, "message.updated.1", &info)];
    Ok(store.append(session, Expect::At(n - 1), events, Durability::Power).wait()?[0].seq)
}

#[test]
fn a_full_disk_gives_a_typed_error_keeps_what_was_committed_and_work_resumes() {
    let folder = tempfile::tempdir().unwrap();
    child("child_fills_the_disk", "mount -t tmpfs -o size=4m none \"$DIR\"", folder.path());
    if matches!(way(), Way::Mount(_)) {
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the child's disk was its own");
    }
}

/// A file that may not grow is as full as a disk; SQLite knows it for a failed write only.
#[test]
fn a_limit_of_file_sizes_is_a_full_disk_too() {
    let folder = tempfile::tempdir().unwrap();
    child_in(Way::Limit, "child_fills_the_disk", "", folder.path());
}

#[test]
fn child_fills_the_disk() {
    let Some(folder) = small_folder() else { return };
    let limited = std::env::var_os(LIMITED).is_some();
    let (file, ballast) = (folder.join("opencode.db"), folder.join("ballast"));
    fs::write(&ballast, vec![7; 1 << 20]).unwrap();
    let store = Store::open(&file, Create::IfMissing).unwrap();
    create(&store, "ses_1");
    if limited {
        limit(Some(1 << 20));
    }
    let mut acknowledged = 0;
    let error = loop {
        match say(&store, "ses_1", acknowledged + 1, 60_000) {
            Ok(seq) => acknowledged = seq,
            Err(error) => break error,
        }
        assert!(acknowledged < 1_000, "the disk never fills");
    };
    assert!(matches!(error, Error::Full { .. }), "{error:?}");
    assert!(error.to_string().contains("free some"), "{error}");
    assert_eq!(error.to_string().contains("(File too large (os error"), limited, "{error}");
    assert!(acknowledged > 3);
    // Still full: refused again, and reading goes on, in this store and in a new one.
    assert!(say(&store, "ses_1", acknowledged + 1, 600_000).is_err());
    let newest = |store: &Store| store.read(|view| view.sequence("ses_1")).unwrap().unwrap();
    assert_eq!(newest(&store), acknowledged);
    let mut seen = 0;
    store
        .stream("ses_1", |_| {
            seen += 1;
            annalist_store::Flow::Continue
        })
        .unwrap();
    assert_eq!(seen, acknowledged);
    let other = Store::open(&file, Create::Never).unwrap();
    assert_eq!(newest(&other), acknowledged);
    drop(other);
    // There is space again.
    fs::remove_file(&ballast).unwrap();
    if limited {
        limit(None);
    }
    assert_eq!(say(&store, "ses_1", acknowledged + 1, 60_000).unwrap(), acknowledged + 1);
    drop(store);
    let db = raw(&file);
    assert_eq!(lines(&db, "PRAGMA integrity_check"), ["'ok'"]);
    assert_eq!(number(&db, "SELECT count(*) FROM event"), acknowledged + 2);
    assert_eq!(number(&db, "SELECT count(*) FROM message"), acknowledged + 1);
    println!("\nthe child is done");
}

/// A limit of file sizes for this process; `None` lifts it again.
fn limit(bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Fsize).maximum;
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

#[test]
fn an_older_file_is_left_alone_where_its_copy_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    if way() == Way::Limit {
        println!("no file system of its own: the limit of file sizes stands in");
    }
    child("child_has_no_room", "mount -t tmpfs -o size=2m none \"$DIR\"", folder.path());
}

#[test]
fn child_has_no_room() {
    let Some(folder) = small_folder() else { return };
    let limited = std::env::var_os(LIMITED).is_some();
    for version in VINTAGES {
        let source = Place::vintage(version);
        let file = folder.join("opencode.db");
        fs::copy(&source.file, &file).unwrap();
        if limited {
            limit(Some(64 << 10));
        }
        let error = Store::open_for_writing(&file, Create::Never, Options::default()).err().unwrap();
        if limited {
            limit(None);
            assert!(matches!(error, Error::Full { .. } | Error::Io { .. } | Error::Sqlite { .. }), "{error:?}");
        } else {
            assert!(matches!(&error, Error::NoRoom { needed, free, .. } if needed > free), "{error:?}");
        }
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{version}: nothing is left");
        assert!(fs::read(&file).unwrap() == fs::read(&source.file).unwrap(), "{version}");
        if !limited {
            // Not even the index of the log fits.
            let ballast = folder.join("ballast");
            let mut size = 4 << 20;
            while size > 0 {
                let mut held = fs::read(&ballast).unwrap_or_default();
                held.resize(held.len() + size, 7);
                if fs::write(&ballast, held).is_err() {
                    size /= 2;
                }
            }
            let error = Store::open(&file, Create::Never).err().unwrap();
            assert!(matches!(error, Error::Full { .. }), "{error:?}");
            fs::remove_file(&ballast).unwrap();
            // SQLite leaves an empty log and the beginning of its index, which the next one to look takes away.
            assert_eq!(fs::metadata(folder.join("opencode.db-wal")).map_or(0, |meta| meta.len()), 0);
            let store = Store::open(&file, Create::Never).unwrap();
            assert!(store.sessions(&SessionFilter::default()).unwrap().sessions.len() >= 8, "{version}");
            drop(store);
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{version}: nothing is left");
            assert!(fs::read(&file).unwrap() == fs::read(&source.file).unwrap(), "{version}");
        }
        fs::remove_file(&file).unwrap();
    }
    println!("\nthe child is done");
}

#[test]
fn a_folder_that_cannot_be_written_is_read_or_says_what_to_do() {
    // In a namespace root, too, meets a folder that cannot be written; elsewhere the folder's mode does it.
    let setup = "mount --bind \"$DIR\" \"$DIR\" && mount -o remount,ro,bind \"$DIR\"";
    for case in ["bare", "log", "log-and-index"] {
        let source = Place::current();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("opencode.db");
        if case == "bare" {
            fs::copy(&source.file, &file).unwrap();
        } else {
            let writer = source.raw();
            writer
                .execute(
                    "UPDATE session SET title = 'only in the log', time_updated = 9000000000000 WHERE title = 'plain talk'",
                    [],
                )
                .unwrap();
            for suffix in ["", "-wal", "-shm"].iter().take(if case == "log" { 2 } else { 3 }) {
                fs::copy(format!("{}{suffix}", source.file.display()), format!("{}{suffix}", file.display())).unwrap();
            }
        }
        fs::write(folder.path().join("case"), case).unwrap();
        let before: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).map(|p| (p.clone(), fs::read(p).unwrap())).collect();
        match way() {
            Way::Mount(_) => child("child_cannot_write", setup, folder.path()),
            Way::Limit => closed("child_cannot_write", folder.path()),
        }
        let after: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().path()).map(|p| (p.clone(), fs::read(p).unwrap())).collect();
        assert!(before == after, "{case}: nothing is left, nothing changed");
    }
}

#[test]
fn child_cannot_write() {
    let Some(folder) = small_folder() else { return };
    let case = fs::read_to_string(folder.join("case")).unwrap();
    let file = folder.join("opencode.db");
    match (case.as_str(), Store::open(&file, Create::IfMissing)) {
        ("log", Err(error)) => {
            // Without a place for the index the log cannot be read, and without the log the file is not the truth.
            assert!(matches!(error, Error::Io { .. }), "{error:?}");
            let told = error.to_string();
            assert!(told.contains("copy") && told.contains("-wal"), "{told}");
        }
        (case, opened) => {
            let store = opened.unwrap_or_else(|error| panic!("{case}: {error:?}"));
            let first = store.sessions(&SessionFilter { limit: Some(1), ..SessionFilter::default() }).unwrap();
            let in_the_log = first.sessions[0].title().unwrap() == "only in the log";
            assert_eq!(in_the_log, case != "bare", "{case}");
            let refused = store.write(Durability::Power, |_| Ok(())).wait().unwrap_err();
            assert!(matches!(refused, Error::ReadOnly { .. } | Error::Io { .. }), "{case}: {refused:?}");
        }
    }
    println!("\nthe child is done");
}
