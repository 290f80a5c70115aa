//! New sessions (reference-storage 1.3).

use super::room::{Room, folder, value};
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::Object;
use annalist_schema::session::is_default_title;
use annalist_store::Folder;
use annalist_store::session::NewSession;
use serde_json::json;

#[test]
fn a_session_is_one_event_and_the_row_that_it_says() {
    let room = Room::new();
    let session = room.store.create_session(NewSession::new(folder())).wait().unwrap();
    let info = value(&session);
    let id = info["id"].as_str().unwrap();
    assert!(is_default_title(info["title"].as_str().unwrap()) && info["title"].as_str().unwrap().starts_with("New session - "));
    assert_eq!((&info["version"], &info["path"], &info["cost"]), (&json!("1.18.33"), &json!("work/app"), &json!(0)));
    assert_eq!(info["time"]["created"], info["time"]["updated"]);
    assert_eq!(info["slug"].as_str().unwrap().split('-').count(), 2);
    for absent in ["parentID", "agent", "model", "metadata", "permission", "workspaceID", "share", "summary", "revert"] {
        assert!(info.get(absent).is_none(), "{absent}");
    }
    let events = room.events(id);
    assert_eq!(events.len(), 1);
    assert_eq!((events[0].seq, events[0].kind.as_str()), (0, "session.created.1"));
    assert_eq!(events[0].data["info"]["id"], info["id"]);
    assert_eq!(room.info(id), info);
    assert_eq!(room.count("project"), 1);
}

#[test]
fn everything_given_is_kept() {
    let room = Room::new();
    let parent = room.session();
    let mut new = NewSession::new(folder());
    new.parent = Some(parent.clone());
    new.title = Some(String::new());
    new.agent = Some("fixer".into());
    new.model = Some(SessionModel::parse(r#"{"id":"m","providerID":"p","variant":"high"}"#).unwrap().into_static());
    new.metadata = Some(Object::parse(r#"{"a":{"b":[1.0]}}"#).unwrap().into_static());
    new.permission =
        Some(vec![PermissionRule::parse(r#"{"permission":"edit","pattern":"*","action":"deny"}"#).unwrap().into_static()]);
    new.workspace = Some("wrk_1".into());
    let info = room.info(&room.created(new));
    assert_eq!(info["title"], "");
    assert_eq!(info["parentID"], json!(parent));
    assert_eq!(info["agent"], "fixer");
    assert_eq!(info["model"], json!({"id": "m", "providerID": "p", "variant": "high"}));
    assert_eq!(info["metadata"], json!({"a": {"b": [1.0]}}));
    assert_eq!(info["permission"], json!([{"permission": "edit", "pattern": "*", "action": "deny"}]));
    assert_eq!(info["workspaceID"], "wrk_1");
    let child = room.info(&room.child(&parent));
    assert!(child["title"].as_str().unwrap().starts_with("Child session - "));
    assert!(is_default_title(child["title"].as_str().unwrap()));
}

#[test]
fn an_unknown_parent_leaves_nothing() {
    let room = Room::new();
    let mut new = NewSession::new(Folder { project: "0123".into(), ..folder() });
    new.parent = Some("ses_nowhere".into());
    let error = room.store.create_session(new).wait().unwrap_err();
    assert!(error.is_not_found(), "{error}");
    for table in ["session", "event", "event_sequence", "project"] {
        assert_eq!(room.count(table), 0, "{table}");
    }
}
