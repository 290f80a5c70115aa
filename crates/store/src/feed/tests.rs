//! A commit after which nothing can be read: a failure that no file on a disk gives at will.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]

use super::*;
use crate::{Create, Delivery, Interest, Store, Subscription};
use rusqlite::Connection;

struct Blind<'c>(&'c Connection, &'c Feed, bool);

impl Commit for Blind<'_> {
    fn commit(&mut self) -> bool {
        // A look between the commit and its telling would tell it a second time.
        assert!(self.1.turn.try_lock().is_err());
        // And whoever publishes must not wait for the disk.
        assert!(self.1.state.try_lock().is_ok());
        if self.2 {
            append(self.0, "ses_own", "evt_own");
        }
        self.2
    }

    fn read(&mut self, _: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        Err(Error::Closed)
    }
}

/// A watcher that fails as soon as it is asked.
struct Lame<'f>(&'f Feed);

impl Watcher for Lame<'_> {
    fn changed(&mut self) -> Result<bool, Error> {
        assert!(self.0.turn.try_lock().is_err());
        Err(Error::Closed)
    }

    fn read(&mut self, _: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        Err(Error::Closed)
    }
}

fn append(db: &Connection, session: &str, id: &str) {
    db.execute("INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, 0)", [session]).unwrap();
    db.execute("INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?1, ?2, 0, 'x.1', '{}')", [id, session]).unwrap();
}

fn own() -> Appended {
    Appended { rowid: 2, id: "evt_own".into(), session: "ses_own".into(), seq: 0, kind: "x.1".into(), farewell: None, told: true }
}

fn ids(subscription: &mut Subscription) -> Vec<String> {
    std::iter::from_fn(|| subscription.try_next().unwrap())
        .map(|delivery| match delivery {
            Delivery::Event(event) => event.id,
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn what_could_not_be_read_after_a_commit_is_told_at_the_next_look() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("opencode.db");
    let store = Store::open(&path, Create::IfMissing).unwrap();
    let db = Connection::open(&path).unwrap();
    let [mut all, mut own_one, mut foreign_one] =
        [Interest::all(), Interest::session("ses_own"), Interest::session("ses_foreign")].map(|i| store.subscribe(i).unwrap());
    append(&db, "ses_foreign", "evt_foreign");
    store.live.feed.commit(&mut Blind(&db, &store.live.feed, true), vec![own()], true);
    // Ours is told at once, and never before what stands below it.
    assert_eq!(ids(&mut own_one), ["evt_own"]);
    assert_eq!(ids(&mut all), ["evt_foreign", "evt_own"]);
    store.poll().unwrap();
    assert_eq!(ids(&mut foreign_one), ["evt_foreign"]);
    assert_eq!(ids(&mut all), Vec::<String>::new());
    assert_eq!(ids(&mut own_one), Vec::<String>::new());
}

#[test]
fn a_commit_that_was_none_is_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("opencode.db"), Create::IfMissing).unwrap();
    let db = Connection::open(folder.path().join("opencode.db")).unwrap();
    let mut all = store.subscribe(Interest::all()).unwrap();
    store.live.feed.commit(&mut Blind(&db, &store.live.feed, false), vec![own()], true);
    assert_eq!(ids(&mut all), Vec::<String>::new());
    assert!(store.trail().is_empty());
}

#[test]
fn looks_and_commits_take_turns() {
    let feed = Feed::default();
    assert!(feed.poll(&mut Lame(&feed)).is_err());
    assert!(feed.look(&mut Lame(&feed), |_, _| Ok(())).is_err());
    assert!(feed.state().stale, "the next look must not rely on what was noticed before");
}
