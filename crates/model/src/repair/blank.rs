//! Texts that say nothing, and messages that are left with nothing.

use super::{Change, Report};
use crate::describe::{Model, Protocol};
use crate::neutral::{Block, Content, Item, ModelMessage, Output, Role};
use crate::rules::Rule;
use crate::text::Text;
use crate::wire;

/// Takes blank texts out. What a tool answered may be blank; a piece of such an answer may not.
pub(super) fn repair(messages: &mut Vec<ModelMessage<'_>>, model: &Model, report: &mut Report) {
    let thoughts_are_text = model.protocol == Protocol::Google;
    for message in messages {
        let id = &message.message;
        message.content.retain_mut(|content| match &mut content.block {
            Block::Text(text) if text.is_blank() => {
                report.add(Rule::BlankText, id, &content.part, Change::LeftOut);
                false
            }
            // Empty ones are not written at all.
            Block::Reasoning(text) if thoughts_are_text && text.is_blank() => {
                if !text.is_empty() {
                    report.add(Rule::BlankText, id, &content.part, Change::LeftOut);
                }
                false
            }
            Block::ToolResult(result) => {
                if let Output::Content(items) = &mut result.output {
                    let before = items.len();
                    items.retain(|item| !matches!(item, Item::Text(text) if text.is_blank()));
                    if items.len() < before {
                        report.add(Rule::BlankText, id, &content.part, Change::LeftOut);
                    }
                    if items.is_empty() {
                        result.output = Output::Text(Text::plain(""));
                    }
                }
                true
            }
            _ => true,
        });
    }
}

/// Takes out messages of which the protocol would write nothing, or nothing that counts as an answer.
pub(super) fn empty(messages: &mut Vec<ModelMessage<'_>>, model: &Model, report: &mut Report) {
    messages.retain(|message| {
        let says = message.content.iter().any(|content| says(content, message.role, model));
        // The other protocols would write nothing of it in any case.
        if !says && model.protocol == Protocol::Chat && message.role == Role::Assistant {
            report.add(Rule::EmptyMessage, &message.message, "", Change::LeftOut);
        }
        says
    });
}

fn says(content: &Content<'_>, role: Role, model: &Model) -> bool {
    match (&content.block, model.protocol) {
        (Block::Reasoning(_), Protocol::Chat) => false,
        (Block::Reasoning(_), Protocol::Responses) => content.continues || wire::encrypted(content).is_some(),
        (Block::Reasoning(_), Protocol::Anthropic) => wire::is_thought(content),
        (_, Protocol::Google) if role == Role::Assistant => wire::is_said(content),
        (Block::File(_), Protocol::Chat | Protocol::Responses | Protocol::Anthropic) => role == Role::User,
        _ => true,
    }
}
