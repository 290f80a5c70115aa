//! `annalist delete`: what it says, whom it asks, what it leaves.

use crate::world::{MANY_PARTS, PLAIN, TODO, World};
use rusqlite::Connection;
use serde_json::{Value, json};
use std::fs;

/// Where a text stands in a file: table and column.
fn traces(db: &Connection, of: &str) -> Vec<String> {
    let list = |sql: &str| -> Vec<String> {
        let mut statement = db.prepare(sql).unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let mut found = Vec::new();
    for table in list("SELECT name FROM sqlite_master WHERE type = 'table'") {
        for column in list(&format!("SELECT name FROM pragma_table_info('{table}')")) {
            let sql = format!("SELECT count(*) FROM \"{table}\" WHERE instr(\"{column}\", ?1) > 0");
            if db.query_row(&sql, [of], |row| row.get::<_, i64>(0)).unwrap() > 0 {
                found.push(format!("{table}.{column}"));
            }
        }
    }
    found
}

/// A session of the fixture with a child, and the child's id.
fn with_a_child(world: &World) -> String {
    let child = world.run(&["fork", PLAIN, "--json"]).json()["id"].as_str().unwrap().to_owned();
    world.plant("small.db", |db| {
        db.execute("UPDATE session SET parent_id = ?1 WHERE id = ?2", [PLAIN, &child]).unwrap();
    });
    child
}

#[test]
fn nothing_of_it_is_left() {
    let world = World::with_fixture();
    assert!(traces(&world.sqlite("small.db"), TODO).len() > 4);
    let run = world.run(&["delete", TODO, "--yes"]);
    assert_eq!(run.ok(), format!("Deleted: {TODO}\n"));
    assert!(run.err.starts_with(&format!("{TODO}  ")), "{}", run.err);
    assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    assert_eq!(traces(&world.sqlite("small.db"), TODO), Vec::<String>::new());
    world.run(&["verify"]).ok();
    // A second time there is nothing to delete.
    let again = world.unchanged(|| world.run(&["delete", TODO, "--yes"]));
    assert!(again.failure().starts_with(&format!("annalist: no session \"{TODO}\" in [TOP]/small.db;")), "{}", again.err);
}

#[test]
fn children_go_first_and_are_named() {
    let world = World::with_fixture();
    let child = with_a_child(&world);
    let run = world.run(&["delete", PLAIN, "--yes", "--json"]);
    assert_eq!(run.json(), json!({"sessions": [child, PLAIN]}));
    let shown: Vec<&str> = run.err.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(shown, [&*child, PLAIN]);
    assert_eq!(traces(&world.sqlite("small.db"), PLAIN), Vec::<String>::new());
}

#[test]
fn where_nobody_can_be_asked_nothing_goes() {
    let world = World::with_fixture();
    for arguments in [&["delete", PLAIN][..], &["delete", PLAIN, "--json"], &["delete", PLAIN, "--export", "kept"]] {
        // A "y" that comes through a pipe is not a person's.
        let run =
            world.unchanged(|| world.outcome(world.command().args(["--db", "../small.db"]).args(arguments).write_stdin("y\n")));
        assert_eq!(
            run.failure(),
            "annalist: nothing was deleted, for nobody can be asked where standard input is no terminal; --yes deletes without asking"
        );
        assert_eq!(run.out, "");
        assert!(run.err.starts_with(&format!("{PLAIN}  4 messages  ")), "{}", run.err);
    }
}

#[cfg(unix)]
#[test]
fn a_person_is_asked() {
    use crate::terminal::at_a_terminal;
    for answer in ["n\n", "\n", "yess\n", "no y\n", "\u{4}"] {
        let world = World::with_fixture();
        let run = world.unchanged(|| at_a_terminal(&world, &["delete", PLAIN], answer));
        assert_eq!(run.code, 1, "{}", run.out);
        assert!(run.out.contains("Delete this session for good? [y/N] "), "{}", run.out);
        assert!(run.out.ends_with("annalist: nothing was deleted\n"), "{:?}", run.out);
    }
    for answer in ["y\n", "Yes\n", " YES \n"] {
        let world = World::with_fixture();
        let child = with_a_child(&world);
        let run = at_a_terminal(&world, &["delete", PLAIN], answer);
        assert_eq!(run.code, 0, "{}", run.out);
        assert!(run.out.contains("Delete these 2 sessions for good? [y/N] "), "{}", run.out);
        assert!(run.out.ends_with(&format!("Deleted: {child}\nDeleted: {PLAIN}\n")), "{}", run.out);
        assert_eq!(traces(&world.sqlite("small.db"), PLAIN), Vec::<String>::new());
    }
}

#[test]
fn documents_are_written_first_and_bring_all_back() {
    let world = World::with_fixture();
    world.in_project(crate::world::PROJECT);
    let child = with_a_child(&world);
    let documents: Vec<String> = [PLAIN, &child].iter().map(|id| world.run(&["export", id]).ok().to_owned()).collect();
    world.run(&["delete", PLAIN, "--yes", "--export", "kept/below"]).ok();
    for (id, document) in [PLAIN, &child].iter().zip(&documents) {
        let file = world.path("here/kept/below").join(format!("{id}.json"));
        assert_eq!(fs::read_to_string(&file).unwrap().replace(world.top.to_str().unwrap(), "[TOP]"), *document);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "as private as the record");
        }
        world.run(&["import", file.to_str().unwrap()]).ok();
        let back: Value = world.run(&["export", id]).json();
        let gone: Value = serde_json::from_str(document).unwrap();
        assert_eq!(back["messages"], gone["messages"]);
        assert_eq!(back["info"]["title"], gone["info"]["title"]);
    }
}

