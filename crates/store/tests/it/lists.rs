//! Lists of sessions, their filters, and what is not there (reference-storage 1.4).

use super::support::{Room, THEN, begin, info, message, open, raw, user, with, write};
use annalist_store::query::{Archived, SessionFilter};
use annalist_store::row::TodoRow;
use annalist_store::{Durability, Error, Expect, Folder, Store};
use serde_json::{Value, json};

fn ids(store: &Store, filter: &SessionFilter) -> Vec<String> {
    let listing = store.sessions(filter).unwrap();
    if filter.limit.is_none() {
        assert_eq!(listing.total, listing.sessions.len() as u64);
    }
    listing.sessions.iter().map(|session| session.id().unwrap().into_owned()).collect()
}

/// Sessions that differ in one thing each, newest first: ses_9 ... ses_1.
fn many(store: &Store) {
    for project in ["global", "other"] {
        let folder = Folder { project: project.into(), ..super::support::folder() };
        store.write(Durability::Process, move |tx| tx.ensure_project(&folder, THEN)).wait().unwrap();
    }
    let at = |number: i64| json!({"created": THEN, "updated": THEN + number});
    let archived = |number: i64, archived: f64| json!({"created": THEN, "updated": THEN + number, "archived": archived});
    let all: [(&str, Value); 9] = [
        ("ses_1", json!({"time": at(1), "title": "Plain talk", "path": "", "directory": "/w"})),
        ("ses_2", json!({"time": at(2), "title": "plain 100% talk", "path": "a", "directory": "/w/a"})),
        ("ses_3", json!({"time": at(3), "title": "b_c", "path": "a/b", "directory": "/w/a/b"})),
        ("ses_4", json!({"time": at(4), "title": "bxc", "path": "ab", "directory": "/w/ab"})),
        ("ses_5", json!({"time": at(5), "title": "ÄRGER", "path": null, "directory": "/w/a"})),
        ("ses_6", json!({"time": at(6), "title": "", "projectID": "other", "path": "a", "directory": "/x/a"})),
        ("ses_7", json!({"time": archived(7, 5.0), "title": "away", "parentID": "ses_1", "path": "c", "directory": "/w/c"})),
        ("ses_8", json!({"time": archived(8, -1.5), "title": "away too", "path": "c", "directory": "/w/c"})),
        (
            "ses_9",
            json!({"time": at(9), "title": "child", "parentID": "ses_1", "workspaceID": "wrk_1", "path": "c", "directory": "/w/c"}),
        ),
    ];
    for (id, more) in all {
        let info = with(info(id), &more);
        let event = super::support::created(&info);
        store.append(id, Expect::Any, vec![event], Durability::Process).wait().unwrap();
    }
}

#[test]
fn each_filter_alone_and_the_limit_behind_all() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    many(&store);
    let some = |text: &str| Some(text.to_owned());
    let none = SessionFilter::default;
    let cases: Vec<(SessionFilter, &str)> = vec![
        (none(), "987654321"),
        (SessionFilter { project: some("other"), ..none() }, "6"),
        (SessionFilter { project: some("none"), ..none() }, ""),
        (SessionFilter { workspace: some("wrk_1"), ..none() }, "9"),
        (SessionFilter { directory: some("/w/a"), ..none() }, "52"),
        (SessionFilter { directory: some("/w/a/"), ..none() }, ""),
        (SessionFilter { path: some("a"), ..none() }, "632"),
        (SessionFilter { path: some("a/b"), ..none() }, "3"),
        (SessionFilter { path: some("a"), directory: some("/w/a"), ..none() }, "6532"),
        (SessionFilter { path: some("zzz"), directory: some("/w/a"), ..none() }, "5"),
        (SessionFilter { path: some(""), directory: some("/w/a"), ..none() }, "987654321"),
        (SessionFilter { parent: some("ses_1"), ..none() }, "97"),
        (SessionFilter { roots: true, ..none() }, "8654321"),
        (SessionFilter { updated_since: Some(THEN + 8), ..none() }, "98"),
        (SessionFilter { updated_before: Some(THEN + 3), ..none() }, "21"),
        (SessionFilter { search: some("PLAIN"), ..none() }, "21"),
        (SessionFilter { search: some("0% t"), ..none() }, "2"),
        // Wildcards, as for the reference.
        (SessionFilter { search: some("b_c"), ..none() }, "43"),
        (SessionFilter { search: some("p%k"), ..none() }, "21"),
        (SessionFilter { search: some("ärger"), ..none() }, ""),
        (SessionFilter { search: some("'; DROP TABLE session; --"), ..none() }, ""),
        (SessionFilter { search: some(""), ..none() }, "987654321"),
        (SessionFilter { archived: Archived::Exclude, ..none() }, "9654321"),
        (SessionFilter { archived: Archived::Only, ..none() }, "87"),
        (SessionFilter { archived: Archived::Only, parent: some("ses_1"), ..none() }, "7"),
        (
            SessionFilter {
                project: some("global"),
                path: some("c"),
                roots: true,
                search: some("away"),
                updated_since: Some(0),
                ..none()
            },
            "8",
        ),
    ];
    for (filter, wanted) in cases {
        let wanted: Vec<String> = wanted.chars().map(|number| format!("ses_{number}")).collect();
        assert_eq!(ids(&store, &filter), wanted, "{filter:?}");
        for limit in 0..=wanted.len() + 1 {
            let limited = SessionFilter { limit: Some(u32::try_from(limit).unwrap()), ..filter.clone() };
            assert_eq!(ids(&store, &limited), wanted[..limit.min(wanted.len())], "the limit comes after the filters");
            assert_eq!(store.sessions(&limited).unwrap().total, wanted.len() as u64, "the total knows no limit");
        }
    }
}

