//! Families of models with ways of their own. What is expected here was asked of the reference with the same histories
//! and models (`conformance/oracle/oracle.py`).

use crate::support::{Case, conversation, model_of, same};
use annalist_model::describe::{Model, Protocol};
use annalist_model::neutral::Settings;
use serde_json::{Value, json};

/// The recordings' model, called otherwise by its provider.
fn called(protocol: Protocol, api_id: &str) -> Model {
    Model { api_id: api_id.to_owned(), ..model_of(protocol) }
}

fn sent(name: &str, model: &Model) -> Vec<Value> {
    let theirs = Settings { as_reference: true, ..Settings::default() };
    conversation(&Case::read(name, model.protocol), model, &theirs).0
}

#[track_caller]
fn assert_same(ours: &[Value], expected: &Value) {
    if let Err(why) = same(ours, expected.as_array().unwrap()) {
        panic!("{why}");
    }
}

#[test]
fn claude_behind_chat_completions_is_told_where_to_cache() {
    let claude = called(Protocol::Chat, "claude-x");
    let mark = json!({"type": "ephemeral"});
    let ours = sent("structured-output-tool", &claude);
    let result = "Structured output captured successfully.";
    assert_same(
        &ours[2..],
        &json!([
            {"role": "tool", "tool_call_id": "call_1", "content": result, "cache_control": mark},
            {"role": "user", "content": "go on", "cache_control": mark},
        ]),
    );
    // The mark stands on the last piece; an answer's text has no place for it.
    let ours = sent("image-data-url", &claude);
    assert_same(
        &ours[4..],
        &json!([
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,/9j/4AAQ"}},
                {"type": "text", "text": "after the picture", "cache_control": mark},
            ]},
            {"role": "user", "content": "go on", "cache_control": mark},
        ]),
    );
    let ours = sent("reasoning-chat", &claude);
    assert_same(
        &ours[5..],
        &json!([
            {"role": "assistant", "content": "finished", "reasoning_content": "second thought"},
            {"role": "user", "content": "go on", "cache_control": mark},
        ]),
    );
}

#[test]
fn claude_has_call_ids_of_letters_digits_and_two_signs() {
    let ours = sent("odd-call-ids", &called(Protocol::Anthropic, "claude-sonnet-4-5"));
    let ids: Vec<&str> = ours.iter().filter_map(|message| message["content"][0]["tool_use_id"].as_str()).collect();
    assert_eq!(ids[..4], ["", "functions_bash_0", "a_b", "a_b_c"]);
    assert_eq!(ids[5..], ["_n_", "call-1_ok", "toolu_01ABC"]);
}

#[test]
fn mistral_has_ids_of_nine_and_no_question_behind_a_result() {
    let ours = sent("tool-attachments", &called(Protocol::Chat, "mistral-large"));
    assert_eq!(ours[1]["tool_calls"][0]["id"], "call10000");
    assert_same(
        &ours[2..4],
        &json!([
            {"role": "tool", "tool_call_id": "call10000", "content": "Image read successfully"},
            {"role": "assistant", "content": "Done."},
        ]),
    );
    assert_eq!(ours[4]["content"][0]["text"], "Attached media from tool result:");
}

#[test]
fn thoughts_go_into_the_field_that_the_provider_wants() {
    let with = |field: &str| {
        json!([
            {"role": "assistant", "content": "so that", field: "because of this"},
            {"role": "user", "content": "and act"},
            {"role": "assistant", "content": "reading", field: "I must read", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{\"filePath\":\"a\"}"}}
            ]},
        ])
    };
    assert_same(&sent("reasoning-chat", &called(Protocol::Chat, "deepseek-r"))[1..4], &with("reasoning_content"));
    let mut model = model_of(Protocol::Chat);
    model.capabilities.interleaved = Some("reasoning_details".to_owned());
    assert_same(&sent("reasoning-chat", &model)[1..4], &with("reasoning_details"));
    // DeepSeek wants the field also where there are no thoughts.
    let ours = sent("plain-text", &called(Protocol::Chat, "deepseek-r"));
    assert_same(&ours[1..2], &json!([{"role": "assistant", "content": "hi there", "reasoning_content": ""}]));
}

