//! `annalist verify`, `rebuild` and `compact`: what they find and do, and how they tell of it.

use crate::world::{PLAIN, TODO, World};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;

/// All sessions as documents, and the todo lists, which no document holds.
fn content(world: &World, file: &str) -> Vec<Value> {
    let db = world.sqlite(file);
    let list = |sql: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let sessions = list("SELECT id FROM session ORDER BY id");
    let documents = sessions.iter().map(|id| world.run_on(&format!("../{file}"), &["export", id]).json());
    let todos = list("SELECT session_id || position || content || status || priority FROM todo ORDER BY 1");
    assert!(!todos.is_empty());
    documents.chain(todos.into_iter().map(Value::from)).collect()
}

fn tampered() -> World {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        db.execute("UPDATE session SET title = 'another' WHERE id = ?1", [PLAIN]).unwrap();
        db.execute("DELETE FROM event WHERE aggregate_id = ?1 AND seq = 3", [TODO]).unwrap();
    });
    world
}

#[test]
fn a_sound_file() {
    let world = World::with_fixture();
    let run = world.unchanged(|| world.run(&["verify"]));
    assert_eq!(run.ok(), "");
    assert!(run.err.starts_with("20 sessions as their logs have them, 0 differ, 0 cannot be checked; "), "{}", run.err);
    assert!(run.err.ends_with("so they are not checked: todo, project, project_directory, session_share, permission, workspace\n"));
    let found = world.unchanged(|| world.run(&["verify", PLAIN, "--json"])).json();
    assert_eq!(
        found,
        json!({"findings": [], "equal": 1, "differing": 0, "unchecked": 0, "problems": 0, "unlogged": 0, "events": found["events"]})
    );
}

#[test]
fn what_is_wrong_is_named() {
    let world = tampered();
    let run = world.unchanged(|| world.run(&["verify"]));
    assert_eq!(run.failure(), "annalist: 2 problems found in [TOP]/small.db");
    let mut lines: Vec<&str> = run.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines.len(), 3, "{}", run.out);
    assert_eq!(lines[0], format!("{TODO}: 0 messages and 1 part that no event mentions"));
    assert_eq!(lines[1], format!("{TODO}: its log has no events between 2 and 4"));
    assert_eq!(
        lines[2],
        format!(
            "{PLAIN}: session {PLAIN}: title is another text (7 bytes), another text (10 bytes) in the log (last touched by event 28)"
        )
    );
    // As JSON the same, and only of the session asked for.
    let run = world.unchanged(|| world.run(&["verify", "--json"]));
    assert_eq!(run.failure(), "annalist: 2 problems found in [TOP]/small.db");
    let found: Value = serde_json::from_str(&run.out).unwrap();
    let mut told: Vec<String> = found["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| format!("{}: {}", finding["session"].as_str().unwrap(), finding["problem"].as_str().unwrap()))
        .collect();
    told.sort();
    assert_eq!(told, lines);
    assert_eq!((found["differing"].clone(), found["problems"].clone()), (json!(1), json!(1)));
    let run = world.run(&["verify", TODO]);
    assert_eq!(run.failure(), "annalist: 1 problem found in [TOP]/small.db");
    world.run(&["verify", "dd1bc8"]).ok();
}

#[test]
fn a_new_file_from_the_log() {
    let world = World::with_fixture();
    let run = world.run(&["rebuild", "--into", "../new\u{7}.db"]);
    assert_eq!(run.ok(), "Rebuilt: 20 sessions from their logs, 0 copied as they were, into ../new\u{fffd}.db\n");
    assert!(run.err.starts_with("No log tells of these tables, copied as they were: "), "{}", run.err);
    assert!(content(&world, "new\u{7}.db") == content(&world, "small.db"), "the same content");
    assert!(world.run_on("../new\u{7}.db", &["verify"]).err.starts_with("20 sessions"));

    let world = tampered();
    let before = fs::read(world.path("small.db")).unwrap();
    let run = world.run(&["rebuild", "--into", "../new.db", "--json"]);
    let done = run.json();
    assert_eq!(run.err, "");
    assert_eq!(done["replayed"], 19);
    assert_eq!(done["copied"], json!([{"session": TODO, "why": "its log has no events between 2 and 4"}]));
    assert_eq!((&done["partly"], &done["leftOut"]), (&json!([]), &json!([])));
    assert!(done["tables"]["todo"].as_i64().unwrap() > 0, "{done}");
    assert!(done["tables"].get("event").is_none() && done["tables"].get("session").is_none(), "{done}");
    assert_eq!(fs::read(world.path("small.db")).unwrap(), before, "the file that is there stays as it is");
    let title = |file: &str| world.run_on(file, &["show", PLAIN, "--json"]).json()["info"]["title"].clone();
    assert_eq!(title("../small.db"), "another");
    assert_ne!(title("../new.db"), "another");
}

