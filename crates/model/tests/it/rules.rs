//! Each rule, broken by the smallest body that breaks it and nothing else.

use crate::support::model_of;
use annalist_model::describe::{Model, Protocol};
use annalist_model::rules::{Rule, check};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

fn chat(messages: &Value) -> (Model, String) {
    (model_of(Protocol::Chat), json!({"messages": messages}).to_string())
}

fn responses(input: &Value) -> (Model, String) {
    (model_of(Protocol::Responses), json!({"input": input}).to_string())
}

fn anthropic(messages: &Value) -> (Model, String) {
    (model_of(Protocol::Anthropic), json!({"messages": messages}).to_string())
}

fn google(contents: &Value) -> (Model, String) {
    (model_of(Protocol::Google), json!({"contents": contents}).to_string())
}

fn mistral(messages: &Value) -> (Model, String) {
    (Model::new("mistral", "m1", "@ai-sdk/mistral"), json!({"messages": messages}).to_string())
}

fn gemini_3(contents: &Value) -> (Model, String) {
    (Model::new("google", "gemini-3-pro", "@ai-sdk/google"), json!({"contents": contents}).to_string())
}

fn asked() -> Value {
    json!({"role": "user", "content": "q"})
}

fn said(pieces: &Value) -> Value {
    json!({"role": "user", "content": pieces})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn called(id: &str) -> Value {
    json!({"role": "assistant", "content": "", "tool_calls": [call(id, "read", "{}")]})
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": ""})
}

fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": ""})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "t", "signature": "c2ln"})
}

fn image(media_type: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
}

