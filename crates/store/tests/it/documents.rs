//! Documents: what `opencode export` prints comes back as the same rows (reference-storage 7.3, 7.4).

use super::poison::home;
use super::replay::replayed;
use super::support::{
    Room, THEN, begin, check_integrity, check_log, conformance, everything, export, folder, info, int, message, open, part, raw,
    rows, sequence, session_ids, text, user, with, without, write,
};
use annalist_schema::raw::write_pretty;
use annalist_store::row::Cell;
use annalist_store::{Error, Folder, Store};
use serde_json::{Value, json};

/// As `opencode export` prints it.
pub fn pretty(document: &Value) -> String {
    let mut out = Vec::new();
    write_pretty(&document.to_string(), 0, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn every_session_of_the_fixture_comes_back_byte_for_byte() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let store = open(&path);
    let (second_path, second) = room.store("second.db");
    let (was, is) = (raw(&path), raw(&second_path));
    for session in session_ids(&was) {
        let document = export(&store, &session);
        // Nothing has to be normalised: the import is told the very folder that the session is in.
        let done = second.import(document.clone(), home(&store, &session)).unwrap();
        assert_eq!(export(&second, &session), document);
        let count = |table: &str| int(&was, &format!("SELECT count(*) FROM {table} WHERE session_id = '{session}'"));
        assert!(done.new);
        assert_eq!((done.messages as i64, done.parts as i64), (count("message"), count("part")));
        for sql in [
            format!("SELECT * FROM session WHERE id = '{session}'"),
            // Other times of the rows are those of the import.
            format!("SELECT id, session_id, time_created, data FROM message WHERE session_id = '{session}' ORDER BY id"),
            format!("SELECT id, message_id, session_id, data FROM part WHERE session_id = '{session}' ORDER BY id"),
        ] {
            assert_eq!(rows(&is, &sql), rows(&was, &sql));
        }
        // A second time there is nothing to do.
        let before = everything(&second_path);
        let again = second.import(document, home(&store, &session)).unwrap();
        assert_eq!((again.new, again.messages, again.parts), (false, 0, 0));
        assert_eq!(everything(&second_path), before);
    }
    check_integrity(&is);
    check_log(&is);
    replayed(&second_path).assert_same_rows();
}

/// The inputs of the recorded conversions, with their folder filled in.
pub fn converts() -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(conformance("golden/convert")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name.ends_with(".json") && !name.ends_with(".golden.json") {
            found.push((name, std::fs::read_to_string(path).unwrap().replace("{dir}", "/home/dev")));
        }
    }
    found.sort();
    assert!(found.len() > 60, "the recordings are there");
    found
}

/// What an import makes of a document, by value: the folder is the one it came into, and usage that the document does not
/// have is none.
fn expected(document: &Value) -> Value {
    let mut document = document.clone();
    let mut info = without(document["info"].clone(), &["workspaceID"]);
    for (key, value) in [("projectID", "global"), ("directory", "/home/dev"), ("path", "home/dev")] {
        info[key] = json!(value);
    }
    let usage = info_usage(&info);
    info = with(info, &usage);
    let session = info["id"].clone();
    document["info"] = info;
    // Of equal times the id decides.
    let messages = document["messages"].as_array_mut().unwrap();
    messages
        .sort_by_key(|message| (message["info"]["time"]["created"].as_i64(), message["info"]["id"].as_str().map(str::to_owned)));
    for message in messages {
        message["info"]["sessionID"] = session.clone();
        let id = message["info"]["id"].clone();
        for part in message["parts"].as_array_mut().unwrap() {
            part["sessionID"] = session.clone();
            part["messageID"] = id.clone();
        }
    }
    document
}

fn info_usage(info: &Value) -> Value {
    let number = |value: &Value| if value.is_number() { value.clone() } else { json!(0) };
    let tokens = &info["tokens"];
    // The model has no `total` for a session; what is beyond the model stays.
    let known = json!({
        "input": number(&tokens["input"]), "output": number(&tokens["output"]), "reasoning": number(&tokens["reasoning"]),
        "cache": {"read": number(&tokens["cache"]["read"]), "write": number(&tokens["cache"]["write"])},
    });
    let tokens = if tokens.is_object() { with(tokens.clone(), &known) } else { known };
    json!({"cost": number(&info["cost"]), "tokens": tokens})
}

