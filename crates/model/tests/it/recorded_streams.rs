//! The scripted model's bytes of each recording decode to what the reference stored.

use crate::decoded::{Decoded, events_without_end, gather};
use annalist_model::cost::{Prices, Rates};
use annalist_model::describe::Protocol;
use annalist_model::error::{Response, from_response};
use annalist_model::stream::{Failure, Options};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where ours is another answer on purpose (`docs/compatibility.md`).
const OTHERWISE: &[(&str, &str)] = &[
    // No usage: the reference takes the stream for malformed, or does not see its end.
    ("usage-absent.anthropic", "finish"),
    ("usage-absent.openai", "finish"),
];

fn protocol(provider: &str) -> Protocol {
    match provider {
        "chat" => Protocol::Chat,
        "openai" => Protocol::Responses,
        "anthropic" => Protocol::Anthropic,
        "google" => Protocol::Google,
        other => panic!("{other}"),
    }
}

/// Answers that no step tells of.
const UNTOLD: &[(&str, usize)] = &[
    // Aborted before there was a byte.
    ("abort-before-the-first-token.chat", 1),
    // The session is gone, log and all.
    ("delete-session-while-streaming.chat", 1),
    // The reference takes each try for malformed (see OTHERWISE).
    ("usage-absent.anthropic", 6),
];

struct Case {
    name: String,
    provider: String,
    answers: Vec<Value>,
    golden: Value,
}

fn cases() -> Vec<Case> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let streams = fs::read_to_string(here.join("tests/data/streams.json")).unwrap();
    let streams: Map<String, Value> = serde_json::from_str(&streams).unwrap();
    let golden = here.join("../../conformance/golden/run");
    let recorded = fs::read_dir(&golden).unwrap();
    let recorded = recorded.filter(|entry| entry.as_ref().unwrap().file_name().to_str().unwrap().ends_with(".golden.json")).count();
    assert_eq!(streams.len(), recorded, "run crates/model/tests/data/streams.py");
    let read = |(name, answers): (String, Value)| {
        let golden = fs::read_to_string(golden.join(format!("{name}.golden.json"))).unwrap();
        let provider = name.split('.').nth(1).unwrap().to_owned();
        let answers = answers.as_array().unwrap().clone();
        Case { name, provider, answers, golden: serde_json::from_str(&golden).unwrap() }
    };
    streams.into_iter().map(read).collect()
}

fn decoded(case: &Case, answer: &Value) -> Decoded {
    let cut = answer["cut"] == true;
    let body = answer["stream"].as_str().unwrap();
    let events = |ends| events_without_end(protocol(&case.provider), Options::default(), &[body.as_bytes()], ends);
    let all = gather(&events(true));
    assert!(!cut || all.finish.is_some() || all.error.is_some(), "{}: {all:?}", case.name);
    all
}

/// A recorded step: the parts of one answer, in the form of [`Decoded::parts`], and its `step-finish`.
#[derive(Debug)]
struct Step {
    parts: Vec<Value>,
    finish: Option<Value>,
    /// The last of a message that ended with an error.
    error: Option<String>,
}

/// The session as it was at any time: the last state of each message and part that the log tells of, deleted or not.
fn whole_log(case: &Case) -> Value {
    let mut messages: Vec<Value> = Vec::new();
    for event in case.golden["durable"].as_array().unwrap() {
        let data = &event["data"];
        match event["type"].as_str().unwrap() {
            "message.updated.1" => match messages.iter_mut().find(|message| message["info"]["id"] == data["info"]["id"]) {
                Some(message) => message["info"] = data["info"].clone(),
                None => messages.push(json!({"info": data["info"], "parts": []})),
            },
            "message.part.updated.1" => {
                let part = &data["part"];
                let message = messages.iter_mut().find(|message| message["info"]["id"] == part["messageID"]).unwrap();
                let parts = message["parts"].as_array_mut().unwrap();
                match parts.iter_mut().find(|other| other["id"] == part["id"]) {
                    Some(other) => *other = part.clone(),
                    None => parts.push(part.clone()),
                }
            }
            _ => {}
        }
    }
    json!({ "messages": messages })
}