/// A document that is there may be all that is left of something else.
#[test]
fn a_document_that_is_there_stops_it() {
    let world = World::with_fixture();
    let child = with_a_child(&world);
    world.write(&format!("here/kept/{PLAIN}.json"), "precious");
    let before = (traces(&world.sqlite("small.db"), PLAIN), world.run(&["list", "--json", "--all"]).ok().to_owned());
    let run = world.run(&["delete", PLAIN, "--yes", "--export", "kept"]);
    assert_eq!(
        run.failure(),
        format!(
            "annalist: kept/{PLAIN}.json: there is such a file already; choose another folder, or move it away; nothing was deleted"
        )
    );
    assert_eq!(run.out, "");
    assert_eq!(fs::read_to_string(world.path(&format!("here/kept/{PLAIN}.json"))).unwrap(), "precious");
    // The child's came first; it would be in the way of the next attempt.
    assert!(!world.path(&format!("here/kept/{child}.json")).exists());
    assert_eq!((traces(&world.sqlite("small.db"), PLAIN), world.run(&["list", "--json", "--all"]).ok().to_owned()), before);
}

#[test]
fn a_folder_that_cannot_be_made_stops_it() {
    let world = World::with_fixture();
    world.write("file", "");
    let run = world.unchanged(|| world.run(&["delete", PLAIN, "--yes", "--export", "../file/below"]));
    assert!(run.failure().starts_with("annalist: ../file/below: Not a directory"), "{}", run.err);
    let run = world.unchanged(|| world.run(&["delete", PLAIN, "--yes", "--export", "../file"]));
    assert!(run.failure().starts_with("annalist: ../file: "), "{}", run.err);
}

#[test]
fn an_id_does_not_lead_out_of_the_folder() {
    let world = World::with_fixture();
    let odd = "ses_/../../../odd";
    world.plant("small.db", |db| {
        db.execute("UPDATE session SET id = ?1 WHERE id = ?2", [odd, MANY_PARTS]).unwrap();
        for table in ["message", "part", "todo"] {
            db.execute(&format!("UPDATE {table} SET session_id = ?1 WHERE session_id = ?2"), [odd, MANY_PARTS]).unwrap();
        }
        db.execute("DELETE FROM event_sequence WHERE aggregate_id = ?1", [MANY_PARTS]).unwrap();
        db.execute("DELETE FROM event WHERE aggregate_id = ?1", [MANY_PARTS]).unwrap();
    });
    world.run(&["delete", odd, "--yes", "--export", "kept"]).ok();
    let names: Vec<_> = fs::read_dir(world.path("here/kept")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["ses___________odd.json"]);
}