#[test]
fn every_recorded_document_comes_back() {
    let room = Room::new();
    let (first_path, first) = room.store("first.db");
    let (_path, second) = room.store("second.db");
    // A parser of other people stumbles over half a surrogate pair; here only its text matters.
    let value = |text: &str| serde_json::from_str::<Value>(&text.replace("\\ud", "\\\\ud")).unwrap();
    for (name, document) in converts() {
        let given = value(&document);
        let session = given["info"]["id"].as_str().unwrap();
        first.import(document, folder()).unwrap_or_else(|e| panic!("{name}: {e}"));
        let once = export(&first, session);
        assert_eq!(value(&once), expected(&given), "{name}");
        second.import(once.clone(), folder()).unwrap();
        assert_eq!(export(&second, session), once, "{name}: the second time byte for byte");
    }
    check_log(&raw(&first_path));
    replayed(&first_path).assert_same_rows();
}

#[test]
fn printing_is_not_stored() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let white = with(info("ses_1"), &json!({"metadata": {"a b": ["c  d", {"e": "\"\\ }"}]}}));
    let info = with(user("ses_1", "msg_1", &json!(1)), &json!({"model": {"providerID": "a  b", "modelID": "\\"}}));
    let part = with(text("ses_1", "msg_1", "prt_1", "x"), &json!({"metadata": {"deep": [[{"\t": " \n "}]]}}));
    let document = json!({"info": white, "messages": [{"info": info, "parts": [part]}]});
    store.import(pretty(&document), folder()).unwrap();
    let db = raw(&path);
    for (sql, wanted) in [
        ("SELECT data FROM message", without(info, &["id", "sessionID"])),
        ("SELECT data FROM part", without(part, &["id", "sessionID", "messageID"])),
        ("SELECT metadata FROM session", white["metadata"].clone()),
    ] {
        assert_eq!(rows(&db, sql), [[Cell::Text(wanted.to_string())]], "as JSON.stringify writes it");
    }
    assert_eq!(int(&db, "SELECT count(*) FROM event WHERE data LIKE '%' || char(10) || '%'"), 0);
}

/// A document with two messages of two parts.
fn small(session: &str) -> Value {
    let messages = ["a", "b"].map(|name| {
        let id = format!("msg_{session}_{name}");
        let parts = [1, 2].map(|at| text(session, &id, &format!("prt_{session}_{name}{at}"), "said"));
        json!({"info": user(session, &id, &json!(THEN)), "parts": parts})
    });
    json!({"info": info(session), "messages": messages})
}

/// Imports what must be refused, and looks that not a row of it was written.
fn refused(store: &Store, path: &std::path::Path, document: &Value) -> Error {
    let before = everything(path);
    let error = store.import(document.to_string(), Folder { project: "new-project".into(), ..folder() }).unwrap_err();
    assert_eq!(everything(path), before, "{error}");
    error
}

#[test]
fn an_import_is_all_or_nothing() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_other"));
    let other = [message(&user("ses_other", "msg_other", &json!(1))), part(&text("ses_other", "msg_other", "prt_other", "x"), 1)];
    write(&store, "ses_other", other.into());
    store.import(small("ses_2").to_string(), folder()).unwrap();

    let mut document = small("ses_1");
    document["messages"][1]["info"]["id"] = json!("msg_other");
    match refused(&store, &path, &document) {
        Error::IdTaken { what, id, owner } => {
            assert_eq!((what, &*id, &*owner.unwrap()), ("message", "msg_other", "session ses_other"))
        }
        other => panic!("{other:?}"),
    }
    let mut document = small("ses_1");
    document["messages"][1]["parts"][1]["id"] = json!("prt_other");
    assert!(refused(&store, &path, &document).is_conflict());
    // A part of another message of the same session, in the record and within the document.
    let mut document = small("ses_2");
    document["messages"][1]["parts"][1]["id"] = json!("prt_ses_2_a1");
    assert!(refused(&store, &path, &document).is_conflict());
    let mut document = small("ses_1");
    document["messages"][1]["parts"][1]["id"] = json!("prt_ses_1_a1");
    assert!(refused(&store, &path, &document).is_conflict());
    // The document as it should be goes in.
    assert_eq!(store.import(small("ses_1").to_string(), folder()).unwrap().parts, 4);
}

