//! The part `step-finish`: a request to the model ended, and what it cost.

use crate::raw::{Number, Object};
use crate::tokens::TokenUsage;
use std::borrow::Cow;

object! {
    /// A step ended (reference-storage 2.2). A session's usage is the sum of these parts and of nothing else
    /// (reference-storage 1.9).
    pub struct StepFinishPart {
        /// Why the model stopped: `stop`, `length`, `tool-calls`, `content-filter`, `error`, `unknown`.
        required "reason" reason / set_reason: Cow<'_, str>,
        /// The work tree after the step, as a git tree's hash.
        optional "snapshot" snapshot / set_snapshot: Cow<'_, str>,
        /// US dollars. Real files hold negative ones too.
        required "cost" cost / set_cost: Number<'_>,
        /// Tokens of this step.
        required "tokens" tokens / set_tokens: TokenUsage<'_>,
    }
}

impl StepFinishPart<'static> {
    /// The end of a step: why, its cost in US dollars, its tokens.
    #[must_use]
    pub fn new(reason: &str, snapshot: Option<&str>, cost: f64, tokens: TokenUsage<'_>) -> Self {
        let mut part = StepFinishPart::from_object(Object::tagged("type", "step-finish"));
        part.set_reason(reason.into()).set_snapshot(snapshot.map(Cow::Borrowed));
        part.set_cost(Number::from_f64(cost)).set_tokens(tokens);
        part
    }
}
