//! What these tests share: a record, events, a second connection, and what a subscriber received.

pub use crate::support::{Room, event, info, int, raw, write};
use annalist_store::log::Logged;
use annalist_store::{Delivery, NewEvent, Store, Subscription};
use rusqlite::{Connection, params};
use serde_json::json;

/// An event that has no rows.
pub fn plain(session: &str) -> NewEvent {
    NewEvent::new("session.next.synthetic.1", json!({"sessionID": session}).to_string())
}

pub fn append(store: &Store, session: &str) -> String {
    let event = plain(session);
    let id = event.id.clone();
    write(store, session, vec![event]);
    id
}

pub fn created(session: &str) -> NewEvent {
    event("session.created.1", &json!({"sessionID": session, "info": info(session)}))
}

pub fn deleted(session: &str) -> NewEvent {
    event("session.deleted.1", &json!({"sessionID": session, "info": info(session)}))
}

pub fn project(db: &Connection) {
    db.execute(
        "INSERT OR IGNORE INTO project (id, worktree, time_created, time_updated, sandboxes) VALUES ('global', '/', 0, 0, '[]')",
        [],
    )
    .unwrap();
}

/// What another process does to append an event: one transaction, the next number.
pub fn append_raw(db: &Connection, session: &str) -> String {
    let event = plain(session);
    append_raw_event(db, session, &event);
    event.id
}

pub fn append_raw_event(db: &Connection, session: &str, event: &NewEvent) {
    at_once(db, || insert_event(db, session, event));
}

pub fn insert_event(db: &Connection, session: &str, event: &NewEvent) {
    db.execute(
        "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, 0) ON CONFLICT (aggregate_id) DO UPDATE SET seq = seq + 1",
        [session],
    )
    .unwrap();
    db.execute(
        "INSERT INTO event (id, aggregate_id, seq, type, data)
         SELECT ?1, ?2, seq, ?3, ?4 FROM event_sequence WHERE aggregate_id = ?2",
        params![event.id, session, event.kind, event.data],
    )
    .unwrap();
}

/// A session row without an event, as `opencode import` writes it.
pub fn import_raw(db: &Connection, session: &str) {
    db.execute(
        "INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
         VALUES (?1, 'global', 's', '/', 't', 'v', 0, 0)",
        [session],
    )
    .unwrap();
}

pub fn erase_raw(db: &Connection, session: &str) {
    db.execute("DELETE FROM event_sequence WHERE aggregate_id = ?1", [session]).unwrap();
}

/// Several changes of another process, none of which is seen without the others.
pub fn at_once<T>(db: &Connection, change: impl FnOnce() -> T) -> T {
    db.execute_batch("BEGIN IMMEDIATE").unwrap();
    let done = change();
    db.execute_batch("COMMIT").unwrap();
    done
}

/// Everything that waits.
pub fn drain(subscription: &mut Subscription) -> Vec<Delivery> {
    std::iter::from_fn(|| subscription.try_next().unwrap()).collect()
}

pub fn logged(delivery: Delivery) -> Logged {
    match delivery {
        Delivery::Event(event) => event,
        other => panic!("{other:?}"),
    }
}

/// The events that wait; nothing else may.
pub fn events(subscription: &mut Subscription) -> Vec<Logged> {
    drain(subscription).into_iter().map(logged).collect()
}

pub fn ids(events: &[Logged]) -> Vec<&str> {
    events.iter().map(|event| event.id.as_str()).collect()
}

pub fn seqs(events: &[Logged]) -> Vec<i64> {
    events.iter().map(|event| event.seq).collect()
}

/// Each session's numbers rise by one from 0.
pub fn check_seqs(events: &[Logged]) {
    let mut last = std::collections::HashMap::new();
    for event in events {
        let expected = last.get(&event.session).map_or(0, |seq| seq + 1);
        assert_eq!(event.seq, expected, "of {}", event.session);
        last.insert(event.session.clone(), event.seq);
    }
}

/// The ids of the log, in its order.
pub fn log(db: &Connection) -> Vec<String> {
    let mut statement = db.prepare("SELECT id FROM event ORDER BY rowid").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// What was received, in one word each.
pub fn told(deliveries: &[Delivery]) -> Vec<String> {
    deliveries
        .iter()
        .map(|delivery| match delivery {
            Delivery::Event(event) => format!("{}:{}", event.session, event.seq),
            Delivery::Notice(notice) => format!("{:?} {}", notice.change, notice.session),
            Delivery::Passing(passing) => {
                let text = passing.event.data().text("delta").unwrap_or_default().into_owned();
                format!("{} {text}", passing.event.event_type())
            }
            Delivery::Reset(reset) => format!("{reset:?}"),
            Delivery::Lagged => "Lagged".to_owned(),
            other => format!("{other:?}"),
        })
        .collect()
}
