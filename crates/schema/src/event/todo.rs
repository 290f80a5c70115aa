//! Events of the list of things to do.

use crate::todo::Todo;
use std::borrow::Cow;

object! {
    /// `todo.updated`: a session's list was replaced.
    pub struct TodoUpdated {
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// The list as it is now.
        required "todos" todos / set_todos: Vec<Todo<'_>>,
    }
}
