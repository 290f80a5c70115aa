//! Sanitised documents: no word of a conversation is in them, and they are documents still (reference-storage 7.3).

use super::documents::{converts, pretty};
use super::support::{Room, THEN, export, exported, folder, info, open, raw, session_ids, user, with};
use annalist_store::{Durability, document};
use serde_json::{Value, json};

/// Stands in every text that somebody wrote.
const SECRET: &str = "canary";

/// Something of every kind that holds the secret, also as a key.
fn odd() -> Value {
    json!({"text": SECRET, "list": [SECRET, [SECRET, {"x": SECRET}], {"deep": {"y": [SECRET]}}], "map": {"k": {"z": SECRET}}})
}

/// A document that has every field of the model, a secret in each that says something of the work, and unknown fields in
/// every object.
fn telling() -> Value {
    let diffs = || json!([{"file": SECRET, "patch": SECRET, "additions": 1, "deletions": 2, "status": "modified", "odd": odd()}]);
    let time = || json!({"start": 1, "end": 2, "odd": odd()});
    let tokens = || json!({"total": 1, "input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5, "odd": odd()}, "odd": odd()});
    let model = || json!({"providerID": "p", "modelID": "m", "variant": "v", "odd": odd()});
    let error = || {
        json!({"name": "APIError", "odd": odd(), "data": {"message": SECRET, "statusCode": 5, "isRetryable": true, "odd": odd(),
        "responseHeaders": {"server": SECRET}, "responseBody": SECRET, "metadata": {"k": SECRET}}})
    };
    let text = || json!({"value": SECRET, "start": 1, "end": 2, "odd": odd()});
    let range = || json!({"start": {"line": 1, "character": 2, "odd": odd()}, "end": {"line": 1, "character": 2}, "odd": odd()});
    let session = with(
        info("ses_1"),
        &json!({
            "title": SECRET, "directory": SECRET, "path": SECRET, "parentID": "ses_0", "agent": "build", "odd": odd(), "odd_text": SECRET,
            "summary": {"additions": 1, "deletions": 2, "files": 3, "diffs": diffs(), "odd": odd()}, "tokens": tokens(),
            "share": {"url": SECRET, "odd": odd()}, "model": {"id": "m", "providerID": "p", "variant": "v", "odd": odd()},
            "metadata": odd(), "permission": [{"permission": "bash", "pattern": SECRET, "action": "ask", "odd": odd()}],
            "revert": {"messageID": "msg_1", "partID": "prt_1", "snapshot": SECRET, "diff": SECRET, "odd": odd()},
            "time": {"created": THEN, "updated": THEN, "compacting": 1, "archived": 2, "odd": odd()},
        }),
    );
    let user = with(
        user("ses_1", "msg_1", &json!(1)),
        &json!({
            "time": {"created": 1, "odd": odd()}, "system": SECRET, "model": model(), "odd": odd(), "tools": {"bash": true},
            "format": {"type": "json_schema", "schema": odd(), "retryCount": 2, "odd": odd()},
            "summary": {"title": SECRET, "body": SECRET, "diffs": diffs(), "odd": odd()}, "metadata": odd(),
        }),
    );
    let assistant = json!({
        "id": "msg_2", "sessionID": "ses_1", "role": "assistant", "time": {"created": 2, "completed": 3, "odd": odd()}, "parentID": "msg_1",
        "modelID": "m", "providerID": "p", "mode": "build", "agent": "build", "path": {"cwd": SECRET, "root": SECRET, "odd": odd()},
        "summary": true, "cost": 1, "tokens": tokens(), "structured": odd(), "variant": "v", "finish": "stop", "error": error(), "odd": odd(),
    });
    let tool = |status: &str, more: Value| {
        json!({"type": "tool", "callID": "call_1", "tool": "bash", "metadata": odd(), "state": with(json!({"status": status,
        "input": odd(), "odd": odd(), "time": {"start": 1, "end": 2, "compacted": 3, "odd": odd()}}), &more)})
    };
    let file = |source: Value| json!({"type": "file", "mime": "text/plain", "filename": SECRET, "url": SECRET, "source": source});
    let attachment = with(
        file(json!({"type": "file", "path": SECRET, "text": text(), "odd": odd()})),
        &json!({"id": "prt_att", "sessionID": "ses_1", "messageID": "msg_2", "odd": odd()}),
    );
    let parts = [
        json!({"type": "text", "text": SECRET, "synthetic": true, "ignored": false, "time": time(), "metadata": odd()}),
        json!({"type": "reasoning", "text": SECRET, "metadata": odd(), "time": time()}),
        file(json!({"type": "file", "path": SECRET, "text": text(), "odd": odd()})),
        file(json!({"type": "symbol", "path": SECRET, "text": text(), "range": range(), "name": SECRET, "kind": 5, "odd": odd()})),
        file(json!({"type": "resource", "clientName": SECRET, "uri": SECRET, "text": text(), "odd": odd()})),
        tool("pending", json!({"raw": SECRET})),
        tool("running", json!({"title": SECRET, "metadata": odd()})),
        tool("completed", json!({"output": SECRET, "title": SECRET, "metadata": odd(), "attachments": [attachment]})),
        tool("error", json!({"error": SECRET, "metadata": odd()})),
        tool("later", json!({"more": SECRET})),
        json!({"type": "agent", "name": "explore", "source": text()}),
        json!({"type": "subtask", "prompt": SECRET, "description": SECRET, "agent": "a", "model": model(), "command": SECRET}),
        json!({"type": "step-start", "snapshot": SECRET}),
        json!({"type": "step-finish", "reason": "stop", "snapshot": SECRET, "cost": 1, "tokens": tokens()}),
        json!({"type": "snapshot", "snapshot": SECRET}),
        json!({"type": "patch", "hash": SECRET, "files": [SECRET, SECRET]}),
        json!({"type": "retry", "attempt": 1, "error": error(), "time": {"created": 1, "odd": odd()}}),
        json!({"type": "compaction", "auto": true, "overflow": false, "tail_start_id": "msg_1"}),
        json!({"type": "hologram", "beam": SECRET, "metadata": odd()}),
        json!({"prompt": SECRET}),
    ];
    let parts: Vec<Value> = parts
        .into_iter()
        .enumerate()
        .map(|(at, part)| {
            with(json!({"id": format!("prt_{at:02}"), "sessionID": "ses_1", "messageID": "msg_2", "odd": odd()}), &part)
        })
        .collect();
    json!({"info": session, "messages": [{"info": user, "parts": []}, {"info": assistant, "parts": parts}]})
}

fn clean_of(document: &Value) -> Value {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    store.import(document.to_string(), folder()).unwrap();
    serde_json::from_str(&exported(&store, "ses_1", true)).unwrap()
}

#[test]
fn no_word_of_the_original_survives() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let mut document = telling();
    store.import(document.to_string(), folder()).unwrap();
    // The import replaced these; the secret is put in again where a real file has them.
    raw(&path).execute("UPDATE session SET directory = ?1, path = ?1", [SECRET]).unwrap();
    document["info"]["projectID"] = json!("global");
    assert_eq!(serde_json::from_str::<Value>(&export(&store, "ses_1")).unwrap(), document, "the secret was everywhere");
    let clean = exported(&store, "ses_1", true);
    for (number, line) in clean.lines().enumerate() {
        assert!(!line.contains(SECRET), "line {number}: {line}");
    }
}

#[test]
fn placeholders_are_those_of_the_reference() {
    let clean = clean_of(&telling());
    let at = |place: &str| clean.pointer(place).unwrap_or_else(|| panic!("{place} is gone")).clone();
    let text = |place: &str, kind: &str| assert_eq!(at(place), json!(format!("[redacted:{kind}]")), "{place}");
    let object = |place: &str, kind: &str| assert_eq!(at(place), json!({"redacted": kind}), "{place}");
    text("/info/title", "session-title:ses_1");
    text("/info/directory", "session-directory:ses_1");
    text("/info/summary/diffs/0/file", "session-diff-file:0");
    text("/info/summary/diffs/0/patch", "session-diff-patch:0");
    text("/info/revert/snapshot", "revert-snapshot:ses_1");
    text("/info/revert/diff", "revert-diff:ses_1");
    text("/messages/0/info/system", "system:msg_1");
    text("/messages/0/info/summary/title", "summary-title:msg_1");
    text("/messages/0/info/summary/body", "summary-body:msg_1");
    text("/messages/0/info/summary/diffs/0/file", "message-diff-file:0");
    text("/messages/0/info/summary/diffs/0/patch", "message-diff-patch:0");
    text("/messages/1/info/path/cwd", "cwd:msg_2");
    text("/messages/1/info/path/root", "root:msg_2");
    let part = |number: usize, rest: &str| format!("/messages/1/parts/{number}/{rest}");
    let id = |kind: &str, number: usize| format!("{kind}:prt_{number:02}");
    for (number, rest, kind) in [
        (0, "text", "text"),
        (1, "text", "reasoning"),
        (2, "url", "file-url"),
        (2, "filename", "file-name"),
        (2, "source/path", "file-path"),
        (2, "source/text/value", "file-text"),
        (3, "source/name", "file-symbol"),
        (4, "source/clientName", "file-client"),
        (4, "source/uri", "file-uri"),
        (5, "state/raw", "tool-raw"),
        (6, "state/title", "tool-title"),
        (7, "state/output", "tool-output"),
        (10, "source/value", "agent-source"),
        (11, "prompt", "subtask-prompt"),
        (11, "description", "subtask-description"),
        (11, "command", "subtask-command"),
        (12, "snapshot", "snapshot"),
        (13, "snapshot", "snapshot"),
        (14, "snapshot", "snapshot"),
        (15, "hash", "patch"),
    ] {
        text(&part(number, rest), &id(kind, number));
    }
    for (number, rest, kind) in [
        (0, "metadata", "text-metadata"),
        (1, "metadata", "reasoning-metadata"),
        (5, "metadata", "tool-metadata"),
        (5, "state/input", "tool-input"),
        (7, "state/metadata", "tool-state-metadata"),
    ] {
        object(&part(number, rest), &id(kind, number));
    }
    text(&part(15, "files/0"), "patch-file:prt_15-0");
    text(&part(15, "files/1"), "patch-file:prt_15-1");
    text(&part(7, "state/attachments/0/url"), "file-url:prt_att");
    // What says nothing stays.
    assert_eq!(at(&part(7, "tool")), json!("bash"));
    assert_eq!(at(&part(2, "mime")), json!("text/plain"));
    assert_eq!(at(&part(17, "tail_start_id")), json!("msg_1"));
    assert_eq!(at("/messages/0/info/tools"), json!({"bash": true}));
    assert_eq!(at("/messages/1/info/error/name"), json!("APIError"));
    assert_eq!(at("/messages/1/info/error/data/statusCode"), json!(5));
    assert_eq!(at("/info/time/created"), json!(THEN));
}

#[test]
fn blank_texts_and_empty_objects_stay() {
    let mut document = telling();
    document["info"]["title"] = json!("");
    document["info"]["metadata"] = json!({});
    document["messages"][1]["parts"][0] =
        json!({"id": "prt_00", "sessionID": "ses_1", "messageID": "msg_2", "type": "text", "text": " \n", "metadata": {}});
    let clean = clean_of(&document);
    assert_eq!(clean["info"]["title"], json!(""));
    assert_eq!(clean["messages"][1]["parts"][0]["text"], json!(" \n"));
    assert_eq!(clean["messages"][1]["parts"][0]["metadata"], json!({}));
}

#[test]
fn a_field_of_another_shape_tells_nothing_either() {
    // Every field of every object in turn holds what it should not.
    fn places(value: &Value, at: &str, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), out)),
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(number, value)| places(value, &format!("{at}/{number}"), out))
            }
            _ => {}
        }
        out.push(at.to_owned());
    }
    let plain = serde_json::from_str(&telling().to_string().replace(SECRET, "x")).unwrap();
    let mut all = Vec::new();
    places(&plain, "", &mut all);
    // Inside unknown fields nothing is looked at one by one; ids and times are what the record itself stands on.
    all.retain(|place| !place.contains("/odd") && place.starts_with("/messages/") && place.matches('/').count() > 3);
    let whole_part = |place: &str| place.rsplit_once('/').is_some_and(|(list, _)| list.ends_with("/parts"));
    let own = ["/id", "/info/sessionID", "/info/time", "/info/time/created"];
    all.retain(|place| !own.iter().any(|own| place.ends_with(own)) && !whole_part(place));
    // Of a part; an attachment's own ids are as they were given.
    all.retain(|place| place.contains("/attachments") || !(place.ends_with("/sessionID") || place.ends_with("/messageID")));
    assert!(all.len() > 200, "{}", all.len());
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let shapes = [json!({"k": SECRET, "l": [SECRET]}), json!([SECRET, {"k": SECRET}])];
    for (number, (place, shape)) in all.iter().flat_map(|place| shapes.iter().map(move |shape| (place, shape))).enumerate() {
        let mut document = plain.clone();
        *document.pointer_mut(place).unwrap() = shape.clone();
        // Only the row in question, in a session of its own.
        let mut steps = place.split('/').skip(2);
        let mut message = document["messages"][steps.next().unwrap().parse::<usize>().unwrap()].clone();
        let parts = message["parts"].take();
        message["parts"] = match steps.nth(1).and_then(|step| step.parse::<usize>().ok()) {
            Some(part) => json!([parts[part]]),
            None => json!([]),
        };
        let text = message.to_string().replace("msg_", &format!("msg_{number}_")).replace("prt_", &format!("prt_{number}_"));
        let session = format!("ses_{number}");
        let document = format!(r#"{{"info":{},"messages":[{text}]}}"#, info(&session));
        let imported = store.write(Durability::Process, move |tx| document::import(tx, &document, &folder()));
        imported.wait().unwrap_or_else(|e| panic!("{place}: {e}"));
        assert!(export(&store, &session).contains(SECRET), "{place}: it was there");
        let clean = exported(&store, &session, true);
        assert!(!clean.contains(SECRET), "{place}: {clean}");
    }
}

