//! Recorded histories, and how conversations are compared.

use annalist_model::Request;
use annalist_model::describe::{Model, Protocol};
use annalist_model::neutral::Settings;
use annalist_model::repair::Report;
use annalist_model::wire::Options;
use annalist_schema::Json;
use annalist_store::filter_compacted;
use annalist_store::transcript::WithParts;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::path::PathBuf;

/// A history with one more question, as texts.
pub(crate) struct Case {
    pub(crate) messages: Vec<WithParts>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../conformance/golden/convert")
}

fn read(name: &str) -> Value {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // Halves of surrogate pairs are nothing that a Value holds; recordings of requests have none that matter.
    serde_json::from_str(&replace_lone(&text)).unwrap()
}

/// The names of the recorded histories.
pub(crate) fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| {
            entry.unwrap().file_name().into_string().unwrap().strip_suffix(".export.golden.json").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

pub(crate) fn provider(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::Chat => "chat",
        Protocol::Responses => "openai",
        Protocol::Anthropic => "anthropic",
        Protocol::Google => "google",
    }
}

/// The model that the recordings were made with.
pub(crate) fn model_of(protocol: Protocol) -> Model {
    let npm = match protocol {
        Protocol::Chat => "@ai-sdk/openai-compatible",
        Protocol::Responses => "@ai-sdk/openai",
        Protocol::Anthropic => "@ai-sdk/anthropic",
        Protocol::Google => "@ai-sdk/google",
    };
    Model::new(provider(protocol), "m1", npm)
}

/// What the reference sent; nothing where it failed before.
pub(crate) fn expected(name: &str, protocol: Protocol) -> Option<Vec<Value>> {
    let recorded = read(&format!("{name}.{}.golden.json", provider(protocol)));
    recorded.get("conversation").map(|conversation| conversation.as_array().unwrap().clone())
}

/// The recorded conversation as the body of a request, to be checked as it is.
pub(crate) fn recorded_body(name: &str, protocol: Protocol) -> String {
    let text = std::fs::read_to_string(folder().join(format!("{name}.{}.golden.json", provider(protocol)))).unwrap();
    let recorded = Json::parse(text).unwrap().into_object().unwrap();
    let list = match protocol {
        Protocol::Chat | Protocol::Anthropic => "messages",
        Protocol::Responses => "input",
        Protocol::Google => "contents",
    };
    format!("{{\"{list}\":{}}}", recorded.get("conversation").unwrap())
}

/// Whether a body has halves of surrogate pairs in it, which a Value cannot hold.
pub(crate) fn has_lone(body: &str) -> bool {
    replace_lone(body) != body || replace_lone(&body.replace("\\\\u", "\\u")) != body.replace("\\\\u", "\\u")
}

impl Case {
    /// A recorded history and the question "go on", after `filter_compacted`.
    pub(crate) fn read(name: &str, protocol: Protocol) -> Self {
        let read = |kind: &str| {
            let text = std::fs::read_to_string(folder().join(format!("{name}{kind}.json"))).unwrap();
            Json::parse(text).unwrap().into_object().unwrap()
        };
        let mut document = read(".export.golden");
        // A session that the reference stores and then cannot list is recorded as its error.
        if document.get("messages").and_then(Json::as_array).is_none() {
            document = read("");
        }
        let mut messages: Vec<WithParts> = Vec::new();
        // What a revert hides is gone when the next question is asked.
        let revert = document.get("info").and_then(Json::as_object).and_then(|info| {
            info.get("revert").and_then(Json::as_object).and_then(|revert| revert.text("messageID").map(|id| id.into_owned()))
        });
        for message in document.get("messages").and_then(Json::as_array).unwrap() {
            let message = message.as_object().unwrap();
            let info = message.get("info").unwrap().clone().into_static();
            if revert.is_some() && info.as_object().unwrap().text("id").map(|id| id.into_owned()) == revert {
                break;
            }
            let parts = message.get("parts").unwrap().as_array().unwrap().into_iter().map(Json::into_static).collect();
            messages.push(WithParts { info, parts });
        }
        let mut parts = vec![json!({"id": "prt_go_on", "type": "text", "text": "go on"})];
        // A reminder of the engine's, which it puts behind the question in memory.
        if name == "plan-agent-history" {
            parts.push(json!({"id": "prt_reminder", "type": "text", "text": "{reference reminder, 232 characters}\n"}));
        }
        let info = json!({"id": "msg_go_on", "role": "user", "model": {"providerID": provider(protocol), "modelID": "m1"}});
        messages.push(stored(&info, &parts));
        Case::of(messages)
    }

