//! Where the provider is to cache (reference 1.6, 7): the first two system messages and the last two others.

use crate::describe::{Model, Protocol};
use crate::neutral::{ModelMessage, Role};

pub(super) fn mark(messages: &mut [ModelMessage<'_>], model: &Model) {
    if !is_wanted(model) {
        return;
    }
    let system = |message: &&mut ModelMessage<'_>| message.role == Role::System;
    messages.iter_mut().filter(system).take(2).for_each(|message| message.cache = true);
    messages.iter_mut().rev().filter(|message| message.role != Role::System).take(2).for_each(|message| message.cache = true);
}

fn is_wanted(model: &Model) -> bool {
    if model.npm == "@ai-sdk/gateway" || (model.protocol == Protocol::Anthropic && model.options.has("cacheControl")) {
        return false;
    }
    matches!(model.provider_id.as_str(), "anthropic" | "google-vertex-anthropic")
        || matches!(model.npm.as_str(), "@ai-sdk/anthropic" | "@ai-sdk/alibaba")
        || model.is_of(&["anthropic", "claude"])
}