/// Keys whose texts are no words of anybody.
const KEPT: &[&str] = &[
    "id",
    "slug",
    "projectID",
    "workspaceID",
    "parentID",
    "sessionID",
    "messageID",
    "partID",
    "agent",
    "mode",
    "modelID",
    "providerID",
    "variant",
    "version",
    "role",
    "type",
    "status",
    "finish",
    "reason",
    "name",
    "callID",
    "tool",
    "mime",
    "permission",
    "action",
    "tail_start_id",
    "redacted",
];

fn check_words(value: &Value, key: &str, told: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() && !text.starts_with("[redacted:") && !KEPT.contains(&key) => {
            told.push(format!("{key}: {text}"));
        }
        Value::Array(items) => items.iter().for_each(|item| check_words(item, key, told)),
        Value::Object(map) => map.iter().for_each(|(key, value)| check_words(value, key, told)),
        _ => {}
    }
}

#[test]
fn real_sessions_tell_nothing_and_come_back() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let store = open(&path);
    for (_, document) in converts() {
        store.import(document, folder()).unwrap();
    }
    let (_path, second) = room.store("second.db");
    for session in session_ids(&raw(&path)) {
        let clean = exported(&store, &session, true);
        let value: Value = serde_json::from_str(&clean).unwrap();
        let mut told = Vec::new();
        check_words(&value, "", &mut told);
        assert_eq!(told, Vec::<String>::new(), "{session}");
        document::check(&clean).unwrap();
        second.import(clean.clone(), folder()).unwrap();
        // Only the folder is another.
        let here = json!({"projectID": "global", "directory": "/home/dev", "path": "home/dev"});
        let mut wanted = value;
        wanted["info"] = with(wanted["info"].clone(), &here);
        let got: Value = serde_json::from_str(&export(&second, &session)).unwrap();
        assert_eq!(got, wanted);
        assert_eq!(pretty(&got) + "\n", export(&second, &session));
    }
}

#[test]
fn a_damaged_rows_bytes_are_hidden_too() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    raw(&path)
        .execute_batch(
            "UPDATE message SET data = 'canary'; UPDATE part SET data = '[\"canary\"'; UPDATE session SET model = 'canary';",
        )
        .unwrap();
    let store = open(&path);
    let plain = "Y2FuYXJ5"; // base64 of "canary"
    for session in session_ids(&raw(&path)) {
        assert!(export(&store, &session).contains("canary"), "the session's column as text");
        let clean = exported(&store, &session, true);
        assert!(!clean.contains("canary") && !clean.contains(plain) && !clean.contains("WyJjYW5hcnki"), "{clean}");
        document::check(&clean).unwrap();
    }
}
