//! How a session is named: its id, the beginning of it, `latest`.

use crate::world::{KILLED, PLAIN, PROJECT, World};

const ARCHIVED: &str = "ses_dd1bb2bb3ffekmufKIwjv4JDkO";

fn found(world: &World, name: &str) -> String {
    world.run(&["show", name, "--json", "--last", "0"]).json()["info"]["id"].as_str().unwrap().to_owned()
}

#[test]
fn the_beginning_of_an_id_is_enough() {
    let world = World::with_fixture();
    for name in [PLAIN, "ses_dd1bcdbb1ffetNdn7aKL3JxZ5", "ses_dd1bcd", "dd1bcd", &PLAIN[4..]] {
        assert_eq!(found(&world, name), PLAIN, "{name}");
    }
    assert!(world.run(&["export", "dd1bcd"]).err.contains(&format!("Exporting session: {PLAIN}")));
}

/// A whole id counts even where a longer one begins with it.
#[test]
fn a_whole_id_is_not_ambiguous() {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        let changed = db.execute("UPDATE session SET id = 'ses_dd1b' WHERE id = ?1", [PLAIN]).unwrap();
        assert_eq!(changed, 1);
    });
    assert_eq!(found(&world, "ses_dd1b"), "ses_dd1b");
    assert_eq!(found(&world, "dd1b"), "ses_dd1b");
}

/// Ids are compared as they are: no wildcards, no other case.
#[test]
fn nothing_else_is_read_into_a_name() {
    let world = World::with_fixture();
    for name in ["ses_DD1BCD", "ses_dd1bcd%", "ses%", "_", "%", "ses_dd1bcdbb1ffetNdn7aKL3JxZ5yx", " ", "Latest", "plain talk"] {
        let run = world.unchanged(|| world.run(&["show", name]));
        assert_eq!(
            run.failure(),
            format!("annalist: no session {name:?} in [TOP]/small.db; `annalist list --all --archived` shows what there is")
        );
        assert_eq!(run.out, "");
    }
}

#[test]
fn an_ambiguous_beginning_names_some() {
    let world = World::with_fixture();
    let run = world.run(&["export", "dd1bbdc"]);
    insta::assert_snapshot!(run.shown());
    let run = world.run(&["export", "ses_"]);
    assert!(run.failure().ends_with(" and more; give more of it"), "{}", run.err);
}

#[test]
fn latest_is_the_first_of_the_list() {
    let world = World::with_fixture();
    world.in_project(PROJECT);
    assert_eq!(found(&world, "latest"), KILLED);
    let run = world.run(&["show", "latest"]);
    assert_eq!(run.err, "");

    // What the list leaves out is not the latest either.
    world.plant("small.db", |db| {
        db.execute("UPDATE session SET time_updated = 1896072636370 WHERE id = ?1", [ARCHIVED]).unwrap();
    });
    assert_eq!(found(&world, "latest"), KILLED);
}

#[test]
fn latest_of_this_project_goes_before_that_of_all() {
    let world = World::with_fixture();
    let run = world.run(&["export", "latest"]);
    assert_eq!(
        run.err,
        format!("No session of this folder's project; the latest of all is from /home/dev/project\nExporting session: {KILLED}\n")
    );
    let document = world.write("it.json", world.run(&["export", PLAIN]).ok());
    world.copy("opencode-small.db", "other.db");
    let mut other: serde_json::Value = serde_json::from_slice(&std::fs::read(document).unwrap()).unwrap();
    other["info"]["id"] = "ses_here".into();
    other["messages"] = serde_json::json!([]);
    let document = world.write("other.json", other.to_string());
    world.run(&["import", document.to_str().unwrap()]).ok();
    assert_eq!(world.run(&["export", "latest"]).err, "Exporting session: ses_here\n");
}

/// Where only archived sessions are left, they are better than nothing.
#[test]
fn latest_among_archived_ones() {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        db.execute("DELETE FROM session WHERE id <> ?1", [ARCHIVED]).unwrap();
    });
    assert_eq!(found(&world, "latest"), ARCHIVED);
}

#[test]
fn latest_in_an_empty_file() {
    let world = World::new();
    world.copy("opencode-empty.db", "small.db");
    for command in ["show", "export"] {
        let run = world.unchanged(|| world.run(&[command, "latest"]));
        assert!(run.failure().starts_with("annalist: there is no session yet in [TOP]/small.db; "), "{}", run.err);
        assert_eq!(run.out, "");
    }
}
