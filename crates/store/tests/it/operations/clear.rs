//! Clearing a field: what is recorded, what a reader sees, and that it is what the reference's replay makes of the event.

use super::room::{Room, value, with};
use annalist_schema::raw::Object;
use annalist_store::replay::{ForeignEvent, Replay};
use annalist_store::session::SessionPatch;
use annalist_store::upkeep::{Compact, Finding, News, compact, rebuild, verify};
use annalist_store::{Create, Durability, Expect, Flow, NewEvent, Store};
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;

const COLUMNS: &str = "share_url, summary_additions, summary_deletions, summary_files, summary_diffs, metadata, permission,
    workspace_id, revert, time_archived";

fn full(room: &Room) -> String {
    let session = room.session();
    let info = json!({
        "share": {"url": "https://x"}, "metadata": {"a": 1}, "workspaceID": "wrk_1", "revert": {"messageID": "msg_1"},
        "permission": [{"permission": "edit", "pattern": "*", "action": "deny"}],
        "summary": {"additions": 1, "deletions": 2, "files": 3, "diffs": [{"file": "a", "additions": 1, "deletions": 1}]},
    });
    let mut whole = room.info(&session);
    whole.as_object_mut().unwrap().extend(info.as_object().unwrap().clone());
    whole["time"]["archived"] = json!(5);
    updated(&room.store, &session, whole);
    session
}

fn updated(store: &Store, session: &str, info: Value) {
    let event = NewEvent::new("session.updated.1", json!({"sessionID": session, "info": info}).to_string());
    store.append(session, Expect::Any, vec![event], Durability::Power).wait().unwrap();
}

fn columns(room: &Room, session: &str) -> Vec<Sql> {
    room.sql()
        .query_row(&format!("SELECT {COLUMNS} FROM session WHERE id = ?1"), [session], |row| (0..10).map(|i| row.get(i)).collect())
        .unwrap()
}

/// What the reference (1.18.33) had in these columns after `/sync/replay` of such an event. We differ in two on purpose: a
/// share without an address and an archive time of 0 become NULL.
fn empty() -> Vec<Sql> {
    let text = |text: &str| Sql::Text(text.into());
    let zero = Sql::Integer(0);
    vec![Sql::Null, zero.clone(), zero.clone(), zero, text("[]"), text("{}"), text("[]"), Sql::Null, Sql::Null, Sql::Null]
}

#[test]
fn the_empty_values_replay_as_in_the_reference() {
    let room = Room::new();
    let session = full(&room);
    let mut info = room.info(&session);
    for key in ["workspaceID", "revert"] {
        info.as_object_mut().unwrap().remove(key);
    }
    let zeros = json!({"additions": 0, "deletions": 0, "files": 0, "diffs": []});
    let info = with(with(with(info, "share", json!({"url": ""})), "metadata", json!({})), "permission", json!([]));
    let mut info = with(info, "summary", zeros);
    info["time"]["archived"] = json!(0);
    updated(&room.store, &session, info);
    assert_eq!(columns(&room, &session), empty());
}

#[test]
fn each_clear_records_its_empty_value() {
    let table = [
        (SessionPatch::Archived(None), "/time/archived", Some(json!(0))),
        (SessionPatch::Share(None), "/share", Some(json!({"url": ""}))),
        (SessionPatch::Workspace(None), "/workspaceID", None),
        (SessionPatch::Metadata(None), "/metadata", Some(json!({}))),
        (SessionPatch::Permission(vec![]), "/permission", Some(json!([]))),
        (SessionPatch::Summary(None), "/summary", Some(json!({"additions": 0, "deletions": 0, "files": 0, "diffs": []}))),
    ];
    let room = Room::new();
    for (patch, pointer, recorded) in table {
        let session = full(&room);
        assert!(room.info(&session).pointer(pointer).is_some());
        room.store.patch_session(&session, vec![patch.clone()]).wait().unwrap();
        let event = room.events(&session).pop().unwrap();
        assert_eq!(event.data["info"].pointer(pointer), recorded.as_ref(), "{patch:?}");
        assert_eq!(room.info(&session).pointer(pointer), None, "{patch:?}");
    }
    assert_eq!(upkeep(&room.file), [], "the log gives these rows");
    let session = full(&room);
    all(&room.store, &session);
    room.store.unrevert_session(&session).wait().unwrap();
    assert_eq!(columns(&room, &session), vec![Sql::Null; 10]);
    // What is written later does not bring it back: neither a change, nor what the reference makes of the row.
    room.store.set_title(&session, "later").wait().unwrap();
    updated(&room.store, &session, room.info(&session));
    assert_eq!(columns(&room, &session), vec![Sql::Null; 10]);
}

fn all(store: &Store, session: &str) {
    let all = vec![
        SessionPatch::Archived(None),
        SessionPatch::Share(None),
        SessionPatch::Workspace(None),
        SessionPatch::Metadata(None),
        SessionPatch::Permission(vec![]),
        SessionPatch::Summary(None),
    ];
    store.patch_session(session, all).wait().unwrap();
}

