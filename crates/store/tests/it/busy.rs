//! A file that another program has locked.

use super::support::{Room, event, int, raw, sequence};
use annalist_store::{Create, Durability, Error, Expect, NewEvent, Options, Store};
use serde_json::json;
use std::time::Duration;

fn plain() -> NewEvent {
    event("session.next.synthetic.1", &json!({"sessionID": "ses_1"}))
}

#[test]
fn an_append_waits_for_the_lock_as_long_as_it_was_told_to() {
    let room = Room::new();
    let (path, patient) = room.store("opencode.db");
    let hasty =
        Store::open_with(&path, Create::Never, Options { patience: Duration::from_millis(30), ..Options::default() }).unwrap();
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = patient.append("ses_1", Expect::Any, vec![plain()], Durability::Process);
    match hasty.append("ses_1", Expect::Any, vec![plain()], Durability::Process).wait() {
        Err(Error::Busy { file, .. }) => assert_eq!(file, path, "it names the file"),
        other => panic!("{other:?}"),
    }
    // All that time the patient one was refused as well; it must still be trying.
    assert_eq!(sequence(&patient, "ses_1"), None, "reading needs no lock");
    lock.execute_batch("COMMIT").unwrap();
    assert_eq!(waiting.wait().unwrap()[0].seq, 0);
    assert_eq!(hasty.append("ses_1", Expect::Any, vec![plain()], Durability::Process).wait().unwrap()[0].seq, 1);
    assert_eq!(int(&lock, "SELECT count(*) FROM event"), 2);
}

#[test]
fn each_queued_write_is_told_that_the_file_is_locked() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store);
    let store =
        Store::open_with(&path, Create::Never, Options { patience: Duration::from_millis(20), ..Options::default() }).unwrap();
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting: Vec<_> = (0..100).map(|_| store.append("ses_1", Expect::Any, vec![plain()], Durability::Process)).collect();
    for pending in waiting {
        let refused = pending.wait().unwrap_err();
        assert!(refused.is_busy(), "{refused:?}");
        assert!(refused.to_string().starts_with(path.to_str().unwrap()), "{refused}");
    }
    lock.execute_batch("COMMIT").unwrap();
    assert_eq!(sequence(&store, "ses_1"), None);
}

#[test]
fn the_usual_patience_is_twelve_seconds() {
    // OpenCode gives up after five; a wait of ours outlasts its longest transactions.
    assert_eq!(Options::default().patience, Duration::from_secs(12));
}
