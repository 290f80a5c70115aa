//! From events to rows, by the rules of the reference (reference-storage 1.2, 4.4).

use super::support::{
    Room, THEN, append, begin, created, event, info, int, message, message_removed, part, part_removed, raw, rows, text, updated,
    user, with, without, write,
};
use annalist_schema::DurableEvent;
use annalist_store::row::Cell;
use annalist_store::{Expect, Store, sqlite};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

#[test]
fn every_durable_event_of_the_model_has_a_projector() {
    let mut projected: Vec<&str> = sqlite::projected().collect();
    let mut durable = DurableEvent::VERSIONED.to_vec();
    projected.sort_unstable();
    durable.sort_unstable();
    assert_eq!(projected, durable);
}

/// An info that says something in every field.
fn full(session: &str) -> Value {
    with(
        info(session),
        &json!({
            "workspaceID": "wrk_1", "parentID": "ses_0", "path": "home/dev", "agent": "build",
            "summary": {"additions": 1, "deletions": 2, "files": 3, "diffs": [{"file": "a", "additions": 1, "deletions": 2, "odd": 1.0}]},
            "cost": 0.25, "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}},
            "share": {"url": "https://share"}, "model": {"id": "m1", "providerID": "chat", "variant": "v", "odd": null},
            "metadata": {"b": 1, "a": [1.0]}, "permission": [{"permission": "bash", "pattern": "*", "action": "ask"}],
            "revert": {"messageID": "msg_1", "odd": "x"},
            "time": {"created": THEN, "updated": THEN + 1, "compacting": THEN + 2, "archived": THEN + 3},
        }),
    )
}

fn column(path: &Path, session: &str, name: &str) -> Cell {
    rows(&raw(path), &format!("SELECT {name} FROM session WHERE id = '{session}'")).remove(0).remove(0)
}

fn text_of(value: &str) -> Cell {
    Cell::Text(value.to_owned())
}

