//! Metadata under the key of the protocol (reference 1.6, 8).

use crate::describe::{Model, Protocol};
use crate::neutral::ModelMessage;
use annalist_schema::Json;
use annalist_schema::raw::Object;

/// What a provider said under its own name, or that of its package, is put under the name that the wire reads.
pub(super) fn rename(messages: &mut [ModelMessage<'_>], model: &Model) {
    // Chat completions read nothing under a name of its own.
    if model.protocol == Protocol::Chat {
        return;
    }
    let own = model.protocol.metadata_key();
    let package = match model.protocol {
        Protocol::Responses => "azure",
        Protocol::Google => "vertex",
        Protocol::Chat | Protocol::Anthropic => own,
    };
    let others: Vec<&str> = [model.provider_id.as_str(), package].into_iter().filter(|key| *key != own).collect();
    if others.is_empty() {
        return;
    }
    for content in messages.iter_mut().flat_map(|message| &mut message.content) {
        let Some(all) = content.metadata.as_ref().and_then(Json::as_object) else { continue };
        if all.has(own) {
            continue;
        }
        if let Some(value) = others.iter().find_map(|key| all.get(key)) {
            let mut renamed = Object::new();
            renamed.set(own, value.clone().into_static());
            content.metadata = Some(Json::from(renamed));
        }
    }
}
