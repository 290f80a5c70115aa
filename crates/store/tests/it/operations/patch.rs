//! Changes of a session's own fields (reference-storage 1.6), and what is not changed by them (1.2).

use super::room::{Room, folder, with};
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::{Number, Object};
use annalist_schema::session::SessionSummary;
use annalist_store::session::SessionPatch;
use annalist_store::{Durability, Expect, NewEvent};
use serde_json::{Value, json};

/// Long ago, so that a change of `time.updated` to now shows.
const OLD: i64 = 1_700_000_000_000;

fn old_session(room: &Room) -> String {
    let session = room.session();
    room.sql().execute("UPDATE session SET time_updated = ?1", [OLD]).unwrap();
    session
}

fn rule(text: &str) -> PermissionRule<'static> {
    PermissionRule::parse(text).unwrap().into_static()
}

const DENY: &str = r#"{"permission":"edit","pattern":"*","action":"deny"}"#;

#[test]
fn each_patch_changes_its_field_in_one_event() {
    let summary = || SessionSummary::parse(r#"{"additions":1,"deletions":2,"files":3,"diffs":[]}"#).unwrap().into_static();
    let model = || SessionModel::parse(r#"{"id":"m","providerID":"p"}"#).unwrap().into_static();
    let now = json!("now");
    // the patch, the pointer to what changes, its value, and what the time of the last change becomes
    let table: Vec<(SessionPatch, &str, Value, Value)> = vec![
        (SessionPatch::Touch, "/time/updated", now.clone(), now.clone()),
        (SessionPatch::Title("t".into()), "/title", json!("t"), json!(OLD)),
        (SessionPatch::Archived(Some(Number::from(7_i64))), "/time/archived", json!(7), json!(OLD)),
        (SessionPatch::Metadata(Some(Object::parse(r#"{"a":1}"#).unwrap())), "/metadata", json!({"a": 1}), now.clone()),
        (SessionPatch::Permission(vec![rule(DENY)]), "/permission/0/action", json!("deny"), now.clone()),
        (SessionPatch::AddPermission(vec![rule(DENY)]), "/permission/0/action", json!("deny"), now.clone()),
        (SessionPatch::AgentModel { agent: "a".into(), model: model(), at: 5 }, "/agent", json!("a"), json!(5)),
        (SessionPatch::AgentModel { agent: "a".into(), model: model(), at: 5 }, "/model/id", json!("m"), json!(5)),
        (SessionPatch::Share(Some("https://x".into())), "/share/url", json!("https://x"), now.clone()),
        (SessionPatch::Workspace(Some("wrk_1".into())), "/workspaceID", json!("wrk_1"), now.clone()),
        (SessionPatch::Summary(Some(summary())), "/summary", json!({"additions": 1, "deletions": 2, "files": 3, "diffs": []}), now),
    ];
    let room = Room::new();
    for (patch, pointer, expected, updated) in table {
        let session = old_session(&room);
        let answer = room.store.patch_session(&session, vec![patch.clone()]).wait().unwrap();
        let info = room.info(&session);
        assert_eq!(super::room::value(&answer), info);
        if expected != "now" {
            assert_eq!(info.pointer(pointer), Some(&expected), "{patch:?}");
        }
        match updated.as_i64() {
            Some(at) => assert_eq!(info["time"]["updated"], at, "{patch:?}"),
            None => assert!(info["time"]["updated"].as_i64().unwrap() > OLD, "{patch:?}"),
        }
        let events = room.events(&session);
        assert_eq!(events.len(), 2, "{patch:?}");
        assert_eq!(events[1].kind, "session.updated.1");
        assert_eq!(events[1].data["info"], info, "an event carries all of the session");
    }
}

#[test]
fn several_patches_are_several_events_and_one_transaction() {
    let room = Room::new();
    let session = room.session();
    let patches = || vec![SessionPatch::Title("t".into()), SessionPatch::Archived(Some(Number::from(7_i64)))];
    room.store.patch_session(&session, patches()).wait().unwrap();
    assert_eq!(room.kinds(&session, 1), vec!["session.updated.1"; 2]);
    room.store.patch_session(&session, vec![]).wait().unwrap();
    room.store.patch_session(&session, patches()).wait().unwrap();
    assert_eq!(room.events(&session).len(), 3, "what is so already is no event");
    assert!(room.store.patch_session("ses_nowhere", patches()).wait().unwrap_err().is_not_found());
    assert!(room.store.patch_session("ses_nowhere", vec![]).wait().unwrap_err().is_not_found());
    assert!(room.events("ses_nowhere").is_empty());
}

#[test]
fn archiving_goes_both_ways() {
    let room = Room::new();
    let session = room.session();
    room.store.archive(&session).wait().unwrap();
    assert!(room.info(&session)["time"]["archived"].as_i64().unwrap() > OLD);
    room.store.unarchive(&session).wait().unwrap();
    assert!(room.info(&session)["time"].get("archived").is_none());
    let null: bool = room.sql().query_row("SELECT time_archived IS NULL FROM session", [], |row| row.get(0)).unwrap();
    assert!(null);
    assert_eq!(room.events(&session)[2].data["info"]["time"]["archived"], 0);
    room.store.unarchive(&session).wait().unwrap();
    assert_eq!(room.events(&session).len(), 3);
}

#[test]
fn added_rules_stand_behind_those_that_are_there_whatever_they_are() {
    let room = Room::new();
    let session = room.session();
    room.sql().execute("UPDATE session SET permission = '[\"odd\", {\"a\": 1.0}]'", []).unwrap();
    room.store.patch_session(&session, vec![SessionPatch::AddPermission(vec![rule(DENY)])]).wait().unwrap();
    let deny: Value = serde_json::from_str(DENY).unwrap();
    assert_eq!(room.info(&session)["permission"], json!(["odd", {"a": 1.0}, deny]));
}

/// Reference-storage 1.2: of what an event leaves out, most stays, two fields are cleared and the usage becomes 0.
#[test]
fn an_event_that_leaves_fields_out_is_a_partial_update() {
    let room = Room::new();
    let session = room.session();
    room.sql()
        .execute_batch(
            "UPDATE session SET parent_id = 'ses_p', share_url = 'https://x', summary_additions = 1, summary_deletions = 2,
             summary_files = 3, summary_diffs = '[]', metadata = '{\"a\":1}', permission = '[]', agent = 'a', time_compacting = 4,
             model = '{\"id\":\"m\",\"providerID\":\"p\"}', time_archived = 5, workspace_id = 'wrk_1', cost = 6, tokens_input = 7,
             revert = '{\"messageID\":\"msg_1\"}'",
        )
        .unwrap();
    let before = room.info(&session);
    let bare = json!({"id": session, "slug": "s", "projectID": "global", "directory": "/d", "title": "t", "version": "v",
                      "time": {"created": 1, "updated": 2}});
    let event = NewEvent::new("session.updated.1", json!({"sessionID": session, "info": bare}).to_string());
    room.store.append(&session, Expect::Any, vec![event], Durability::Power).wait().unwrap();
    let after = room.info(&session);
    for kept in ["parentID", "path", "share", "summary", "metadata", "permission", "agent", "model"] {
        assert_eq!(after[kept], before[kept], "{kept}");
        assert!(!after[kept].is_null(), "{kept}");
    }
    assert_eq!(after["time"], json!({"created": 1, "updated": 2, "compacting": 4, "archived": 5}));
    for cleared in ["workspaceID", "revert"] {
        assert!(!before[cleared].is_null() && after.get(cleared).is_none(), "{cleared}");
    }
    assert_eq!((&after["cost"], &after["tokens"]["input"]), (&json!(0), &json!(0)));
}

#[test]
fn what_this_version_does_not_know_survives() {
    let room = Room::new();
    let session = room.session();
    room.sql().execute_batch("ALTER TABLE session ADD COLUMN novel TEXT; UPDATE session SET novel = 'kept'").unwrap();
    // A document with a field of another version: it lives under metadata.annalist.
    let document = json!({"info": with(with(room.info(&session), "id", "ses_other"), "novel", json!({"x": [1]})), "messages": []});
    room.store.import(document.to_string(), folder()).unwrap();
    for session in [session.as_str(), "ses_other"] {
        room.store.set_title(session, "t").wait().unwrap();
        room.store.patch_session(session, vec![SessionPatch::Metadata(Some(Object::parse(r#"{"a":1}"#).unwrap()))]).wait().unwrap();
        room.store.patch_session(session, vec![SessionPatch::Metadata(None)]).wait().unwrap();
    }
    assert_eq!(room.info("ses_other")["novel"], json!({"x": [1]}));
    assert_eq!(room.info("ses_other")["title"], "t");
    let novel: String = room.sql().query_row("SELECT novel FROM session WHERE id = ?1", [&session], |row| row.get(0)).unwrap();
    assert_eq!(novel, "kept");
}

#[test]
fn a_column_that_holds_something_else_is_told_and_kept() {
    let room = Room::new();
    let session = room.session();
    room.sql().execute("UPDATE session SET model = '{broken', metadata = '{\"a\":1}'", []).unwrap();
    room.store.set_title(&session, "t").wait().unwrap();
    room.store.patch_session(&session, vec![SessionPatch::Metadata(None)]).wait().unwrap();
    let model: String = room.sql().query_row("SELECT model FROM session", [], |row| row.get(0)).unwrap();
    assert_eq!(model, "{broken");
    assert_eq!(room.info(&session)["metadata"]["annalist"]["columns"]["model"]["text"], "{broken");
}
