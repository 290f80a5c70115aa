//! The bus: after the commit and only then, in order, what is wanted and no more, and nobody pays for a slow neighbour.

use super::support::{Room, append, deleted, drain, event, events, int, plain, raw, seqs, told, write};
use annalist_schema::event::{PassingEvent, SessionIdle};
use annalist_store::bus::{Bound, Interest, Passing};
use annalist_store::{Delivery, Durability, Error, Expect, Position, Start};
use serde_json::json;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};

#[test]
fn delivered_after_the_commit_and_before_the_answer() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    let pending = store.write(Durability::Process, move |tx| {
        tx.append("ses_1", Expect::Any, plain("ses_1"))?;
        tx.append("ses_2", Expect::Any, plain("ses_2"))?;
        assert_eq!(subscription.try_next()?, None, "delivered before the commit");
        Ok(subscription)
    });
    let mut subscription = pending.wait().unwrap();
    assert_eq!(told(&drain(&mut subscription)), ["ses_1:0", "ses_2:0"]);
}

#[test]
fn what_is_rolled_back_is_not_delivered() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    raw(&path)
        .execute_batch(
            "CREATE TABLE probe_of (id INTEGER PRIMARY KEY);
             CREATE TABLE probe (of INTEGER REFERENCES probe_of (id) DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER probe_event AFTER INSERT ON event WHEN new.type = 'session.next.poison.1'
             BEGIN INSERT INTO probe VALUES (1); END;",
        )
        .unwrap();
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    let fail = |how: usize| {
        store.write(Durability::Process, move |tx| -> Result<(), Error> {
            tx.append("ses_1", Expect::Any, plain("ses_1"))?;
            match how {
                0 => return Err(Error::Closed),
                1 => std::panic::resume_unwind(Box::new(())),
                // Swallows the failure of an append.
                2 => drop(tx.append("ses_1", Expect::Any, event("message.updated.1", &json!({})))),
                // The commit itself fails.
                _ => drop(tx.append("ses_1", Expect::Any, event("session.next.poison.1", &json!({})))?),
            }
            Ok(())
        })
    };
    for how in 0..4 {
        assert!(fail(how).wait().is_err());
        assert_eq!(drain(&mut subscription), [], "{how}");
    }
    append(&store, "ses_1");
    assert_eq!(told(&drain(&mut subscription)), ["ses_1:0"]);
}

#[test]
fn what_is_not_stored_keeps_its_place_among_what_is() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_1");
    append(&store, "ses_1");
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "one");
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "two");
    append(&store, "ses_1");
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "three");
    let all = drain(&mut subscription);
    let delta = "message.part.delta";
    assert_eq!(
        told(&all),
        ["ses_1:0", "ses_1:1", &format!("{delta} one"), &format!("{delta} two"), "ses_1:2", &format!("{delta} three")]
    );
    let Delivery::Passing(passing) = &all[2] else { panic!() };
    assert_eq!(
        passing.event.data().to_text(),
        r#"{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_1","field":"text","delta":"one"}"#
    );
    assert!(passing.event.problems().is_empty());
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 3);
}

#[test]
fn what_is_not_wanted_never_waits() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let few = Bound { bytes: 4_000, events: 3 };
    let mut of_session = store.subscribe(Interest { bound: few, ..Interest::session("ses_1") }).unwrap();
    let mut of_type =
        store.subscribe(Interest { bound: few, ..Interest::all().types(["session.idle", "session.next.synthetic"]) }).unwrap();
    let also = |subject: &annalist_store::bus::Subject<'_>| subject.folder == Some("/a");
    let mut of_folder = store.subscribe(Interest { bound: few, also: Some(Arc::new(also)), ..Interest::all() }).unwrap();
    let panicking = |_: &annalist_store::bus::Subject<'_>| -> bool { std::panic::resume_unwind(Box::new(())) };
    let mut of_nothing = store.subscribe(Interest { bound: few, also: Some(Arc::new(panicking)), ..Interest::all() }).unwrap();
    for _ in 0..1_000 {
        store.update_part_delta("ses_2", "msg_1", "prt_1", "text", &"x".repeat(500));
        store.publish(Passing::new(PassingEvent::from_type("project.updated", annalist_schema::Object::new())).in_folder("/b"));
    }
    write(&store, "ses_2", vec![event("session.next.other.1", &json!({}))]);
    append(&store, "ses_2");
    append(&store, "ses_1");
    store.publish(Passing::new(PassingEvent::SessionIdle(SessionIdle::default())).in_folder("/a"));
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "hello");

    assert_eq!(told(&drain(&mut of_session)), ["ses_1:0", "message.part.delta hello"]);
    assert_eq!(told(&drain(&mut of_type)), ["ses_2:1", "ses_1:0", "session.idle "]);
    assert_eq!(told(&drain(&mut of_folder)), ["session.idle "]);
    assert_eq!(drain(&mut of_nothing), []);
}