fn upkeep(file: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    let told = &mut |news| {
        if let News::Finding(finding) = news {
            findings.push(finding);
        }
        Flow::Continue
    };
    verify(file, None, told).unwrap();
    findings
}

/// An empty object that a caller gives is one (the recording `api/session-patch` has it), and so are the values that another
/// program recorded.
#[test]
fn what_is_empty_was_not_always_cleared() {
    let room = Room::new();
    let session = full(&room);
    room.store.patch_session(&session, vec![SessionPatch::Metadata(Some(Object::new()))]).wait().unwrap();
    assert_eq!(room.info(&session)["metadata"], json!({}));
    room.store.patch_session(&session, vec![SessionPatch::Metadata(None)]).wait().unwrap();
    assert_eq!(room.info(&session).get("metadata"), None, "also from empty to nothing");
    let more = json!({"metadata": {}, "permission": [], "summary": {"additions": 0, "deletions": 0, "files": 0, "diffs": []}});
    let mut info = room.info(&session);
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    updated(&room.store, &session, info);
    for key in ["metadata", "permission", "summary"] {
        assert_eq!(room.info(&session)[key], more[key]);
    }
}

/// A clear is in the log: a file rebuilt from it, one whose log was compacted, and another of ours that replayed it know it.
#[test]
fn a_clear_outlives_its_file() {
    let room = Room::new();
    let session = full(&room);
    all(&room.store, &session);
    room.store.set_title(&session, "later").wait().unwrap();
    let cleared = room.info(&session);
    for key in ["share", "metadata", "permission", "summary", "workspaceID"] {
        assert_eq!(cleared.get(key), None, "{key}");
    }
    let folder = tempfile::tempdir().unwrap();
    let rebuilt = folder.path().join("rebuilt.db");
    rebuild(&room.file, &rebuilt, &mut |_| Flow::Continue).unwrap();
    let rebuilt = Store::open(&rebuilt, Create::Never).unwrap();
    assert_eq!(value(&rebuilt.session(&session).unwrap()), cleared);

    assert!(compact(&room.file, Compact::default(), &mut |_| Flow::Continue).unwrap().events() > 0);
    assert_eq!(upkeep(&room.file), []);

    let other = Room::new();
    // It has the project.
    other.session();
    let mut events = Vec::new();
    let log = room.store.history(&HashMap::new(), |head, data| {
        let event = head.with(data);
        let data = String::from_utf8(event.data).unwrap();
        events.push(ForeignEvent { id: event.id, session: event.session, seq: event.seq, kind: event.kind, data });
        Flow::Continue
    });
    log.unwrap();
    other.store.replay_all(events, Replay::default()).wait().unwrap();
    assert_eq!(value(&other.store.session(&session).unwrap()), cleared);
}

#[test]
fn what_is_not_there_is_not_cleared() {
    let room = Room::new();
    let session = room.session();
    let absent =
        vec![SessionPatch::Archived(None), SessionPatch::Share(None), SessionPatch::Metadata(None), SessionPatch::Summary(None)];
    room.store.patch_session(&session, absent).wait().unwrap();
    for event in room.events(&session) {
        for key in ["share", "metadata", "summary"] {
            assert!(event.data["info"].get(key).is_none(), "{key}");
        }
        assert!(event.data["info"]["time"].get("archived").is_none());
    }
}

#[test]
fn a_field_that_a_change_takes_away_is_gone_or_the_change_fails() {
    let room = Room::new();
    let session = full(&room);
    let taken = |key: &'static str| {
        room.store.update_session_with(&session, move |info| {
            info.object_mut().remove(key);
        })
    };
    taken("share").wait().unwrap();
    assert!(room.info(&session).get("share").is_none());
    taken("revert").wait().unwrap();
    assert!(room.info(&session).get("revert").is_none());
    let events = room.events(&session).len();
    let error = taken("path").wait().unwrap_err();
    assert!(error.to_string().contains("path"), "{error}");
    assert_eq!(room.events(&session).len(), events);
}

/// Fields of another version live in a column of their own kind; taking the last one away must not bring it back.
#[test]
fn a_field_of_another_version_can_be_taken_away() {
    let room = Room::new();
    let session = room.session();
    let set = |novel: bool| {
        room.store.update_session_with(&session, move |info| {
            if novel {
                info.object_mut().set("novel", Object::tagged("x", "y"));
            } else {
                info.object_mut().remove("novel");
            }
        })
    };
    set(true).wait().unwrap();
    assert_eq!(room.info(&session)["novel"], json!({"x": "y"}));
    set(false).wait().unwrap();
    assert!(room.info(&session).get("novel").is_none());
}

#[test]
fn a_change_cannot_move_a_session() {
    let room = Room::new();
    let session = room.session();
    let moved = room.store.update_session_with(&session, |info| {
        info.set_id("ses_other".into());
    });
    assert!(matches!(moved.wait(), Err(annalist_store::Error::Invalid { .. })));
    assert_eq!(room.events(&session).len(), 1);
}
