//! What people reported of sessions that a provider refused for ever; each report is one history here.

use crate::support::{Case, body, messages, model_of, models, stored};
use annalist_model::Request;
use annalist_model::describe::{Model, Protocol};
use annalist_model::neutral::{Block, ModelMessage, Role, Settings, to_model_messages};
use annalist_model::rules::{Rule, check};
use annalist_model::wire::Options;
use annalist_schema::Json;
use annalist_store::transcript::WithParts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeSet, HashMap};

fn user(parts: &[Value]) -> WithParts {
    stored(&json!({"id": "msg_user", "role": "user"}), parts)
}

fn say(text: &str) -> Value {
    json!({"id": "prt_say", "type": "text", "text": text})
}

fn answer(model: &Model, parts: &[Value]) -> WithParts {
    answer_with(model, &Value::Null, parts)
}

fn answer_with(model: &Model, error: &Value, parts: &[Value]) -> WithParts {
    let mut info = json!({"id": "msg_answer", "role": "assistant", "providerID": model.provider_id, "modelID": model.model_id});
    if !error.is_null() {
        info["error"] = error.clone();
    }
    stored(&info, parts)
}

fn thought(text: &str, metadata: &Value) -> Value {
    json!({"id": "prt_thought", "type": "reasoning", "text": text, "metadata": metadata})
}

fn tool(id: &str, state: &Value) -> Value {
    json!({"id": format!("prt_{id}"), "type": "tool", "callID": id, "tool": "read", "state": state})
}

fn done(id: &str, output: &str) -> Value {
    tool(id, &json!({"status": "completed", "input": {"filePath": id}, "output": output, "time": {"start": 1, "end": 2}}))
}

/// The body of a history for a model; it obeys the provider, and is the same a second time.
#[track_caller]
fn sent(history: Vec<WithParts>, model: &Model) -> String {
    sent_with(history, model, &Settings::default())
}

#[track_caller]
fn sent_with(history: Vec<WithParts>, model: &Model, settings: &Settings) -> String {
    let case = Case::of(history);
    let (text, _) = body(&case, model, settings);
    assert_eq!(check(&text, model), [], "{text}");
    assert_eq!(text, body(&case, model, settings).0);
    text
}

/// Ids of calls and of results in the order of a body, whatever the protocol but Google's.
fn ids(body: &str) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut results) = (Vec::new(), Vec::new());
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    for message in messages(body) {
        let pieces = message.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
        calls.extend(message.get("tool_calls").and_then(Value::as_array).into_iter().flatten().filter_map(|call| text(call, "id")));
        calls.extend(pieces.iter().filter(|piece| piece["type"] == "tool_use").filter_map(|call| text(call, "id")));
        results.extend(pieces.iter().filter_map(|piece| text(piece, "tool_use_id")));
        results.extend(text(&message, "tool_call_id"));
        match message["type"].as_str() {
            Some("function_call") => calls.extend(text(&message, "call_id")),
            Some("function_call_output") => results.extend(text(&message, "call_id")),
            _ => {}
        }
    }
    (calls, results)
}

#[test]
fn c62_halves_of_surrogate_pairs_are_shown_as_replacements_and_pairs_are_kept() {
    for model in models() {
        let halves = |text: &str| text.replace("HIGH", "\\ud83d").replace("LOW", "\\ude00");
        let raw = |message: WithParts| WithParts {
            info: message.info,
            parts: message.parts.iter().map(|part| Json::parse(halves(part.as_str())).unwrap()).collect(),
        };
        let call = json!({"status": "completed", "input": {"HIGH key": "HIGH", "pair": "HIGHLOW"}, "output": "cut at the edge HIGH", "time": {}});
        let history = vec![
            raw(user(&[say("high HIGH, low LOW, reversed LOWHIGH")])),
            raw(answer(&model, &[say("low LOW"), tool("call_1", &call)])),
            raw(answer(&model, &[say("pair HIGHLOW")])),
            raw(user(&[say("go on")])),
        ];
        let text = sent(history, &model);
        let replaced = text.matches('\u{fffd}').count();
        assert_eq!(replaced, 8, "{text}");
        // The pair stands in the arguments and in a text; escaped or not it is one character.
        let whole: Value = serde_json::from_str(&text).unwrap();
        let pairs = whole.to_string().matches('😀').count() + whole.to_string().matches("\\\\ud83d\\\\ude00").count();
        assert_eq!(pairs, 2, "{text}");
    }
}

