//! What the reference does to neutral messages for a provider (reference 1.6), in its order.

mod blank;
mod cache;
mod call_id;
mod metadata;
mod unsupported;

pub(crate) use call_id::for_provider as call_id;
pub(crate) use call_id::separate;
pub(crate) use unsupported::cannot_read;

use crate::describe::Model;
use crate::neutral::ModelMessage;

/// Applies all of it but the last. Halves of surrogate pairs (the reference's second step) are replaced when texts are written.
pub fn transform(messages: &mut Vec<ModelMessage<'_>>, model: &Model) {
    unsupported::replace(messages, model);
    blank::drop(messages, model);
    call_id::rename(messages, model);
    metadata::rename(messages, model);
}

/// What the reference does last, when nothing more is added or left out.
pub(crate) fn finish(messages: &mut Vec<ModelMessage<'_>>, model: &Model) {
    if model.is_mistral() {
        separate(messages);
    } else {
        cache::mark(messages, model);
    }
}