#[test]
fn of_a_grown_document_only_the_new_is_written() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    store.import(small("ses_1").to_string(), folder()).unwrap();
    let before = sequence(&store, "ses_1").unwrap();
    assert_eq!(before, 7, "created, two messages, four parts, updated");
    let mut grown = small("ses_1");
    // A new message, a new part of an old one, and changes of what is there, which are not taken over.
    let more =
        json!({"info": user("ses_1", "msg_ses_1_c", &json!(THEN + 1)), "parts": [text("ses_1", "msg_ses_1_c", "prt_c", "new")]});
    grown["messages"].as_array_mut().unwrap().push(more);
    grown["messages"][0]["parts"].as_array_mut().unwrap().push(text("ses_1", "msg_ses_1_a", "prt_late", "new"));
    grown["messages"][0]["parts"][0]["text"] = json!("changed");
    grown["info"]["title"] = json!("changed");
    let done = store.import(grown.to_string(), folder()).unwrap();
    assert_eq!((done.new, done.messages, done.parts), (false, 1, 2));
    let db = raw(&path);
    let events = rows(&db, &format!("SELECT type FROM event WHERE seq > {before} ORDER BY seq"));
    let kinds = ["message.part.updated.1", "message.updated.1", "message.part.updated.1"].map(|kind| vec![Cell::Text(kind.into())]);
    assert_eq!(events, kinds);
    assert_eq!(int(&db, "SELECT count(*) FROM part WHERE data LIKE '%changed%'"), 0);
    assert_eq!(store.session("ses_1").unwrap().title().unwrap(), "a session");
}

#[test]
fn a_session_moves_to_the_folder_of_the_import() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let document = with(
        small("ses_1"),
        &json!({"info": with(info("ses_1"), &json!({"workspaceID": "wrk_1", "odd": 1, "cost": 2,
        "share": {"url": "https://x"}, "revert": {"messageID": "msg_1"}}))}),
    );
    store.import(document.to_string(), folder()).unwrap();
    let before = sequence(&store, "ses_1").unwrap();
    let was = store.session("ses_1").unwrap();
    let there = Folder {
        project: "abc".into(),
        worktree: "/w".into(),
        directory: "/w/sub".into(),
        path: "sub".into(),
        git: true,
        previous: None,
    };
    for _ in 0..2 {
        store.import(document.to_string(), there.clone()).unwrap();
        assert_eq!(sequence(&store, "ses_1").unwrap(), before + 1, "one event, once");
        let db = raw(&path);
        assert_eq!(
            rows(&db, "SELECT worktree, vcs FROM project WHERE id = 'abc'"),
            [[Cell::Text("/w".into()), Cell::Text("git".into())]]
        );
        assert_eq!(rows(&db, "SELECT directory FROM project_directory WHERE project_id = 'abc'"), [[Cell::Text("/w".into())]]);
    }
    let is = store.session("ses_1").unwrap();
    let value = |session: &annalist_schema::Session<'_>| serde_json::from_str::<Value>(&session.object().to_text()).unwrap();
    assert_eq!(
        value(&is),
        with(value(&was), &json!({"projectID": "abc", "directory": "/w/sub", "path": "sub"})),
        "nothing else changed"
    );
    assert!(!is.object().has("workspaceID"), "a workspace is of the machine it came from");
}