#[test]
fn a_subscriber_over_its_bound_is_cut_off_alone() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    append(&store, "ses_1");
    let slow: Vec<_> = (0..20).map(|_| store.subscribe(Interest::all()).unwrap()).collect();
    let mut narrow = store.subscribe(Interest { bound: Bound { bytes: usize::MAX, events: 10 }, ..Interest::all() }).unwrap();
    let mut quick = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_1");
    let text = "x".repeat(20_000);
    for round in 0..1_000 {
        store.update_part_delta("ses_1", "msg_1", "prt_1", "text", &text);
        assert!(matches!(drain(&mut quick).last(), Some(Delivery::Passing(_))), "{round}");
    }
    let last = append(&store, "ses_1");
    assert_eq!(events(&mut quick).last().unwrap().id, last);
    assert_eq!(narrow.try_next().unwrap(), Some(Delivery::Lagged));
    for mut slow in slow {
        // Nothing is left of what waited, and it ends the same way however often one asks.
        assert_eq!(slow.try_next().unwrap(), Some(Delivery::Lagged));
        assert_eq!(slow.wait().unwrap(), Delivery::Lagged);
        // It goes on from where it was.
        let position = slow.position().unwrap().to_string();
        let mut again = store.catch_up(Interest::all(), Start::resume(&position)).unwrap();
        assert_eq!(seqs(&events(&mut again)), [1, 2]);
    }
}

#[test]
fn a_bound_is_what_may_wait_and_not_what_may_come() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let bound = Bound { bytes: 3 * (64 + 5 + 45 + 7 + 7 + 4 + 10 + 5), events: 3 };
    let mut subscription = store.subscribe(Interest { bound, ..Interest::all() }).unwrap();
    for _ in 0..50 {
        for _ in 0..3 {
            store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "x");
        }
        assert_eq!(drain(&mut subscription).len(), 3);
    }
    for _ in 0..4 {
        store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "x");
    }
    assert_eq!(drain_once(&mut subscription), Some(Delivery::Lagged));
}

fn drain_once(subscription: &mut annalist_store::Subscription) -> Option<Delivery> {
    subscription.try_next().unwrap()
}

#[test]
fn events_of_the_log_cut_nobody_off() {
    const EVENTS: i64 = 25_000;
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let none = Bound { bytes: 0, events: 0 };
    let mut all = store.subscribe(Interest { bound: none, ..Interest::all() }).unwrap();
    let mut one = store.subscribe(Interest { bound: none, ..Interest::session("ses_1") }).unwrap();
    let mut other = store.subscribe(Interest { bound: none, ..Interest::session("ses_2") }).unwrap();
    let mut some = store.subscribe(Interest { bound: none, ..Interest::all().types(["session.next.rare"]) }).unwrap();
    let pending = store.write(Durability::Process, |tx| {
        for n in 0..EVENTS {
            let kind = if n % 1_000 == 7 { "session.next.rare.1" } else { "session.next.synthetic.1" };
            tx.append("ses_1", Expect::Any, event(kind, &json!({})))?;
        }
        Ok(())
    });
    pending.wait().unwrap();
    append(&store, "ses_2");
    let received = events(&mut all);
    assert_eq!(seqs(&received[..received.len() - 1]), (0..EVENTS).collect::<Vec<_>>());
    assert_eq!(received.last().unwrap().session, "ses_2");
    assert_eq!(seqs(&events(&mut one)), (0..EVENTS).collect::<Vec<_>>());
    assert_eq!(seqs(&events(&mut other)), [0]);
    assert_eq!(seqs(&events(&mut some)), (0..25).map(|n| n * 1_000 + 7).collect::<Vec<_>>());
}

