//! Todo lists (reference-storage 6.2).

use super::room::Room;
use annalist_store::row::TodoRow;

fn todo(content: &str) -> TodoRow {
    TodoRow { content: content.into(), status: "pending".into(), priority: "high".into() }
}

#[test]
fn a_list_replaces_the_one_before() {
    let room = Room::new();
    let session = room.session();
    room.store.set_todo(&session, vec![todo("b"), todo("a"), todo("b")]).wait().unwrap();
    assert_eq!(room.store.todo(&session).unwrap(), [todo("b"), todo("a"), todo("b")]);
    room.store.set_todo(&session, vec![todo("c")]).wait().unwrap();
    assert_eq!(room.store.todo(&session).unwrap(), [todo("c")]);
    room.store.set_todo(&session, vec![]).wait().unwrap();
    assert_eq!(room.store.todo(&session).unwrap(), []);
    assert_eq!(room.events(&session).len(), 1, "todos have no events");
}

#[test]
fn only_a_session_that_is_there_has_one() {
    let room = Room::new();
    assert!(room.store.set_todo("ses_nowhere", vec![todo("a")]).wait().unwrap_err().is_not_found());
    assert!(room.store.todo("ses_nowhere").unwrap_err().is_not_found());
    assert_eq!(room.count("todo"), 0);
}
