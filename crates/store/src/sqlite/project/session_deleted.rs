//! `session.deleted`: the row goes, and with it its messages, parts, todos and shares (foreign keys).

use super::Context;
use crate::error::Error;
use annalist_schema::raw::Object;

pub(super) fn project(context: &Context<'_>, _data: &Object<'_>) -> Result<(), Error> {
    context.run("DELETE FROM session WHERE id = ?1", [context.session])?;
    Ok(())
}