#[test]
fn usage_is_the_documents() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let step = json!({"id": "prt_step", "sessionID": "ses_1", "messageID": "msg_ses_1_a", "type": "step-finish", "reason": "stop", "cost": 9,
        "tokens": {"input": 9, "output": 9, "reasoning": 9, "cache": {"read": 9, "write": 9}}});
    let mut document = small("ses_1");
    document["messages"][0]["parts"].as_array_mut().unwrap().push(step.clone());
    let said = json!({"cost": 0.5, "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}});
    document["info"] = with(document["info"].clone(), &said);
    store.import(document.to_string(), folder()).unwrap();
    let shown = |session: &str| serde_json::from_str::<Value>(&store.session(session).unwrap().object().to_text()).unwrap();
    assert_eq!(shown("ses_1")["cost"], said["cost"]);
    assert_eq!(shown("ses_1")["tokens"], said["tokens"]);
    // Without any, none: as the reference, which does not count the steps either.
    let mut document = small("ses_2");
    let step = with(step, &json!({"id": "prt_step2", "messageID": "msg_ses_2_a"}));
    document["messages"][0]["parts"].as_array_mut().unwrap().push(step);
    document["info"] = without(document["info"].clone(), &["cost", "tokens"]);
    store.import(document.to_string(), folder()).unwrap();
    assert_eq!(shown("ses_2")["cost"], json!(0));
    assert_eq!(shown("ses_2")["tokens"]["output"], json!(0));
}

#[test]
fn times_are_the_documents() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let mut document = small("ses_1");
    let time = json!({"created": 5, "updated": 6, "compacting": 7, "archived": 8});
    document["info"]["time"] = time.clone();
    document["messages"][1]["info"]["time"] = json!({"created": 1.5});
    store.import(document.to_string(), folder()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&store.session("ses_1").unwrap().object().to_text()).unwrap()["time"], time);
    assert_eq!(rows(&raw(&path), "SELECT time_created FROM message ORDER BY 1"), [[Cell::Real(1.5)], [Cell::Int(THEN)]]);
}

#[test]
fn parts_keep_the_order_of_the_document() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let ids = ["prt_9", "prt_3", "prt_4", "call_1", "prt_2", "prt_1", "prt_8", "prt_0"];
    let parts = |message: &str| ids.map(|id| text("ses_1", message, &format!("{id}{message}"), "x"));
    let messages = ["msg_b", "msg_a"].map(|id| json!({"info": user("ses_1", id, &json!(THEN)), "parts": parts(id)}));
    store.import(json!({"info": info("ses_1"), "messages": messages}).to_string(), folder()).unwrap();
    let of = |message: &str| ids.map(|id| format!("{id}{message}")).to_vec();
    let wanted = [("msg_a".to_owned(), of("msg_a")), ("msg_b".to_owned(), of("msg_b"))];
    assert_eq!(super::support::shown(&store, "ses_1"), wanted);
}

#[test]
fn a_message_or_part_that_says_another_session_is_this_ones() {
    // As the reference: the document decides, whatever is written inside.
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let mut document = small("ses_1");
    document["messages"][0]["info"]["sessionID"] = json!("ses_9");
    document["messages"][0]["parts"][0]["sessionID"] = json!("ses_9");
    document["messages"][0]["parts"][0]["messageID"] = json!("msg_9");
    document["messages"][1]["info"].as_object_mut().unwrap().remove("sessionID");
    store.import(document.to_string(), folder()).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&export(&store, "ses_1")).unwrap(), expected(&document));
}

