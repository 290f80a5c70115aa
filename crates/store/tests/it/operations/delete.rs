//! Deleting sessions (reference-storage 1.7; user report C25): children first, nothing left in any table.

use super::room::{Room, user};
use annalist_store::row::TodoRow;
use annalist_store::session::NewSession;
use annalist_store::{Durability, Error};
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::rc::Rc;

fn say(room: &Room, session: &str, texts: &[&str]) {
    room.say(session, user(&format!("msg_{}", &session[4..]), 1), texts);
}

/// Rows in every table that hangs on a session, those of the second generation of the format too (C25).
fn fill(room: &Room, session: &str) {
    say(room, session, &["a", "b"]);
    let todo = TodoRow { content: "c".into(), status: "pending".into(), priority: "low".into() };
    room.store.set_todo(session, vec![todo]).wait().unwrap();
    let db = room.sql();
    for table in ["session_share", "session_message", "session_input", "session_context_epoch"] {
        let mut columns =
            db.prepare(&format!("SELECT name, type FROM pragma_table_info('{table}') WHERE \"notnull\" OR pk")).unwrap();
        let columns: Vec<(String, String)> =
            columns.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        let names: Vec<_> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let values: Vec<_> = columns
            .iter()
            .map(|(name, kind)| match (name.as_str(), kind.as_str()) {
                ("session_id", _) => format!("'{session}'"),
                (_, "integer") => "1".to_owned(),
                (name, _) => format!("'{name} of {session}'"),
            })
            .collect();
        db.execute(&format!("INSERT INTO {table} ({}) VALUES ({})", names.join(","), values.join(",")), []).unwrap();
    }
}

#[test]
fn nothing_is_left_in_any_table() {
    let room = Room::new();
    let (session, other) = (room.session(), room.session());
    fill(&room, &session);
    fill(&room, &other);
    let before = room.traces(&other);
    assert!(before.len() > 10, "{before:?}");
    assert_eq!(room.store.delete_session(&session).unwrap().sessions, [session.as_str()]);
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
    assert_eq!(room.traces(&other), before);
    assert!(room.store.delete_session(&session).unwrap_err().is_not_found());
    assert!(room.store.with_children(&session).unwrap_err().is_not_found());
}

#[test]
fn children_go_first() {
    let room = Room::new();
    let root = room.session();
    let one = room.child(&root);
    let one_one = room.child(&one);
    let two = room.child(&root);
    // The order of their last change decides; made within one millisecond they would have none.
    for (at, session) in [&root, &one, &one_one, &two].into_iter().enumerate().map(|(at, session)| (at as i64, session)) {
        room.sql().execute("UPDATE session SET time_updated = ?1 WHERE id = ?2", rusqlite::params![at, session]).unwrap();
    }
    let order = [one_one.clone(), one, two, root.clone()];
    assert_eq!(room.store.with_children(&root).unwrap(), order);
    assert_eq!(room.store.delete_session(&root).unwrap().sessions, order);
    assert_eq!((room.count("session"), room.count("event"), room.count("event_sequence")), (0, 0, 0));
    assert!(room.traces(&one_one).is_empty());
}

#[test]
fn a_session_that_is_its_own_ancestor_goes_once() {
    let room = Room::new();
    let one = room.session();
    let two = room.child(&one);
    room.sql().execute("UPDATE session SET parent_id = ?1 WHERE id = ?2", [&two, &one]).unwrap();
    assert_eq!(room.store.delete_session(&one).unwrap().sessions, [two, one.clone()]);
    let own = room.session();
    room.sql().execute("UPDATE session SET parent_id = id", []).unwrap();
    assert_eq!(room.store.delete_session(&own).unwrap().sessions, [own.as_str()]);
    assert_eq!(room.count("session"), 0);
}

/// More than one step of erasing (1 MiB each), among it an event that is larger than a step.
#[test]
fn a_big_log_is_erased_in_steps() {
    let room = Room::new();
    let session = room.session();
    let text = "x".repeat(300_000);
    say(&room, &session, &[&text, &text, &text, &text, &text, &text, &text, &"y".repeat(3_000_000)]);
    let steps = room.store.clone();
    let id = session.clone();
    let more = steps.write(Durability::Power, move |tx| tx.erase_log(&id, 1 << 20)).wait().unwrap();
    assert!(more);
    let left = room.events(&session);
    let left: Vec<_> = left.iter().map(|event| event.seq).collect();
    assert_eq!(left, [6, 7, 8, 9], "a step erases its share from the beginning");
    room.store.delete_session(&session).unwrap();
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
}

