//! One runner a session (design G10).

use super::room::{Room, user};
use crate::child::Worker;
use crate::support::{int, open, raw};
use annalist_store::{Claim, ClaimError, Durability, Error, Expect, Store};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::atomic::Ordering;

fn holder(result: Result<Claim, ClaimError>) -> Option<u32> {
    match result {
        Err(ClaimError::Held { by, .. }) => by.map(|by| by.pid),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("given twice"),
    }
}

#[test]
fn within_a_process_one_caller_gets_it() {
    let (room, store) = Room::with(&["ses_1", "ses_2"]);
    let claim = store.claim("ses_1").unwrap();
    let me = Some(std::process::id());
    assert_eq!(holder(store.claim("ses_1")), me);
    assert_eq!(holder(open(&room.path).claim("ses_1")), me);
    assert_eq!(holder(store.claim_by_force("ses_1")), me, "force is not for claims of ours");
    let other = store.claim("ses_2").unwrap();
    drop(claim);
    let again = store.claim("ses_1").unwrap();
    assert!(again.still_held() && other.still_held());
}

#[test]
fn of_many_threads_one_gets_it() {
    let (_room, store) = Room::with(&["ses_1"]);
    for _ in 0..20 {
        let start = std::sync::Barrier::new(4);
        let results: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        store.claim("ses_1")
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    }
}

#[test]
fn a_lock_on_a_file_that_was_just_deleted_is_no_claim() {
    // Each release deletes the file, and others have it open already.
    let (_room, store) = Room::with(&["ses_1"]);
    let inside = std::sync::atomic::AtomicU32::new(0);
    let given = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let Ok(claim) = store.claim("ses_1") else { continue };
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two at once");
                    assert!(claim.still_held());
                    given.fetch_add(1, Ordering::SeqCst);
                    inside.fetch_sub(1, Ordering::SeqCst);
                    claim.release();
                }
            });
        }
    });
    assert!(given.into_inner() > 200);
}

#[test]
fn of_two_processes_one_gets_it_and_its_death_frees_it_at_once() {
    let (room, store) = Room::with(&["ses_1"]);
    for _ in 0..5 {
        let mut workers: Vec<Worker> = (0..2).map(|_| Worker::start("claim", &[room.file(), "ses_1"])).collect();
        workers.iter_mut().for_each(|worker| worker.ready());
        workers.iter_mut().for_each(Worker::go);
        let said: Vec<String> = workers.iter_mut().map(|worker| worker.line().unwrap()).collect();
        let winner = said.iter().position(|said| said == "given").expect("one gets it");
        let pid = workers[winner].process.id();
        assert_eq!(said[1 - winner], format!("held by {pid}"));

        assert_eq!(holder(store.claim("ses_1")), Some(pid));
        let living = store.claims().unwrap();
        assert_eq!(living.iter().map(|holder| (&*holder.session, holder.pid)).collect::<Vec<_>>(), [("ses_1", pid)]);
        let text = ClaimError::Held { session: "ses_1".into(), by: living.into_iter().next() }.to_string();
        assert!(text.starts_with(&format!("session ses_1 is run by process {pid}")), "{text}");

        workers.remove(winner).kill();
        // No waiting, no retrying.
        let claim = store.claim("ses_1").unwrap();
        assert_eq!(store.claims().unwrap().into_iter().map(|holder| holder.pid).collect::<Vec<_>>(), [std::process::id()]);
        drop(claim);
        assert_eq!(store.claims().unwrap(), []);
        workers.remove(0).kill();
    }
}

