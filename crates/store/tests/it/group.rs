//! Waiting jobs share a commit and nothing else (design G2).

use super::support::{Room, THEN, begin, check_log, event, everything, info, int, message, open, raw, user};
use annalist_store::backend::Transaction;
use annalist_store::{Durability, Error, Expect, NewEvent, Store};
use rusqlite::Connection;
use serde_json::json;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::task::{Context, Poll, Wake, Waker};

fn plain(session: &str) -> NewEvent {
    event("session.next.synthetic.1", &json!({"sessionID": session}))
}

fn has_message(db: &Connection, id: &str) -> bool {
    int(db, &format!("SELECT count(*) FROM message WHERE id = '{id}'")) == 1
}

fn say(store: &Store, id: &'static str) -> annalist_store::Pending<Vec<annalist_store::Recorded>> {
    store.append("ses_1", Expect::Any, vec![message(&user("ses_1", id, &json!(THEN)))], Durability::Process)
}

/// Queues jobs that fail among others that do not, all of them while the file is locked, so that they become one group.
/// Answers whether they did: a slow machine may cut the group.
fn one_bad_group() -> bool {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    // The first one takes the writer's thread to the lock; the others queue up behind it.
    let first = say(&store, "msg_first");
    let before = say(&store, "msg_before");
    let failing = store.write(Durability::Process, |tx| -> Result<(), Error> {
        tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_failing", &json!(THEN))))?;
        Err(Error::NotFound { what: "Reason", id: "none".into() })
    });
    let between = say(&store, "msg_between");
    let panicking = store.write(Durability::Process, |tx| -> Result<(), Error> {
        tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_panicking", &json!(THEN))))?;
        // Not `panic!`, whose hook prints: that may take longer than a group is held open.
        std::panic::resume_unwind(Box::new("on purpose".to_owned()))
    });
    let conflict = store.append("ses_1", Expect::At(77), vec![plain("ses_1")], Durability::Process);
    let swallowing = store.write(Durability::Process, |tx| {
        tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_swallowing", &json!(THEN))))?;
        tx.append("ses_1", Expect::Any, event("message.updated.1", &json!({"sessionID": "ses_1"}))).ok();
        Ok(())
    });
    let last = store.write(Durability::Process, {
        let path = path.clone();
        move |tx| {
            tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_last", &json!(THEN))))?;
            // If the neighbours' rows cannot be seen from outside yet, this job is in one transaction with them.
            Ok(!has_message(&raw(&path), "msg_before"))
        }
    });
    lock.execute_batch("COMMIT").unwrap();

    first.wait().unwrap();
    before.wait().unwrap();
    assert!(failing.wait().unwrap_err().is_not_found(), "the error is the job's own");
    between.wait().unwrap();
    match panicking.wait() {
        Err(Error::Panicked { message }) => assert_eq!(message, "on purpose"),
        other => panic!("{other:?}"),
    }
    assert!(conflict.wait().unwrap_err().is_conflict());
    assert!(swallowing.wait().is_err());
    let in_one = last.wait().unwrap();

    for id in ["msg_first", "msg_before", "msg_between", "msg_last"] {
        assert!(has_message(&lock, id), "{id} was kept");
    }
    for id in ["msg_failing", "msg_panicking", "msg_swallowing"] {
        assert!(!has_message(&lock, id), "{id} was undone");
    }
    check_log(&lock);
    assert_eq!(int(&lock, "SELECT seq FROM event_sequence"), 4);
    // And the writer still works.
    say(&store, "msg_later").wait().unwrap();
    in_one
}

#[test]
fn a_failing_and_a_panicking_job_go_alone() {
    assert!((0..20).any(|_| one_bad_group()), "no group was ever formed");
}

/// A job that may run again and one that fails after it, in one group. Answers how often the first ran, or nothing if no group
/// was formed.
fn ran_beside(failing: impl FnOnce(&mut dyn Transaction) -> Result<(), Error> + Send + 'static) -> Option<usize> {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = say(&store, "msg_first");
    let runs = Arc::new(AtomicUsize::new(0));
    let again = store.write_again(Durability::Process, {
        let runs = Arc::clone(&runs);
        move |tx| {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok(tx.append_kept("ses_1", Expect::Any, &message(&user("ses_1", "msg_again", &json!(THEN))))?.seq)
        }
    });
    let failing = store.write(Durability::Process, failing);
    let last = store.write(Durability::Process, {
        let path = path.clone();
        move |tx| {
            tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_last", &json!(THEN))))?;
            Ok(!has_message(&raw(&path), "msg_again"))
        }
    });
    lock.execute_batch("COMMIT").unwrap();
    assert_eq!(first.wait().unwrap()[0].seq, 1);
    assert_eq!(again.wait().unwrap(), 2, "what the last run returned");
    assert!(failing.wait().is_err());
    let in_one = last.wait().unwrap();
    check_log(&lock);
    assert_eq!(int(&lock, "SELECT seq FROM event_sequence"), 3);
    in_one.then(|| runs.load(Ordering::SeqCst))
}

