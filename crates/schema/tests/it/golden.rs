//! What the reference wrote: its exports, and the rows of its database.

use crate::json::Tree;
use annalist_schema::event::{EventFrame, PassingEvent};
use annalist_schema::raw::utf8;
use annalist_schema::{DurableEvent, Event, Json, Message, Object, Part, Problem, Session, TokenUsage};
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn conformance(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance").join(path)
}

/// Documents that do not fit the model on purpose: the case, the place, and what is wrong there.
const KNOWN: &[(&str, &str, &str)] = &[
    // JavaScript strings may hold half a surrogate pair, and the case is about those.
    ("lone-surrogates", "state.error", "has half a surrogate pair in it"),
    ("lone-surrogates", "state.output", "has half a surrogate pair in it"),
    ("lone-surrogates", "text", "has half a surrogate pair in it"),
];

struct Problems(BTreeSet<(String, String, String)>);

impl Problems {
    fn add(&mut self, file: &str, problems: Vec<Problem>) {
        let case = file.split('.').next().unwrap_or(file);
        self.0.extend(problems.into_iter().map(|problem| (case.to_owned(), problem.at, problem.wrong.to_string())));
    }
}

/// Equal but for white space; the order of keys and every spelling count.
fn same(before: &Json<'_>, after: &str) {
    assert_eq!(Tree::parse(before.as_str()), Tree::parse(after));
}

#[test]
fn export_documents() {
    let mut found = Problems(BTreeSet::new());
    let (mut documents, mut parts) = (0, 0);
    for entry in std::fs::read_dir(conformance("golden/convert")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // The rest are requests of the four protocols.
        if name.ends_with(".golden.json") && !name.ends_with(".export.golden.json") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let document = Object::parse(utf8(&bytes).unwrap()).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Some(info) = document.get("info") else { panic!("{name} has no session") };
        let messages = document.get("messages").unwrap_or_else(|| panic!("{name} has no messages"));
        documents += 1;
        let session = Session::from_object(info.as_object().unwrap());
        same(info, &session.to_text());
        found.add(&name, session.problems());
        // The reference answers 400 for messages with a JSON schema (reference-engine 4.4); there the recording is the answer.
        if messages.as_array().is_none() {
            let schemas = ["structured-output-tool.export.golden.json", "user-extra-fields.export.golden.json"];
            assert!(schemas.contains(&&*name), "{name}");
            continue;
        }
        for message in messages.as_array().unwrap_or_default() {
            let message = message.into_object().unwrap();
            let info = message.get("info").unwrap();
            let view = Message::from_object(info.as_object().unwrap());
            same(info, &view.to_text());
            view.created_ms().unwrap();
            found.add(&name, view.problems());
            for part in message.get("parts").and_then(Json::as_array).unwrap() {
                let view = Part::from_object(part.as_object().unwrap());
                same(&part, &view.to_text());
                assert_eq!(view.message_id().unwrap(), Message::from_object(info.as_object().unwrap()).id().unwrap(), "{name}");
                found.add(&name, view.problems());
                parts += 1;
            }
        }
    }
    assert!(documents > 100 && parts > 500, "{documents} documents, {parts} parts");
    let known = KNOWN.iter().map(|(file, at, wrong)| ((*file).to_owned(), (*at).to_owned(), (*wrong).to_owned())).collect();
    assert_eq!(found.0, known);
}

#[test]
fn rows_of_a_database() {
    let file = conformance("fixtures/opencode-small.db");
    let uri = format!("file:{}?immutable=1", file.display());
    let database = Connection::open_with_flags(uri, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI).unwrap();
    let rows = |sql: &str| -> Vec<(String, String)> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    };

    let messages = rows("SELECT id, data FROM message");
    for (id, data) in &messages {
        let message = Message::parse(data).unwrap();
        assert_eq!(message.problems(), [], "{id}");
        assert_eq!(message.to_text(), *data);
    }
    let parts = rows("SELECT id, data FROM part");
    for (id, data) in &parts {
        let part = Part::parse(data).unwrap();
        assert_eq!(part.problems(), [], "{id}");
        assert_eq!(part.to_text(), *data);
    }
    let events = rows("SELECT type, data FROM event");
    for (versioned, data) in &events {
        let event = DurableEvent::from_versioned(versioned.as_str(), Object::parse(data).unwrap());
        assert_eq!(event.versioned_type(), versioned);
        assert_eq!(event.problems(), [], "{versioned} {data}");
        assert_eq!(event.into_data().to_text(), *data);
    }
    assert!(messages.len() > 80 && parts.len() > 200 && events.len() > 600);

    // The usage of a session is the sum of its step-finish parts, whatever their spelling.
    let mut sums = std::collections::BTreeMap::new();
    for (session, data) in rows("SELECT session_id, data FROM part") {
        if let Part::StepFinish(part) = Part::parse(&data).unwrap() {
            let tokens: TokenUsage<'_> = part.tokens().unwrap();
            let cached = tokens.cache().unwrap().read().unwrap().clamped();
            let sum = sums.entry(session).or_insert((0_u64, 0_u64));
            *sum = (sum.0 + tokens.input().unwrap().clamped(), sum.1 + cached);
        }
    }
    let stored = rows("SELECT id, tokens_input || ' ' || tokens_cache_read FROM session");
    for (session, usage) in stored {
        let (input, cached) = sums.get(&session).copied().unwrap_or_default();
        assert_eq!(usage, format!("{input} {cached}"), "{session}");
    }
}

#[test]
fn every_event_of_the_recordings_is_in_a_table() {
    let mut seen = BTreeSet::new();
    for folder in ["golden/api", "golden/run"] {
        for entry in std::fs::read_dir(conformance(folder)).unwrap() {
            let path = entry.unwrap().path();
            if !path.to_str().unwrap().ends_with(".golden.json") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let document = Object::parse(&text).unwrap();
            for list in ["live", "live_summary"] {
                for frame in document.get(list).and_then(Json::as_array).unwrap_or_default() {
                    let frame = EventFrame::from_object(frame.into_object().unwrap());
                    let event = frame.event().unwrap();
                    // Ids and times are placeholders in the recordings; names are not.
                    assert!(!matches!(event, Event::Passing(PassingEvent::Unknown(_))), "{}", event.event_type());
                    seen.insert(event.event_type().to_owned());
                }
            }
        }
    }
    assert!(seen.len() >= 15, "{seen:?}");
}
