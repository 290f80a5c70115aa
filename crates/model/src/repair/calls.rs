//! Each call has its result, and each result its call.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::neutral::{Block, Content, INTERRUPTED, Item, ModelMessage, Output, Role, ToolCall, ToolResult, attached};
use crate::rules::Rule;
use crate::text::Text;
use std::borrow::Cow;

/// Calls that the provider ran itself stand with their results inside an answer. Two protocols have forms for them that
/// a stored part does not fill, and the reference leaves them out there; in the other two the call is sent, so its result
/// has to be sent as one of ours.
pub(super) fn provider_executed(messages: &mut Vec<ModelMessage<'_>>, model: &Model, report: &mut Report) {
    let leaves_out = matches!(model.protocol, Protocol::Responses | Protocol::Anthropic);
    let mut at = 0;
    while at < messages.len() {
        if messages[at].role == Role::Assistant {
            let message = &mut messages[at];
            let mut results = Vec::new();
            let mut kept = Vec::with_capacity(message.content.len());
            for mut content in std::mem::take(&mut message.content) {
                match &mut content.block {
                    Block::ToolCall(call) if call.provider_executed && leaves_out => {}
                    Block::ToolCall(call) => {
                        call.provider_executed = false;
                        kept.push(content);
                    }
                    Block::ToolResult(_) if leaves_out => {}
                    Block::ToolResult(_) => {
                        let change = Change::Added { what: "the result behind the answer".to_owned() };
                        report.add(Rule::CallWithoutResult, &message.message, &content.part, change);
                        results.push(content);
                    }
                    _ => kept.push(content),
                }
            }
            message.content = kept;
            if !results.is_empty() {
                let id = message.message.clone();
                match messages.get_mut(at + 1).filter(|next| next.role == Role::Tool) {
                    Some(next) => next.content.splice(0..0, results).for_each(drop),
                    None => messages.insert(at + 1, ModelMessage::new(Role::Tool, id, results)),
                }
            }
        }
        at += 1;
    }
}

/// Puts the results of each answer's calls directly behind it, in the order of the calls: one a call. Results of nothing
/// are left out.
pub(super) fn repair<'a>(messages: &mut Vec<ModelMessage<'a>>, report: &mut Report) {
    let mut out: Vec<ModelMessage<'a>> = Vec::with_capacity(messages.len());
    let mut rest = std::mem::take(messages).into_iter().peekable();
    while let Some(message) = rest.next() {
        if message.role == Role::Tool {
            // Behind no answer with calls, or it would have been taken below.
            leave_out(&message, &message.content, report);
            continue;
        }
        let calls: Vec<(ToolCall<'a>, Cow<'a, str>)> = message.content.iter().filter_map(call_of).collect();
        let id = message.message.clone();
        out.push(message);
        if calls.is_empty() {
            continue;
        }
        let next = rest.next_if(|next| next.role == Role::Tool).unwrap_or_else(|| ModelMessage::new(Role::Tool, id, Vec::new()));
        out.push(paired(next, calls, report));
    }
    *messages = out;
}

fn call_of<'a>(content: &Content<'a>) -> Option<(ToolCall<'a>, Cow<'a, str>)> {
    match &content.block {
        Block::ToolCall(call) => Some((call.clone(), content.part.clone())),
        _ => None,
    }
}

fn paired<'a>(mut message: ModelMessage<'a>, calls: Vec<(ToolCall<'a>, Cow<'a, str>)>, report: &mut Report) -> ModelMessage<'a> {
    let mut given: Vec<Option<Content<'a>>> = std::mem::take(&mut message.content).into_iter().map(Some).collect();
    // In order, the first that fits is nearly always the first that is left.
    let mut from = 0;
    for (call, part) in calls {
        let fits = |is: &dyn Fn(&ToolResult<'a>, &str) -> bool| {
            (from..given.len()).find(|index| match &given[*index] {
                Some(Content { block: Block::ToolResult(result), part, .. }) => is(result, part),
                _ => false,
            })
        };
        // Ids may stand twice: the result of the same part is the call's own.
        let found = fits(&|result, of| result.id == call.id && *of == *part && result.name == call.name)
            .or_else(|| fits(&|result, _| result.id == call.id && result.name == call.name))
            .or_else(|| fits(&|result, _| result.id == call.id));
        let found = found.and_then(|index| given[index].take());
        while given.get(from).is_some_and(Option::is_none) {
            from += 1;
        }
        let mut content = found.unwrap_or_else(|| {
            report.add(Rule::CallWithoutResult, &message.message, &part, Change::Added { what: INTERRUPTED.to_owned() });
            let output = Output::Error(Text::plain(INTERRUPTED));
            Content::new(Block::ToolResult(ToolResult { id: call.id, name: call.name.clone(), output }), part)
        });
        if let Block::ToolResult(result) = &mut content.block {
            result.name = call.name;
        }
        message.content.push(content);
    }
    let left: Vec<Content<'a>> = given.into_iter().flatten().collect();
    leave_out(&message, &left, report);
    message
}

fn leave_out(message: &ModelMessage<'_>, results: &[Content<'_>], report: &mut Report) {
    for content in results {
        report.add(Rule::ResultWithoutCall, &message.message, &content.part, Change::LeftOut);
    }
}

/// This protocol counts responses, and each text is one: the texts of an answer become one, and an answer of files alone
/// gets one.
pub(super) fn one_response(messages: &mut [ModelMessage<'_>], report: &mut Report) {
    for message in messages.iter_mut().filter(|message| message.role == Role::Tool) {
        for content in &mut message.content {
            let Block::ToolResult(result) = &mut content.block else { continue };
            let Output::Content(items) = &mut result.output else { continue };
            let texts: Vec<String> = items
                .iter()
                .filter_map(|item| if let Item::Text(text) = item { Some(text) } else { None })
                .map(|text| text.to_str().into_owned())
                .collect();
            let (rule, change, text) = match texts.len() {
                1 => continue,
                0 => {
                    let name = items.iter().find_map(|item| {
                        if let Item::File(file) = item { Some(attached(&file.media_type, file.name.as_deref())) } else { None }
                    });
                    let text = name.unwrap_or_else(|| Text::plain(""));
                    (Rule::CallWithoutResult, Change::Added { what: text.to_str().into_owned() }, text)
                }
                _ => (Rule::ResultWithoutCall, Change::Joined, Text::plain(texts.join("\n"))),
            };
            items.retain(|item| matches!(item, Item::File(_)));
            items.insert(0, Item::Text(text));
            report.add(rule, &message.message, &content.part, change);
        }
    }
}