#[test]
fn what_is_undone_with_a_neighbour_is_done_again() {
    let runs = (0..20).find_map(|_| {
        ran_beside(|tx| {
            tx.append("ses_1", Expect::Any, message(&user("ses_1", "msg_failing", &json!(THEN))))?;
            Err(Error::NotFound { what: "Reason", id: "none".into() })
        })
    });
    assert_eq!(runs, Some(2), "undone with its neighbour, and done again");
    let runs = (0..20).find_map(|_| ran_beside(|tx| tx.append("ses_1", Expect::At(77), plain("ses_1")).map(drop)));
    assert_eq!(runs, Some(1), "who fails before changing anything costs the others nothing");
}

#[test]
fn a_failed_commit_is_told_to_the_whole_group() {
    // A trigger with a deferred foreign key makes the commit itself fail: whoever hears of success before it, hears a lie.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let db = raw(&path);
    db.execute_batch(
        "CREATE TABLE probe_of (id INTEGER PRIMARY KEY);
         CREATE TABLE probe (of INTEGER REFERENCES probe_of (id) DEFERRABLE INITIALLY DEFERRED);
         CREATE TRIGGER probe_event AFTER INSERT ON event WHEN new.type = 'session.next.poison.1'
         BEGIN INSERT INTO probe VALUES (1); END;",
    )
    .unwrap();
    let before = everything(&path);
    for _ in 0..20 {
        db.execute_batch("BEGIN IMMEDIATE").unwrap();
        let poison = || event("session.next.poison.1", &json!({"sessionID": "ses_1"}));
        let group: Vec<_> =
            (0..10).map(|_| store.append("ses_1", Expect::Any, vec![plain("ses_1"), poison()], Durability::Process)).collect();
        db.execute_batch("COMMIT").unwrap();
        for pending in group {
            assert!(pending.wait().is_err(), "acknowledged, and not committed");
        }
        assert_eq!(everything(&path), before);
    }
    // The next transaction is a new one.
    assert_eq!(store.append("ses_1", Expect::At(0), vec![plain("ses_1")], Durability::Process).wait().unwrap()[0].seq, 1);
}

#[test]
fn whoever_is_acknowledged_finds_the_row_committed() {
    const THREADS: usize = 6;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (store, path, start) = (store.clone(), &path, &start);
            scope.spawn(move || {
                let db = raw(path);
                let mut look = db.prepare("SELECT count(*) FROM event WHERE id = ?1").unwrap();
                start.wait();
                for round in 0..100 {
                    // Half of the commits wait for the disk, which leaves a wide gap between a result and its commit.
                    let durability = if round % 2 == 0 { Durability::Power } else { Durability::Process };
                    let pending = store.append("ses_1", Expect::Any, vec![plain("ses_1")], durability);
                    let recorded = if thread % 2 == 0 { pending.wait() } else { block_on(pending) }.unwrap();
                    let seen: i64 = look.query_row([&recorded[0].id], |row| row.get(0)).unwrap();
                    assert_eq!(seen, 1, "acknowledged before the commit");
                }
            });
        }
    });
    check_log(&raw(&path));
}

/// The least that drives a future: it sleeps until woken.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn a_pending_write_is_a_future() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut pending = pin!(store.append("ses_1", Expect::Any, vec![plain("ses_1")], Durability::Process));
    assert!(pending.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "the file is locked");
    lock.execute_batch("COMMIT").unwrap();
    assert_eq!(block_on(pending).unwrap()[0].seq, 0);
    let failed = block_on(store.append("ses_1", Expect::NoStream, vec![plain("ses_1")], Durability::Process));
    assert!(failed.unwrap_err().is_conflict());
}

#[test]
fn a_write_that_nobody_waits_for_is_done() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store.append("ses_1", Expect::Any, vec![plain("ses_1")], Durability::Process));
    // Jobs are taken in their order, so the second's end says that the first was run.
    store.append("ses_1", Expect::At(0), vec![plain("ses_1")], Durability::Process).wait().unwrap();
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 2);
}

