//! `message.removed`: a message and its parts go, and what they cost leaves the session's sums (reference-storage 1.9).

use super::usage::{Usage, add};
use super::{Context, text};
use crate::error::Error;
use annalist_schema::raw::Object;
use rusqlite::params;

const KIND: &str = "message.removed";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let id = text(KIND, data, "messageID")?;
    let mut change = Usage::default();
    {
        let mut statement = context
            .db
            .prepare_cached("SELECT p.data FROM message m JOIN part p ON p.message_id = m.id WHERE m.id = ?1 AND m.session_id = ?2")
            .map_err(context.failed())?;
        let mut rows = statement.query(params![id, context.session]).map_err(context.failed())?;
        while let Some(row) = rows.next().map_err(context.failed())? {
            change.subtract(&Usage::of_row(row.get_ref(0).map_err(context.failed())?));
        }
    }
    add(context, context.session, &change)?;
    context.run("DELETE FROM message WHERE id = ?1 AND session_id = ?2", params![id, context.session])?;
    Ok(())
}
