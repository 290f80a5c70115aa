//! Rows that OpenCode would not have written, in a copy of the fixture. A bad row costs one row (design G6): everything
//! else is shown, the problem is named and the original kept.

use crate::world::{PLAIN, TODO, World};
use rusqlite::types::Value as Cell;
use serde_json::Value;

/// Between the fixture's third and fourth message.
const AFTER: i64 = 1_796_072_500_000;
const CHANGED: &str = "ses_dd1bc2612ffeNyVE8kPWhMWpQE";

fn text(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn deep(prefix: &str) -> Cell {
    Cell::Text(format!("{prefix}{}{}}}", "[".repeat(1000), "]".repeat(1000)))
}

fn messages() -> Vec<Cell> {
    vec![
        Cell::Blob(b"\x00\xff\xfe".to_vec()),
        text(r#"{"role":"user","#),
        text(r#"{"time":{"created":1}}"#),
        text("[]"),
        text("\"text\""),
        text(""),
        text("null"),
        text(r#"{"role":"robot","time":{"created":1}}"#),
        text(r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"}}"#),
        text(
            r#"{"role":"assistant","time":{"created":"x"},"tokens":{"input":-5,"output":"many","reasoning":1.5,"cache":{"read":null,"write":0}},"cost":"free","error":7,"modelID":9}"#,
        ),
        deep(r#"{"role":"user","x":"#),
        Cell::Integer(7),
    ]
}

fn parts() -> Vec<Cell> {
    vec![
        Cell::Blob(b"\x00\xff\xfe".to_vec()),
        text(r#"{"type":"text","te"#),
        text(r#"{"type":"text"}"#),
        text(r#"{"type":"hologram","light":1.0}"#),
        text(r#"{"type":"text","text":"half \ud83d pair"}"#),
        text(r#"{"type":"tool"}"#),
        text(r#"{"type":"tool","tool":"bash","callID":"c","state":{"status":"flying"}}"#),
        text(r#"{"type":"tool","tool":5,"state":[]}"#),
        deep(r#"{"type":"text","text":"#),
        text("{}"),
        text("[]"),
        text(r#"{"type":"file"}"#),
        text(r#"{"type":"patch","files":7}"#),
        text(r#"{"type":"reasoning","text":4}"#),
        text(r#"{"type":"step-finish","reason":"stop","cost":-1,"tokens":{"input":-1,"output":"two"}}"#),
        text(r#"{"type":7}"#),
        text(r#"{"type":"text","text":"sound"}"#),
    ]
}

/// Plants all of it: messages into [`PLAIN`], the parts into the sound one of them, and columns of two sessions.
fn poisoned() -> World {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        for (index, data) in messages().into_iter().enumerate() {
            let values = (format!("msg_p{index:02}"), PLAIN, AFTER + index as i64, data);
            db.execute("INSERT INTO message VALUES (?1, ?2, ?3, 0, ?4)", values).unwrap();
        }
        for (index, data) in parts().into_iter().enumerate() {
            db.execute("INSERT INTO part VALUES (?1, 'msg_p08', ?2, 1, 1, ?3)", (format!("prt_p{index:02}"), PLAIN, data)).unwrap();
        }
        db.execute(
            "UPDATE session SET title = x'ff00', time_updated = 'soon', summary_additions = 'x', summary_diffs = '[', metadata = '{',
             permission = '{}', cost = 'free', tokens_input = -4, model = '7' WHERE id = ?1",
            [TODO],
        )
        .unwrap();
        db.execute("UPDATE session SET time_archived = 'never', title = 7, directory = x'ff' WHERE id = ?1", [CHANGED]).unwrap();
    });
    world
}

#[test]
fn list_answers_and_names_the_columns() {
    let world = poisoned();
    let run = world.unchanged(|| world.run(&["list", "--all", "--archived"]));
    insta::assert_snapshot!("list", run.shown());
    let list = world.run(&["list", "--all", "--archived", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 20);
    let of = |id: &str| list.as_array().unwrap().iter().find(|session| session["id"] == id).unwrap();
    insta::assert_snapshot!("list-json", serde_json::to_string_pretty(of(TODO)).unwrap());
    assert_eq!(of(CHANGED)["metadata"]["annalist"]["columns"]["directory"]["data"], "/w==");
}

#[test]
fn show_answers_and_names_the_problems() {
    let world = poisoned();
    insta::assert_snapshot!("show", world.unchanged(|| world.run(&["show", PLAIN, "--all"])).shown());
    insta::assert_snapshot!("show-columns", world.unchanged(|| world.run(&["show", TODO])).shown());
    world.run(&["show", CHANGED]).ok();
}

/// In the document each row is what is stored, or a stand-in that says why and carries the bytes.
#[test]
fn export_and_json_keep_the_originals() {
    let world = poisoned();
    for command in [&["export", PLAIN][..], &["show", PLAIN, "--json"]] {
        let run = world.unchanged(|| world.run(command));
        assert_eq!(run.code, 0, "{}", run.err);
        // The nesting and half a character are more than the parser of this test takes; that they are there is enough.
        let nested = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
        let flat: String = run.out.split_whitespace().collect::<Vec<_>>().join("");
        assert_eq!(flat.matches(&nested).count(), 2);
        let document: Value = serde_json::from_str(&flat.replace(&nested, "[]").replace(r"\ud83d", "")).unwrap();
        let planted = |id: &str| {
            let messages = document["messages"].as_array().unwrap().iter();
            let mut all = messages.flat_map(|m| std::iter::once(&m["info"]).chain(m["parts"].as_array().unwrap()));
            all.find(|value| value["id"] == id).unwrap_or_else(|| panic!("{id} is missing")).clone()
        };
        for (id, problem, data) in [
            ("msg_p00", "not UTF-8 at byte 1", "AP/+"),
            ("msg_p01", "not JSON at byte 15: not a key", "eyJyb2xlIjoidXNlciIs"),
            ("msg_p03", "not JSON at byte 0: not an object", "W10="),
            ("msg_p05", "not JSON at byte 0: not an object", ""),
            ("prt_p00", "not UTF-8 at byte 1", "AP/+"),
            ("prt_p10", "not JSON at byte 0: not an object", "W10="),
        ] {
            let ours = &planted(id)["metadata"]["annalist"];
            let problem: String = problem.split_whitespace().collect();
            assert_eq!((ours["problem"].as_str(), ours["data"].as_str()), (Some(&*problem), Some(data)), "{id}");
        }
        assert_eq!(planted("prt_p03")["light"].as_f64(), Some(1.0));
        assert!(flat.contains(r#""light":1.0"#) && flat.contains(r#"half\ud83dpair"#));
        assert_eq!(planted("prt_p14")["tokens"], serde_json::json!({"input": -1, "output": "two"}));
    }
    assert!(world.run(&["export", PLAIN, "--sanitize"]).ok().ends_with("}\n"));
}

/// Out and in again: every row has the bytes it had.
#[test]
fn import_restores_the_bytes() {
    let world = poisoned();
    let document = world.write("it.json", world.run(&["export", PLAIN]).ok());
    world.run_on("../new.db", &["import", document.to_str().unwrap()]).ok();
    let rows = |database: &str, table: &str| -> Vec<(String, Vec<u8>)> {
        let db = world.sqlite(database);
        let sql = format!("SELECT id, CAST(data AS BLOB) FROM {table} WHERE id LIKE '%!_p%' ESCAPE '!' ORDER BY id");
        let mut statement = db.prepare(&sql).unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };
    assert_eq!(rows("small.db", "message").len(), messages().len());
    for table in ["message", "part"] {
        for (before, after) in rows("small.db", table).iter().zip(rows("new.db", table)) {
            let (a, b) = (String::from_utf8_lossy(&before.1), String::from_utf8_lossy(&after.1));
            assert_eq!((&before.0, a), (&after.0, b));
        }
        assert_eq!(rows("small.db", table).len(), rows("new.db", table).len());
    }
}