fn steps(session: &Value) -> Vec<Step> {
    let mut all = Vec::new();
    for message in session["messages"].as_array().unwrap() {
        if message["info"]["role"] != "assistant" {
            continue;
        }
        let error = message["info"]["error"]["name"].as_str().map(str::to_owned);
        let mut here: Vec<Step> = Vec::new();
        for part in message["parts"].as_array().unwrap() {
            let kind = part["type"].as_str().unwrap();
            match (kind, here.last_mut()) {
                ("step-start", _) => here.push(Step { parts: Vec::new(), finish: None, error: None }),
                ("step-finish", Some(step)) => step.finish = Some(part.clone()),
                ("text" | "reasoning" | "tool", Some(step)) => step.parts.push(part.clone()),
                // A command of the user's, and a task of the user's, are tool parts without a step.
                _ => {}
            }
        }
        if let Some(last) = here.last_mut() {
            last.error = error;
        }
        all.extend(here);
    }
    all
}

/// Whether a step is an answer; why not, if not.
fn compare(step: &Step, answer: &Decoded, case: &Case) -> Result<(), String> {
    let lost = step.finish.is_none() && step.error.is_none();
    let aborted = step.error.as_deref() == Some("MessageAbortedError");
    let is_cut = matches!(answer.error, Some(Failure::Cut { .. }));
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for part in &answer.parts {
        let mut part = part.clone();
        part.as_object_mut().unwrap().retain(|key, _| !["raw", "whole"].contains(&key.as_str()));
        if part["type"] == "tool" {
            part.as_object_mut().unwrap().entry("input").or_insert(json!({}));
        }
        ours.push(part);
    }
    for (index, part) in step.parts.iter().enumerate() {
        let mut kept = json!({"type": part["type"]});
        for key in ["text", "callID", "tool", "metadata"] {
            if let Some(value) = part.get(key) {
                kept[key] = value.clone();
            }
        }
        if part["type"] == "tool" {
            kept["input"] = part["state"]["input"].clone();
            let Some(mine) = ours.get_mut(index).filter(|mine| mine["type"] == "tool") else {
                return Err(format!("{kept} where there is {:?}", ours.get(index)));
            };
            // Names are the loop's to repair.
            let same = mine["tool"].as_str().unwrap().eq_ignore_ascii_case(kept["tool"].as_str().unwrap());
            if kept["tool"] == "invalid" && kept["input"]["tool"] == mine["tool"] {
                let error = kept["input"]["error"].as_str().unwrap();
                let written = mine.as_object_mut().unwrap().remove("not json");
                if let Some(written) = &written {
                    assert!(error.contains(written.as_str().unwrap()), "{error}");
                }
                // What is cut is not called here; the reference calls `invalid`.
                assert_eq!(written.is_some() || is_cut, error.contains("JSON parsing failed"), "{}: {error}", case.name);
                kept["tool"] = mine["tool"].clone();
                kept["input"] = mine["input"].clone();
            } else if same {
                kept["tool"] = mine["tool"].clone();
            }
            if case.provider == "google" && kept["callID"].as_str().unwrap().starts_with("call#") {
                kept["callID"] = mine["callID"].clone();
            }
        }
        if lost && part["type"] == "text" {
            // What came before an error inside of the stream is lost in the reference.
            assert_eq!(kept["text"], "");
            kept["text"] = ours.get(index).map_or(Value::Null, |mine| mine["text"].clone());
        }
        theirs.push(kept);
    }
    if aborted {
        // The metadata of a block comes with its end, which was never reached.
        ours.iter_mut().for_each(|part| _ = part.as_object_mut().unwrap().remove("metadata"));
        theirs.iter_mut().for_each(|part| _ = part.as_object_mut().unwrap().remove("metadata"));
    }
    if step.finish.is_none() && step.error.is_some() && answer.finish.is_some() {
        // The loop stopped reading.
        ours.truncate(theirs.len());
    }
    if ours != theirs {
        return Err(format!("parts\n  ours   {ours:?}\n  theirs {theirs:?}"));
    }
    let Some(finish) = &step.finish else {
        let failed = answer.error.is_some() || aborted || step.error.is_some();
        return if failed { Ok(()) } else { Err("a step without an end".into()) };
    };
    if OTHERWISE.contains(&(case.name.as_str(), "finish")) && finish["reason"] == "unknown" {
        assert_eq!(answer.reason(), "stop");
    } else if is_cut {
        assert_eq!(finish["reason"], "unknown");
        return Ok(());
    } else if finish["reason"] != answer.reason() {
        return Err(format!("reason {} / {}", answer.reason(), finish["reason"]));
    }
    let usage = answer.usage();
    let tokens: Value = serde_json::from_str(&usage.tokens().to_text()).unwrap();
    if tokens != finish["tokens"] {
        return Err(format!("tokens {tokens} / {}", finish["tokens"]));
    }
    let prices = Prices { base: Rates { input: 3.0, output: 15.0, cache_read: 0.3, cache_write: 3.75 }, ..Prices::default() };
    let cost = prices.cost(&usage);
    if Some(cost) != finish["cost"].as_f64() {
        return Err(format!("cost {cost} / {}", finish["cost"]));
    }
    Ok(())
}

