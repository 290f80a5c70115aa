//! `annalist show`

use crate::world::{KILLED, MANY_PARTS, PLAIN, World};
use serde_json::Value;

const REVERTED: &str = "ses_dd1bbd0e0ffekVhBPN30PhBXwP";
const REFUSED: &str = "ses_dd1bb3d94ffesj24AXiy9fhpLD";
const COMPACTED: &str = "ses_dd1bb7d2cffeTvmGZv9rYAAQJg";
const EMPTY: &str = "ses_dd1bbdc62ffex9R57QoJ5CxXlM";
const CHANGED: &str = "ses_dd1bc2612ffeNyVE8kPWhMWpQE";

#[test]
fn sessions_of_the_fixture() {
    let world = World::with_fixture();
    for (name, id) in [
        ("killed", KILLED),
        ("many-parts", MANY_PARTS),
        ("reverted", REVERTED),
        ("refused", REFUSED),
        ("compacted", COMPACTED),
        ("empty", EMPTY),
        ("changed", CHANGED),
    ] {
        insta::assert_snapshot!(name, world.unchanged(|| world.run(&["show", id])).shown());
    }
}

/// Whatever OpenCode wrote, nothing of it is called a problem.
#[test]
fn sound_sessions_have_no_problems() {
    let world = World::with_fixture();
    for session in world.run(&["list", "--all", "--archived", "--json"]).json().as_array().unwrap() {
        let run = world.run(&["show", "--all", session["id"].as_str().unwrap()]);
        let problems: Vec<&str> =
            run.ok().lines().filter(|line| line.starts_with('!') && *line != "! APIError: bad field").collect();
        assert_eq!(problems, [""; 0]);
    }
}

#[test]
fn as_json_it_is_the_stored_values() {
    let world = World::with_fixture();
    let run = world.unchanged(|| world.run(&["show", PLAIN, "--json"]));
    assert_eq!(run.err, "");
    let shown = run.json();
    assert_eq!(shown["info"]["id"], PLAIN);
    let messages = shown["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 4);

    let db = world.sqlite("small.db");
    for message in messages {
        let data = |table: &str, id: &Value| -> Value {
            let sql = format!("SELECT data FROM {table} WHERE id = ?1");
            let text: String = db.query_row(&sql, [id.as_str().unwrap()], |row| row.get(0)).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        let without = |value: &Value, keys: &[&str]| {
            let mut value = value.clone();
            keys.iter().for_each(|key| drop(value.as_object_mut().unwrap().shift_remove(*key)));
            value
        };
        assert_eq!(without(&message["info"], &["id", "sessionID"]), data("message", &message["info"]["id"]));
        for part in message["parts"].as_array().unwrap() {
            assert_eq!(without(part, &["id", "sessionID", "messageID"]), data("part", &part["id"]));
        }
    }
}

#[test]
fn the_last_messages() {
    let world = World::with_fixture();
    let all = world.run(&["show", PLAIN, "--json"]).json();
    let all = all["messages"].as_array().unwrap();
    for (last, expected) in [("0", 0), ("1", 1), ("3", 3), ("4", 4), ("5", 4), ("4294967295", 4)] {
        let run = world.run(&["show", PLAIN, "--json", "--last", last]);
        assert_eq!(run.json()["messages"].as_array().unwrap().as_slice(), &all[4 - expected..], "--last {last}");
        assert_eq!(run.err, "");
        let run = world.run(&["show", PLAIN, "--last", last]);
        assert_eq!(run.ok().matches("\n── ").count(), expected);
        assert_eq!(run.out.contains("[...]"), expected < 4);
        assert_eq!(run.err.contains("Earlier messages are not shown"), expected < 4, "--last {last}: {}", run.err);
    }
}

/// The people's form shows the end of a long session; `--all` all of it.
#[test]
fn twenty_messages_unless_asked_for_more() {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        for n in 0..50 {
            let data = r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"}}"#;
            db.execute("INSERT INTO message VALUES (?1, ?2, ?3, 0, ?4)", (format!("msg_x{n:02}"), EMPTY, n, data)).unwrap();
        }
    });
    let run = world.run(&["show", EMPTY]);
    assert_eq!(run.ok().matches("── You").count(), 20);
    assert_eq!(run.err, "Earlier messages are not shown: --last N or --all shows them.\n");
    let run = world.run(&["show", EMPTY, "--all"]);
    assert_eq!((run.ok().matches("── You").count(), run.err.as_str()), (50, ""));
    assert_eq!(world.run(&["show", EMPTY, "--json"]).json()["messages"].as_array().unwrap().len(), 50);
}

/// What was said keeps its lines and its spaces; what could steer the terminal does not get there.
#[test]
fn texts_cannot_steer_the_terminal() {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        let data = r#"{"type":"text","text":"  two\n\tlines\u001b[2J\u0007\u009b1m\r"}"#;
        let changed =
            db.execute("UPDATE part SET data = ?1 WHERE session_id = ?2 AND data LIKE '%nothing%'", (data, PLAIN)).unwrap();
        assert_eq!(changed, 1);
    });
    let run = world.run(&["show", PLAIN]);
    assert!(run.ok().contains("\n  two\n\tlines\u{fffd}[2J\u{fffd}\u{fffd}1m\n"), "{:?}", run.out);
}

/// Local time is the machine's, by name.
#[test]
fn times_are_local() {
    let world = World::with_fixture();
    let run = world.outcome(world.command().env("TZ", "<+0530>-5:30").args(["--db", "../small.db", "show", KILLED]));
    assert!(run.ok().contains("── You · 2026-12-01 02:33"), "{}", run.out);
}