#[test]
fn untold_events_are_in_the_log_alone() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut live = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_1")).unwrap();
    let untold = |n: usize| {
        store.write(Durability::Process, move |tx| {
            tx.tell(false);
            (0..n).try_for_each(|_| tx.append("ses_1", Expect::Any, plain("ses_1")).map(drop))?;
            tx.tell(true);
            tx.append("ses_1", Expect::Any, plain("ses_1")).map(drop)
        })
    };
    append(&store, "ses_1");
    untold(3).wait().unwrap();
    untold(2).wait().unwrap();
    assert_eq!(seqs(&events(&mut live)), [0, 4, 7]);
    assert_eq!(seqs(&events(&mut one)), [0, 4, 7]);
    let mut later = store.catch_up(Interest::session("ses_1"), Start::Beginning).unwrap();
    assert_eq!(seqs(&events(&mut later)), (0..8).collect::<Vec<_>>());
}

#[test]
fn a_deletion_is_told_with_its_data() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut all = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_1")).unwrap();
    let mut none = store.subscribe(Interest::session("ses_2")).unwrap();
    append(&store, "ses_1");
    let event = deleted("ses_1");
    write(&store, "ses_1", vec![event.clone()]);
    for subscription in [&mut all, &mut one] {
        let received = drain(subscription);
        assert_eq!(told(&received), ["ses_1:0", "Deleted ses_1"]);
        let Delivery::Notice(notice) = &received[1] else { panic!() };
        assert_eq!((&*notice.id, notice.data.as_deref()), (&*event.id, Some(&*event.data)));
        assert!(matches!(&notice.position, Position::Record { id, .. } if *id == event.id));
    }
    assert_eq!(drain(&mut none), []);
}

#[test]
fn a_thread_waits_and_is_woken() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    let (tell, received) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for _ in 0..200 {
            tell.send(subscription.wait().unwrap()).unwrap();
        }
    });
    for round in 0..100 {
        append(&store, "ses_1");
        assert_eq!(told(&[received.recv().unwrap()]), [format!("ses_1:{round}")]);
        store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "x");
        assert_eq!(told(&[received.recv().unwrap()]), ["message.part.delta x"]);
    }
    reader.join().unwrap();
}

#[test]
fn a_task_waits_and_is_woken() {
    struct Flag(std::sync::atomic::AtomicBool);
    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.0.store(true, std::sync::atomic::Ordering::SeqCst);
        }
    }
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    let flag = Arc::new(Flag(false.into()));
    let waker = Waker::from(Arc::clone(&flag));
    let mut context = Context::from_waker(&waker);
    for round in 0..3 {
        {
            let mut next = pin!(subscription.next());
            assert!(next.as_mut().poll(&mut context).is_pending());
            append(&store, "ses_1");
            assert!(flag.0.swap(false, std::sync::atomic::Ordering::SeqCst), "not woken");
            let Poll::Ready(delivery) = next.as_mut().poll(&mut context) else { panic!("woken for nothing") };
            assert_eq!(told(&[delivery.unwrap()]), [format!("ses_1:{round}")]);
        }
    }
    {
        let mut next = pin!(subscription.next());
        assert!(next.as_mut().poll(&mut context).is_pending());
        store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "x");
        assert!(flag.0.swap(false, std::sync::atomic::Ordering::SeqCst), "not woken");
        assert!(next.as_mut().poll(&mut context).is_ready());
    }
    // A future that is dropped takes nothing along.
    append(&store, "ses_1");
    assert!(pin!(subscription.ready()).poll(&mut context).is_ready());
    assert_eq!(told(&drain(&mut subscription)), ["ses_1:3"]);
}
