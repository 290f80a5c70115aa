//! What a request says beside the conversation.

use crate::support::{Case, model_of};
use annalist_model::Request;
use annalist_model::describe::{Model, Protocol};
use annalist_model::neutral::Settings;
use annalist_model::rules::check;
use annalist_model::wire::{Options, Tool};
use annalist_schema::{Json, raw::Object};
use serde_json::{Value, json};

fn whole(model: &Model, options: &Options<'_>) -> Value {
    let case = Case::read("plain-text", model.protocol);
    let request = Request::new(["be brief", "", "and kind"], case.texts(), model, &Settings::default());
    let mut bytes = Vec::new();
    request.write(model, options, &mut bytes).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(check(&text, model), [], "{text}");
    serde_json::from_str(&text).unwrap()
}

fn options<'a>(tools: &'a [Tool<'a>]) -> Options<'a> {
    Options {
        tools,
        must_call: true,
        max_output_tokens: Some(8000),
        temperature: Some(0.5),
        top_p: Some(0.9),
        top_k: Some(40),
        cache_key: Some("ses_1"),
    }
}

fn tools() -> [Tool<'static>; 1] {
    let schema = r#"{"type": "object", "properties": {"path": {"type": "string"}}}"#;
    [Tool { name: "read", description: "Reads \"a\" file", input_schema: Json::parse(schema).unwrap() }]
}

#[test]
fn each_protocol_says_it_in_its_own_members() {
    let tools = tools();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let function = json!({"name": "read", "description": "Reads \"a\" file", "parameters": schema});

    let body = whole(&model_of(Protocol::Chat), &options(&tools));
    assert_eq!(body["tools"], json!([{"type": "function", "function": function}]));
    assert_eq!((&body["max_tokens"], &body["tool_choice"], &body["temperature"]), (&json!(8000), &json!("required"), &json!(0.5)));
    assert_eq!((&body["stream"], &body["stream_options"]), (&json!(true), &json!({"include_usage": true})));
    assert_eq!(body["messages"][0], json!({"role": "system", "content": "be brief"}));

    let body = whole(&model_of(Protocol::Responses), &options(&tools));
    assert_eq!(body["tools"][0]["strict"], false);
    assert_eq!(
        (&body["max_output_tokens"], &body["store"], &body["prompt_cache_key"]),
        (&json!(8000), &json!(false), &json!("ses_1"))
    );
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["input"][1], json!({"role": "developer", "content": "and kind"}));

    let body = whole(&model_of(Protocol::Anthropic), &options(&tools));
    assert_eq!((&body["tools"][0]["input_schema"], &body["tool_choice"]), (&schema, &json!({"type": "any"})));
    let mark = json!({"type": "ephemeral"});
    assert_eq!(body["system"][1], json!({"type": "text", "text": "and kind", "cache_control": mark}));
    assert_eq!((&body["max_tokens"], &body["top_k"]), (&json!(8000), &json!(40)));

    let body = whole(&model_of(Protocol::Google), &options(&tools));
    assert_eq!(body["generationConfig"], json!({"maxOutputTokens": 8000, "temperature": 0.5, "topP": 0.9, "topK": 40}));
    assert_eq!(body["systemInstruction"], json!({"parts": [{"text": "be brief"}, {"text": "and kind"}]}));
    assert_eq!(body["tools"][0]["functionDeclarations"][0]["name"], "read");
    assert_eq!(body["toolConfig"]["functionCallingConfig"]["mode"], "ANY");
}

#[test]
fn members_of_the_models_own_win() {
    for protocol in Protocol::ALL {
        let mut model = model_of(protocol);
        model.options = Object::parse(r#"{"max_tokens":1,"max_output_tokens":1,"generationConfig":{"maxOutputTokens":1,"thinkingConfig":{}},"extra":{"a":[1.0]}}"#).unwrap().into_static();
        let body = whole(&model, &Options { max_output_tokens: Some(8000), temperature: Some(0.5), ..Options::default() });
        assert_eq!(body["extra"], json!({"a": [1.0]}));
        assert_eq!(body["max_tokens"], 1);
        assert_eq!(
            (&body["generationConfig"]["maxOutputTokens"], &body["generationConfig"]["thinkingConfig"]),
            (&json!(1), &json!({}))
        );
        assert_eq!(body["generationConfig"]["temperature"].is_number(), protocol == Protocol::Google);
    }
}

#[test]
fn an_answer_has_at_most_32_000_tokens_and_anthropic_is_always_told() {
    let mut model = model_of(Protocol::Anthropic);
    assert_eq!(Options::max_output_tokens_of(&model), 32_000);
    model.limits.output = 64_000;
    assert_eq!(Options::max_output_tokens_of(&model), 32_000);
    model.limits.output = 8000;
    assert_eq!(whole(&model, &Options::default())["max_tokens"], 8000);
}