#[test]
fn c63_a_call_that_never_ended_has_one_result_directly_behind_it() {
    for model in models() {
        let open = [
            tool("call_1", &json!({"status": "pending", "input": {}, "raw": ""})),
            tool("call_2", &json!({"status": "running", "input": {"a": 1}, "time": {"start": 1}})),
            tool("call_3", &json!({"status": "error", "input": {}, "time": {}})),
            tool("call_4", &json!({"status": "completed", "input": null, "time": {}})),
        ];
        let aborted = json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}});
        let history = vec![user(&[say("go")]), answer_with(&model, &aborted, &open), user(&[say("and now")])];
        let text = sent(history, &model);
        if model.protocol != Protocol::Google {
            let (calls, results) = ids(&text);
            assert_eq!(calls.len(), 4);
            assert_eq!(calls, results);
        }
        assert_eq!(text.matches("[Tool execution was interrupted]").count(), 3, "{text}");
    }
}

#[test]
fn c64_an_orphan_far_back_is_found() {
    for model in models() {
        let history: Vec<WithParts> = (0..15)
            .flat_map(|index| [user(&[say("question")]), answer(&model, &[done(&format!("call_{index}"), "out")])])
            .chain([user(&[say("go on")])])
            .collect();
        let case = Case::of(history);
        let mut all = to_model_messages(case.texts(), &model, &Settings::default());
        let results: Vec<usize> = (0..all.len()).filter(|index| all[*index].role == Role::Tool).collect();
        all.remove(results[4]);
        let request = Request::of(all, &model, &Settings::default());
        let lost: Vec<&str> = request
            .report
            .repairs
            .iter()
            .filter(|repair| repair.rule == Rule::CallWithoutResult)
            .map(|repair| repair.part.as_str())
            .collect();
        assert_eq!(lost, ["prt_call_4"]);
        let text = written(&request, &model);
        assert_eq!(check(&text, &model), [], "{text}");
    }
}

