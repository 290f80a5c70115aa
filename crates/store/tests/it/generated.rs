//! Documents of any content, unknown fields at every level: what goes in comes out.

use super::support::{Room, folder, raw};
use annalist_store::Store;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use std::cell::Cell;

fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,6}", "\\PC{0,8}", Just("\u{0}\u{1f}\"\\/\u{2028}é🌍".to_owned()), Just(String::new())]
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |f| f.is_finite()).prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((word(), inner), 0..3).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Fields that no version of the model has.
fn unknown() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec(("x-[a-z]{1,5}", anything()), 0..3).prop_map(|members| members.into_iter().collect())
}

/// Puts unknown fields into every object of a value, one set each, as long as there are some.
fn sow(value: &mut Value, more: &mut impl Iterator<Item = Map<String, Value>>) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(|value| sow(value, more));
            map.extend(more.next().unwrap_or_default());
        }
        Value::Array(items) => items.iter_mut().for_each(|value| sow(value, more)),
        _ => {}
    }
}

fn part() -> impl Strategy<Value = Value> {
    let tokens = || json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
    prop_oneof![
        word().prop_map(|text| json!({"type": "text", "text": text, "time": {"start": 1}})),
        word().prop_map(|text| json!({"type": "reasoning", "text": text, "time": {"start": 1, "end": 2}, "metadata": {}})),
        (word(), anything()).prop_map(|(tool, input)| json!({"type": "tool", "callID": "", "tool": tool,
            "state": {"status": "completed", "input": {"x": input}, "output": "o", "title": "t", "metadata": {}, "time": {"start": 1, "end": 2}}})),
        any::<u16>().prop_map(move |cost| json!({"type": "step-finish", "reason": "stop", "cost": f64::from(cost) / 64.0, "tokens": tokens()})),
        (word(), anything()).prop_map(|(kind, value)| json!({"type": kind, "value": value})),
        Just(json!({})),
    ]
}

fn message() -> impl Strategy<Value = (Value, Vec<Value>)> {
    let time = prop_oneof![
        (0..5_i64).prop_map(Value::from),
        (0..9_i64).prop_map(|t| json!(t as f64 / 2.0)),
        any::<u32>().prop_map(Value::from)
    ];
    let info = (word(), time).prop_map(|(role, time)| {
        json!({"role": role, "time": {"created": time}, "agent": "build", "model": {"providerID": "p", "modelID": "m"}})
    });
    (info, prop::collection::vec(part(), 0..4))
}

fn document() -> impl Strategy<Value = Value> {
    let info = (word(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(title, usage, summary, more)| {
        let mut info = json!({"slug": "a-b", "title": title, "version": "1.18.33", "time": {"created": 1, "updated": 2}});
        if usage {
            info["cost"] = json!(0.5);
            info["tokens"] = json!({"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}});
        }
        if summary {
            info["summary"] =
                json!({"additions": 1, "deletions": 2, "files": 3, "diffs": [{"file": "a", "additions": 1, "deletions": 0}]});
            info["share"] = json!({"url": "https://x"});
        }
        if more {
            info["metadata"] = json!({"own": {"deep": 1}});
            info["permission"] = json!([{"permission": "bash", "pattern": "*", "action": "ask"}]);
            info["revert"] = json!({"messageID": "msg_1"});
            info["model"] = json!({"id": "m", "providerID": "p"});
        }
        info
    });
    let messages = prop::collection::vec(message(), 0..4);
    (info, messages, prop::collection::vec(unknown(), 0..30)).prop_map(|(info, messages, unknown)| {
        let messages: Vec<Value> = messages.into_iter().map(|(info, parts)| json!({"info": info, "parts": parts})).collect();
        let mut document = json!({"info": info, "messages": messages});
        // Not at the top of the document nor beside a message's info: those are no rows, and the format has no place for them.
        let mut more = unknown.into_iter();
        sow(&mut document["info"], &mut more);
        for message in document["messages"].as_array_mut().unwrap() {
            sow(&mut message["info"], &mut more);
            sow(&mut message["parts"], &mut more);
        }
        document
    })
}

/// Ids that no case before had, in the order in which the record will show them.
fn named(mut document: Value, case: usize) -> Value {
    let session = format!("ses_{case}");
    document["info"]["id"] = json!(session);
    for (key, value) in [("projectID", "global"), ("directory", "/home/dev"), ("path", "home/dev")] {
        document["info"][key] = json!(value);
    }
    let messages = document["messages"].as_array_mut().unwrap();
    messages.sort_by(|a, b| {
        let time = |message: &Value| message["info"]["time"]["created"].as_f64().unwrap();
        time(a).total_cmp(&time(b))
    });
    for (at, message) in messages.iter_mut().enumerate() {
        let id = format!("msg_{case}_{at}");
        message["info"]["id"] = json!(id);
        message["info"]["sessionID"] = json!(session);
        let count = message["parts"].as_array().unwrap().len();
        for (number, part) in message["parts"].as_array_mut().unwrap().iter_mut().enumerate() {
            // Ids that fall: the order of the document must hold all the same.
            part["id"] = json!(format!("prt_{case}_{at}_{}", count - number));
            part["sessionID"] = json!(session);
            part["messageID"] = json!(id);
        }
    }
    document
}

fn export(store: &Store, session: &str) -> String {
    super::support::export(store, session)
}

#[test]
fn nothing_of_a_document_is_lost() {
    let room = Room::new();
    let (path, first) = room.store("first.db");
    let (_path, second) = room.store("second.db");
    let case = Cell::new(0);
    let config = Config { cases: 192, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&document(), |document| {
            case.set(case.get() + 1);
            let given = named(document, case.get());
            let session = given["info"]["id"].as_str().unwrap().to_owned();
            let text = super::documents::pretty(&given);
            first.import(text.clone(), folder()).map_err(|e| TestCaseError::fail(format!("{e}: {given}")))?;
            let once = export(&first, &session);
            let mut got: Value = serde_json::from_str(&once).unwrap();
            // Usage is shown where there was none; an absent one is as good as zero.
            for (key, zero) in
                [("cost", json!(0)), ("tokens", json!({"input": 0, "output": 0, "reasoning": 0, "cache": {"read": 0, "write": 0}}))]
            {
                if given["info"].get(key).is_none() {
                    let removed = got["info"].as_object_mut().unwrap().shift_remove(key);
                    prop_assert_eq!(removed, Some(zero));
                }
            }
            prop_assert_eq!(&got, &given);
            // The second journey changes no byte, and the first record's own rows need no second import.
            second.import(once.clone(), folder()).unwrap();
            prop_assert_eq!(export(&second, &session), once);
            let before = super::support::sequence(&first, &session);
            first.import(text, folder()).unwrap();
            prop_assert_eq!(super::support::sequence(&first, &session), before);
            // Without texts it is a document still.
            let clean = super::support::exported(&first, &session, true);
            prop_assert!(annalist_store::document::check(&clean).is_ok(), "{}", clean);
            Ok(())
        })
        .unwrap();
    super::support::check_log(&raw(&path));
    super::replay::replayed(&path).assert_same_rows();
}
