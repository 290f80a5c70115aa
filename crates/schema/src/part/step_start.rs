//! The part `step-start`: a request to the model begins.

use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// A step begins (reference-storage 2.2).
    pub struct StepStartPart {
        /// The work tree before the step, as a git tree's hash; absent outside of git or without snapshots.
        optional "snapshot" snapshot / set_snapshot: Cow<'_, str>,
    }
}

impl StepStartPart<'static> {
    /// The beginning of a step.
    #[must_use]
    pub fn new(snapshot: Option<&str>) -> Self {
        let mut part = StepStartPart::from_object(Object::tagged("type", "step-start"));
        part.set_snapshot(snapshot.map(Cow::Borrowed));
        part
    }
}
