//! `annalist revert` and `unrevert`: the mark, what is shown of it, and its end.

use crate::world::{PLAIN, World};
use serde_json::Value;

/// The ids of the messages, and the parts' of the last one.
fn ids(world: &World) -> (Vec<String>, Vec<String>) {
    let document = world.run(&["export", PLAIN]).json();
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let messages = document["messages"].as_array().unwrap();
    let parts = messages.last().unwrap()["parts"].as_array().unwrap().iter().map(id).collect();
    (messages.iter().map(|message| id(&message["info"])).collect(), parts)
}

#[test]
fn undone_and_as_before() {
    let world = World::with_fixture();
    let document = world.run(&["export", PLAIN]).json();
    let (messages, _) = ids(&world);
    let run = world.run(&["revert", PLAIN, &messages[2]]);
    assert_eq!(run.ok(), format!("Undone: {PLAIN}\n"));
    assert_eq!(run.err, format!("Undone from {} on; `annalist unrevert {PLAIN}` takes it back.\n", messages[2]));
    let shown = world.run(&["show", PLAIN]);
    assert!(shown.ok().contains("(undone from here on: the next prompt removes it)"), "{}", shown.out);
    assert_eq!(ids(&world).0, messages, "nothing is gone yet");

    let run = world.run(&["unrevert", PLAIN, "--json"]);
    assert_eq!((run.json().get("revert"), &*run.err), (None, ""));
    let back = world.run(&["export", PLAIN]).json();
    assert_eq!(back["messages"], document["messages"]);
    let run = world.run(&["unrevert", PLAIN]);
    assert_eq!((run.ok(), &*run.err), (&*format!("As before: {PLAIN}\n"), "Nothing was undone in it.\n"));
    world.run(&["verify"]).ok();
}

#[test]
fn an_answer_is_undone_with_its_question() {
    let world = World::with_fixture();
    let (messages, _) = ids(&world);
    let run = world.run(&["revert", PLAIN, &messages[3], "--json"]);
    assert_eq!(run.json()["revert"]["messageID"], *messages[2]);
    assert!(run.err.starts_with(&format!("Undone from {} on;", messages[2])), "{}", run.err);
}

#[test]
fn a_part_is_the_boundary() {
    let world = World::with_fixture();
    let (messages, parts) = ids(&world);
    let run = world.run(&["revert", PLAIN, &messages[3], "--part", &parts[2]]);
    assert!(run.err.starts_with(&format!("Undone from {} on, part {};", messages[3], parts[2])), "{}", run.err);
    let run = world.run(&["revert", PLAIN, "--commit", "--json"]);
    assert_eq!(run.json().get("revert"), None);
    let (left, kept) = ids(&world);
    assert_eq!(left, messages);
    assert_eq!(kept, parts[..2]);
}

#[test]
fn for_good() {
    let world = World::with_fixture();
    let (messages, _) = ids(&world);
    // Nothing is marked.
    let run = world.run(&["revert", PLAIN, "--commit"]);
    assert_eq!((run.ok(), &*run.err), (&*format!("Removed: {PLAIN}\n"), "Nothing was undone in it, so nothing was removed.\n"));
    // In two steps, and in one.
    world.run(&["revert", PLAIN, &messages[2]]).ok();
    let run = world.run(&["revert", PLAIN, "--commit"]);
    assert_eq!(run.ok(), format!("Removed: {PLAIN}\n"));
    assert_eq!(run.err, format!("Removed for good: {}, {}\n", messages[2], messages[3]));
    assert_eq!(ids(&world).0, messages[..2]);
    let run = world.run(&["revert", PLAIN, &messages[0], "--commit", "--json"]);
    assert_eq!(run.json()["id"], PLAIN);
    let left = world.run(&["export", PLAIN]).json();
    assert_eq!(left["messages"], serde_json::json!([]));
    world.run(&["verify"]).ok();
}

#[test]
fn files_that_stay_are_named() {
    let world = World::with_fixture();
    let (messages, _) = ids(&world);
    let text = format!(
        r#"{{"type":"patch","hash":"abc","files":["/home/dev/project/a.txt","/home/dev/b\u001b.txt"],"id":"prt_zz","sessionID":"{PLAIN}","messageID":"{}"}}"#,
        messages[3]
    );
    world.plant("small.db", |db| {
        db.execute("INSERT INTO part SELECT 'prt_zz', ?1, ?2, 1896072499275, 1896072499275, ?3", [&messages[3], PLAIN, &text])
            .unwrap();
    });
    let run = world.run(&["revert", PLAIN, &messages[2]]);
    let files: Vec<&str> = run.err.lines().skip(1).collect();
    assert_eq!(
        files,
        ["Changed there and left as it is: /home/dev/project/a.txt", "Changed there and left as it is: /home/dev/b\u{fffd}.txt"]
    );
}

#[test]
fn what_is_not_there_undoes_nothing() {
    let world = World::with_fixture();
    let (messages, _) = ids(&world);
    for (arguments, what, id) in [
        (&["revert", PLAIN, "msg_none"][..], "message", "msg_none"),
        (&["revert", PLAIN, "msg_none", "--part", "prt_none"], "message", "msg_none"),
        (&["revert", PLAIN, "msg_none", "--commit"], "message", "msg_none"),
        (&["revert", PLAIN, &messages[2], "--part", "prt_none"], "part", "prt_none"),
        (&["revert", PLAIN, &messages[2], "--part", "prt_none", "--commit"], "part", "prt_none"),
    ] {
        let run = world.unchanged(|| world.run(arguments));
        let told = format!("annalist: no {what} \"{id}\" in {PLAIN}; `annalist show {PLAIN} --json` has the ids");
        assert_eq!((run.failure(), &*run.out), (&*told, ""), "{arguments:?}");
    }
}
