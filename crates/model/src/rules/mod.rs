//! What the providers demand of a request, written down rule by rule.
//!
//! One validator a protocol. They read the bytes that would be sent and know nothing of how those came to be.

mod anthropic;
mod calls;
mod chat;
mod google;
pub(crate) mod limits;
mod media;
mod responses;
mod rule;

pub use rule::Rule;

use crate::describe::{Model, Protocol};
use crate::text::blank;
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};
use calls::Calls;
use media::Files;
use std::fmt;

/// A place where a request breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// Where, such as `messages[3].content[0]`.
    pub at: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.rule, self.at)
    }
}

/// Everything in a body that the model's provider would refuse.
#[must_use]
pub fn check(body: &str, model: &Model) -> Vec<Violation> {
    let mut check = Check { model, found: Vec::new(), calls: Calls::default(), files: Files::default(), marks: 0 };
    let list = match model.protocol {
        Protocol::Chat | Protocol::Anthropic => "messages",
        Protocol::Responses => "input",
        Protocol::Google => "contents",
    };
    let object = Object::parse(body).unwrap_or_default();
    let Some(messages) = object.get(list).and_then(Json::as_array) else {
        check.fail(Rule::Body, list);
        return check.found;
    };
    check.surrogates(body, list);
    match model.protocol {
        Protocol::Chat => chat::check(&messages, &mut check),
        Protocol::Responses => responses::check(&messages, &mut check),
        Protocol::Anthropic => anthropic::check(&object, &messages, &mut check),
        Protocol::Google => google::check(&messages, &mut check),
    }
    check.end(body, list);
    check.found
}

/// A check under way.
struct Check<'m> {
    model: &'m Model,
    found: Vec<Violation>,
    calls: Calls,
    files: Files,
    /// Places to cache.
    marks: usize,
}

impl Check<'_> {
    fn fail(&mut self, rule: Rule, at: &str) {
        self.found.push(Violation { rule, at: at.to_owned() });
    }

    /// A text that must say something.
    fn text(&mut self, object: &Object<'_>, key: &str, at: &str) {
        if object.text(key).is_none_or(|text| blank(&text)) {
            self.fail(Rule::BlankText, at);
        }
    }

    fn tool_name(&mut self, object: &Object<'_>, at: &str) {
        if !object.text("name").is_some_and(|name| limits::is_tool_name(&name, self.model)) {
            self.fail(Rule::ToolName, at);
        }
    }

    /// Arguments that are an object, or the text of one.
    fn input(&mut self, input: Option<&Json<'_>>, is_text: bool, at: &str) {
        let text = input.and_then(Json::as_text);
        let object = match (&text, input) {
            (Some(text), _) if is_text => Json::parse(&**text).is_ok_and(|json| json.kind() == Kind::Object),
            (None, Some(json)) if !is_text => json.kind() == Kind::Object,
            _ => false,
        };
        if !object {
            self.fail(Rule::ToolInput, at);
        } else if let Some(text) = text {
            self.surrogates(&text, at);
        }
    }

    fn surrogates(&mut self, json: &str, at: &str) {
        if crate::json::may_have_surrogates(json) && annalist_schema::raw::unescape(json).1 {
            self.fail(Rule::LoneSurrogate, at);
        }
    }

    fn end(&mut self, body: &str, list: &str) {
        for (rule, at) in self.calls.end() {
            self.fail(rule, &at);
        }
        for (rule, at) in self.files.end(body.len() as u64, self.model) {
            self.fail(rule, at.as_deref().unwrap_or(list));
        }
    }
}

/// The elements of an array, as objects.
fn objects<'j>(json: Option<&'j Json<'_>>) -> Vec<Object<'j>> {
    json.and_then(Json::as_array).unwrap_or_default().into_iter().map(|json| json.into_object().unwrap_or_default()).collect()
}
