//! Random histories of several processes, read by subscribers that are slow, are cut and come back: what is in the log at the
//! end was received once and in its order, and whoever came or went was told.

use super::support::{
    Room, append, append_raw, at_once, created, deleted, erase_raw, import_raw, insert_event, log, project, raw, write,
};
use annalist_store::bus::{Change, Interest};
use annalist_store::{Delivery, Start, Store, Subscription};
use proptest::prelude::*;
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Debug, Clone)]
enum Step {
    Own { session: u8, events: u8 },
    Foreign { session: u8, events: u8 },
    OwnDelete { session: u8, erase: bool },
    ForeignDelete { session: u8, said: bool },
    Import { session: u8 },
    Poll,
    Read { reader: usize, items: u8 },
    Cut { reader: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let session = 0_u8..5;
    prop_oneof![
        6 => (session.clone(), 1_u8..4).prop_map(|(session, events)| Step::Own { session, events }),
        4 => (session.clone(), 1_u8..4).prop_map(|(session, events)| Step::Foreign { session, events }),
        2 => (session.clone(), any::<bool>()).prop_map(|(session, erase)| Step::OwnDelete { session, erase }),
        2 => (session.clone(), any::<bool>()).prop_map(|(session, said)| Step::ForeignDelete { session, said }),
        1 => session.prop_map(|session| Step::Import { session }),
        3 => Just(Step::Poll),
        6 => (0_usize..READERS, 0_u8..12).prop_map(|(reader, items)| Step::Read { reader, items }),
        2 => (0_usize..READERS).prop_map(|reader| Step::Cut { reader }),
    ]
}

const READERS: usize = 4;

struct Reader {
    interest: Interest,
    subscription: Option<Subscription>,
    start: Start,
    received: Vec<Delivery>,
}

impl Reader {
    fn read(&mut self, store: &Store, items: usize) {
        if self.subscription.is_none() {
            self.subscription = Some(store.catch_up(self.interest.clone(), self.start.clone()).unwrap());
        }
        let subscription = self.subscription.as_mut().unwrap();
        for _ in 0..items {
            let Some(delivery) = subscription.try_next().unwrap() else { break };
            self.received.push(delivery);
        }
    }

