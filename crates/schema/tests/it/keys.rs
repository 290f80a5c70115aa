//! Keys of the old JSON storage.

use annalist_schema::key::{BadKey, Key};
use annalist_schema::{Json, Message, Part, Session};
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files(&path, found) } else { found.push(path) }
    }
}

#[test]
fn both_forms_and_back() {
    for (list, path) in [
        (r#"["project","p"]"#, "project/p.json"),
        (r#"["session","p","ses_1"]"#, "session/p/ses_1.json"),
        (r#"["message","ses_1","msg_1"]"#, "message/ses_1/msg_1.json"),
        (r#"["part","msg_1","prt_1"]"#, "part/msg_1/prt_1.json"),
        (r#"["todo","ses_1"]"#, "todo/ses_1.json"),
        (r#"["permission","p"]"#, "permission/p.json"),
        (r#"["session_share","ses_1"]"#, "session_share/ses_1.json"),
        (r#"["session_diff","ses_1"]"#, "session_diff/ses_1.json"),
    ] {
        let key = Key::from_path(path).unwrap();
        assert_eq!(key.to_json().as_str(), list);
        assert_eq!(Key::from_json(&Json::parse(list).unwrap()).unwrap(), key);
        assert_eq!(key.to_path().unwrap(), path);
    }
}

#[test]
fn other_shapes_and_ways_out_are_refused() {
    for path in ["", "migration", "message/a.json", "message/a/b", "message/a/b/c.json", "other/a.json", "/message/a/b.json"] {
        assert!(matches!(Key::from_path(path), Err(BadKey::Shape { .. })), "{path}");
    }
    for path in ["message/../b.json", "message/a/...json", "message//b.json", "todo/.json", "todo/a\\b.json"] {
        assert!(matches!(Key::from_path(path), Err(BadKey::Id { .. })), "{path}");
    }
    for list in ["[]", "{}", r#"["message"]"#, r#"["message","a",1]"#, r#"["message","a","b","c"]"#, "\"message\""] {
        assert!(matches!(Key::from_json(&Json::parse(list).unwrap()), Err(BadKey::Shape { .. })), "{list}");
    }
    let out = Key::Todo { session: "../../etc/passwd".to_owned() };
    assert!(matches!(out.to_path(), Err(BadKey::Id { .. })));
}

#[test]
fn a_folder_that_1_1_65_wrote_is_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/fixtures/legacy-storage/storage");
    let mut found = Vec::new();
    files(&root, &mut found);
    let (mut parts, mut messages, mut sessions) = (0, 0, 0);
    for file in found.iter().filter(|file| file.extension().is_some_and(|extension| extension == "json")) {
        let relative = file.strip_prefix(&root).unwrap().to_str().unwrap();
        let key = Key::from_path(relative).unwrap();
        assert_eq!(key.to_path().unwrap(), relative);
        let text = std::fs::read_to_string(file).unwrap();
        match key {
            Key::Part { message, part: id } => {
                let part = Part::parse(&text).unwrap();
                assert_eq!(part.problems(), [], "{relative}");
                assert_eq!((&*part.id().unwrap(), &*part.message_id().unwrap()), (&*id, &*message));
                parts += 1;
            }
            Key::Message { session, message: id } => {
                let message = Message::parse(&text).unwrap();
                assert_eq!(message.problems(), [], "{relative}");
                assert_eq!((&*message.id().unwrap(), &*message.session_id().unwrap()), (&*id, &*session));
                messages += 1;
            }
            Key::Session { session: id, .. } => {
                let session = Session::parse(&text).unwrap();
                assert_eq!(session.problems(), [], "{relative}");
                assert_eq!(session.id().unwrap(), id);
                sessions += 1;
            }
            _ => {}
        }
    }
    assert!(parts > 50 && messages > 20 && sessions > 5, "{parts} parts, {messages} messages, {sessions} sessions");
}
