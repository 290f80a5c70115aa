//! Call ids of the provider's form, each of its own call.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::neutral::{Block, ModelMessage, Role};
use crate::rules::{Rule, limits};
use std::borrow::Cow;
use std::collections::HashSet;

/// Gives each call an id that no call before it has. Results follow their calls in the same order by now.
pub(super) fn repair(messages: &mut [ModelMessage<'_>], model: &Model, report: &mut Report) {
    // Google's calls have none.
    if model.protocol == Protocol::Google {
        return;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let mut given: Vec<String> = Vec::new();
    for message in messages {
        if message.role == Role::Assistant {
            given.clear();
        }
        let mut index = 0;
        for content in &mut message.content {
            match &mut content.block {
                Block::ToolCall(call) => {
                    let id = fresh(&call.id, model, &taken);
                    if id != call.id {
                        let rule = if limits::is_call_id(&call.id, model) { Rule::RepeatedCallId } else { Rule::CallIdForm };
                        let change = Change::Renamed { from: call.id.to_string(), to: id.clone() };
                        report.add(rule, &message.message, &content.part, change);
                        call.id = Cow::Owned(id.clone());
                    }
                    taken.insert(id.clone());
                    given.push(id);
                }
                Block::ToolResult(result) => {
                    if let Some(id) = given.get(index).filter(|id| **id != result.id) {
                        result.id = Cow::Owned(id.clone());
                    }
                    index += 1;
                }
                _ => {}
            }
        }
    }
}

/// The id itself, or the nearest to it that has the form and is not taken.
fn fresh(id: &str, model: &Model, taken: &HashSet<String>) -> String {
    let length = limits::id_length(model);
    let base = formed(id, model, length);
    let mut number = 0_u64;
    let mut candidate = base.clone();
    while taken.contains(&candidate) {
        number += 1;
        let end = if model.is_mistral() { number.to_string() } else { format!("_{number}") };
        let kept: String = base.chars().take(length.saturating_sub(end.len())).collect();
        candidate = format!("{kept}{end}");
    }
    candidate
}

fn formed(id: &str, model: &Model, length: usize) -> String {
    if limits::is_call_id(id, model) {
        return id.to_owned();
    }
    let id = crate::transform::call_id(id, model);
    if limits::is_call_id(&id, model) {
        return id.into_owned();
    }
    // Anthropic's form is asked of all its models, whatever they are called.
    let safe = |c: char| if !model.is_claude() || c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let fixed: String = id.chars().map(safe).take(length).collect();
    if fixed.is_empty() { "call".to_owned() } else { fixed }
}
