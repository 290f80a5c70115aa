//! A lock that another process holds for long (user report C02). The short form stands in `busy.rs`; these are the real
//! times: `cargo test -p annalist-store --test it sharing::held -- --ignored`.

use super::room::{Room, user};
use crate::child::Worker;
use crate::support::open;
use annalist_store::{Durability, Error, Expect};

fn held_for(seconds: &str) -> Result<(), Error> {
    let (room, store) = Room::with(&["ses_1"]);
    drop(store);
    let mut foreign = Worker::start("hold", &[room.file(), seconds]);
    foreign.ready();
    foreign.go();
    let store = open(&room.path);
    let result = store.append("ses_1", Expect::Any, vec![user("ses_1", "msg_1", 5)], Durability::Power).wait();
    foreign.kill();
    result.map(|_| ())
}

#[test]
#[ignore = "takes 7 seconds"]
fn seven_seconds_are_waited_out() {
    held_for("7").unwrap();
}

#[test]
#[ignore = "takes 12 seconds"]
fn twenty_seconds_are_too_long() {
    match held_for("20") {
        Err(Error::Busy { waited_ms, file }) => {
            assert!(waited_ms >= 12_000);
            assert!(file.ends_with("opencode.db"), "it names the file");
        }
        other => panic!("{other:?}"),
    }
}