#[test]
fn what_is_no_document_is_refused_by_name() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let base = small("ses_1");
    let set = |place: &str, value: Value| {
        let mut document = base.clone();
        *document.pointer_mut(place).unwrap() = value;
        document
    };
    let unset = |place: &str, key: &str| {
        let mut document = base.clone();
        document.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(key).unwrap();
        document
    };
    let cases = [
        (json!([]), "it is an array"),
        (json!("x"), "it is a string"),
        (json!({}), "info is missing"),
        (json!({"info": 1}), "info is a number"),
        (unset("", "messages"), "messages is missing"),
        (set("/messages", json!({})), "messages is an object"),
        (set("/messages/1", json!(null)), "messages[1] is null"),
        (unset("/messages/1", "info"), "messages[1].info is missing"),
        (set("/messages/1/info", json!([])), "messages[1].info is an array"),
        (unset("/messages/1/info", "id"), "messages[1].info.id is missing"),
        (set("/messages/1/info/id", json!(5)), "messages[1].info.id is a number"),
        (set("/messages/1/info/id", json!("")), "messages[1].info.id is empty"),
        (unset("/messages/0", "parts"), "messages[0].parts is missing"),
        (set("/messages/0/parts", json!("x")), "messages[0].parts is a string"),
        (set("/messages/0/parts/1", json!(true)), "messages[0].parts[1] is a boolean"),
        (unset("/messages/0/parts/1", "id"), "messages[0].parts[1].id is missing"),
        (set("/messages/0/parts/1/id", json!(null)), "messages[0].parts[1].id is null"),
        (unset("/info", "id"), "info.id is missing"),
        (set("/info/id", json!("msg_1")), "info.id is \"msg_1\""),
        (unset("/info", "slug"), "info.slug is missing"),
        (unset("/info", "title"), "info.title is missing"),
        (set("/info/title", json!(5)), "info.title is a number"),
        (set("/info/title", json!(null)), "info.title is null"),
        (unset("/info", "version"), "info.version is missing"),
        (unset("/info", "time"), "info.time is missing"),
        (unset("/info/time", "updated"), "info.time.updated is missing"),
        (set("/info/time/created", json!("x")), "info.time.created is a string"),
        (set("/info/time/created", json!(-1)), "info.time.created is negative"),
        (set("/info/cost", json!("x")), "info.cost is a string"),
        (set("/info/tokens", json!(1)), "info.tokens is a number"),
        (set("/info/tokens/cache", json!([])), "info.tokens.cache is an array"),
        (set("/info/tokens/input", json!("1")), "info.tokens.input is a string"),
        (with(base.clone(), &json!({"info": with(info("ses_1"), &json!({"parentID": "x"}))})), "info.parentID is \"x\""),
        (with(base.clone(), &json!({"info": with(info("ses_1"), &json!({"metadata": []}))})), "info.metadata is an array"),
        (with(base.clone(), &json!({"info": with(info("ses_1"), &json!({"permission": {}}))})), "info.permission is an object"),
        (with(base.clone(), &json!({"info": with(info("ses_1"), &json!({"share": "x"}))})), "info.share is a string"),
        (
            with(base.clone(), &json!({"info": with(info("ses_1"), &json!({"summary": {"additions": 1}}))})),
            "info.summary.deletions is missing",
        ),
    ];
    for (document, wanted) in cases {
        let said = refused(&store, &path, &document).to_string();
        assert!(said.contains(wanted), "{said:?} should say {wanted:?}");
    }
    for (text, wanted) in [("", "byte 0"), ("{\"info\":", "byte 8"), ("{} x", "byte 3"), ("\u{feff}{}", "byte 0")] {
        let said = store.import(text.to_owned(), folder()).unwrap_err().to_string();
        assert!(said.contains("not JSON") && said.contains(wanted), "{said:?} should say {wanted:?}");
    }
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM event"), 0);
}

#[test]
fn a_folder_is_no_part_of_the_documents_shape() {
    // All of it is replaced, so nothing that stands there can be wrong.
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let info = with(without(info("ses_1"), &["projectID"]), &json!({"directory": 5, "path": null, "workspaceID": []}));
    store.import(json!({"info": info, "messages": []}).to_string(), folder()).unwrap();
    let shown = store.session("ses_1").unwrap();
    assert_eq!(shown.problems(), []);
    assert_eq!(shown.directory().unwrap(), "/home/dev");
}

#[test]
fn an_empty_session_has_a_document() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let document = export(&store, "ses_1");
    assert!(document.ends_with(",\n  \"messages\": []\n}\n"));
    write(&store, "ses_1", vec![message(&user("ses_1", "msg_1", &json!(1)))]);
    let document = export(&store, "ses_1");
    assert!(document.ends_with("\n      \"parts\": []\n    }\n  ]\n}\n"), "{document}");
    let value: Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document, pretty(&value) + "\n", "as JavaScript prints it");
}

#[test]
fn a_receiver_that_takes_no_more_is_told() {
    struct Closed(usize);
    impl std::io::Write for Closed {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::BrokenPipe)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    store.import(small("ses_1").to_string(), folder()).unwrap();
    let length = export(&store, "ses_1").len();
    for room in (0..length).step_by(7) {
        match store.export("ses_1", false, &mut Closed(room)) {
            Err(annalist_store::document::ExportError::Out(error)) => assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe),
            other => panic!("{other:?}"),
        }
    }
    store.export("ses_1", false, &mut Closed(length)).unwrap();
}
