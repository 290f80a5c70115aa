//! Who begins, and who ends.

use super::{Change, Report};
use crate::describe::Model;
use crate::neutral::{ModelMessage, Role};
use crate::rules::{Rule, limits};

/// Said by the person where an answer would stand first.
const BEFORE: &str = "(What was said before is left out.)";
/// Said by the person where an answer would stand last.
const AFTER: &str = "Continue.";

pub(super) fn repair(messages: &mut Vec<ModelMessage<'_>>, model: &Model, report: &mut Report) {
    let first = messages.iter().position(|message| message.role != Role::System);
    let Some(first) = first else {
        return add(messages, messages.len(), Rule::NoMessages, AFTER, report);
    };
    if limits::begins_with_user(model) && messages[first].role != Role::User {
        add(messages, first, Rule::FirstRole, BEFORE, report);
    }
    if limits::ends_with_user(model) && messages.last().is_some_and(|message| message.role == Role::Assistant) {
        add(messages, messages.len(), Rule::LastRole, AFTER, report);
    }
}

fn add(messages: &mut Vec<ModelMessage<'_>>, at: usize, rule: Rule, text: &'static str, report: &mut Report) {
    messages.insert(at, ModelMessage::text(Role::User, text));
    report.add(rule, "", "", Change::Added { what: format!("{text:?}") });
}
