//! One bad row costs one row (design G6): whatever stands in a file, everything answers, and nothing is rewritten or lost.

use super::support::{Room, TABLES, export, exported, ids_of, info, int, open, raw, rows, session_ids, with};
use annalist_schema::{Json, Message, Part, Problem, Wrong};
use annalist_store::query::SessionFilter;
use annalist_store::row::Cell;
use annalist_store::transcript::WithParts;
use annalist_store::{Folder, Store};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// Data of one row, and whether it can be passed on as JSON.
struct Poison {
    name: &'static str,
    data: Vec<u8>,
    json: bool,
}

fn nested(depth: usize) -> String {
    format!(r#"{{"type":"text","text":"deep","metadata":{{"a":{}1{}}}}}"#, r#"{"b":["#.repeat(depth / 2), "]}".repeat(depth / 2))
}

fn poisons() -> Vec<Poison> {
    let bad = |name, data: &[u8]| Poison { name, data: data.to_vec(), json: false };
    let odd = |name, data: &str| Poison { name, data: data.as_bytes().to_vec(), json: true };
    vec![
        bad("no JSON", b"oops"),
        bad("nothing", b""),
        bad("invalid UTF-8", b"{\"type\":\"text\",\"text\":\"\xff\xc3\x28\"}"),
        bad("cut inside a letter", b"{\"type\":\"text\",\"text\":\"\xc3"),
        bad("truncated", br#"{"type":"text","text":"hel"#),
        bad("more than one value", br#"{"type":"text"} {"type":"text"}"#),
        bad("a byte order mark", b"\xef\xbb\xbf{\"type\":\"text\"}"),
        bad("a raw line break in a string", b"{\"type\":\"text\",\"text\":\"a\nb\"}"),
        bad("a raw NUL", b"{\"type\":\"text\",\"text\":\"a\0b\"}"),
        bad("an array", br#"[{"type":"text"}]"#),
        bad("null", b"null"),
        bad("a string", br#""text""#),
        bad("a number", b"7.50"),
        odd("an empty object", "{}"),
        odd("half a surrogate pair", r#"{"type":"text","text":"a\ud83d b","role":"user","\udc00":1}"#),
        odd("nesting of 1,000", &nested(1_000)),
        odd("an unknown type and role", r#"{"type":"hologram","role":"ghost","beam":[1.0,2e3,-0]}"#),
        odd("a known type without its fields", r#"{"type":"tool","state":{"status":"completed"}}"#),
        odd(
            "negative and text tokens",
            r#"{"type":"step-finish","role":"assistant","cost":-1,"tokens":{"input":-5,"output":"7","cache":null}}"#,
        ),
        odd("keys that stand twice", r#"{"type":"text","text":"a","text":"b","type":"text","x":{"y":1,"y":2}}"#),
        odd("nulls everywhere", r#"{"type":null,"role":null,"text":null,"time":null,"metadata":null,"state":null}"#),
        odd("escaped NUL", r#"{"type":"text","text":"\u0000","role":"user"}"#),
        odd(
            "numbers that no float holds",
            r#"{"type":"text","text":"","big":123456789012345678901234567890,"tiny":1e-999,"inf":1e999}"#,
        ),
        odd("escapes that nobody needs", r#"{"\u0074ype":"t\u0065xt","text":"\/\u00e9"}"#),
        // It looks like our stand-in and carries nothing that can be decoded.
        odd(
            "a stand-in of nothing",
            r#"{"type":"text","text":"","ignored":true,"metadata":{"annalist":{"problem":"x","data":"%%%"}}}"#,
        ),
        odd("our key with a scalar", r#"{"type":"text","text":"","metadata":{"annalist":7}}"#),
    ]
}

/// A copy of the fixture whose first session has a message and a part for each poison, behind its own.
fn poisoned(room: &Room) -> (PathBuf, String) {
    let path = room.copy("opencode-small.db");
    let db = raw(&path);
    let session: String = db.query_row("SELECT id FROM session WHERE title = 'plain talk'", [], |row| row.get(0)).unwrap();
    let good: String = db.query_row("SELECT id FROM message WHERE session_id = ?1 LIMIT 1", [&session], |row| row.get(0)).unwrap();
    let last = int(&db, "SELECT max(time_created) FROM message");
    for (number, poison) in poisons().iter().enumerate() {
        let at = last + 1 + number as i64;
        db.execute(
            "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?3, CAST(?4 AS TEXT))",
            (format!("msg_zz_{number:02}"), &session, at, &poison.data),
        )
        .unwrap();
        // A good message has the bad part, the bad message a good part too.
        for (id, message) in
            [(format!("prt_zz_{number:02}"), good.clone()), (format!("prt_zy_{number:02}"), format!("msg_zz_{number:02}"))]
        {
            db.execute(
                "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?4, ?4, CAST(?5 AS TEXT))",
                (id, message, &session, at, &poison.data),
            )
            .unwrap();
        }
    }
    (path, session)
}

/// The folder that a session is in, so that an import elsewhere changes nothing about it.
pub fn home(store: &Store, session: &str) -> Folder {
    let session = store.session(session).unwrap();
    let text = |key: &str| session.object().text(key).unwrap_or_default().into_owned();
    Folder {
        project: text("projectID"),
        worktree: text("directory"),
        directory: text("directory"),
        path: text("path"),
        git: true,
        previous: None,
    }
}

fn bytes(db: &Connection, table: &str, id: &str) -> Vec<u8> {
    db.query_row(&format!("SELECT CAST(data AS BLOB) FROM {table} WHERE id = ?1"), [id], |row| row.get(0)).unwrap()
}

fn carried(json: &Json<'_>) -> Option<Vec<u8>> {
    let ours = json.as_object()?.get("metadata")?.as_object()?.get("annalist")?.as_object()?.into_static();
    assert!(!ours.text("problem")?.is_empty(), "it says why");
    STANDARD.decode(ours.text("data")?.as_bytes()).ok()
}

fn check_poison(poison: &Poison, shown: &Json<'_>, problems: &[annalist_schema::Problem]) {
    if poison.json {
        // Passed on: the stored text with the ids behind it.
        let stored = std::str::from_utf8(&poison.data).unwrap();
        let opened = stored.strip_suffix('}').unwrap();
        assert!(shown.as_str().starts_with(opened), "{}: {shown} of {stored}", poison.name);
    } else {
        assert_eq!(carried(shown).as_ref(), Some(&poison.data), "{}: {shown}", poison.name);
        assert_eq!(problems, [], "{}: a stand-in is complete", poison.name);
    }
}

#[test]
fn every_way_of_reading_answers_and_shows_the_original() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let store = open(&path);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap().sessions.len(), 20);
    let page = store.page(&session, None, None).unwrap();
    let of = |id: &str| -> &WithParts { page.messages.iter().find(|m| ids_of(m).0 == id).unwrap() };
    let good = page.messages.iter().find(|m| m.parts.len() > poisons().len()).unwrap();
    for (number, poison) in poisons().iter().enumerate() {
        let message = of(&format!("msg_zz_{number:02}"));
        check_poison(poison, &message.info, &Message::from_object(message.info.as_object().unwrap()).problems());
        let part = good.parts.iter().find(|p| p.as_object().unwrap().text("id").unwrap() == format!("prt_zz_{number:02}")).unwrap();
        check_poison(poison, part, &Part::from_object(part.as_object().unwrap()).problems());
        if !poison.json {
            let part = part.as_object().unwrap();
            assert_eq!((part.text("type").unwrap(), part.text("text").unwrap()), ("text".into(), "".into()));
            assert_eq!(part.get("ignored").unwrap().as_str(), "true");
            let info = message.info.as_object().unwrap();
            assert_eq!(info.text("role").unwrap(), "assistant");
            assert_eq!(info.get("error").unwrap().as_object().unwrap().text("name").unwrap(), "UnknownError");
        }
        assert_eq!(store.get(&session, &ids_of(message).0).unwrap(), *message);
    }
    // In pages of every size the same.
    for limit in [1, 7, 50] {
        let mut all = Vec::new();
        let mut before = None;
        loop {
            let part = store.page(&session, Some(limit), before).unwrap();
            all.splice(0..0, part.messages);
            before = part.older;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(all, page.messages);
    }
    assert!(Json::parse(export(&store, &session)).is_ok());
    assert!(Json::parse(exported(&store, &session, true)).is_ok());
}

#[test]
fn other_rows_are_as_without_the_poison() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let clean = Room::new();
    let (store, clean) = (open(&path), open(&clean.copy("opencode-small.db")));
    for id in session_ids(&raw(&path)) {
        if id != session {
            assert_eq!(export(&store, &id), export(&clean, &id));
        }
    }
    let good = |store: &Store| -> Vec<WithParts> {
        let mut messages = store.page(&session, None, None).unwrap().messages;
        messages.retain(|message| !ids_of(message).0.starts_with("msg_zz"));
        for message in &mut messages {
            message.parts.retain(|part| !part.as_str().contains("\"prt_zz"));
        }
        messages
    };
    assert_eq!(good(&store), good(&clean));
    assert_eq!(good(&store).len(), 4);
}

#[test]
fn reading_changes_no_byte_of_the_file() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let before = std::fs::read(&path).unwrap();
    let store = open(&path);
    store.sessions(&SessionFilter::default()).unwrap();
    store.page(&session, Some(3), None).unwrap();
    store.todo(&session).unwrap();
    store.children(&session).unwrap();
    export(&store, &session);
    drop(store);
    assert!(std::fs::read(&path).unwrap() == before);
    let left: Vec<_> = std::fs::read_dir(room.folder()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["opencode-small.db"], "nothing is left beside it");
}

#[test]
fn export_and_import_restore_every_byte() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let store = open(&path);
    let document = export(&store, &session);
    let (second_path, second) = room.store("second.db");
    second.import(document.clone(), home(&store, &session)).unwrap();
    let (was, is) = (raw(&path), raw(&second_path));
    for (number, poison) in poisons().iter().enumerate() {
        for (table, id) in [("message", "msg_zz"), ("part", "prt_zz"), ("part", "prt_zy")] {
            let id = format!("{id}_{number:02}");
            assert_eq!(bytes(&was, table, &id), poison.data);
            assert!(bytes(&is, table, &id) == poison.data, "{table}: {}", poison.name);
        }
    }
    assert_eq!(export(&second, &session), document);
    // The events of it replay to the same rows.
    super::replay::replayed(&second_path).assert_same_rows();
    // And where everything is known, nothing is written.
    let before = super::support::everything(&second_path);
    second.import(document, home(&store, &session)).unwrap();
    assert_eq!(super::support::everything(&second_path), before);
}

#[test]
fn ids_inside_the_data_are_overruled_by_the_columns() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let lie = r#"{"id":"lie_1","type":"text","messageID":"lie_2","text":"x","sessionID":"lie_3","role":"user","id":"lie_4"}"#;
    let db = raw(&path);
    db.execute("UPDATE message SET data = ?1 WHERE id = 'msg_zz_00'", [lie]).unwrap();
    db.execute("UPDATE part SET data = ?1 WHERE id = 'prt_zy_00'", [lie]).unwrap();
    let store = open(&path);
    let message = store.get(&session, "msg_zz_00").unwrap();
    let info =
        format!(r#"{{"id":"msg_zz_00","type":"text","messageID":"lie_2","text":"x","sessionID":"{session}","role":"user"}}"#);
    assert_eq!(message.info.as_str(), info);
    let part =
        format!(r#"{{"id":"prt_zy_00","type":"text","messageID":"msg_zz_00","text":"x","sessionID":"{session}","role":"user"}}"#);
    assert_eq!(message.parts[0].as_str(), part);
    assert_eq!(bytes(&db, "message", "msg_zz_00"), lie.as_bytes(), "the row is as it was");
}

#[test]
fn a_damaged_row_can_be_written_over_and_removed() {
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let store = open(&path);
    let usage = "SELECT cost, tokens_input FROM session WHERE title = 'plain talk'";
    let before = rows(&raw(&path), usage);
    for number in 0..poisons().len() {
        let id = format!("msg_zz_{number:02}");
        let part = super::support::text(&session, &id, &format!("prt_zy_{number:02}"), "healed");
        super::support::write(
            &store,
            &session,
            vec![super::support::part(&part, 1), super::support::message_removed(&session, &id)],
        );
    }
    assert_eq!(int(&raw(&path), "SELECT count(*) FROM message WHERE id LIKE 'msg_zz%'"), 0);
    // The one step among them cost -1 and no tokens that count.
    let after = rows(&raw(&path), usage);
    assert_eq!(after[0][1], before[0][1]);
}

/// A session column, what is planted there as an SQL expression, and how it is kept: under `text` or `data`.
const COLUMNS: &[(&str, &str, Kept)] = &[
    ("cost", "'much'", Kept::Text("much")),
    ("tokens_input", "'x1'", Kept::Text("x1")),
    ("tokens_output", "x'00ff'", Kept::Bytes(b"\x00\xff")),
    ("tokens_cache_read", "9e999", Kept::Text("inf")),
    ("time_created", "'yesterday'", Kept::Text("yesterday")),
    ("time_updated", "'later'", Kept::Text("later")),
    ("time_compacting", "'now'", Kept::Text("now")),
    ("time_archived", "''", Kept::Text("")),
    ("summary_additions", "'+3'||'x'", Kept::Text("+3x")),
    ("summary_diffs", "'[{'", Kept::Text("[{")),
    ("metadata", "'nope'", Kept::Text("nope")),
    ("metadata", "'[1]'", Kept::Text("[1]")),
    ("metadata", "CAST(x'7b22ff227d' AS TEXT)", Kept::Bytes(b"{\"\xff\"}")),
    ("model", "'{\"id\":'", Kept::Text("{\"id\":")),
    ("model", "'\"m1\"'", Kept::Text("\"m1\"")),
    ("revert", "'{broken'", Kept::Text("{broken")),
    ("permission", "'{}'", Kept::Text("{}")),
    ("permission", "'[1,]'", Kept::Text("[1,]")),
    ("title", "CAST(x'ff41' AS TEXT)", Kept::Bytes(b"\xff\x41")),
    ("title", "x'00'", Kept::Bytes(b"\x00")),
    ("slug", "x'c328'", Kept::Bytes(b"\xc3\x28")),
    ("agent", "x'01'", Kept::Bytes(b"\x01")),
    ("share_url", "x'02'", Kept::Bytes(b"\x02")),
    ("path", "x'03'", Kept::Bytes(b"\x03")),
    ("version", "x'04'", Kept::Bytes(b"\x04")),
    // Nothing is wrong with these: they are shown as they are.
    ("title", "'a' || char(0) || 'b'", Kept::Nowhere),
    ("model", "'{\"id\":\"\\ud83d\",\"providerID\":\"p\",\"x\":1.0}'", Kept::Nowhere),
    ("tokens_reasoning", "-7", Kept::Nowhere),
    ("tokens_reasoning", "1.5", Kept::Nowhere),
    ("cost", "-0.5", Kept::Nowhere),
    ("time_archived", "-1.5", Kept::Nowhere),
    ("metadata", "'null'", Kept::Nowhere),
];

enum Kept {
    Text(&'static str),
    Bytes(&'static [u8]),
    Nowhere,
}

/// A copy of the fixture with a further session for each entry of [`COLUMNS`].
fn poisoned_sessions(path: &Path) {
    let db = raw(path);
    let names: Vec<String> = rows(&db, "SELECT name FROM pragma_table_info('session') WHERE name != 'id'")
        .iter()
        .map(|row| row[0].text().unwrap().to_owned())
        .collect();
    let names = names.join(", ");
    for (number, (column, value, _)) in COLUMNS.iter().enumerate() {
        db.execute(
            &format!("INSERT INTO session (id, {names}) SELECT 'ses_bad_{number:02}', {names} FROM session WHERE title = 'plain talk' AND id NOT LIKE 'ses_bad%'"),
            [],
        )
        .unwrap();
        db.execute(&format!("UPDATE session SET {column} = {value} WHERE id = 'ses_bad_{number:02}'"), []).unwrap();
    }
}

#[test]
fn a_bad_session_column_costs_only_itself() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let clean = open(&path).sessions(&SessionFilter::default()).unwrap();
    poisoned_sessions(&path);
    let bytes = std::fs::read(&path).unwrap();
    let store = open(&path);
    let listing = store.sessions(&SessionFilter::default()).unwrap();
    assert_eq!(listing.total as usize, 20 + COLUMNS.len());
    let good: Vec<_> = listing.sessions.iter().filter(|s| !s.id().unwrap().starts_with("ses_bad")).cloned().collect();
    assert_eq!(good, clean.sessions);
    let (_second_path, second) = room.store("second.db");
    for (number, (column, value, kept)) in COLUMNS.iter().enumerate() {
        let id = format!("ses_bad_{number:02}");
        let session = store.session(&id).unwrap();
        let lenient = |problem: &Problem| problem.wrong == Wrong::LoneSurrogate || problem.at.starts_with("tokens");
        let problems: Vec<Problem> = session.problems().into_iter().filter(|problem| !lenient(problem)).collect();
        assert_eq!(problems, [], "{column} = {value}: what is shown is complete");
        let ours = session
            .object()
            .get("metadata")
            .and_then(Json::as_object)
            .and_then(|m| m.get("annalist").map(|a| a.clone().into_static()));
        let columns = ours.and_then(|ours| ours.as_object()?.get("columns").map(|c| c.clone().into_static()));
        let found = columns.as_ref().and_then(Json::as_object).and_then(|c| c.get(column).map(|c| c.clone().into_static()));
        let found = found.as_ref().and_then(Json::as_object);
        match kept {
            Kept::Text(text) => assert_eq!(found.unwrap().text("text").unwrap(), *text, "{column} = {value}"),
            Kept::Bytes(bytes) => {
                assert_eq!(STANDARD.decode(&*found.unwrap().text("data").unwrap()).unwrap(), *bytes, "{column} = {value}");
            }
            Kept::Nowhere => assert_eq!(found, None, "{column} = {value}"),
        }
        // The document says the same after an import elsewhere.
        let document = export(&store, &id);
        second.import(document.clone(), home(&store, &id)).unwrap_or_else(|e| panic!("{column} = {value}: {e}"));
        // The path is the new place's.
        if *column != "path" {
            assert_eq!(export(&second, &id), document, "{column} = {value}");
        }
        let sanitized = exported(&store, &id, true);
        assert!(Json::parse(&*sanitized).is_ok());
    }
    drop(store);
    assert!(std::fs::read(&path).unwrap() == bytes, "reading changed the file");
}

#[test]
fn a_filter_on_a_bad_column_answers() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    poisoned_sessions(&path);
    let store = open(&path);
    for filter in [
        SessionFilter { updated_since: Some(0), search: Some("a".into()), ..SessionFilter::default() },
        SessionFilter {
            path: Some("a".into()),
            directory: Some("/home/dev/project".into()),
            roots: true,
            ..SessionFilter::default()
        },
        SessionFilter { archived: annalist_store::query::Archived::Only, ..SessionFilter::default() },
    ] {
        let listing = store.sessions(&filter).unwrap();
        assert_eq!(listing.total as usize, listing.sessions.len());
    }
}

#[test]
fn an_unknown_event_or_bad_data_in_the_log_does_not_stop_it() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let db = raw(&path);
    let session: String = db.query_row("SELECT id FROM session WHERE title = 'plain talk'", [], |row| row.get(0)).unwrap();
    db.execute(
        "UPDATE event SET data = CAST(x'ff00' AS TEXT), type = 'later.thing.9' WHERE aggregate_id = ?1 AND seq = 3",
        [&session],
    )
    .unwrap();
    let store = open(&path);
    let mut seen = Vec::new();
    store
        .read(|view| {
            view.events(&session, -1, &mut |event| {
                seen.push((event.seq, event.kind.into_owned(), event.data.into_owned()));
                annalist_store::Flow::Continue
            })
        })
        .unwrap();
    assert_eq!(seen.len(), 30);
    assert_eq!(seen[3], (3, "later.thing.9".to_owned(), b"\xff\x00".to_vec()));
    let next = super::support::append(
        &store,
        &session,
        super::support::updated(&with(
            info(&session),
            &serde_json::json!({
                "projectID": store.session(&session).unwrap().project_id().unwrap()
            }),
        )),
    )
    .unwrap();
    assert_eq!(next.seq, 30);
}

#[test]
fn no_value_of_a_row_stands_in_an_error() {
    // Errors end up in logs and reports; transcripts must not.
    let room = Room::new();
    let (path, session) = poisoned(&room);
    let store = open(&path);
    let event =
        annalist_store::NewEvent::new("message.updated.1", r#"{"sessionID":"SES","info":"secret words"}"#.replace("SES", &session));
    let refused = super::support::append(&store, &session, event).unwrap_err().to_string();
    assert!(!refused.contains("secret"), "{refused}");
    let refused =
        store.import(r#"{"info":{"id":"ses_1","title":["secret words"]},"messages":[]}"#.into(), super::support::folder());
    assert!(!refused.unwrap_err().to_string().contains("secret"));
}

#[test]
fn all_tables_of_the_fixture_are_looked_at() {
    // `everything` is what other tests compare to say that nothing was written.
    let room = Room::new();
    let db = raw(&room.copy("opencode-small.db"));
    for row in rows(&db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'") {
        let Cell::Text(name) = &row[0] else { panic!() };
        let filled = int(&db, &format!("SELECT count(*) FROM \"{name}\"")) > 0;
        assert!(!filled || TABLES.contains(&&**name) || name == "migration", "{name}");
    }
}