/// Columns with their value after [`full`].
fn full_columns() -> Vec<(&'static str, Cell)> {
    vec![
        ("project_id", text_of("global")),
        ("workspace_id", text_of("wrk_1")),
        ("parent_id", text_of("ses_0")),
        ("slug", text_of("calm-river")),
        ("directory", text_of("/home/dev")),
        ("path", text_of("home/dev")),
        ("title", text_of("a session")),
        ("version", text_of("1.18.33")),
        ("share_url", text_of("https://share")),
        ("summary_additions", Cell::Int(1)),
        ("summary_deletions", Cell::Int(2)),
        ("summary_files", Cell::Int(3)),
        ("summary_diffs", text_of(r#"[{"additions":1,"deletions":2,"file":"a","odd":1.0}]"#)),
        ("metadata", text_of(r#"{"a":[1.0],"b":1}"#)),
        ("cost", Cell::Real(0.25)),
        ("tokens_input", Cell::Int(1)),
        ("tokens_output", Cell::Int(2)),
        ("tokens_reasoning", Cell::Int(3)),
        ("tokens_cache_read", Cell::Int(4)),
        ("tokens_cache_write", Cell::Int(5)),
        ("revert", text_of(r#"{"messageID":"msg_1","odd":"x"}"#)),
        ("permission", text_of(r#"[{"action":"ask","pattern":"*","permission":"bash"}]"#)),
        ("agent", text_of("build")),
        ("model", text_of(r#"{"id":"m1","odd":null,"providerID":"chat","variant":"v"}"#)),
        ("time_created", Cell::Int(THEN)),
        ("time_updated", Cell::Int(THEN + 1)),
        ("time_compacting", Cell::Int(THEN + 2)),
        ("time_archived", Cell::Int(THEN + 3)),
    ]
}

/// JSON text with its keys sorted, other cells as they are.
fn normal(cell: Cell) -> Cell {
    match cell {
        Cell::Text(text) if text.starts_with(['{', '[']) => Cell::Text(sorted(serde_json::from_str(&text).unwrap()).to_string()),
        other => other,
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.into_iter().map(|(key, value)| (key, sorted(value))).collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Object(entries.into_iter().collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

fn check_columns(path: &Path, session: &str, wanted: &[(&str, Cell)]) {
    for (name, value) in wanted {
        assert_eq!(normal(column(path, session, name)), *value, "{name}");
    }
}

#[test]
fn a_created_session_fills_every_column() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &full("ses_1"));
    check_columns(&path, "ses_1", &full_columns());
    let width = int(&raw(&path), "SELECT count(*) FROM pragma_table_info('session')");
    assert_eq!(width, full_columns().len() as i64 + 1, "all columns but the id were looked at");
}

#[test]
fn what_a_created_session_does_not_say_is_null_or_zero() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &without(info("ses_1"), &["path", "cost", "tokens"]));
    for name in [
        "workspace_id",
        "parent_id",
        "path",
        "share_url",
        "summary_additions",
        "summary_diffs",
        "metadata",
        "revert",
        "permission",
        "agent",
        "model",
        "time_compacting",
        "time_archived",
    ] {
        assert_eq!(column(&path, "ses_1", name), Cell::Null, "{name}");
    }
    assert_eq!(column(&path, "ses_1", "cost"), Cell::Real(0.0));
    for name in ["tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"] {
        assert_eq!(column(&path, "ses_1", name), Cell::Int(0), "{name}");
    }
}

#[test]
fn a_created_session_marks_its_workspace_as_used() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_0"));
    let db = raw(&path);
    let columns = rows(
        &db,
        "SELECT name FROM pragma_table_info('workspace') WHERE \"notnull\" AND dflt_value IS NULL AND name NOT IN ('id','project_id','time_used')",
    );
    let extra: Vec<String> = columns.iter().map(|row| row[0].text().unwrap().to_owned()).collect();
    let (names, values): (String, String) = extra.iter().map(|name| (format!(", {name}"), ", ''".to_owned())).unzip();
    db.execute(&format!("INSERT INTO workspace (id, project_id, time_used{names}) VALUES ('wrk_1', 'global', 0{values})"), [])
        .unwrap();
    let created = created(&with(info("ses_1"), &json!({"workspaceID": "wrk_1"})));
    let at = annalist_schema::id::time_near(&created.id, annalist_schema::id::now_ms()).unwrap();
    append(&store, "ses_1", created).unwrap();
    assert_eq!(int(&db, "SELECT time_used FROM workspace"), at);
}

#[test]
fn an_update_clears_only_what_the_reference_clears() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &full("ses_1"));
    let bare = json!({
        "id": "ses_1", "slug": "other-slug", "projectID": "global", "directory": "/elsewhere", "title": "", "version": "9",
        "time": {"created": THEN + 7, "updated": THEN + 8},
    });
    append(&store, "ses_1", updated(&bare)).unwrap();
    let mut wanted = full_columns();
    for (name, value) in &mut wanted {
        *value = match *name {
            "slug" => text_of("other-slug"),
            "directory" => text_of("/elsewhere"),
            "title" => text_of(""),
            "version" => text_of("9"),
            "time_created" => Cell::Int(THEN + 7),
            "time_updated" => Cell::Int(THEN + 8),
            "workspace_id" | "revert" => Cell::Null,
            "cost" => Cell::Real(0.0),
            "tokens_input" | "tokens_output" | "tokens_reasoning" | "tokens_cache_read" | "tokens_cache_write" => Cell::Int(0),
            // parent, path, share, summary, metadata, permission, agent, model, compacting, archived
            _ => continue,
        };
    }
    check_columns(&path, "ses_1", &wanted);
}

#[test]
fn null_is_absence() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &full("ses_1"));
    let nulls = json!({"parentID": null, "path": null, "share": null, "summary": null, "metadata": null, "permission": null,
        "agent": null, "model": null, "revert": null, "workspaceID": null,
        "time": {"created": THEN, "updated": THEN + 1, "compacting": null, "archived": null}});
    append(&store, "ses_1", updated(&with(full("ses_1"), &nulls))).unwrap();
    let mut wanted = full_columns();
    for (name, value) in &mut wanted {
        if ["workspace_id", "revert"].contains(name) {
            *value = Cell::Null;
        }
    }
    check_columns(&path, "ses_1", &wanted);
}

#[test]
fn an_update_overwrites_what_it_says() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    append(&store, "ses_1", updated(&full("ses_1"))).unwrap();
    check_columns(&path, "ses_1", &full_columns());
    let part_of_a_summary = json!({"summary": {"additions": 9, "deletions": 0, "files": 0}, "metadata": {}, "permission": []});
    append(&store, "ses_1", updated(&with(full("ses_1"), &part_of_a_summary))).unwrap();
    let changed = [
        ("summary_additions", Cell::Int(9)),
        ("summary_deletions", Cell::Int(0)),
        ("metadata", text_of("{}")),
        ("permission", text_of("[]")),
    ];
    check_columns(&path, "ses_1", &changed);
    // The diffs were absent: they stay, as a field of their own.
    assert_ne!(column(&path, "ses_1", "summary_diffs"), Cell::Null);
}

#[test]
fn the_empty_values_that_stand_for_a_clear_become_null() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let clear = json!({"share": {"url": ""}, "time": {"created": THEN, "updated": THEN, "archived": 0}});
    begin(&store, &full("ses_1"));
    append(&store, "ses_1", updated(&with(full("ses_1"), &clear))).unwrap();
    begin(&store, &with(full("ses_2"), &clear));
    for session in ["ses_1", "ses_2"] {
        check_columns(&path, session, &[("share_url", Cell::Null), ("time_archived", Cell::Null)]);
        let shown = store.session(session).unwrap();
        assert!(!shown.object().has("share"));
        assert!(!shown.object().get("time").unwrap().as_object().unwrap().has("archived"));
    }
    // Any other number is a time, as for the reference.
    for archived in [json!(-1), json!(1.5), json!(1)] {
        let time = json!({"created": THEN, "updated": THEN, "archived": archived});
        append(&store, "ses_1", updated(&with(full("ses_1"), &json!({"time": time})))).unwrap();
        assert_ne!(column(&path, "ses_1", "time_archived"), Cell::Null, "{archived}");
    }
}

#[test]
fn an_update_of_no_session_is_kept_and_writes_no_row() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    assert_eq!(append(&store, "ses_1", updated(&info("ses_1"))).unwrap().seq, 0);
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM session"), 0);
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 1);
}