    /// Any history, oldest first.
    pub(crate) fn of(mut messages: Vec<WithParts>) -> Self {
        messages.reverse();
        let Ok(messages) = filter_compacted(messages.into_iter().map(Ok::<_, Infallible>));
        Case { messages }
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = (&Json<'static>, &Vec<Json<'static>>)> {
        self.messages.iter().map(|message| (&message.info, &message.parts))
    }
}

/// A message with parts, as the store gives them.
pub(crate) fn stored(info: &Value, parts: &[Value]) -> WithParts {
    let json = |value: &Value| Json::parse(value.to_string()).unwrap();
    WithParts { info: json(info), parts: parts.iter().map(json).collect() }
}

/// The body that a history gives, and what was repaired.
pub(crate) fn body(case: &Case, model: &Model, settings: &Settings) -> (String, Report) {
    let request = Request::new([], case.texts(), model, settings);
    let mut bytes = Vec::new();
    request.write(model, &Options::default(), &mut bytes).unwrap();
    (String::from_utf8(bytes).unwrap(), request.report)
}

/// The conversation of the body alone.
pub(crate) fn conversation(case: &Case, model: &Model, settings: &Settings) -> (Vec<Value>, Report) {
    let (text, report) = body(case, model, settings);
    (messages(&text), report)
}

/// The conversation in a body.
pub(crate) fn messages(body: &str) -> Vec<Value> {
    let body: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"));
    let list = ["messages", "input", "contents"].iter().find_map(|key| body.get(key)).unwrap();
    list.as_array().unwrap().clone()
}

/// Whether two conversations say the same; numbers by value, arguments by what they hold, long texts as recorded.
pub(crate) fn same(ours: &[Value], expected: &[Value]) -> Result<(), String> {
    for (index, pair) in ours.iter().zip(expected).enumerate() {
        differs(pair.0, pair.1, &format!("[{index}]")).map_or(Ok(()), Err)?;
    }
    if ours.len() != expected.len() {
        return Err(format!("{} messages, not {}", ours.len(), expected.len()));
    }
    Ok(())
}

fn differs(ours: &Value, expected: &Value, at: &str) -> Option<String> {
    let wrong = || Some(format!("{at}: {ours} is not {expected}"));
    match (ours, expected) {
        (Value::Object(one), Value::Object(other)) => {
            if one.len() != other.len() || one.keys().any(|key| !other.contains_key(key)) {
                return wrong();
            }
            one.iter().find_map(|(key, value)| differs(value, &other[key], &format!("{at}.{key}")))
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            one.iter().zip(other).enumerate().find_map(|(index, pair)| differs(pair.0, pair.1, &format!("{at}[{index}]")))
        }
        (Value::Number(one), Value::Number(other)) if one.as_f64() == other.as_f64() => None,
        (Value::String(one), Value::String(other)) => {
            if one == other || shortened(one, other) {
                return None;
            }
            let json = |text: &str| serde_json::from_str::<Value>(&replace_lone(text)).ok().filter(Value::is_object);
            match (json(one), json(other)) {
                (Some(one), Some(other)) => differs(&one, &other, at),
                _ => wrong(),
            }
        }
        _ if ours == expected => None,
        _ => wrong(),
    }
}

/// Long texts are recorded by their length and beginning.
fn shortened(ours: &str, recorded: &str) -> bool {
    let Some(rest) = recorded.strip_prefix("{input text, ").or_else(|| recorded.strip_prefix("{reference text, ")) else {
        return false;
    };
    rest.split(' ').next().and_then(|count| count.parse::<usize>().ok()) == Some(ours.chars().count())
}

/// A text of JSON with U+FFFD for each half of a surrogate pair.
fn replace_lone(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let unit = |text: &str| text.strip_prefix("\\u").and_then(|hex| u32::from_str_radix(hex.get(..4)?, 16).ok());
        let take = match unit(&rest[at..]) {
            Some(0xd800..0xdc00) if matches!(unit(&rest[at + 6..]), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                out.push('\u{fffd}');
                rest = &rest[at + 6..];
                continue;
            }
            Some(_) => 6,
            None => 2,
        };
        out.push_str(&rest[at..at + take]);
        rest = &rest[at + take..];
    }
    out.push_str(rest);
    out
}

/// Models of all protocols, and of families with rules of their own.
pub(crate) fn models() -> Vec<Model> {
    let mut models: Vec<Model> = Protocol::ALL.into_iter().map(model_of).collect();
    models.push(Model::new("anthropic", "claude-x", "@ai-sdk/anthropic"));
    models.push(Model::new("chat", "claude-x", "@ai-sdk/openai-compatible"));
    models.push(Model::new("chat", "deepseek-r", "@ai-sdk/openai-compatible"));
    models.push(Model::new("mistral", "mistral-x", "@ai-sdk/mistral"));
    models.push(Model::new("google", "gemini-3-pro", "@ai-sdk/google"));
    models.push(Model::new("openrouter", "claude-x", "@openrouter/ai-sdk-provider"));
    let mut everything = Model::new("google", "m1", "@ai-sdk/google-vertex");
    everything.capabilities.input.audio = true;
    everything.capabilities.input.video = true;
    models.push(everything);
    let mut audio = model_of(Protocol::Chat);
    audio.capabilities.input.audio = true;
    audio.capabilities.interleaved = Some("reasoning_details".to_owned());
    models.push(audio);
    models
}
