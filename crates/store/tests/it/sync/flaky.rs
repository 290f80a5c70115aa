//! A record that cannot always be read: what fails is read again, and comes once.

use super::support::{Room, append, append_raw, events, raw, seqs};
use annalist_store::backend::{Job, Settle};
use annalist_store::bus::Interest;
use annalist_store::claim::SessionLocks;
use annalist_store::log::{Listener, Watcher};
use annalist_store::sqlite::Sqlite;
use annalist_store::{Backend, Create, Durability, Error, Neighbours, Options, Snapshot, Start, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Reads fail before (1) or after (2) they are done.
struct Flaky(Sqlite, Arc<AtomicU8>);

impl Backend for Flaky {
    fn read(&self, read: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        match self.1.load(Ordering::SeqCst) {
            1 => Err(Error::Closed),
            2 => self.0.read(read).and(Err(Error::Closed)),
            _ => self.0.read(read),
        }
    }

    fn write(&self, durability: Durability, job: Job, settle: Settle) {
        self.0.write(durability, job, settle);
    }

    fn listen(&self, listener: Arc<dyn Listener>) {
        self.0.listen(listener);
    }

    fn watcher(&self) -> Result<Box<dyn Watcher>, Error> {
        self.0.watcher()
    }

    fn writable(&self) -> Result<(), Error> {
        self.0.writable()
    }

    fn neighbours(&self) -> Neighbours {
        self.0.neighbours()
    }

    fn session_locks(&self) -> &dyn SessionLocks {
        self.0.session_locks()
    }
}

#[test]
fn a_page_that_fails_is_read_again() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store);
    let failing = Arc::new(AtomicU8::new(0));
    let backend = Flaky(Sqlite::open(&path, Create::Never, Options::default()).unwrap(), Arc::clone(&failing));
    let store = Store::on(Arc::new(backend));
    for interest in [Interest::all(), Interest::session("ses_1")] {
        let mut subscription = store.catch_up(interest, Start::Beginning).unwrap();
        let had = events(&mut subscription).len();
        for _ in 0..3 {
            append(&store, "ses_1");
        }
        for how in [1, 2, 1] {
            failing.store(how, Ordering::SeqCst);
            assert!(matches!(subscription.try_next(), Err(Error::Closed)));
        }
        failing.store(0, Ordering::SeqCst);
        let first = i64::try_from(had).unwrap();
        assert_eq!(seqs(&events(&mut subscription)), [first, first + 1, first + 2]);
    }
}

#[test]
fn a_row_whose_number_is_none_costs_that_row() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut all = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_1");
    append_raw(&db, "ses_2");
    db.execute("UPDATE event SET seq = 'x', data = x'ff' WHERE aggregate_id = 'ses_2'", []).unwrap();
    append(&store, "ses_1");
    assert_eq!(seqs(&events(&mut all)), [0, -1, 1]);
}