/// A session with two messages of two parts, and a neighbour with one of each.
fn small() -> (Room, PathBuf, Store) {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    for session in ["ses_1", "ses_2"] {
        begin(&store, &info(session));
    }
    let mut events = Vec::new();
    for number in 1..=2 {
        let id = format!("msg_{number}");
        events.push(message(&user("ses_1", &id, &json!(THEN + number))));
        events.extend((1..=2).map(|at| part(&text("ses_1", &id, &format!("prt_{number}{at}"), "old"), THEN + at)));
    }
    write(&store, "ses_1", events);
    write(
        &store,
        "ses_2",
        vec![message(&user("ses_2", "msg_other", &json!(THEN))), part(&text("ses_2", "msg_other", "prt_other", "x"), THEN)],
    );
    (room, path, store)
}

#[test]
fn a_message_keeps_its_time_and_takes_new_data_whole() {
    let (_room, path, store) = small();
    let changed =
        json!({"id": "msg_1", "sessionID": "ses_1", "role": "assistant", "time": {"created": 5}, "odd": 1e0, "é": "\u{0}"});
    let event = message(&changed);
    let at = annalist_schema::id::time_near(&event.id, annalist_schema::id::now_ms()).unwrap();
    append(&store, "ses_1", event).unwrap();
    let db = raw(&path);
    let row = rows(&db, "SELECT session_id, time_created, time_updated, data FROM message WHERE id = 'msg_1'").remove(0);
    let wanted = [
        text_of("ses_1"),
        Cell::Int(THEN + 1),
        Cell::Int(at),
        text_of("{\"role\":\"assistant\",\"time\":{\"created\":5},\"odd\":1.0,\"é\":\"\\u0000\"}"),
    ];
    assert_eq!(row, wanted);
    assert_eq!(int(&db, "SELECT count(*) FROM part WHERE message_id = 'msg_1'"), 2, "old parts stay");
}

#[test]
fn data_is_the_given_text_without_the_ids() {
    let (_room, path, store) = small();
    // Keys in the middle, numbers in odd spellings, half a pair, a key twice: only the ids go.
    let raw_event = annalist_store::NewEvent::new(
        "message.part.updated.1",
        r#"{"time":7.0,"sessionID":"ses_1","part":{"z":1.50,"id":"prt_new","type":"later","messageID":"msg_1","half":"\ud83d","sessionID":"ses_1","big":12345678901234567890,"z":{"id":"kept"}}}"#.to_owned(),
    );
    append(&store, "ses_1", raw_event).unwrap();
    let row = rows(&raw(&path), "SELECT message_id, session_id, time_created, data FROM part WHERE id = 'prt_new'").remove(0);
    let data = r#"{"z":1.50,"type":"later","half":"\ud83d","big":12345678901234567890,"z":{"id":"kept"}}"#;
    assert_eq!(row, [text_of("msg_1"), text_of("ses_1"), Cell::Int(7), text_of(data)]);
}