#[test]
fn nothing_is_rebuilt_over_a_file() {
    let world = World::with_fixture();
    world.write("there.db", "precious");
    world.write("log.db-wal", "precious");
    for (into, named) in
        [("../there.db", "../there.db"), ("../small.db", "[TOP]/small.db"), ("../log.db", "../log.db-wal"), ("..", "..")]
    {
        let run = world.unchanged(|| world.run(&["rebuild", "--into", into]));
        let named = if into == "../small.db" { "../small.db" } else { named };
        assert_eq!(
            (run.failure(), &*run.out),
            (&*format!("annalist: {named}: there is such a file already; choose another name, or move it away"), "")
        );
    }
    for into in ["../none/new.db", "../there.db/new.db"] {
        let run = world.unchanged(|| world.run(&["rebuild", "--into", into]));
        assert!(run.failure().starts_with(&format!("annalist: {into}: ")), "{}", run.err);
        assert!(run.err.trim_end().ends_with("; check the path"), "{}", run.err);
    }
}

fn emptied(db: &Connection) -> i64 {
    db.query_row("SELECT count(*) FROM event WHERE data LIKE '%\"prt_emptied\"%'", [], |row| row.get(0)).unwrap()
}

#[test]
fn superseded_events_are_emptied() {
    let world = World::with_fixture();
    let before = content(&world, "small.db");
    let run = world.unchanged(|| world.run(&["compact", "--dry-run"]));
    let gain = run.ok().strip_prefix("Would empty: ").unwrap().to_owned();
    assert_eq!(run.err, "");
    let counted = world.unchanged(|| world.run(&["compact", "--dry-run", "--json"])).json();
    assert_eq!((&counted["dryRun"], &counted["batches"]), (&json!(true), &json!(0)));
    assert!(gain.starts_with(&format!("{} events, ", counted["events"])), "{gain}");

    let run = world.run(&["compact"]);
    assert_eq!(run.ok(), format!("Emptied: {gain}"));
    assert_eq!(run.err, "The space is free for further growth; --reclaim gives whole free pages back to the disk.\n");
    assert_eq!(emptied(&world.sqlite("small.db")), counted["events"].as_i64().unwrap());
    assert!(content(&world, "small.db") == before, "the same content");
    world.run(&["verify"]).ok();
    let again = world.run(&["compact", "--json"]).json();
    assert_eq!(
        again,
        json!({"dryRun": false, "events": 0, "bytes": 0, "batches": 0, "longestMs": again["longestMs"]}),
        "a second run finds nothing"
    );
}

/// A fixture with pages of its file free, as large logs leave them.
fn with_free_pages() -> World {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        db.execute_batch("CREATE TABLE filler (a); INSERT INTO filler VALUES (zeroblob(300000)); DROP TABLE filler").unwrap();
    });
    world
}

#[test]
fn space_is_given_back() {
    let world = with_free_pages();
    let size = || i64::try_from(fs::metadata(world.path("small.db")).unwrap().len()).unwrap();
    let before = size();
    let done = world.run(&["compact", "--reclaim", "--json"]).json();
    assert!(size() < before);
    assert_eq!(done["file"]["after"], size());
    assert!(done["file"]["before"].as_i64().unwrap() >= before, "with what was in its log: {done}");
    // There is nothing more.
    let run = world.run(&["compact", "--reclaim"]);
    assert_eq!(run.ok(), "Emptied: 0 events, 0 bytes\n");
    assert_eq!(run.err, "Nothing to give back: no page of the file is free.\n");
    let done = world.run(&["compact", "--reclaim", "--json"]).json();
    assert_eq!(done["file"], json!({"before": size(), "after": size()}));
    world.run(&["verify"]).ok();

    let world = with_free_pages();
    let run = world.run(&["compact", "--reclaim"]);
    assert!(run.ok().lines().nth(1).unwrap().starts_with("Given back: "), "{}", run.out);
    assert!(run.err.starts_with("The file was "), "{}", run.err);
}

/// Who has it open is found in /proc/locks.
#[cfg(target_os = "linux")]
#[test]
fn space_is_not_given_back_while_somebody_has_the_file_open() {
    let world = with_free_pages();
    let here = world.sqlite("small.db");
    here.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, i64>(0)).unwrap();
    let told = format!(
        "annalist: [TOP]/small.db: the space was not given back, since process {} has the file open; close that and run this again, \
         or add --force, which makes it wait",
        std::process::id()
    );
    let size = fs::metadata(world.path("small.db")).unwrap().len();
    let run = world.run(&["compact", "--reclaim"]);
    assert_eq!(run.failure(), told);
    assert!(run.out.starts_with("Emptied: ") && !run.out.starts_with("Emptied: 0 "), "what was done is told: {}", run.out);
    assert_eq!(run.out.lines().count(), 1);
    let run = world.run(&["compact", "--reclaim", "--json"]);
    assert_eq!(run.failure(), told);
    let done: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&done["events"], done.get("file")), (&json!(0), None));
    assert!(fs::metadata(world.path("small.db")).unwrap().len() >= size);

    // It waits, and sees the same content afterwards.
    world.run(&["compact", "--reclaim", "--force"]).ok();
    assert_eq!(here.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, i64>(0)).unwrap(), 20);
    drop(here);
    assert!(fs::metadata(world.path("small.db")).unwrap().len() < size);
}