    fn cut(&mut self) {
        if let Some(subscription) = self.subscription.take()
            && let Some(position) = subscription.position()
        {
            self.start = Start::resume(&position.to_string());
        }
    }
}

/// Sessions as they stand, and how often each went.
#[derive(Default)]
struct Model {
    living: BTreeMap<String, bool>,
    gone: HashMap<String, usize>,
    erasing: HashSet<String>,
}

fn run(steps: Vec<Step>) {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    let mut model = Model::default();
    // One session that stays, for a scoped reader.
    write(&store, "ses_stays", vec![created("ses_stays")]);
    let mut readers: Vec<Reader> =
        [Interest::all(), Interest::all(), Interest::session("ses_stays"), Interest::all().types(["session.next.synthetic"])]
            .into_iter()
            .map(|interest| Reader { interest, subscription: None, start: Start::Beginning, received: Vec::new() })
            .collect();
    // The first one listens from the beginning on.
    readers[0].read(&store, 1);
    readers[3].read(&store, 0);
    for step in steps {
        take(step, &store, &db, &mut model, &mut readers);
    }
    for session in &model.erasing {
        erase_raw(&db, session);
    }
    // Twice: a change in the shadow of others is found when it is quiet.
    store.poll().unwrap();
    store.poll().unwrap();
    for reader in &mut readers {
        reader.read(&store, usize::MAX);
    }
    let log = log(&db);
    for (n, reader) in readers.iter().enumerate() {
        check(n, reader, &log, &db, &model);
    }
}

fn take(step: Step, store: &Store, db: &Connection, model: &mut Model, readers: &mut [Reader]) {
    let name = |session: u8| if session == 4 { "ses_stays".to_owned() } else { format!("ses_{session}") };
    let finish = |model: &mut Model, session: &str| {
        if model.erasing.remove(session) {
            erase_raw(db, session);
        }
    };
    match step {
        Step::Own { session, events } => {
            let session = name(session);
            finish(model, &session);
            if session != "ses_stays" && !model.living.contains_key(&session) {
                write(store, &session, vec![created(&session)]);
                model.living.insert(session.clone(), true);
            }
            (0..events).for_each(|_| drop(append(store, &session)));
        }
        Step::Foreign { session, events } => {
            let session = name(session);
            finish(model, &session);
            if session != "ses_stays" && !model.living.contains_key(&session) {
                at_once(db, || {
                    insert_event(db, &session, &created(&session));
                    import_raw(db, &session);
                });
                model.living.insert(session.clone(), true);
            }
            (0..events).for_each(|_| drop(append_raw(db, &session)));
        }
        Step::OwnDelete { session, erase } => {
            let session = name(session);
            if model.living.remove(&session).is_some() {
                write(store, &session, vec![deleted(&session)]);
                *model.gone.entry(session.clone()).or_default() += 1;
                db.execute("DELETE FROM event WHERE aggregate_id = ?1 AND seq < 2", [&session]).unwrap();
                model.erasing.insert(session.clone());
                if erase {
                    finish(model, &session);
                }
            }
        }
        Step::ForeignDelete { session, said } => {
            let session = name(session);
            if model.living.remove(&session).is_some() {
                // Whoever goes and comes again between two looks is not missed; here each is seen.
                store.poll().unwrap();
                at_once(db, || {
                    insert_event(db, &session, &deleted(&session));
                    db.execute("DELETE FROM session WHERE id = ?1", [&session]).unwrap();
                });
                // Its log goes in a transaction of its own.
                if said {
                    store.poll().unwrap();
                }
                erase_raw(db, &session);
                store.poll().unwrap();
                store.poll().unwrap();
                *model.gone.entry(session.clone()).or_default() += 1;
            }
        }
        Step::Import { session } => {
            let session = name(session);
            finish(model, &session);
            if session != "ses_stays" && !model.living.contains_key(&session) {
                import_raw(db, &session);
                model.living.insert(session, false);
                store.poll().unwrap();
            }
        }
        Step::Poll => store.poll().unwrap(),
        Step::Read { reader, items } => readers[reader].read(store, usize::from(items)),
        Step::Cut { reader } => readers[reader].cut(),
    }
}

fn check(n: usize, reader: &Reader, log: &[String], db: &Connection, model: &Model) {
    let mut seen = HashSet::new();
    let mut gone: HashMap<&str, usize> = HashMap::new();
    let mut present: HashSet<&str> = HashSet::new();
    let mut received = Vec::new();
    let mut last: HashMap<&str, i64> = HashMap::new();
    for delivery in &reader.received {
        match delivery {
            Delivery::Event(event) => {
                assert!(seen.insert(&*event.id), "reader {n}: {} of {} twice", event.seq, event.session);
                let before = last.insert(&event.session, event.seq);
                // The fourth reader does not hear that a session went, so that it may begin anew.
                assert!(
                    n == 3 || before.is_none_or(|before| before < event.seq),
                    "reader {n}: {} of {} out of order",
                    event.seq,
                    event.session
                );
                received.push(event.id.as_str());
                present.insert(&event.session);
            }
            Delivery::Notice(notice) => {
                last.remove(&*notice.session);
                match notice.change {
                    Change::Deleted => {
                        present.remove(&*notice.session);
                        *gone.entry(&notice.session).or_default() += 1;
                    }
                    Change::Created => drop(present.insert(&notice.session)),
                }
            }
            other => panic!("reader {n}: {other:?}"),
        }
    }
    // Everything that is in the log now, in its order, whatever else was received before it was erased.
    let wanted: Vec<&str> = match n {
        2 => log_of(db, "SELECT id FROM event WHERE aggregate_id = 'ses_stays' ORDER BY rowid"),
        3 => log_of(db, "SELECT id FROM event WHERE type = 'session.next.synthetic.1' ORDER BY rowid"),
        _ => log.to_vec(),
    }
    .into_iter()
    .map(|id| log.iter().find(|own| **own == id).unwrap().as_str())
    .collect();
    let living: HashSet<&str> = log.iter().map(String::as_str).collect();
    received.retain(|id| living.contains(id));
    assert_eq!(received, wanted, "reader {n}");
    if n < 2 {
        for session in present.iter().filter(|session| **session != "ses_stays") {
            assert!(model.living.contains_key(*session), "reader {n}: {session} went and nobody said so");
        }
        // What came without an event before one first listened is in no history.
        for (session, logged) in model.living.iter().filter(|(_, logged)| n == 0 || **logged) {
            assert!(present.contains(&**session), "reader {n}: {session} came (logged: {logged}) and nobody said so");
        }
    }
    if n == 0 {
        // It listened all the time: each departure once.
        for (session, times) in &model.gone {
            assert_eq!(gone.get(&**session), Some(times), "reader {n}: {session}");
        }
    }
}

fn log_of(db: &Connection, sql: &str) -> Vec<String> {
    let mut statement = db.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_missed_or_told_twice(steps in proptest::collection::vec(step(), 1..80)) {
        run(steps);
    }
}
