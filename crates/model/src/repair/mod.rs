//! Changes that make a conversation one that the provider accepts, each told in a report.
//!
//! A change is made only where a [rule](crate::rules) demands it. What is changed depends on what stands before it in the
//! conversation and not on what comes after, as far as the rules allow: a provider's cache of an earlier request stays
//! good. The same conversation always gives the same result.

mod blank;
mod calls;
mod files;
mod ids;
mod inputs;
mod reasoning;
mod report;
mod roles;
mod totals;

pub use report::{Change, Repair, Report};

use crate::describe::{Model, Protocol};
use crate::neutral::ModelMessage;

/// Repairs a conversation for the provider of a model. Never fails; what is already right stays as it is.
pub fn repair(messages: &mut Vec<ModelMessage<'_>>, model: &Model) -> Report {
    let mut report = Report::default();
    inputs::repair(messages, model, &mut report);
    calls::provider_executed(messages, model, &mut report);
    files::repair(messages, model, &mut report);
    blank::repair(messages, model, &mut report);
    calls::repair(messages, &mut report);
    if model.protocol == Protocol::Google {
        calls::one_response(messages, &mut report);
    }
    // Before it is looked at what stands beside what, and again for what is emptied then.
    blank::empty(messages, model, &mut report);
    reasoning::repair(messages, model, &mut report);
    blank::empty(messages, model, &mut report);
    ids::repair(messages, model, &mut report);
    roles::repair(messages, model, &mut report);
    totals::repair(messages, model, &mut report);
    report
}
