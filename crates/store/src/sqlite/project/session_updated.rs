//! `session.updated`: the row as its info says, where it says something (reference-storage 1.2, "partial update").

use super::session_columns::{Absent, checked_id, columns};
use super::{Context, object};
use crate::error::Error;
use annalist_schema::raw::Object;
use rusqlite::params_from_iter;
use rusqlite::types::Value;

const KIND: &str = "session.updated";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let info = object(KIND, data, "info")?;
    checked_id(KIND, context.session, &info)?;
    let mut assignments = Vec::new();
    let mut values = Vec::new();
    for column in columns(KIND, &info)? {
        let value = match (column.value, column.absent) {
            (Some(value), _) => value,
            (None, Absent::Keeps | Absent::Refused) => continue,
            (None, Absent::Clears) => Value::Null,
            (None, Absent::Zero) => Value::Integer(0),
        };
        values.push(value);
        assignments.push(format!("{} = ?{}", column.name, values.len()));
    }
    values.push(Value::Text(context.session.to_owned()));
    let sql = format!("UPDATE session SET {} WHERE id = ?{}", assignments.join(", "), values.len());
    // A session without a row is no error: the event is kept, as the reference keeps it.
    let project = info.text("projectID").unwrap_or_default();
    context.run_below("Project", &project, &sql, params_from_iter(values))?;
    Ok(())
}
