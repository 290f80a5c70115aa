//! What the reference does to neutral messages for a provider (reference 1.6), in its order.

mod blank;
mod cache;
mod call_id;
mod unsupported;

pub use call_id::for_provider as call_id;

use crate::describe::Model;
use crate::neutral::ModelMessage;

/// Applies all of it. Halves of surrogate pairs (the reference's second step) are replaced when texts are written.
pub fn transform(messages: &mut Vec<ModelMessage<'_>>, model: &Model) {
    unsupported::replace(messages, model);
    blank::drop(messages, model);
    call_id::rename(messages, model);
    if model.is_mistral() {
        call_id::separate(messages);
        return;
    }
    cache::mark(messages, model);
}
