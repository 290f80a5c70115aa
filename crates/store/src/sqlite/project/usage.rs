//! What a session's steps cost, kept as sums on its row (reference-storage 1.9).

use super::Context;
use crate::error::Error;
use annalist_schema::raw::Object;
use annalist_schema::{Count, Field as _, Json};
use rusqlite::params;
use rusqlite::types::ValueRef;

/// The usage of one part, or a difference of two. Only `step-finish` parts have any.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::sqlite) struct Usage {
    pub(in crate::sqlite) cost: f64,
    /// input, output, reasoning, cache read, cache write
    pub(in crate::sqlite) tokens: [i64; 5],
}

impl Usage {
    /// The usage of a stored part. Bytes that cannot be read cost nothing.
    pub(in crate::sqlite) fn of_row(data: ValueRef<'_>) -> Self {
        let (ValueRef::Text(bytes) | ValueRef::Blob(bytes)) = data else { return Usage::default() };
        // Most updates are of other parts, and theirs may be megabytes: look before splitting.
        if memchr::memmem::find(bytes, b"step-finish").is_none() {
            return Usage::default();
        }
        let part = std::str::from_utf8(bytes).ok().and_then(|text| Object::parse(text).ok());
        part.map(|part| Usage::of(&part)).unwrap_or_default()
    }

    /// The usage of a part. One without `cost` or `tokens` has none; counts that are negative or no numbers count as 0
    /// (real files hold them), the part keeps them as they are.
    pub(super) fn of(part: &Object<'_>) -> Self {
        if part.text("type").as_deref() != Some("step-finish") {
            return Usage::default();
        }
        let cost = part.get("cost").and_then(Json::as_number);
        let tokens = part.get("tokens").and_then(Json::as_object);
        let (Some(cost), Some(tokens)) = (cost, tokens) else { return Usage::default() };
        let cost = cost.as_f64();
        let cache = tokens.get("cache").and_then(Json::as_object).unwrap_or_default();
        Usage {
            cost: if cost.is_finite() { cost } else { 0.0 },
            tokens: [
                count(&tokens, "input"),
                count(&tokens, "output"),
                count(&tokens, "reasoning"),
                count(&cache, "read"),
                count(&cache, "write"),
            ],
        }
    }

    pub(super) fn subtract(&mut self, other: &Usage) {
        self.cost -= other.cost;
        for (own, other) in self.tokens.iter_mut().zip(other.tokens) {
            *own = own.saturating_sub(other);
        }
    }
}

fn count(tokens: &Object<'_>, name: &str) -> i64 {
    let count = tokens.get(name).and_then(|json| Count::read(json.borrowed()).ok());
    count.map_or(0, |count| i64::try_from(count.clamped()).unwrap_or(i64::MAX))
}

/// Adds to a session's sums. `time_updated` does not move: nothing was said in the session.
pub(super) fn add(context: &Context<'_>, session: &str, change: &Usage) -> Result<(), Error> {
    if *change == Usage::default() {
        return Ok(());
    }
    let [input, output, reasoning, read, write] = change.tokens;
    context.run(
        "UPDATE session SET cost = cost + ?1, tokens_input = tokens_input + ?2, tokens_output = tokens_output + ?3,
         tokens_reasoning = tokens_reasoning + ?4, tokens_cache_read = tokens_cache_read + ?5,
         tokens_cache_write = tokens_cache_write + ?6 WHERE id = ?7",
        params![change.cost, input, output, reasoning, read, write, session],
    )?;
    Ok(())
}
