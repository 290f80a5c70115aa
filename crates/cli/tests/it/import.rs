//! `annalist import`

use crate::world::{KILLED, PLAIN, World};
use serde_json::Value;
use std::fs;

fn export(world: &World, database: &str, id: &str) -> String {
    world.run_on(database, &["export", id]).ok().to_owned()
}

#[test]
fn a_document_goes_in_and_comes_out_unchanged() {
    let world = World::with_fixture();
    world.in_project(crate::world::PROJECT);
    let list = world.run(&["list", "--archived", "--json"]).json();
    for session in list.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let document = export(&world, "../small.db", id);
        let file = world.write("it.json", &document);
        let run = world.run_on("../new.db", &["import", file.to_str().unwrap()]);
        assert_eq!(run.ok(), format!("Imported session: {id}\n"));
        // The session moves to where it was imported; nothing else may differ.
        let directory = world.path("here");
        let moved =
            document.replacen("\"directory\": \"/home/dev/project\"", &format!("\"directory\": \"{}\"", directory.display()), 1);
        let path = r#"  "path": "","#;
        let moved = if moved.contains(path) { moved } else { panic!("the fixture's sessions have a path: {moved}") };
        assert_eq!(export(&world, "../new.db", id), moved.replace(world.top.to_str().unwrap(), "[TOP]"));
    }
}

#[test]
fn what_is_said() {
    let world = World::with_fixture();
    let document = world.write("it.json", export(&world, "../small.db", PLAIN));
    let document = document.to_str().unwrap();
    insta::assert_snapshot!("first", world.run_on("../new.db", &["import", document]).shown());
    insta::assert_snapshot!("again", world.run_on("../new.db", &["import", document]).shown());
}

#[test]
fn from_standard_input() {
    let world = World::with_fixture();
    let document = export(&world, "../small.db", PLAIN);
    let run = world.outcome(world.command().args(["--db", "../new.db", "import", "-"]).write_stdin(document));
    assert_eq!(run.ok(), format!("Imported session: {PLAIN}\n"));
    assert!(export(&world, "../new.db", PLAIN).contains("very well"));
}

/// A second import adds what is new and touches nothing that is there.
#[test]
fn a_grown_document_adds_what_is_new() {
    let world = World::with_fixture();
    let document = export(&world, "../small.db", PLAIN);
    let whole: Value = serde_json::from_str(&document).unwrap();
    let mut half = whole.clone();
    half["messages"].as_array_mut().unwrap().truncate(2);
    let half = world.write("half.json", half.to_string());
    let whole = world.write("whole.json", document);
    let run = world.run_on("../new.db", &["import", half.to_str().unwrap(), whole.to_str().unwrap()]);
    assert_eq!(run.ok(), format!("Imported session: {PLAIN}\n").repeat(2));
    assert!(run.err.ends_with("The session was here already; new: 2 messages and 4 parts.\n"), "{}", run.err);
    let shown = world.run_on("../new.db", &["show", PLAIN]);
    let order: Vec<Option<usize>> =
        ["hello\n", "hello, what shall we do?", "nothing", "very well"].iter().map(|text| shown.out.find(text)).collect();
    assert!(order.is_sorted() && order[0].is_some(), "{}", shown.out);
}

/// All documents are checked before the first is written.
#[test]
fn one_bad_document_stops_all_before_anything_is_written() {
    let world = World::with_fixture();
    world.git("init -q");
    world.git("commit -q --allow-empty -m first");
    world.write("good.json", export(&world, "../small.db", PLAIN));
    world.write("bad.json", "{");
    let run = world.unchanged(|| world.run_on("../new.db", &["import", "../good.json", "../bad.json"]));
    assert!(run.failure().starts_with("annalist: ../bad.json: not JSON:"), "{}", run.err);
    assert_eq!(run.out, "");
}

/// The repository remembers its project's id as OpenCode would have it, but not for an import that failed.
#[test]
fn the_repository_remembers_its_project() {
    let world = World::with_fixture();
    world.git("init -q");
    world.git("commit -q --allow-empty -m first");
    let document = world.write("it.json", export(&world, "../small.db", PLAIN));
    world.write(
        "not.db",
        "these are not the bytes of a database, though there are more than a hundred of them, as SQLite's header has it",
    );
    let run = world.unchanged(|| world.run_on("../not.db", &["import", document.to_str().unwrap()]));
    run.failure();
    world.run_on("../new.db", &["import", document.to_str().unwrap()]).ok();
    let id = fs::read_to_string(world.path("here/.git/opencode")).unwrap();
    assert_eq!(world.run_on("../new.db", &["list", "--json"]).json()[0]["projectID"], id.trim());
}

/// An id has one owner. The document that wants it for another session is refused as a whole.
#[test]
fn an_id_of_another_session_refuses_the_document() {
    let world = World::with_fixture();
    let mut document: Value = serde_json::from_str(&export(&world, "../small.db", PLAIN)).unwrap();
    document["info"]["id"] = "ses_another".into();
    let file = world.write("it.json", document.to_string());
    let before = world.run(&["list", "--all", "--archived", "--json"]).out;
    let run = world.run(&["import", file.to_str().unwrap()]);
    let told = run.failure();
    assert!(told.contains(&format!("belongs to session {PLAIN}; nothing of this document was imported")), "{told}");
    assert!(told.starts_with("annalist: [TOP]/it.json: message msg_"), "{told}");
    assert_eq!(world.run(&["list", "--all", "--archived", "--json"]).out, before);
}

#[cfg(unix)]
#[test]
fn a_new_database_is_private_and_so_are_the_folders_made_for_it() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::with_fixture();
    let document = world.write("it.json", export(&world, "../small.db", KILLED));
    let run = world.outcome(world.command().args(["import", document.to_str().unwrap()]));
    assert!(run.err.starts_with("New database: [TOP]/home/.local/share/annalist/annalist.db\n"), "{}", run.err);
    let mode = |name: &str| fs::metadata(world.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("home/.local/share/annalist/annalist.db"), 0o600);
    assert_eq!(mode("home/.local/share/annalist"), 0o700);
    // Nothing of the making is left over.
    let files: Vec<_> = fs::read_dir(world.path("home/.local/share/annalist")).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
}
