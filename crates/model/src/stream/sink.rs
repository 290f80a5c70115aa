//! Where decoded events wait until somebody takes them.

use super::failure::beginning;
use super::{Event, Failure, Finish};
use crate::usage::Usage;
use annalist_schema::{Json, Object};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

pub(super) struct Sink {
    events: VecDeque<Event>,
    /// Nothing may follow.
    over: bool,
    /// Ids of calls, given and made up.
    ids: HashSet<Arc<str>>,
    /// Of made-up ids.
    prefix: String,
    /// Billed units that Copilot tells in any chunk.
    nano_aiu: Option<f64>,
}

impl Sink {
    pub(super) fn new(prefix: String) -> Self {
        Sink { events: VecDeque::from([Event::StartStep]), over: false, ids: HashSet::new(), prefix, nano_aiu: None }
    }

    pub(super) fn push(&mut self, event: Event) {
        if !self.over {
            self.events.push_back(event);
        }
    }

    pub(super) fn pop(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    pub(super) fn is_over(&self) -> bool {
        self.over
    }

    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn finish(&mut self, reason: Finish, raw: Option<String>, mut usage: Usage) {
        usage.nano_aiu = self.nano_aiu;
        self.push(Event::FinishStep { reason, raw, usage });
        self.over = true;
    }

    pub(super) fn fail(&mut self, failure: Failure) {
        self.push(Event::Error(failure));
        self.over = true;
    }

    pub(super) fn malformed(&mut self, what: &str, data: &str) {
        self.fail(Failure::Malformed { what: what.to_owned(), data: beginning(data, 2000) });
    }

    pub(super) fn cut(&mut self, mut usage: Usage) {
        usage.nano_aiu = self.nano_aiu;
        self.fail(Failure::Cut { usage });
    }

    pub(super) fn provider(&mut self, error: &Json<'_>) {
        self.fail(Failure::Provider { error: error.clone().into_static() });
    }

    /// An id of a call that no other call of this answer has. Two calls under one id would get one result.
    pub(super) fn call_id(&mut self, given: Option<String>) -> Arc<str> {
        let base = given.unwrap_or_else(|| format!("{}_{}", self.prefix, self.ids.len()));
        let mut id: Arc<str> = base.as_str().into();
        let mut again = 1;
        while !self.ids.insert(id.clone()) {
            id = format!("{base}_{again}").into();
            again += 1;
        }
        id
    }

    pub(super) fn note_copilot(&mut self, chunk: &Object<'_>) {
        let units = |of: &Object<'_>| {
            let units = super::object(of, "copilot_usage")?.get("total_nano_aiu")?.as_number()?.as_f64();
            (units.is_finite() && units >= 0.0).then_some(units)
        };
        let found = units(chunk).or_else(|| super::object(chunk, "response").as_ref().and_then(units));
        self.nano_aiu = found.or(self.nano_aiu);
    }
}