#[test]
fn equal_times_are_in_the_order_of_ids_greater_first() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for id in ["ses_b", "ses_c", "ses_a"] {
        begin(&store, &info(id));
    }
    assert_eq!(ids(&store, &SessionFilter::default()), ["ses_c", "ses_b", "ses_a"]);
}

#[test]
fn a_list_never_touches_messages() {
    // A file whose message pages are gone still lists its sessions.
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    raw(&path).execute_batch("DROP TABLE part; DROP TABLE message;").unwrap();
    let store = open(&path);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap().total, 20);
}

#[test]
fn the_children_of_a_session() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    many(&store);
    let children = |of: &str| -> Vec<String> {
        store.children(of).unwrap().iter().map(|session| session.id().unwrap().into_owned()).collect()
    };
    assert_eq!(children("ses_1"), ["ses_9", "ses_7"], "archived ones too");
    assert_eq!(children("ses_9"), Vec::<String>::new());
    assert_not_found(store.children("ses_none").unwrap_err(), "Session", "ses_none");
}

#[test]
fn ids_by_their_beginning() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for id in ["ses_a1", "ses_a2", "ses_b", "ses_%"] {
        begin(&store, &info(id));
    }
    let found = |prefix: &str, limit| {
        let mut ids = store.read(|view| view.session_ids(prefix, limit)).unwrap();
        ids.sort();
        ids
    };
    assert_eq!(found("ses_a", 10), ["ses_a1", "ses_a2"]);
    assert_eq!(found("ses_a", 1).len(), 1);
    assert_eq!(found("ses_%", 10), ["ses_%"], "no wildcards");
    assert_eq!(found("", 10).len(), 4);
    assert_eq!(found("ses_b", 10), ["ses_b"], "the whole id counts");
    assert_eq!(found("ses_c", 10), Vec::<String>::new());
}

fn assert_not_found(error: Error, wanted: &str, wanted_id: &str) {
    assert!(error.is_not_found());
    match error {
        Error::NotFound { what, id } => assert_eq!((what, &*id), (wanted, wanted_id)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_not_there_is_said_by_name() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for session in ["ses_1", "ses_2"] {
        begin(&store, &info(session));
    }
    write(&store, "ses_2", vec![message(&user("ses_2", "msg_2", &json!(1)))]);
    assert_not_found(store.session("ses_none").unwrap_err(), "Session", "ses_none");
    assert_not_found(store.page("ses_none", None, None).unwrap_err(), "Session", "ses_none");
    assert_not_found(store.page("ses_none", Some(3), None).unwrap_err(), "Session", "ses_none");
    assert_not_found(store.get("ses_1", "msg_none").unwrap_err(), "Message", "msg_none");
    assert_not_found(store.get("ses_1", "msg_2").unwrap_err(), "Message", "msg_2");
    assert_not_found(store.todo("ses_none").unwrap_err(), "Session", "ses_none");
    let mut out = Vec::new();
    assert!(store.export("ses_none", false, &mut out).unwrap_err().to_string().contains("Session not found: ses_none"));
    assert!(out.is_empty(), "not a byte of a document");
    // Reading on from nowhere is no error where the reference has none.
    store.stream("ses_none", |_| panic!("no message")).unwrap();
    assert!(store.page("ses_1", None, None).unwrap().messages.is_empty());
}

#[test]
fn the_todo_list_of_the_reference() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let db = raw(&path);
    let session: String = db.query_row("SELECT DISTINCT session_id FROM todo", [], |row| row.get(0)).unwrap();
    let store = open(&path);
    let list = store.todo(&session).unwrap();
    assert_eq!(list.len(), 3);
    let first: TodoRow = db
        .query_row("SELECT content, status, priority FROM todo WHERE position = 0", [], |row| {
            Ok(TodoRow { content: row.get(0)?, status: row.get(1)?, priority: row.get(2)? })
        })
        .unwrap();
    assert_eq!(list[0], first);
    // Its order is that of the positions, not of the rows.
    db.execute_batch("UPDATE todo SET position = position + 10 WHERE position < 2").unwrap();
    let turned = store.todo(&session).unwrap();
    assert_eq!(turned, [list[2].clone(), list[0].clone(), list[1].clone()]);
    let without: String =
        db.query_row("SELECT id FROM session WHERE id NOT IN (SELECT session_id FROM todo)", [], |row| row.get(0)).unwrap();
    assert_eq!(store.todo(&without).unwrap(), []);
}
