//! Thoughts in places where the provider takes them.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::neutral::{Block, Content, ModelMessage, Role};
use crate::rules::{Rule, limits};
use crate::wire;
use annalist_schema::Json;
use annalist_schema::raw::Object;

/// What Google's documentation gives for calls that have no signature.
const UNSIGNED: &str = "skip_thought_signature_validator";

pub(super) fn repair(messages: &mut Vec<ModelMessage<'_>>, model: &Model, report: &mut Report) {
    match model.protocol {
        Protocol::Anthropic => each_run(messages, |run| anthropic(run, report)),
        Protocol::Responses => {
            joined(messages, report);
            each_run(messages, |run| followed(run, report));
        }
        Protocol::Google => {
            merged(messages, report);
            if limits::signs_calls(model) {
                signed(messages, report);
            }
        }
        Protocol::Chat => {}
    }
}

/// Visits the answers that stand together, which are one to the provider.
fn each_run<'a>(messages: &mut [ModelMessage<'a>], mut visit: impl FnMut(&mut [ModelMessage<'a>])) {
    for run in messages.chunk_by_mut(|one, other| one.role == Role::Assistant && other.role == Role::Assistant) {
        if run.first().is_some_and(|message| message.role == Role::Assistant) {
            visit(run);
        }
    }
}

/// Whether a piece is written at all.
fn written(content: &Content<'_>) -> bool {
    !matches!(content.block, Block::Reasoning(_)) || wire::is_thought(content)
}

fn anthropic(run: &mut [ModelMessage<'_>], report: &mut Report) {
    let mut pieces = run.iter().flat_map(|message| &message.content).filter(|content| written(content));
    let first = pieces.next().is_some_and(wire::is_thought);
    let any = first || pieces.any(wire::is_thought);
    if any && !first {
        for message in run.iter_mut() {
            leave_out(message, Rule::ReasoningFirst, 0, report);
        }
        return;
    }
    for message in run.iter_mut().rev() {
        if ends_with_call(message) {
            return;
        }
        // Behind the last piece that is not thoughts.
        let said = message.content.iter().rposition(|content| !matches!(content.block, Block::Reasoning(_)));
        let end = said.map_or(0, |last| last + 1);
        leave_out(message, Rule::ReasoningLast, end, report);
        if end > 0 {
            return;
        }
    }
}

/// Whether calls are moved behind everything else of the message.
fn ends_with_call(message: &ModelMessage<'_>) -> bool {
    let is_call = |content: &Content<'_>| matches!(content.block, Block::ToolCall(_));
    let behind = message.content.iter().skip_while(|content| !is_call(content));
    message.content.iter().any(is_call) && !behind.into_iter().any(wire::is_thought)
}

fn leave_out(message: &mut ModelMessage<'_>, rule: Rule, from: usize, report: &mut Report) {
    let mut index = 0;
    let id = &message.message;
    message.content.retain(|content| {
        let stays = index < from || !wire::is_thought(content);
        index += 1;
        if !stays {
            report.add(rule, id, &content.part, Change::LeftOut);
        }
        stays
    });
}

/// Several parts of one item are sent as one.
fn joined(messages: &mut [ModelMessage<'_>], report: &mut Report) {
    for message in messages {
        let id = &message.message;
        let mut before: Option<(Option<String>, Option<String>)> = None;
        for content in &mut message.content {
            if !matches!(content.block, Block::Reasoning(_)) {
                before = None;
                continue;
            }
            let this = (wire::item_id(content), wire::encrypted(content));
            content.continues = before.as_ref().is_some_and(|(item, encrypted)| {
                (item.is_some() && *item == this.0) || (encrypted.is_some() && *encrypted == this.1)
            });
            if content.continues {
                report.add(Rule::ReasoningTwice, id, &content.part, Change::Joined);
            }
            before = Some(this);
        }
    }
}

/// Thoughts that led to nothing are left out.
fn followed(run: &mut [ModelMessage<'_>], report: &mut Report) {
    let mut leads = false;
    for message in run.iter_mut().rev() {
        let id = &message.message;
        let mut kept: Vec<Content<'_>> = Vec::with_capacity(message.content.len());
        for content in std::mem::take(&mut message.content).into_iter().rev() {
            let thought = matches!(content.block, Block::Reasoning(_));
            if thought && !leads {
                // Those without their encrypted form are not sent in any case.
                if wire::encrypted(&content).is_some() {
                    report.add(Rule::ReasoningFollowed, id, &content.part, Change::LeftOut);
                }
                continue;
            }
            leads |= !thought;
            kept.push(content);
        }
        kept.reverse();
        message.content = kept;
    }
}

/// An answer with calls behind other answers becomes one with them.
fn merged<'a>(messages: &mut Vec<ModelMessage<'a>>, report: &mut Report) {
    let mut out: Vec<ModelMessage<'a>> = Vec::with_capacity(messages.len());
    for message in messages.drain(..) {
        let calls =
            message.role == Role::Assistant && message.content.iter().any(|content| matches!(content.block, Block::ToolCall(_)));
        out.push(message);
        while calls && out.len() >= 2 && out[out.len() - 2].role == Role::Assistant {
            let Some(last) = out.pop() else { break };
            report.add(Rule::CallTurn, &last.message, "", Change::Joined);
            if let Some(before) = out.last_mut() {
                before.content.extend(last.content);
            }
        }
    }
    *messages = out;
}

fn signed(messages: &mut [ModelMessage<'_>], report: &mut Report) {
    for message in messages.iter_mut().filter(|message| message.role == Role::Assistant) {
        let id = &message.message;
        let Some(first) = message.content.iter_mut().find(|content| matches!(content.block, Block::ToolCall(_))) else { continue };
        if first.text_of("google", "thoughtSignature").is_none() {
            let mut own = Object::new();
            own.set_text("thoughtSignature", UNSIGNED);
            let mut all = Object::new();
            all.set("google", own);
            first.metadata = Some(Json::from(all));
            report.add(Rule::CallSigned, id, &first.part, Change::Added { what: UNSIGNED.to_owned() });
        }
    }
}