#[test]
fn who_lost_the_file_writes_nothing_more() {
    let (room, store) = Room::with(&["ses_1"]);
    let claim = store.claim("ses_1").unwrap();
    let write = |claim: &Claim, id: &'static str| {
        claim.write(Durability::Process, move |tx| tx.append("ses_1", Expect::Any, user("ses_1", id, 5))).wait()
    };
    write(&claim, "msg_1").unwrap();
    std::fs::remove_dir_all(room.side()).unwrap();
    assert!(!claim.still_held());
    assert!(matches!(claim.check(), Err(Error::ClaimLost { session }) if session == "ses_1"));
    assert!(matches!(write(&claim, "msg_2"), Err(Error::ClaimLost { .. })));
    assert!(matches!(claim.answering("msg_2"), Err(Error::ClaimLost { .. })));

    // Everything is made again for the next one, and the end of the old claim does not touch it.
    let next = open(&room.path).claim("ses_1").unwrap();
    assert!(matches!(write(&claim, "msg_3"), Err(Error::ClaimLost { .. })), "another file is there now");
    claim.release();
    assert!(next.still_held());
    assert_eq!(holder(store.claim("ses_1")), Some(std::process::id()));
    write(&next, "msg_4").unwrap();
    let db = raw(&room.path);
    assert_eq!(int(&db, "SELECT count(*) FROM message WHERE id IN ('msg_1', 'msg_4')"), 2);
    assert_eq!(int(&db, "SELECT count(*) FROM message"), 2);
}

#[test]
fn a_queued_write_keeps_the_claim() {
    let (_room, store) = Room::with(&["ses_1"]);
    let claim = store.claim("ses_1").unwrap();
    let (begin, begun) = std::sync::mpsc::channel::<()>();
    // Holds the writer up until the claim is given back.
    let first = store.write(Durability::Process, move |_| {
        begun.recv().ok();
        Ok(())
    });
    let queued = claim.write(Durability::Process, move |tx| tx.append("ses_1", Expect::Any, user("ses_1", "msg_1", 5)));
    claim.release();
    assert_eq!(holder(store.claim("ses_1")), Some(std::process::id()));
    begin.send(()).unwrap();
    first.wait().unwrap();
    queued.wait().unwrap();
    store.claim("ses_1").unwrap();
}

#[test]
fn what_is_beside_the_file_is_private_readable_and_goes_with_the_last_process() {
    let (room, store) = Room::with(&["ses_1"]);
    let claim = store.claim("ses_1").unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let claims = room.side().join("claims");
    let files: Vec<_> = std::fs::read_dir(&claims).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(files.len(), 1);
    for folder in [&room.side(), &claims] {
        assert_eq!(mode(folder), 0o700, "{}", folder.display());
    }
    for file in [&files[0], &room.side().join("present")] {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    let text = std::fs::read_to_string(&files[0]).unwrap();
    let line: serde_json::Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!(line["session"], "ses_1");
    assert_eq!(line["pid"], std::process::id());
    assert!(line["since"].as_i64().unwrap() > 1_700_000_000_000, "{text}");
    assert_eq!(line["version"], env!("CARGO_PKG_VERSION"));
    assert!(line["host"].is_string());

    let second = open(&room.path);
    crate::support::write(&second, "ses_1", vec![user("ses_1", "msg_1", 5)]);
    claim.release();
    drop(store);
    assert!(room.side().join("present").exists(), "somebody is still there");
    drop(second);
    assert!(!room.side().exists());
}

#[test]
fn reading_makes_nothing_beside_the_file() {
    let (room, store) = Room::with(&["ses_1"]);
    drop(store);
    let store = open(&room.path);
    store.session("ses_1").unwrap();
    assert_eq!(store.claims().unwrap(), []);
    assert!(!room.side().exists());
}

#[test]
fn a_session_that_is_not_there_has_no_claim() {
    let (room, store) = Room::with(&[]);
    let refused = store.claim("ses_1").err().unwrap();
    assert!(matches!(refused, ClaimError::Store(Error::NotFound { .. })), "{refused:?}");
    assert!(!refused.is_busy());
    drop(store);
    assert!(!room.side().exists());
    fn _is_send(claim: Claim, store: Store) -> impl Send {
        (claim, store)
    }
}
