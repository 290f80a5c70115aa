//! Call ids in the form that the provider wants (reference 1.6, 4).

use crate::describe::Model;
use crate::neutral::{Block, ModelMessage, Role};
use std::borrow::Cow;

/// A call id in the provider's form; borrowed if it has it already.
///
/// Two ids may become one here; [`crate::repair`] tells them apart again.
pub(crate) fn for_provider<'a>(id: &'a str, model: &Model) -> Cow<'a, str> {
    if model.is_mistral() {
        let is = |c: char| c.is_ascii_alphanumeric();
        if id.len() == 9 && id.chars().all(is) {
            return Cow::Borrowed(id);
        }
        let kept: String = id.chars().filter(|c| is(*c)).take(9).collect();
        return Cow::Owned(format!("{kept:0<9}"));
    }
    let is = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if model.is_of(&["claude"]) && !id.chars().all(is) {
        // JavaScript replaces each UTF-16 unit.
        let unit = |c: char| std::iter::repeat_n(if is(c) { c } else { '_' }, c.len_utf16());
        return Cow::Owned(id.chars().flat_map(unit).collect());
    }
    Cow::Borrowed(id)
}

pub(super) fn rename(messages: &mut [ModelMessage<'_>], model: &Model) {
    for content in messages.iter_mut().flat_map(|message| &mut message.content) {
        let id = match &mut content.block {
            Block::ToolCall(call) => &mut call.id,
            Block::ToolResult(result) => &mut result.id,
            _ => continue,
        };
        if let Cow::Owned(renamed) = for_provider(id, model) {
            *id = Cow::Owned(renamed);
        }
    }
}

/// Mistral takes no question directly after a result.
pub(crate) fn separate(messages: &mut Vec<ModelMessage<'_>>) {
    let mut at = 1;
    while at < messages.len() {
        if messages[at - 1].role == Role::Tool && messages[at].role == Role::User {
            messages.insert(at, ModelMessage::text(Role::Assistant, "Done."));
        }
        at += 1;
    }
}