#[test]
fn a_part_keeps_the_time_of_its_first_event() {
    let (_room, path, store) = small();
    let event = part(&text("ses_1", "msg_1", "prt_11", "new"), THEN + 500);
    let at = annalist_schema::id::time_near(&event.id, annalist_schema::id::now_ms()).unwrap();
    append(&store, "ses_1", event).unwrap();
    let row = rows(&raw(&path), "SELECT message_id, session_id, time_created, time_updated, data FROM part WHERE id = 'prt_11'")
        .remove(0);
    assert_eq!(
        row,
        [text_of("msg_1"), text_of("ses_1"), Cell::Int(THEN + 1), Cell::Int(at), text_of(r#"{"type":"text","text":"new"}"#)]
    );
}

#[test]
fn a_part_does_not_move_to_another_message() {
    let (_room, path, store) = small();
    assert!(append(&store, "ses_1", part(&text("ses_1", "msg_2", "prt_11", "new"), THEN)).unwrap_err().is_conflict());
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM part WHERE message_id = 'msg_1'"), 2);
}

#[test]
fn fractional_times_stay_fractional() {
    let (_room, path, store) = small();
    append(&store, "ses_1", message(&user("ses_1", "msg_3", &json!(1.25)))).unwrap();
    assert_eq!(rows(&raw(&path), "SELECT time_created FROM message WHERE id = 'msg_3'"), [[Cell::Real(1.25)]]);
    // Whole, however it is spelled.
    append(&store, "ses_1", message(&user("ses_1", "msg_4", &json!(2.0)))).unwrap();
    assert_eq!(rows(&raw(&path), "SELECT time_created FROM message WHERE id = 'msg_4'"), [[Cell::Int(2)]]);
}

#[test]
fn a_message_without_a_time_stands_at_the_latest_one() {
    let (_room, path, store) = small();
    let none = json!({"id": "msg_9", "sessionID": "ses_1", "role": "user"});
    append(&store, "ses_1", message(&none)).unwrap();
    let wanted = [text_of(r#"{"role":"user"}"#), Cell::Int(THEN + 2)];
    assert_eq!(rows(&raw(&path), "SELECT data, time_created FROM message WHERE id = 'msg_9'"), [wanted]);
}

fn ids(path: &Path, table: &str) -> Vec<String> {
    let found = rows(&raw(path), &format!("SELECT id FROM {table} ORDER BY id"));
    found.into_iter().map(|row| row[0].text().unwrap().to_owned()).collect()
}

#[test]
fn removals_are_guarded_by_the_session_and_take_their_parts() {
    let (_room, path, store) = small();
    // Through another session: nothing goes, and the event stands all the same.
    for gone in [
        message_removed("ses_1", "msg_other"),
        part_removed("ses_1", "msg_other", "prt_other"),
        message_removed("ses_1", "msg_none"),
        part_removed("ses_1", "msg_", "prt_emptied"),
    ] {
        append(&store, "ses_1", gone).unwrap();
        assert_eq!(ids(&path, "message"), ["msg_1", "msg_2", "msg_other"]);
        assert_eq!(ids(&path, "part"), ["prt_11", "prt_12", "prt_21", "prt_22", "prt_other"]);
    }
    append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_12")).unwrap();
    assert_eq!(ids(&path, "part"), ["prt_11", "prt_21", "prt_22", "prt_other"]);
    append(&store, "ses_1", message_removed("ses_1", "msg_1")).unwrap();
    assert_eq!(ids(&path, "message"), ["msg_2", "msg_other"]);
    assert_eq!(ids(&path, "part"), ["prt_21", "prt_22", "prt_other"]);
}

#[test]
fn a_removed_id_can_be_used_again() {
    let (_room, path, store) = small();
    write(
        &store,
        "ses_1",
        vec![
            message_removed("ses_1", "msg_1"),
            message(&user("ses_1", "msg_1", &json!(3))),
            part(&text("ses_1", "msg_1", "prt_11", "new"), 4),
        ],
    );
    let row = rows(
        &raw(&path),
        "SELECT m.time_created, p.time_created FROM message m JOIN part p ON p.message_id = m.id WHERE m.id = 'msg_1'",
    );
    assert_eq!(row, [[Cell::Int(3), Cell::Int(4)]], "as new");
}

#[test]
fn a_deleted_session_takes_all_of_its_own_along() {
    let (_room, path, store) = small();
    let db = raw(&path);
    db.execute_batch(
        "INSERT INTO todo (session_id, content, status, priority, position, time_created, time_updated) VALUES ('ses_1', 'x', 'pending', 'high', 0, 0, 0);
         INSERT INTO session_share (session_id, id, secret, url, time_created, time_updated) VALUES ('ses_1', 's', 't', 'u', 0, 0);",
    )
    .unwrap();
    append(&store, "ses_1", event("session.deleted.1", &json!({"sessionID": "ses_1", "info": info("ses_1")}))).unwrap();
    assert_eq!(ids(&path, "session"), ["ses_2"]);
    assert_eq!(ids(&path, "message"), ["msg_other"]);
    assert_eq!(ids(&path, "part"), ["prt_other"]);
    assert_eq!(int(&db, "SELECT count(*) FROM todo"), 0);
    assert_eq!(int(&db, "SELECT count(*) FROM session_share"), 0);
    // The log is erased by whoever deletes, in batches; the event itself has its place in it.
    assert!(store.append("ses_1", Expect::At(7), vec![], annalist_store::Durability::Process).wait().is_ok());
}