fn written(request: &Request<'_>, model: &Model) -> String {
    let mut bytes = Vec::new();
    request.write(model, &Options::default(), &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn c65_a_cut_between_call_and_result_anywhere_leaves_no_orphan() {
    for model in models() {
        let three = |step: usize| [0, 1, 2].map(|call| done(&format!("call_{step}_{call}"), "out"));
        let history: Vec<WithParts> = std::iter::once(user(&[say("go")]))
            .chain((0..10).map(|step| answer(&model, &three(step))))
            .chain([answer(&model, &[say("done")])])
            .collect();
        let case = Case::of(history);
        let all = to_model_messages(case.texts(), &model, &Settings::default());
        for cut in 0..=all.len() {
            for part in [&all[..cut], &all[cut..]] {
                let request = Request::of(part.to_vec(), &model, &Settings::default());
                let text = written(&request, &model);
                assert_eq!(check(&text, &model), [], "{cut} {text}");
            }
        }
    }
}

#[test]
fn c66_no_text_that_says_nothing_is_sent_and_signed_thoughts_keep_their_place() {
    for model in models() {
        let signed = json!({"anthropic": {"signature": "c2ln"}});
        let ignored = json!({"type": "text", "text": "ignored words", "ignored": true});
        let history = vec![
            user(&[say("q"), say(""), say(" \n"), ignored.clone()]),
            answer(&model, &[json!({"type": "step-start"})]),
            answer(
                &model,
                &[thought("one", &signed), say(""), thought("two", &signed), say(" \n"), ignored, done("call_1", "out")],
            ),
            user(&[say("\t")]),
            answer(&model, &[say(" ")]),
            user(&[say("go on")]),
        ];
        let text = sent(history, &model);
        assert!(!text.contains("ignored words"), "{text}");
        if model.protocol == Protocol::Anthropic {
            let answer = messages(&text)[1]["content"].clone();
            let kinds: Vec<&str> = answer.as_array().unwrap().iter().map(|piece| piece["type"].as_str().unwrap()).collect();
            assert_eq!(kinds, ["thinking", "thinking", "tool_use"]);
            assert_eq!((&answer[0]["thinking"], &answer[1]["thinking"]), (&json!("one"), &json!("two")));
        }
    }
}

#[test]
fn c67_signatures_go_back_to_their_own_model_and_to_no_other() {
    let anthropic = model_of(Protocol::Anthropic);
    let openai = model_of(Protocol::Responses);
    let sig = json!({"anthropic": {"signature": "QU5USFJPUElD"}});
    let encrypted = json!({"openai": {"itemId": "rs_1", "reasoningEncryptedContent": "T1BFTkFJ"}});
    let history = || {
        vec![
            user(&[say("one")]),
            answer(&anthropic, &[thought("thought of a", &sig), say("a")]),
            user(&[say("two")]),
            answer(&openai, &[thought("thought of b", &encrypted), say("b")]),
            user(&[say("three")]),
            answer(&anthropic, &[thought("again of a", &sig), say("a")]),
            user(&[say("go on")]),
        ]
    };
    let text = sent(history(), &anthropic);
    assert_eq!(text.matches("QU5USFJPUElD").count(), 2);
    assert!(!text.contains("T1BFTkFJ") && text.contains("thought of b"));
    let text = sent(history(), &openai);
    assert_eq!(text.matches("T1BFTkFJ").count(), 1);
    assert!(!text.contains("QU5USFJPUElD") && text.contains("thought of a"));
    for model in models().iter().filter(|model| model.provider_id == "chat" || model.provider_id == "google") {
        let text = sent(history(), model);
        assert!(!text.contains("QU5USFJPUElD") && !text.contains("T1BFTkFJ"), "{text}");
    }
}

#[test]
fn c68_thoughts_without_their_signature_are_not_sent_and_signatures_are_exact() {
    let model = model_of(Protocol::Anthropic);
    let signature = "Er+/=\"\\ 😀";
    let history = vec![
        user(&[say("q")]),
        answer(&model, &[thought("signed", &json!({"anthropic": {"signature": signature}})), say("a")]),
        user(&[say("q")]),
        answer(&model, &[json!({"type": "reasoning", "text": "unsigned thought"}), say("b")]),
        user(&[say("q")]),
        answer(&model, &[thought("empty", &json!({"anthropic": {"signature": ""}})), say("c")]),
        user(&[say("go on")]),
    ];
    let text = sent(history, &model);
    let thoughts: Vec<Value> = messages(&text)
        .iter()
        .flat_map(|message| message["content"].as_array().unwrap().clone())
        .filter(|piece| piece["type"] == "thinking")
        .collect();
    assert_eq!(thoughts, [json!({"type": "thinking", "thinking": "signed", "signature": signature})]);
}

/// A provider that finds text before thoughts, or thoughts at the end, refuses the answer; what is left is still an answer.
#[test]
fn c68_thoughts_in_places_where_they_are_refused_are_left_out() {
    let model = model_of(Protocol::Anthropic);
    let signed = json!({"anthropic": {"signature": "c2ln"}});
    let history = vec![
        user(&[say("q")]),
        answer(&model, &[say("text first"), thought("behind text", &signed), say("a")]),
        user(&[say("q")]),
        answer(&model, &[thought("before text", &signed), say("b"), thought("at the end", &signed)]),
        user(&[say("q")]),
        answer(&model, &[thought("alone", &signed)]),
        user(&[say("go on")]),
    ];
    let case = Case::of(history.clone());
    let (_, report) = body(&case, &model, &Settings::default());
    let rules: Vec<Rule> = report.repairs.iter().map(|repair| repair.rule).collect();
    assert_eq!(rules, [Rule::ReasoningFirst, Rule::ReasoningLast, Rule::ReasoningLast]);
    let text = sent(history, &model);
    let thoughts: Vec<&str> =
        ["behind text", "before text", "at the end", "alone"].into_iter().filter(|thought| text.contains(thought)).collect();
    assert_eq!(thoughts, ["before text"]);
}

#[test]
fn c69_thoughts_before_a_message_can_be_left_out() {
    let model = model_of(Protocol::Anthropic);
    let signed = json!({"anthropic": {"signature": "c2ln"}});
    let mut later = user(&[say("two")]);
    later.info = Json::parse(r#"{"id":"msg_later","role":"user"}"#).unwrap();
    let history = vec![
        user(&[say("one")]),
        answer(&model, &[thought("early thought", &signed), say("a")]),
        later,
        answer(&model, &[thought("late thought", &signed), say("b")]),
        user(&[say("go on")]),
    ];
    let settings = Settings { drop_reasoning_before: Some("msg_later".to_owned()), ..Settings::default() };
    let text = sent_with(history, &model, &settings);
    assert!(!text.contains("early thought") && text.contains("late thought"), "{text}");
}

#[test]
fn c70_thoughts_of_one_item_are_sent_once_and_never_without_what_they_led_to() {
    let model = model_of(Protocol::Responses);
    let item = |id: &str, encrypted: &str| json!({"openai": {"itemId": id, "reasoningEncryptedContent": encrypted}});
    let history = vec![
        user(&[say("q")]),
        answer(&model, &[thought("alone", &item("rs_1", "QUxPTkU="))]),
        user(&[say("q")]),
        answer(&model, &[thought("before a call", &item("rs_2", "Q0FMTA==")), done("call_1", "out")]),
        answer(
            &model,
            &[
                thought("1", &item("rs_3", "VEhSRUU=")),
                thought("2", &item("rs_3", "VEhSRUU=")),
                thought("3", &item("rs_3", "VEhSRUU=")),
                say("so"),
            ],
        ),
        user(&[say("go on")]),
    ];
    let text = sent(history, &model);
    let thoughts: Vec<Value> = messages(&text).into_iter().filter(|item| item["type"] == "reasoning").collect();
    assert_eq!(thoughts.len(), 2, "{text}");
    assert_eq!(thoughts[0]["encrypted_content"], "Q0FMTA==");
    assert_eq!(thoughts[1]["summary"].as_array().unwrap().len(), 3);
    assert!(!text.contains("QUxPTkU="));
}

#[test]
fn c71_call_ids_are_told_apart_and_are_the_same_for_call_and_result() {
    let long = "x".repeat(200);
    let odd = ["", "functions.x:0", "a|b", "a|c", "a_b", "a.b", &long, &format!("{long}y"), "ünï", "", "a|b"];
    for model in models().iter().filter(|model| model.protocol != Protocol::Google) {
        let history = || -> Vec<WithParts> {
            std::iter::once(user(&[say("go")]))
                .chain(odd.iter().map(|id| answer(model, &[done(id, &format!("out of {id}"))])))
                .chain([user(&[say("go on")])])
                .collect()
        };
        let (calls, results) = ids(&sent(history(), model));
        assert_eq!(calls, results);
        assert_eq!(calls.iter().collect::<BTreeSet<_>>().len(), odd.len(), "{calls:?}");
        // What comes later changes nothing of what was: the provider's cache stays good.
        let mut shorter = history();
        shorter.truncate(6);
        let (before, _) = ids(&sent(shorter, model));
        assert_eq!(before, calls[..before.len()]);
    }
}

#[test]
fn c72_a_conversation_ends_with_the_person_and_questions_may_follow_questions() {
    for model in models() {
        let summary = answer(&model, &[say("SUMMARY")]);
        let text = sent(vec![user(&[json!({"type": "compaction", "auto": true})]), summary.clone()], &model);
        let last = messages(&text).last().unwrap().clone();
        let demanded = model.protocol == Protocol::Anthropic
            || model.protocol == Protocol::Google
            || ["claude-x", "mistral-x"].contains(&model.api_id.as_str());
        assert_eq!(last["role"] == "user", demanded, "{text}");
        sent(vec![summary.clone(), user(&[say("a")]), user(&[say("b")]), summary.clone(), summary], &model);
        sent(vec![], &model);
    }
}

/// A PNG by its first bytes, as large as asked.
fn png(side: u32, bytes: usize) -> String {
    let mut data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    data.extend(side.to_be_bytes());
    data.extend(side.to_be_bytes());
    data.resize(bytes.max(data.len()), 0);
    format!("data:image/png;base64,{}", STANDARD.encode(data))
}

fn picture(mime: &str, url: &str) -> Value {
    json!({"id": "prt_picture", "type": "file", "mime": mime, "url": url, "filename": "p.png"})
}

#[test]
fn c73_images_that_no_provider_takes_do_not_end_a_session() {
    let anthropic = model_of(Protocol::Anthropic);
    let large = picture("image/png", &png(10, 5_900_000));
    let text = sent(vec![user(&[say("see"), large.clone()])], &anthropic);
    assert!(text.len() < 1000 && text.contains("larger than 5 MB"), "{text}");

    let bmp = picture("image/png", "data:image/png;base64,Qk0AAAAAAAA=");
    for model in models() {
        sent(
            vec![user(&[say("see"), bmp.clone(), picture("image/jpg", &png(10, 100)), picture("image/png", &png(9000, 100))])],
            &model,
        );
    }

    // 3,000 pixels are too many only where there are many images.
    let wide = picture("image/png", &png(3000, 100));
    let one = sent(vec![user(&[say("see"), wide.clone()])], &anthropic);
    assert!(one.contains("base64"));
    let mut many = vec![wide; 2];
    many.resize(30, picture("image/png", &png(10, 100)));
    let text = sent(vec![user(&many)], &anthropic);
    assert_eq!(text.matches("\"base64\"").count(), 28);
    assert_eq!(text.matches("[Attached image/png: p.png]").count(), 2);

    let small = json!({"id": "prt_picture", "type": "file", "mime": "image/png", "url": png(10, 1_700_000)});
    let screens = || -> Vec<WithParts> { (0..63).map(|_| user(std::slice::from_ref(&small))).collect() };
    let case = Case::of(screens());
    let request = Request::new([], case.texts(), &anthropic, &Settings::default());
    let left: Vec<bool> = request.messages.iter().map(|message| matches!(message.content[0].block, Block::File(_))).collect();
    // The newest stay, as many as fit.
    assert_eq!(left.iter().filter(|file| **file).count(), 14);
    assert!(left[63 - 14..].iter().all(|file| *file));
    assert_eq!(request.report.repairs.iter().filter(|repair| repair.rule == Rule::MediaTotal).count(), 63 - 14);

    let case = Case::of(screens());
    let settings = Settings { strip_media: true, ..Settings::default() };
    let request = Request::new([], case.texts(), &anthropic, &settings);
    let counted = request.count(&anthropic, &Options::default());
    assert_eq!(counted.bytes, written(&request, &anthropic).len() as u64);
    assert!(counted.bytes < 10_000 && counted.tokens() == (counted.units + 2) / 4);
    assert!(request.report.is_empty());
}

#[test]
fn c74_what_one_provider_said_of_a_part_no_other_is_told() {
    let secret = json!({
        "openai": {"reasoningEncryptedContent": "U0VDUkVU", "reasoning_details": "U0VDUkVU"},
        "anthropic": {"signature": "U0VDUkVU", "cacheControl": "U0VDUkVU"},
        "google": {"thoughtSignature": "U0VDUkVU"},
        "openrouter": {"reasoning_details": [{"data": "U0VDUkVU"}]},
        "unknown": "U0VDUkVU"
    });
    let elsewhere = Model::new("elsewhere", "m1", "@ai-sdk/openai-compatible");
    let part = |mut part: Value| {
        part["metadata"] = secret.clone();
        part
    };
    let parts = [part(thought("t", &secret)), part(say("a")), part(done("call_1", "out"))];
    for model in models() {
        let text = sent(vec![user(&[say("q")]), answer(&elsewhere, &parts), user(&[say("go on")])], &model);
        assert!(!text.contains("U0VDUkVU"), "{text}");
        // Its own it gets in its own field alone: a signature a thought.
        let text = sent(vec![user(&[say("q")]), answer(&model, &parts), user(&[say("go on")])], &model);
        let most = HashMap::from([(Protocol::Chat, 2), (Protocol::Responses, 1), (Protocol::Anthropic, 1), (Protocol::Google, 3)]);
        assert!(text.matches("U0VDUkVU").count() <= most[&model.protocol], "{text}");
    }
}

/// Messages that a caller makes itself are repaired as stored ones are.
#[test]
fn messages_of_a_callers_own_are_repaired_too() {
    for model in models() {
        let mut message = ModelMessage::text(Role::Assistant, " ");
        message.content.clear();
        let all = vec![ModelMessage::text(Role::System, "be brief"), message, ModelMessage::text(Role::User, " ")];
        let request = Request::of(all, &model, &Settings::default());
        let text = written(&request, &model);
        assert_eq!(check(&text, &model), [], "{text}");
        assert!(text.contains("be brief"));
        assert!(
            request.messages.iter().flat_map(|message| &message.content).all(|content| matches!(content.block, Block::Text(_)))
        );
    }
}
