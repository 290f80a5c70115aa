//! The list of things to do that an agent keeps.

use std::borrow::Cow;

object! {
    /// One thing to do (reference-storage 6.2). The reference takes any text in all three fields.
    pub struct Todo {
        /// What.
        required "content" content / set_content: Cow<'_, str>,
        /// `pending`, `in_progress`, `completed` or `cancelled`.
        required "status" status / set_status: Cow<'_, str>,
        /// `high`, `medium` or `low`.
        required "priority" priority / set_priority: Cow<'_, str>,
    }
}

impl Todo<'static> {
    /// A thing to do.
    #[must_use]
    pub fn new(content: &str, status: &str, priority: &str) -> Self {
        let mut todo = Todo::default();
        todo.set_content(content.into()).set_status(status.into()).set_priority(priority.into());
        todo
    }
}
