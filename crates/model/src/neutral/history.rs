//! From stored messages to neutral ones.

use super::{ModelMessage, assistant, user};
use crate::describe::Model;
use crate::members::Members;
use annalist_schema::Json;

/// What a caller may ask of the conversion.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Say that there was an image or a PDF instead of sending it: what a conversation that became too large for its
    /// provider can do.
    pub strip_media: bool,
    /// Leave out the thoughts before this message. Some providers bind thoughts to all that stood before them and refuse
    /// them once the system prompt has changed.
    pub drop_reasoning_before: Option<String>,
    /// Do what the reference does and nothing else: ignored text of assistants is sent, and nothing is repaired. The
    /// provider may refuse the result.
    pub as_reference: bool,
}

/// Where a conversion is.
pub(super) struct Context<'m> {
    pub(super) model: &'m Model,
    pub(super) settings: &'m Settings,
    /// The message to drop reasoning before has not come yet.
    pub(super) without_reasoning: bool,
}

/// Messages as stored, oldest first and after `filter_compacted`, as messages for a model (reference 1.2-1.4).
///
/// Each is the text of its info and the texts of its parts, in order. What cannot be read is left out; nothing fails.
pub fn to_model_messages<'a, 'j, P>(
    history: impl IntoIterator<Item = (&'a Json<'j>, P)>,
    model: &Model,
    settings: &Settings,
) -> Vec<ModelMessage<'a>>
where
    'j: 'a,
    P: IntoIterator<Item = &'a Json<'j>>,
{
    let mut out = Vec::new();
    let mut context = Context { model, settings, without_reasoning: settings.drop_reasoning_before.is_some() };
    let mut parts = Vec::new();
    for (info, texts) in history {
        let info = Members::of(info.as_str(), Some("error"));
        let id = info.string("id").unwrap_or_default();
        if settings.drop_reasoning_before.as_deref() == Some(&*id) {
            context.without_reasoning = false;
        }
        parts.clear();
        parts.extend(texts.into_iter().map(|text| Members::of(text.as_str(), Some("state"))));
        match info.string("role").as_deref() {
            Some("user") => user::convert(id, &parts, &context, &mut out),
            Some("assistant") => assistant::convert(id, &info, &parts, &context, &mut out),
            // A role of a later version is nobody that a provider knows.
            _ => {}
        }
    }
    out
}
