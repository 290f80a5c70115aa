//! Empty pieces that some providers refuse (reference 1.6, 3).

use crate::describe::Model;
use crate::neutral::{Block, Content, ModelMessage, Role};

pub(super) fn drop(messages: &mut Vec<ModelMessage<'_>>, model: &Model) {
    let bedrock = match model.npm.as_str() {
        "@ai-sdk/anthropic" => false,
        "@ai-sdk/amazon-bedrock" => true,
        _ => return,
    };
    for message in messages.iter_mut().filter(|message| message.role != Role::System) {
        message.content.retain(|content| match &content.block {
            Block::Text(text) => !text.is_empty(),
            Block::Reasoning(_) if bedrock => ["signature", "redactedContent", "redactedData"]
                .iter()
                .any(|key| has(content, &[&model.provider_id, "bedrock"], key)),
            Block::Reasoning(text) => {
                !text.is_blank() || ["signature", "redactedData"].iter().any(|key| has(content, &["anthropic"], key))
            }
            _ => true,
        });
    }
    messages.retain(|message| !message.content.is_empty());
}

fn has(content: &Content<'_>, providers: &[&str], key: &str) -> bool {
    providers.iter().any(|provider| content.metadata_of(provider, key).is_some())
}
