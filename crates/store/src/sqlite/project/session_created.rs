//! `session.created`: a new row (reference-storage 4.4).

use super::session_columns::{Absent, checked_id, columns};
use super::{Context, object};
use crate::error::Error;
use annalist_schema::raw::Object;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

const KIND: &str = "session.created";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let info = object(KIND, data, "info")?;
    checked_id(KIND, context.session, &info)?;
    let columns = columns(KIND, &info)?;
    let names = columns.iter().map(|c| c.name).collect::<Vec<_>>().join(", ");
    let marks = vec!["?"; columns.len() + 1].join(", ");
    let id = Value::Text(context.session.to_owned());
    let values = columns.into_iter().map(|c| {
        c.value.unwrap_or(match c.absent {
            Absent::Zero => Value::Integer(0),
            _ => Value::Null,
        })
    });
    let sql = format!("INSERT INTO session (id, {names}) VALUES ({marks}) ON CONFLICT (id) DO NOTHING");
    let project = info.text("projectID").unwrap_or_default();
    let inserted = context.run_below("Project", &project, &sql, params_from_iter(std::iter::once(id).chain(values)))?;
    if inserted == 0 {
        return Err(Error::IdTaken { what: "session", id: context.session.to_owned(), owner: None });
    }
    if let Some(workspace) = info.text("workspaceID") {
        context.run("UPDATE workspace SET time_used = ?1 WHERE id = ?2", (context.at, workspace))?;
    }
    Ok(())
}