#[test]
fn dropping_the_store_finishes_what_is_queued() {
    const JOBS: usize = 300;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let lock = raw(&path);
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..JOBS {
        let ran = Arc::clone(&ran);
        drop(store.write(Durability::Process, move |tx| {
            ran.fetch_add(1, Ordering::Relaxed);
            tx.append("ses_1", Expect::Any, plain("ses_1"))
        }));
    }
    let (tell, told) = mpsc::channel();
    let dropping = std::thread::spawn(move || {
        drop(store);
        tell.send(()).unwrap();
    });
    assert!(told.try_recv().is_err(), "it waits for its jobs, and they for the lock");
    assert_eq!(ran.load(Ordering::Relaxed), 0);
    lock.execute_batch("COMMIT").unwrap();
    dropping.join().unwrap();
    assert_eq!(ran.load(Ordering::Relaxed), JOBS);
    assert_eq!(int(&lock, "SELECT count(*) FROM event"), i64::try_from(JOBS).unwrap());
    check_log(&lock);
}

#[test]
fn a_job_may_own_the_last_handle() {
    // Its drop happens on the writer's thread, which must not wait for itself.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let (last, given) = mpsc::channel::<Store>();
    let pending = store.write(Durability::Process, move |tx| {
        let store = given.recv().map_err(|_| Error::Closed)?;
        let recorded = tx.append("ses_1", Expect::Any, plain("ses_1"));
        drop(store);
        recorded
    });
    last.send(store).unwrap();
    assert_eq!(pending.wait().unwrap().seq, 0);
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 1);
}

#[test]
fn clones_share_one_writer() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let other = store.clone();
    store.append("ses_1", Expect::NoStream, vec![plain("ses_1")], Durability::Process).wait().unwrap();
    drop(store);
    other.append("ses_1", Expect::At(0), vec![plain("ses_1")], Durability::Process).wait().unwrap();
    drop(other);
    // The last one to close leaves one tidy file.
    let left: Vec<_> = std::fs::read_dir(room.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["opencode.db"]);
    assert_eq!(open(&path).sessions(&annalist_store::query::SessionFilter::default()).unwrap().total, 0);
}

#[test]
fn a_panicking_reader_costs_nobody_a_connection() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for _ in 0..50 {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            store.read(|_| -> Result<(), Error> { std::panic::resume_unwind(Box::new(())) })
        }));
        assert!(panicked.is_err());
    }
    // More at once than there are connections.
    std::thread::scope(|scope| {
        for _ in 0..30 {
            scope.spawn(|| assert_eq!(store.read(|view| view.sequence("ses_1")).unwrap(), None));
        }
    });
}

/// Whoever waits for a write and finds nobody at work does it.
#[test]
fn a_caller_that_waits_does_its_write_itself() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let here = std::thread::current().id();
    let own = (0..200).filter(|_| {
        let ran = store.write(Durability::Process, move |_| Ok(std::thread::current().id())).wait().unwrap();
        ran == here
    });
    // The writer's thread may be quicker now and then.
    assert!(own.count() > 100);
}

/// Nobody waits for it, and nobody drops it either.
#[test]
fn a_write_that_is_only_held_is_done() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for _ in 0..20 {
        let (tell, told) = mpsc::channel();
        let held = store.write(Durability::Process, move |_| {
            tell.send(()).unwrap();
            Ok(())
        });
        told.recv().unwrap();
        drop(held);
    }
}

/// A job that panics where its caller drives costs neither the caller's thread nor the writer.
#[test]
fn a_panic_on_the_callers_thread_is_an_error() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for _ in 0..20 {
        let failed = store
            .write(Durability::Process, |_| -> Result<(), Error> { std::panic::resume_unwind(Box::new("on purpose".to_owned())) })
            .wait();
        assert!(matches!(failed, Err(Error::Panicked { .. })), "{failed:?}");
        store.write(Durability::Process, |_| Ok(())).wait().unwrap();
    }
}

/// First in, first out, whoever drives: eight threads that wait, and one that only queues.
#[test]
fn the_order_of_a_caller_is_the_order_of_its_writes() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let done = Arc::new(std::sync::Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for caller in 0..9 {
            let (store, done) = (store.clone(), Arc::clone(&done));
            scope.spawn(move || {
                let mut queued = Vec::new();
                for index in 0..100 {
                    let done = Arc::clone(&done);
                    let pending = store.write(Durability::Process, move |_| {
                        done.lock().unwrap().push((caller, index));
                        Ok(())
                    });
                    if caller == 8 {
                        queued.push(pending);
                    } else {
                        pending.wait().unwrap();
                    }
                }
                queued.into_iter().for_each(|pending| pending.wait().unwrap());
            });
        }
    });
    let done = done.lock().unwrap();
    for caller in 0..9 {
        let own: Vec<i32> = done.iter().filter(|(of, _)| *of == caller).map(|(_, index)| *index).collect();
        assert_eq!(own, (0..100).collect::<Vec<_>>(), "caller {caller}");
    }
}