#[test]
fn a_deletion_that_was_cut_short_is_finished_by_the_next() {
    let room = Room::new();
    let session = room.session();
    say(&room, &session, &["a"]);
    // As after a crash between the two steps: no row, the log still there.
    let db = room.sql();
    db.pragma_update(None, "foreign_keys", true).unwrap();
    db.execute("DELETE FROM session WHERE id = ?1", [&session]).unwrap();
    assert!(!room.traces(&session).is_empty());
    assert_eq!(room.store.delete_session(&session).unwrap().sessions, [session.as_str()]);
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
    assert!(room.store.delete_session(&session).unwrap_err().is_not_found());
}

#[test]
fn a_session_without_a_log_goes_too() {
    let room = Room::new();
    let session = room.session();
    say(&room, &session, &["a"]);
    room.sql().execute_batch("DELETE FROM event; DELETE FROM event_sequence").unwrap();
    room.store.delete_session(&session).unwrap();
    assert!(room.traces(&session).is_empty(), "{:?}", room.traces(&session));
}

/// Children made while their parent is being deleted do not stay behind as orphans, and those who go on making them as long as
/// there is a parent do not keep the deletion from its end.
#[test]
fn children_that_come_meanwhile_go_too() {
    let room = Room::new();
    for _ in 0..20 {
        let root = room.session();
        let first = room.child(&root);
        let make = |parents: &[&String]| {
            let mut made = 0;
            loop {
                let mut new = NewSession::new(super::room::folder());
                new.parent = Some(parents[made % parents.len()].clone());
                match room.store.create_session(new).wait() {
                    Ok(_) => made += 1,
                    Err(error) => break assert!(error.is_not_found(), "{error}"),
                }
            }
        };
        let deleted = std::thread::scope(|scope| {
            let makers = [scope.spawn(|| make(&[&root, &first])), scope.spawn(|| make(&[&root])), scope.spawn(|| make(&[&root]))];
            let deleted = room.store.delete_session(&root).unwrap();
            for maker in makers {
                maker.join().unwrap();
            }
            deleted.sessions
        });
        assert_eq!(deleted.last(), Some(&root));
        assert!(deleted.contains(&first));
        assert_eq!((room.count("session"), room.count("event"), room.count("event_sequence")), (0, 0, 0));
    }
}

/// What came after the documents were written has none, so it stays, and what it came of stays with it.
#[test]
fn a_child_without_a_document_is_not_deleted() {
    let room = Room::new();
    let session = room.session();
    let deleted = room.store.export_and_delete(&session, |id| {
        let mut new = NewSession::new(super::room::folder());
        new.parent = Some(id.to_owned());
        room.store.create_session(new).wait().unwrap();
        Ok(std::io::sink())
    });
    let Err(annalist_store::document::ExportError::Store(error)) = deleted else { panic!("{deleted:?}") };
    assert!(error.is_conflict(), "{error}");
    assert_eq!(room.count("session"), 2);
}

#[derive(Clone, Default)]
struct Documents(Rc<std::cell::RefCell<HashMap<String, Vec<u8>>>>);

struct Document(Documents, String);

impl Write for Document {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.0.borrow_mut().entry(self.1.clone()).or_default().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn documents_are_complete_before_anything_goes() {
    let room = Room::new();
    let root = room.session();
    let child = room.child(&root);
    say(&room, &root, &["kept"]);
    let refused = room
        .store
        .export_and_delete(&root, |session| if session == root { Err(std::io::Error::other("full")) } else { Ok(std::io::sink()) });
    assert!(matches!(refused, Err(annalist_store::document::ExportError::Out(_))));
    assert_eq!(room.count("session"), 2);

    let documents = Documents::default();
    let open = |session: &str| Ok(Document(documents.clone(), session.to_owned()));
    assert_eq!(room.store.export_and_delete(&root, open).unwrap().sessions, [child.clone(), root.clone()]);
    assert!(room.traces(&root).is_empty());
    let document = String::from_utf8(documents.0.borrow()[&root].clone()).unwrap();
    assert!(documents.0.borrow().contains_key(&child));
    room.store.import(document, super::room::folder()).unwrap();
    assert_eq!(super::room::texts(&room.messages(&root)), [["kept"]]);
}

#[test]
fn what_was_said_after_the_document_is_not_deleted() {
    let room = Room::new();
    let session = room.session();
    let store = room.store.clone();
    let deleted = room.store.export_and_delete(&session, |id| {
        store.set_title(id, "late").wait().unwrap();
        Ok(std::io::sink())
    });
    let Err(annalist_store::document::ExportError::Store(error)) = deleted else { panic!("{deleted:?}") };
    assert!(matches!(error, Error::Conflict { .. }) && error.is_conflict(), "{error}");
    assert_eq!(room.info(&session)["title"], "late");
    assert_eq!(room.info(&session)["version"], json!("1.18.33"));
}