#[test]
fn gemini_3_takes_files_inside_responses() {
    let ours = sent("tool-attachments", &called(Protocol::Google, "gemini-3-pro"));
    assert_same(
        &ours[4..5],
        &json!([
            {"role": "user", "parts": [{"functionResponse": {
                "name": "read",
                "response": {"name": "read", "content": "PDF read successfully"},
                "parts": [{"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0xLjQKJUVPRgo="}}],
            }}]},
        ]),
    );
}

/// Calls are put behind texts, but never past signed thoughts.
#[test]
fn signed_thoughts_behind_a_call_keep_the_order_of_an_answer() {
    let model = model_of(Protocol::Anthropic);
    let tool = |id: &str| {
        json!({"id": format!("prt_{id}"), "type": "tool", "callID": id, "tool": "read",
        "state": {"status": "completed", "input": {}, "output": "A", "time": {}}})
    };
    let thought = json!({"id": "prt_t", "type": "reasoning", "text": "late", "metadata": {"anthropic": {"signature": "c2ln"}}});
    let text = json!({"id": "prt_x", "type": "text", "text": "end"});
    let kinds = |parts: &[Value]| -> Vec<String> {
        let info = json!({"id": "msg_a", "role": "assistant", "providerID": "anthropic", "modelID": "m1"});
        let case = Case::of(vec![crate::support::stored(&info, parts)]);
        let theirs = Settings { as_reference: true, ..Settings::default() };
        let (ours, _) = conversation(&case, &model, &theirs);
        ours[0]["content"].as_array().unwrap().iter().map(|piece| piece["type"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&[tool("1"), thought.clone(), text.clone(), tool("2")]), ["tool_use", "thinking", "text", "tool_use"]);
    assert_eq!(kinds(&[thought, tool("1"), text.clone(), tool("2"), text]), ["thinking", "text", "text", "tool_use", "tool_use"]);
}

#[test]
fn gemini_behind_chat_completions_gets_its_signatures_back() {
    let model = model_of(Protocol::Chat);
    let info = json!({"id": "msg_a", "role": "assistant", "providerID": "chat", "modelID": "m1"});
    let part = json!({"id": "prt_1", "type": "tool", "callID": "call_1", "tool": "read", "metadata": {"google": {"thoughtSignature": "c2ln"}},
        "state": {"status": "completed", "input": {}, "output": "A", "time": {}}});
    let case = Case::of(vec![crate::support::stored(&info, &[part])]);
    let (ours, _) = conversation(&case, &model, &Settings::default());
    assert_eq!(ours[0]["tool_calls"][0]["extra_content"], json!({"google": {"thought_signature": "c2ln"}}));
}

#[test]
fn openrouter_has_fields_of_its_own() {
    let model = Model { api_id: "claude-x".to_owned(), ..Model::new("openrouter", "m1", "@openrouter/ai-sdk-provider") };
    let mark = json!({"type": "ephemeral"});
    let ours = sent("structured-output-tool", &model);
    let result = "Structured output captured successfully.";
    assert_same(
        &ours[2..],
        &json!([
            {"role": "tool", "tool_call_id": "call_1", "content": result, "name": "StructuredOutput", "cache_control": mark},
            {"role": "user", "content": [{"type": "text", "text": "go on", "cache_control": mark}]},
        ]),
    );
    let details = |value: &str| json!({"openrouter": {"reasoning_details": [{"type": "reasoning.text", "signature": value}]}});
    let thought = |text: &str, of: &str| json!({"id": "prt_t", "type": "reasoning", "text": text, "metadata": details(of)});
    let call = json!({"id": "prt_c", "type": "tool", "callID": "call_1", "tool": "read", "metadata": details("call"),
        "state": {"status": "completed", "input": {}, "output": "A", "time": {}}});
    let info = json!({"id": "msg_a", "role": "assistant", "providerID": "openrouter", "modelID": "m1"});
    let step = json!({"type": "step-start"});
    let case = Case::of(vec![crate::support::stored(
        &info,
        &[thought("one", "first"), call, step, thought("", "second"), thought("two", "third")],
    )]);
    let theirs = Settings { as_reference: true, ..Settings::default() };
    let (ours, _) = conversation(&case, &model, &theirs);
    assert_eq!((&ours[0]["reasoning"], &ours[0]["reasoning_details"][0]["signature"]), (&json!("one"), &json!("call")));
    assert_eq!((&ours[2]["reasoning"], &ours[2]["reasoning_details"][0]["signature"]), (&json!("two"), &json!("second")));
}
