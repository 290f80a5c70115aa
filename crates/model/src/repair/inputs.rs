//! Names of tools, and what they are asked.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::neutral::{Block, ModelMessage};
use crate::rules::{Rule, limits};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};
use std::borrow::Cow;

pub(super) fn repair(messages: &mut [ModelMessage<'_>], model: &Model, report: &mut Report) {
    for message in messages {
        for content in &mut message.content {
            match &mut content.block {
                Block::ToolCall(call) => {
                    if let Some(name) = name(&call.name, model) {
                        let change = Change::Renamed { from: call.name.to_string(), to: name.clone() };
                        report.add(Rule::ToolName, &message.message, &content.part, change);
                        call.name = Cow::Owned(name);
                    }
                    if call.input.kind() != Kind::Object {
                        let mut object = Object::new();
                        if call.input.kind() != Kind::Null {
                            object.set("input", call.input.borrowed().into_static());
                        }
                        call.input = Json::from(object);
                        report.add(
                            Rule::ToolInput,
                            &message.message,
                            &content.part,
                            Change::Replaced { by: "an object".to_owned() },
                        );
                    }
                    // The writer replaces them; here they are only told of.
                    let json = call.input.as_str();
                    if crate::json::may_have_surrogates(json) && annalist_schema::raw::unescape(json).1 {
                        report.add(
                            Rule::LoneSurrogate,
                            &message.message,
                            &content.part,
                            Change::Replaced { by: "U+FFFD".to_owned() },
                        );
                    }
                }
                Block::ToolResult(result) => {
                    if let Some(name) = name(&result.name, model) {
                        result.name = Cow::Owned(name);
                    }
                }
                _ => {}
            }
        }
    }
}

/// A name in the provider's form, if it has to be another.
fn name(name: &str, model: &Model) -> Option<String> {
    if limits::is_tool_name(name, model) {
        return None;
    }
    let safe = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let mut fixed: String = name.chars().map(safe).take(64).collect();
    if model.protocol == Protocol::Google && !fixed.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        fixed.insert(0, '_');
        fixed.truncate(64);
    }
    Some(if fixed.is_empty() { "unknown".to_owned() } else { fixed })
}
