//! Clearing a field: what is recorded, what a reader sees, and that it is what the reference's replay makes of the event.

use super::room::{Room, with};
use annalist_schema::raw::Object;
use annalist_store::session::SessionPatch;
use annalist_store::{Durability, Expect, NewEvent, Store};
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};

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
fn cleared() -> Vec<Sql> {
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
    assert_eq!(columns(&room, &session), cleared());
}

#[test]
fn each_clear_records_its_empty_value() {
    let table = [
        (SessionPatch::Archived(None), "/time/archived", Some(json!(0)), None),
        (SessionPatch::Share(None), "/share", Some(json!({"url": ""})), None),
        (SessionPatch::Workspace(None), "/workspaceID", None, None),
        (SessionPatch::Metadata(None), "/metadata", Some(json!({})), Some(json!({}))),
        (SessionPatch::Permission(vec![]), "/permission", Some(json!([])), Some(json!([]))),
        (
            SessionPatch::Summary(None),
            "/summary",
            Some(json!({"additions": 0, "deletions": 0, "files": 0, "diffs": []})),
            Some(json!({"additions": 0, "deletions": 0, "files": 0, "diffs": []})),
        ),
    ];
    let room = Room::new();
    for (patch, pointer, recorded, shown) in table {
        let session = full(&room);
        assert!(room.info(&session).pointer(pointer).is_some());
        room.store.patch_session(&session, vec![patch.clone()]).wait().unwrap();
        let event = room.events(&session).pop().unwrap();
        assert_eq!(event.data["info"].pointer(pointer), recorded.as_ref(), "{patch:?}");
        assert_eq!(room.info(&session).pointer(pointer), shown.as_ref(), "{patch:?}");
    }
    let session = full(&room);
    let all = vec![
        SessionPatch::Archived(None),
        SessionPatch::Share(None),
        SessionPatch::Workspace(None),
        SessionPatch::Metadata(None),
        SessionPatch::Permission(vec![]),
        SessionPatch::Summary(None),
    ];
    room.store.patch_session(&session, all).wait().unwrap();
    room.store.unrevert_session(&session).wait().unwrap();
    assert_eq!(columns(&room, &session), cleared());
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
