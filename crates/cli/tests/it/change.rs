//! `annalist rename`, `archive`, `unarchive` and `fork`: what they do to the file, and what they say.

use crate::world::{MANY_PARTS, PLAIN, World};
use rusqlite::types::Value as Cell;
use serde_json::Value;

fn column(world: &World, session: &str, column: &str) -> Cell {
    let sql = format!("SELECT {column} FROM session WHERE id = ?1");
    world.sqlite("small.db").query_row(&sql, [session], |row| row.get(0)).unwrap()
}

/// The types of the events of a session.
fn log(world: &World, session: &str) -> Vec<String> {
    let db = world.sqlite("small.db");
    let mut statement = db.prepare("SELECT type FROM event WHERE aggregate_id = ?1 ORDER BY seq").unwrap();
    statement.query_map([session], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn count(world: &World, sql: &str) -> i64 {
    world.sqlite("small.db").query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn rename() {
    let world = World::with_fixture();
    let (events, updated) = (log(&world, PLAIN).len(), column(&world, PLAIN, "time_updated"));
    let run = world.run(&["rename", "dd1bcd", "A new\ntitle \u{1b}[31m é"]);
    assert_eq!((run.ok(), &*run.err), (&*format!("Renamed: {PLAIN}\n"), ""));
    assert_eq!(column(&world, PLAIN, "title"), Cell::Text("A new\ntitle \u{1b}[31m é".into()));
    assert_eq!(column(&world, PLAIN, "time_updated"), updated, "a title is no sign of life");
    assert_eq!(log(&world, PLAIN)[events..], ["session.updated.1"]);
    let session = world.run(&["rename", PLAIN, "Another", "--json"]).json();
    assert_eq!((session["id"].as_str(), session["title"].as_str()), (Some(PLAIN), Some("Another")));
    // The same again is no event.
    let events = log(&world, PLAIN).len();
    world.run(&["rename", PLAIN, "Another"]).ok();
    assert_eq!(log(&world, PLAIN).len(), events);
    world.run(&["verify"]).ok();
}

#[test]
fn archive_and_unarchive() {
    let world = World::with_fixture();
    let listed = |arguments: &[&str]| {
        let list = world.run(&[&["list", "--all", "--json"], arguments].concat()).json();
        list.as_array().unwrap().iter().any(|session| session["id"] == PLAIN)
    };
    assert!(listed(&[]));
    assert_eq!(world.run(&["archive", PLAIN]).ok(), format!("Archived: {PLAIN}\n"));
    assert!(!listed(&[]) && listed(&["--archived"]));
    let at = column(&world, PLAIN, "time_archived");
    assert!(matches!(at, Cell::Integer(1..)), "{at:?}");

    // Put away once more, it keeps the time of the first.
    let events = log(&world, PLAIN).len();
    let run = world.run(&["archive", PLAIN, "--json"]);
    assert_eq!(run.err, "It was archived already.\n");
    assert_eq!(Some(run.json()["time"]["archived"].as_i64().unwrap()), if let Cell::Integer(at) = at { Some(at) } else { None });
    assert_eq!(log(&world, PLAIN).len(), events);

    let run = world.run(&["unarchive", PLAIN, "--json"]);
    assert_eq!(run.err, "");
    assert_eq!(run.json()["time"].get("archived"), None, "absent, not 0");
    assert_eq!(column(&world, PLAIN, "time_archived"), Cell::Null);
    assert!(listed(&[]));
    let events = log(&world, PLAIN).len();
    let run = world.run(&["unarchive", PLAIN]);
    assert_eq!((run.ok(), &*run.err), (&*format!("Taken back out: {PLAIN}\n"), "It was not archived.\n"));
    assert_eq!(log(&world, PLAIN).len(), events);
    world.run(&["verify"]).ok();
}

fn texts(document: &Value) -> Vec<&str> {
    let messages = document["messages"].as_array().unwrap().iter();
    messages.flat_map(|message| message["parts"].as_array().unwrap()).filter_map(|part| part["text"].as_str()).collect()
}

#[test]
fn fork() {
    let world = World::with_fixture();
    let source = world.run(&["export", MANY_PARTS]).json();
    let sessions = count(&world, "SELECT count(*) FROM session");
    let run = world.run(&["fork", MANY_PARTS]);
    let id = run.ok().strip_prefix("Forked: ").unwrap().trim_end().to_owned();
    let messages = source["messages"].as_array().unwrap();
    let parts: usize = messages.iter().map(|message| message["parts"].as_array().unwrap().len()).sum();
    assert_eq!(
        run.err,
        format!("{} messages and {parts} parts copied; the copy is named \"parts of many kinds (fork #1)\"\n", messages.len())
    );
    assert_eq!(count(&world, "SELECT count(*) FROM session"), sessions + 1);
    let copy = world.run(&["export", &id]).json();
    assert_eq!(texts(&copy), texts(&source));
    assert_eq!(world.run(&["export", MANY_PARTS]).json(), source, "the source is not touched");

    // Only what stands before a message.
    let second = messages[1]["info"]["id"].as_str().unwrap();
    let run = world.run(&["fork", MANY_PARTS, "--before", second, "--json"]);
    let session = run.json();
    assert_eq!(session["title"], "parts of many kinds (fork #1)", "numbered after its source, which has none");
    assert!(run.err.starts_with("1 message and "), "{}", run.err);
    let copy = world.run(&["export", session["id"].as_str().unwrap()]).json();
    assert_eq!(copy["messages"].as_array().unwrap().len(), 1);
    world.run(&["verify"]).ok();
}

#[test]
fn a_place_that_is_not_there_copies_nothing() {
    let world = World::with_fixture();
    let elsewhere = world.run(&["show", MANY_PARTS, "--json"]).json()["messages"][0]["info"]["id"].as_str().unwrap().to_owned();
    for message in ["msg_none", &elsewhere] {
        let run = world.unchanged(|| world.run(&["fork", PLAIN, "--before", message]));
        assert_eq!(
            run.failure(),
            format!("annalist: no message \"{message}\" in {PLAIN}; `annalist show {PLAIN} --json` has the ids")
        );
        assert_eq!(run.out, "");
    }
}