/// Every recorded step is one of the answers, in their order; every answer is a step of some session, or one of [`UNTOLD`].
#[test]
fn each_recording_is_what_its_bytes_say() {
    let (mut compared, mut answers) = (0, 0);
    let mut untold = BTreeSet::new();
    for case in cases() {
        let all: Vec<(usize, Decoded)> = case
            .answers
            .iter()
            .enumerate()
            .filter(|(_, answer)| answer.get("stream").is_some())
            .map(|(index, answer)| (index, decoded(&case, answer)))
            .collect();
        answers += all.len();
        let mut used = BTreeSet::new();
        let others = case.golden["other_sessions"].as_array().into_iter().flatten().map(|other| &other["export"]);
        for session in std::iter::once(&whole_log(&case)).chain(others) {
            let mut from = 0;
            for step in steps(session) {
                let mut reasons = Vec::new();
                let place = (from..all.len()).find(|&place| match compare(&step, &all[place].1, &case) {
                    Ok(()) => true,
                    Err(why) => {
                        reasons.push(why);
                        false
                    }
                });
                let Some(place) = place else { panic!("{}: no answer is {step:?}: {reasons:#?}", case.name) };
                used.insert(place);
                from = place + 1;
                compared += 1;
            }
        }
        if used.len() < all.len() {
            untold.insert((case.name.clone(), all.len() - used.len()));
        }
    }
    println!("{compared} steps are those of {answers} answers");
    assert_eq!(untold, UNTOLD.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect());
}

/// Every error that the recordings tell of an HTTP answer is ours, member by member.
#[test]
fn each_recorded_error_is_what_its_answer_says() {
    let mut compared = 0;
    for case in cases() {
        let ours: Vec<Value> = case.answers.iter().filter(|answer| answer.get("status").is_some()).map(|answer| error(&case, answer)).collect();
        let live = case.golden["live"].as_array().unwrap().iter();
        let told = live.filter(|event| event["type"] == "session.error").map(|event| &event["properties"]["error"]);
        let stored = case.golden["export"]["messages"].as_array().into_iter().flatten().map(|message| &message["info"]["error"]);
        for theirs in told.chain(stored).filter(|error| ["APIError", "ContextOverflowError"].iter().any(|name| error["name"] == *name)) {
            // The one that is no answer with a status but a stream (see OTHERWISE).
            if theirs["data"]["message"].as_str().unwrap().starts_with("Type validation failed") {
                continue;
            }
            assert!(ours.contains(theirs), "{}: {theirs:#} is none of {ours:#?}", case.name);
            compared += 1;
        }
    }
    assert!(compared >= 27, "{compared}");
}

fn error(case: &Case, answer: &Value) -> Value {
    let body = answer["body"].as_str().unwrap();
    let length = body.len().to_string();
    let mut headers: Vec<(&str, &str)> = vec![("content-length", &length)];
    headers.extend(answer["headers"].as_object().unwrap().iter().map(|(name, value)| (name.as_str(), value.as_str().unwrap())));
    headers.sort_unstable();
    let path = match protocol(&case.provider) {
        Protocol::Chat => "chat/completions",
        Protocol::Responses => "responses",
        Protocol::Anthropic => "messages",
        Protocol::Google => "models/m1:streamGenerateContent?alt=sse",
    };
    let response = Response {
        status: u16::try_from(answer["status"].as_u64().unwrap()).unwrap(),
        reason: answer["reason"].as_str().unwrap(),
        headers: &headers,
        body,
        url: &format!("http://{{llm}}/v1/{path}"),
    };
    let error = from_response(&response, protocol(&case.provider), &case.provider);
    serde_json::from_str(&error.object().to_text()).unwrap()
}
