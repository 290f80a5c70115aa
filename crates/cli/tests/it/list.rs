//! `annalist list`

use crate::world::{KILLED, PROJECT, World};
use serde_json::Value;

#[test]
fn of_all_projects() {
    let world = World::with_fixture();
    insta::assert_snapshot!(world.unchanged(|| world.run(&["list", "--all"])).shown());
}

#[test]
fn of_this_folders_project() {
    let world = World::with_fixture();
    world.in_project(PROJECT);
    let run = world.unchanged(|| world.run(&["list", "--limit", "3"]));
    insta::assert_snapshot!(run.shown());
}

/// A person who finds the list empty must learn which project it is of, and that there is more.
#[test]
fn says_whose_sessions_it_shows_and_how_many_more_there_are() {
    let world = World::with_fixture();
    let note = || world.run(&["list"]).err;
    assert_eq!(note(), "Folders outside of git: no sessions; 19 more with --all.\n");
    world.git("init -q");
    assert_eq!(note(), "[TOP]/here has no commit yet and counts to the folders outside of git: no sessions; 19 more with --all.\n");
    world.git("commit -q --allow-empty -m first");
    assert_eq!(note(), "Project [TOP]/here: no sessions; 19 more with --all.\n");

    let document = world.write("it.json", world.run(&["export", KILLED]).ok());
    world.run_on("../other.db", &["import", document.to_str().unwrap()]).ok();
    let run = world.run_on("../other.db", &["list"]);
    assert_eq!(run.err, "Project [TOP]/here: 1 session.\n");
    assert!(run.out.contains("killed while a tool ran"), "{}", run.out);
}

/// A repository that got a remote has a new id; its sessions move when OpenCode is started in it, and until then a person
/// would think that they are gone.
#[test]
fn sessions_under_an_earlier_id_are_mentioned() {
    let world = World::with_fixture();
    world.in_project(PROJECT);
    world.git("remote add origin git@example.com:a/b.git");
    let run = world.run(&["list"]);
    assert_eq!(run.out, "");
    assert!(run.err.contains("no sessions; 19 more with --all. 19 of the others are filed under this repository's earlier id"));
}

#[test]
fn filters_come_before_the_limit() {
    let world = World::with_fixture();
    let titles = |arguments: &[&str]| -> Vec<String> {
        let run = world.run(&[&["list", "--all", "--json"], arguments].concat());
        run.json().as_array().unwrap().iter().map(|session| session["title"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(titles(&["--search", "FORK"]).len(), 3);
    assert_eq!(titles(&["--search", "plain", "--limit", "1"]), ["plain talk"]);
    assert_eq!(titles(&["--search", "no such title"]), [""; 0]);
    assert_eq!(titles(&["--limit", "0"]), [""; 0]);
    assert_eq!(titles(&["--limit", "4294967295"]).len(), 19);
    assert_eq!(titles(&["--archived"]).len(), 20);
    let roots = titles(&["--roots"]);
    assert!(roots.contains(&"parent of a subagent".to_owned()) && !roots.iter().any(|title| title.contains("@general")));

    let run = world.run(&["list", "--all", "--limit", "2"]);
    assert_eq!(run.err, "All projects: 19 sessions. Shown: 2; the others with --limit 19. 1 archived, shown with --archived.\n");
}

/// Standard output is the array and nothing else: what is said about it goes to standard error.
#[test]
fn as_json() {
    let world = World::with_fixture();
    let run = world.unchanged(|| world.run(&["list", "--all", "--json"]));
    let list = run.json();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 19);
    assert!(run.err.starts_with("All projects: 19 sessions."));
    let updated: Vec<i64> = list.iter().map(|session| session["time"]["updated"].as_i64().unwrap()).collect();
    assert!(updated.is_sorted_by(|a, b| a >= b), "{updated:?}");
    insta::assert_snapshot!(serde_json::to_string_pretty(&list[0]).unwrap());

    let none = world.run(&["list", "--json"]);
    assert_eq!(none.json(), Value::Array(Vec::new()));
    assert_eq!(none.err, "Folders outside of git: no sessions; 19 more with --all.\n");
}

#[test]
fn of_an_empty_file() {
    let world = World::new();
    world.copy("opencode-empty.db", "small.db");
    let run = world.unchanged(|| world.run(&["list", "--all"]));
    assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", "All projects: no sessions.\n"));
}

/// A title is what a model wrote; it must not steer the terminal, nor break the table.
#[test]
fn titles_cannot_steer_the_terminal() {
    let world = World::with_fixture();
    world.plant("small.db", |db| {
        let title = "red \u{1b}[31m\u{9b}2J\r\nand\tmore ".to_owned() + &"long ".repeat(40);
        db.execute("UPDATE session SET title = ?1, directory = ?2 WHERE id = ?3", (title, "/a\n\u{1b}b", KILLED)).unwrap();
    });
    let run = world.run(&["list", "--all", "--limit", "1"]);
    assert_eq!(run.out.lines().count(), 2);
    assert!(!run.out.contains(|c: char| c.is_control() && c != '\n'), "{:?}", run.out);
    assert!(run.out.trim_end().ends_with('…'), "{}", run.out);
}
