//! Calls and their results.

use super::Rule;
use crate::describe::Model;
use crate::rules::limits::is_call_id;
use std::collections::HashSet;

/// Calls that wait for their results, in the order of the conversation.
#[derive(Default)]
pub(super) struct Calls {
    seen: HashSet<String>,
    open: Vec<(String, String)>,
    found: Vec<(Rule, String)>,
}

impl Calls {
    pub(super) fn call(&mut self, id: &str, at: &str, model: &Model) {
        if !is_call_id(id, model) {
            self.found.push((Rule::CallIdForm, at.to_owned()));
        }
        if !self.seen.insert(id.to_owned()) {
            self.found.push((Rule::RepeatedCallId, at.to_owned()));
        }
        self.open.push((id.to_owned(), at.to_owned()));
    }

    pub(super) fn result(&mut self, id: &str, at: &str) {
        match self.open.iter().position(|(open, _)| open == id) {
            Some(index) => {
                self.open.remove(index);
            }
            None => self.found.push((Rule::ResultWithoutCall, at.to_owned())),
        }
    }

    /// Results are due by now.
    pub(super) fn due(&mut self) {
        self.found.extend(self.open.drain(..).map(|(_, at)| (Rule::CallWithoutResult, at)));
    }

    pub(super) fn end(&mut self) -> Vec<(Rule, String)> {
        self.due();
        std::mem::take(&mut self.found)
    }
}
