//! `annalist export`

use crate::world::{MANY_PARTS, PLAIN, TODO, World};
use serde_json::Value;

#[test]
fn a_document() {
    let world = World::with_fixture();
    let run = world.unchanged(|| world.run(&["export", PLAIN]));
    assert_eq!(run.err, format!("Exporting session: {PLAIN}\n"));
    insta::assert_snapshot!(run.ok());
}

/// The reference prints `JSON.stringify(value, null, 2)`; so does any other JSON writer with two spaces.
#[test]
fn every_session_in_the_references_layout_and_with_the_values_of_show() {
    let world = World::with_fixture();
    let list = world.run(&["list", "--all", "--archived", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 20);
    for session in list.as_array().unwrap() {
        let id = session["id"].as_str().unwrap();
        let run = world.run(&["export", id]);
        let document: Value = run.json();
        assert_eq!(run.out, format!("{}\n", serde_json::to_string_pretty(&document).unwrap()));
        assert_eq!(document, world.run(&["show", id, "--json"]).json());
        assert_eq!(&document["info"], session);
    }
}

#[test]
fn sanitized() {
    let world = World::with_fixture();
    insta::assert_snapshot!(world.unchanged(|| world.run(&["export", PLAIN, "--sanitize"])).ok());
    let many = world.run(&["export", MANY_PARTS, "--sanitize"]);
    for word in ["hello.txt", "general with", "seen", "/home/dev", "base64", "Called the Read tool"] {
        assert!(!many.ok().contains(word), "{word}");
    }
    let whole = world.run(&["export", MANY_PARTS]).json();
    assert_eq!(shape(&many.json()), shape(&whole));
}

/// A document with the texts taken away.
fn shape(document: &Value) -> Value {
    let ids = |value: &Value| value["id"].clone();
    let messages = document["messages"].as_array().unwrap().iter();
    let messages = messages.map(|message| {
        let parts = message["parts"].as_array().unwrap().iter().map(|part| (ids(part), part["type"].clone()));
        (ids(&message["info"]), parts.collect::<Vec<_>>())
    });
    serde_json::to_value(messages.collect::<Vec<_>>()).unwrap()
}

/// What was redacted is still a document that goes in.
#[test]
fn a_sanitized_document_can_be_imported() {
    let world = World::with_fixture();
    let document = world.write("clean.json", world.run(&["export", TODO, "--sanitize"]).ok());
    let run = world.run_on("../new.db", &["import", document.to_str().unwrap()]);
    assert_eq!(run.ok(), format!("Imported session: {TODO}\n"));
}
