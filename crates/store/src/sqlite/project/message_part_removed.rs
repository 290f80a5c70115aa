//! `message.part.removed`: a part goes, and what it cost leaves the session's sums (reference-storage 1.9). Removing what is
//! not there is no error: an emptied event looks exactly like that.

use super::usage::{Usage, add};
use super::{Context, text};
use crate::error::Error;
use annalist_schema::raw::Object;
use rusqlite::{OptionalExtension as _, params};

const KIND: &str = "message.part.removed";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let id = text(KIND, data, "partID")?;
    let before: Option<Usage> = context
        .db
        .prepare_cached("SELECT data FROM part WHERE id = ?1 AND session_id = ?2")
        .and_then(|mut s| s.query_row(params![id, context.session], |row| Ok(Usage::of_row(row.get_ref(0)?))).optional())
        .map_err(context.failed())?;
    let Some(before) = before else { return Ok(()) };
    let mut change = Usage::default();
    change.subtract(&before);
    add(context, context.session, &change)?;
    context.run("DELETE FROM part WHERE id = ?1 AND session_id = ?2", params![id, context.session])?;
    Ok(())
}
