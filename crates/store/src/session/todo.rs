//! A session's todo list (reference-storage 6.2): it has no durable event, only rows.

use super::expected;
use crate::backend::Durability;
use crate::pending::Pending;
use crate::row::TodoRow;
use crate::store::Store;
use annalist_schema::id;

impl Store {
    /// Replaces the whole list, in one transaction.
    ///
    /// Fails with [`crate::Error::NotFound`] if the session is not there.
    pub fn set_todo(&self, session: &str, todos: Vec<TodoRow>) -> Pending<()> {
        let session = session.to_owned();
        self.write(Durability::Power, move |tx| {
            expected(tx, &session)?;
            tx.replace_todos(&session, &todos, id::now_ms())
        })
    }
}