fn picture(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn png(side: u32, bytes: usize) -> String {
    let mut data = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    data.extend(side.to_be_bytes());
    data.extend(side.to_be_bytes());
    data.resize(bytes.max(data.len()), 0);
    STANDARD.encode(data)
}

fn user(parts: &Value) -> Value {
    json!({"role": "user", "parts": parts})
}

fn model(parts: &Value) -> Value {
    json!({"role": "model", "parts": parts})
}

fn cases() -> Vec<(Rule, (Model, String))> {
    use Rule::*;
    let q = json!([text("q")]);
    let pa = json!({"role": "assistant", "content": [text("a")]});
    let assistant = |pieces: &Value| json!({"role": "assistant", "content": pieces});
    let function_call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let response = |name: &str| json!({"functionResponse": {"name": name, "response": {"content": ""}}});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": ""});
    let item = |id: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": "{}"});
    let thought = |encrypted: &str| json!({"type": "reasoning", "encrypted_content": encrypted, "summary": []});
    let words = json!({"role": "assistant", "content": [{"type": "output_text", "text": "a"}]});
    let marked = json!({"type": "text", "text": "q", "cache_control": {"type": "ephemeral"}});
    vec![
        (NoMessages, chat(&json!([]))),
        (NoMessages, chat(&json!([{"role": "system", "content": "s"}]))),
        (NoMessages, responses(&json!([]))),
        (NoMessages, anthropic(&json!([]))),
        (NoMessages, google(&json!([]))),
        (FirstRole, anthropic(&json!([pa, said(&q)]))),
        (FirstRole, google(&json!([model(&json!([{"text": "a"}])), user(&json!([{"text": "q"}]))]))),
        (FirstRole, mistral(&json!([{"role": "assistant", "content": "a"}, asked()]))),
        (LastRole, anthropic(&json!([said(&q), pa]))),
        (LastRole, google(&json!([user(&json!([{"text": "q"}])), model(&json!([{"text": "a"}]))]))),
        (LastRole, mistral(&json!([asked(), {"role": "assistant", "content": "a"}]))),
        (BlankText, chat(&json!([{"role": "user", "content": " \n"}]))),
        (BlankText, chat(&json!([said(&json!([text(""), text("q")]))]))),
        (BlankText, responses(&json!([{"role": "user", "content": [{"type": "input_text", "text": "\t"}]}]))),
        (BlankText, anthropic(&json!([said(&json!([text(" ")]))]))),
        (
            BlankText,
            anthropic(&json!([
                said(&q),
                assistant(&json!([tool_use("c")])),
                said(&json!([
                    {"type": "tool_result", "tool_use_id": "c", "content": [text(" ")]}
                ]))
            ])),
        ),
        (BlankText, google(&json!([user(&json!([{"text": ""}]))]))),
        (EmptyMessage, chat(&json!([said(&json!([]))]))),
        (EmptyMessage, chat(&json!([asked(), {"role": "assistant", "content": "", "reasoning_content": "t"}, asked()]))),
        (EmptyMessage, responses(&json!([{"role": "user", "content": []}]))),
        (EmptyMessage, anthropic(&json!([said(&json!([]))]))),
        (EmptyMessage, google(&json!([user(&json!([]))]))),
        (CallWithoutResult, chat(&json!([asked(), called("c"), asked(), asked()]))),
        (CallWithoutResult, chat(&json!([asked(), called("c")]))),
        (CallWithoutResult, responses(&json!([item("c")]))),
        (CallWithoutResult, anthropic(&json!([said(&q), assistant(&json!([tool_use("c")])), said(&q)]))),
        (
            CallWithoutResult,
            google(&json!([user(&json!([{"text": "q"}])), model(&json!([function_call("read")])), user(&json!([{"text": "q"}]))])),
        ),
        (ResultWithoutCall, chat(&json!([asked(), result("c")]))),
        (ResultWithoutCall, chat(&json!([asked(), called("c"), result("c"), result("c")]))),
        (ResultWithoutCall, responses(&json!([{"role": "user", "content": "q"}, output("c")]))),
        (ResultWithoutCall, anthropic(&json!([said(&json!([tool_result("c")]))]))),
        (ResultWithoutCall, google(&json!([user(&json!([response("read")]))]))),
        (
            ResultWithoutCall,
            google(&json!([
                user(&json!([{"text": "q"}])),
                model(&json!([function_call("read")])),
                user(&json!([response("bash")]))
            ])),
        ),
        (
            ResultsFirst,
            anthropic(&json!([said(&q), assistant(&json!([tool_use("c")])), said(&json!([text("q"), tool_result("c")]))])),
        ),
        (CallsLast, anthropic(&json!([said(&q), assistant(&json!([tool_use("c"), text("a")])), said(&json!([tool_result("c")]))]))),
        (RepeatedCallId, chat(&json!([asked(), called("c"), result("c"), called("c"), result("c")]))),
        (RepeatedCallId, responses(&json!([item("c"), output("c"), item("c"), output("c")]))),
        (CallIdForm, chat(&json!([asked(), called(""), result("")]))),
        (CallIdForm, chat(&json!([asked(), called(&"x".repeat(41)), result(&"x".repeat(41))]))),
        (CallIdForm, responses(&json!([item(&"x".repeat(65)), output(&"x".repeat(65))]))),
        (CallIdForm, anthropic(&json!([said(&q), assistant(&json!([tool_use("a|b")])), said(&json!([tool_result("a|b")]))]))),
        (CallIdForm, mistral(&json!([asked(), called("call_1"), result("call_1")]))),
        (ToolName, chat(&json!([asked(), {"role": "assistant", "tool_calls": [call("c", "a.b", "{}")]}, result("c")]))),
        (
            ToolName,
            google(&json!([
                user(&json!([{"text": "q"}])),
                model(&json!([function_call("7up"), function_call("x")])),
                user(&json!([response("y")]))
            ])),
        ),
        (ToolInput, chat(&json!([asked(), {"role": "assistant", "tool_calls": [call("c", "read", "[]")]}, result("c")]))),
        (ToolInput, chat(&json!([asked(), {"role": "assistant", "tool_calls": [call("c", "read", "{")]}, result("c")]))),
        (
            ToolInput,
            anthropic(&json!([
                said(&q),
                assistant(&json!([{"type": "tool_use", "id": "c", "name": "read", "input": "{}"}])),
                said(&json!([tool_result("c")]))
            ])),
        ),
        (LoneSurrogate, (model_of(Protocol::Chat), r#"{"messages":[{"role":"user","content":"\ud83d"}]}"#.to_owned())),
        (
            LoneSurrogate,
            chat(&json!([asked(), {"role": "assistant", "tool_calls": [call("c", "read", r#"{"a":"\ud83d"}"#)]}, result("c")])),
        ),
        (
            ReasoningSigned,
            anthropic(&json!([
                said(&q),
                assistant(&json!([{"type": "thinking", "thinking": "t", "signature": ""}, text("a")])),
                said(&q)
            ])),
        ),
        (ReasoningSigned, responses(&json!([thought(""), words]))),
        (ReasoningFirst, anthropic(&json!([said(&q), assistant(&json!([text("a"), thinking(), text("a")])), said(&q)]))),
        (ReasoningLast, anthropic(&json!([said(&q), assistant(&json!([thinking()])), said(&q)]))),
        (ReasoningFollowed, responses(&json!([thought("ZQ=="), {"role": "user", "content": "q"}]))),
        (ReasoningFollowed, responses(&json!([{"role": "user", "content": "q"}, thought("ZQ==")]))),
        (ReasoningTwice, responses(&json!([thought("ZQ=="), thought("ZQ=="), words]))),
        (
            CallSigned,
            gemini_3(&json!([
                user(&json!([{"text": "q"}])),
                model(&json!([function_call("read")])),
                user(&json!([response("read")]))
            ])),
        ),
        (
            CallTurn,
            google(&json!([
                user(&json!([{"text": "q"}])),
                model(&json!([{"text": "a"}])),
                model(&json!([function_call("read")])),
                user(&json!([response("read")]))
            ])),
        ),
        (QuestionAfterResult, mistral(&json!([asked(), called("abcdefghi"), result("abcdefghi"), asked()]))),
        (MediaType, chat(&json!([said(&json!([picture("data:image/bmp;base64,Qk0=")]))]))),
        (MediaType, anthropic(&json!([said(&json!([image("image/svg+xml", "PHN2Zy8+")]))]))),
        (MediaType, google(&json!([user(&json!([{"inlineData": {"mimeType": "application/zip", "data": "UEsDBA=="}}]))]))),
        (MediaData, anthropic(&json!([said(&json!([image("image/jpeg", PNG)]))]))),
        (MediaData, anthropic(&json!([said(&json!([image("image/png", "")]))]))),
        (MediaData, chat(&json!([said(&json!([picture("data:image/png;base64,%89PNG")]))]))),
        (MediaUrl, chat(&json!([said(&json!([picture("file:///x.png")]))]))),
        (MediaUrl, chat(&json!([said(&json!([{"type": "file", "file": {"file_data": "https://example.com/x.pdf"}}]))]))),
        (MediaUrl, google(&json!([user(&json!([{"fileData": {"mimeType": "image/png", "fileUri": "file:///x.png"}}]))]))),
        (MediaSize, anthropic(&json!([said(&json!([image("image/png", &png(1, 4_000_000))]))]))),
        (MediaPixels, anthropic(&json!([said(&json!([image("image/png", &png(8001, 24))]))]))),
        (
            MediaPixels,
            anthropic(&json!([said(&Value::from(
                [vec![image("image/png", &png(2001, 24))], vec![image("image/png", PNG); 20]].concat()
            ))])),
        ),
        (MediaCount, anthropic(&json!([said(&Value::from(vec![image("image/png", PNG); 101]))]))),
        (
            MediaTotal,
            google(&json!([user(&Value::from(vec![
                json!({"inlineData": {"mimeType": "image/png", "data": png(1, 8_000_000)}});
                2
            ]))])),
        ),
        (CacheMarks, anthropic(&json!([said(&Value::from(vec![marked; 5]))]))),
        (Body, (model_of(Protocol::Chat), "no JSON".to_owned())),
        (Body, (model_of(Protocol::Google), "{}".to_owned())),
    ]
}

#[test]
fn each_rule_is_broken_by_a_body_of_its_own() {
    let mut seen = BTreeSet::new();
    for (rule, (model, body)) in cases() {
        let found: BTreeSet<Rule> = check(&body, &model).into_iter().map(|violation| violation.rule).collect();
        let short: String = body.chars().take(300).collect();
        assert!(found.contains(&rule), "{rule}: {found:?} {short}");
        // Some cannot be broken alone: a name that is none is no call's either.
        if rule != Rule::ToolName {
            assert_eq!(found, BTreeSet::from([rule]), "{rule} {short}");
        }
        seen.insert(rule);
    }
    let never: Vec<&Rule> = Rule::ALL.iter().filter(|rule| !seen.contains(rule)).collect();
    assert!(never.is_empty(), "{never:?}");
}

#[test]
fn rules_say_where_they_are_known_from() {
    let names: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(names.len(), Rule::ALL.len());
    assert!(Rule::ALL.iter().all(|rule| !rule.source().is_empty()));
}
