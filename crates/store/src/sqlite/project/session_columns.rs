//! A session's info as columns (reference-storage 1.2), for the two events that write them.

use super::{invalid, number, text};
use crate::error::Error;
use crate::session::clears;
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};
use rusqlite::types::Value;

/// What an absent field does to its column when the session exists already.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Absent {
    /// The column stays as it is: no `session.updated` can clear it by leaving it out.
    Keeps,
    /// The column becomes NULL.
    Clears,
    /// The column becomes 0.
    Zero,
    /// The event is refused.
    Refused,
}

/// A column and what the info says of it.
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) absent: Absent,
    pub(super) value: Option<Value>,
}

/// How a field becomes a value.
#[derive(Clone, Copy)]
enum Form {
    Text,
    Number,
    Json,
    /// An empty value, written where the reference has no way to clear: NULL for us (`archived: 0`, `share.url: ""`).
    ClearableNumber,
    ClearableText,
    /// The same for values that may be empty without having been cleared: how they are spelled tells.
    ClearableJson,
    /// A count of the summary, cleared with its list.
    Count,
}

/// Column, path in the info, form, and what absence means.
const TABLE: &[(&str, &[&str], Form, Absent)] = &[
    ("project_id", &["projectID"], Form::Text, Absent::Refused),
    ("workspace_id", &["workspaceID"], Form::Text, Absent::Clears),
    ("parent_id", &["parentID"], Form::Text, Absent::Keeps),
    ("slug", &["slug"], Form::Text, Absent::Refused),
    ("directory", &["directory"], Form::Text, Absent::Refused),
    ("path", &["path"], Form::Text, Absent::Keeps),
    ("title", &["title"], Form::Text, Absent::Refused),
    ("version", &["version"], Form::Text, Absent::Refused),
    ("share_url", &["share", "url"], Form::ClearableText, Absent::Keeps),
    ("summary_additions", &["summary", "additions"], Form::Count, Absent::Keeps),
    ("summary_deletions", &["summary", "deletions"], Form::Count, Absent::Keeps),
    ("summary_files", &["summary", "files"], Form::Count, Absent::Keeps),
    ("summary_diffs", &["summary", "diffs"], Form::ClearableJson, Absent::Keeps),
    ("metadata", &["metadata"], Form::ClearableJson, Absent::Keeps),
    ("cost", &["cost"], Form::Number, Absent::Zero),
    ("tokens_input", &["tokens", "input"], Form::Number, Absent::Zero),
    ("tokens_output", &["tokens", "output"], Form::Number, Absent::Zero),
    ("tokens_reasoning", &["tokens", "reasoning"], Form::Number, Absent::Zero),
    ("tokens_cache_read", &["tokens", "cache", "read"], Form::Number, Absent::Zero),
    ("tokens_cache_write", &["tokens", "cache", "write"], Form::Number, Absent::Zero),
    ("revert", &["revert"], Form::Json, Absent::Clears),
    ("permission", &["permission"], Form::ClearableJson, Absent::Keeps),
    ("agent", &["agent"], Form::Text, Absent::Keeps),
    ("model", &["model"], Form::Json, Absent::Keeps),
    ("time_created", &["time", "created"], Form::Number, Absent::Refused),
    ("time_updated", &["time", "updated"], Form::Number, Absent::Refused),
    ("time_compacting", &["time", "compacting"], Form::Number, Absent::Keeps),
    ("time_archived", &["time", "archived"], Form::ClearableNumber, Absent::Keeps),
];

/// Reads all columns but the id out of an info.
pub(super) fn columns(kind: &str, info: &Object<'_>) -> Result<Vec<Column>, Error> {
    let no_summary = lookup(info, &["summary", "diffs"]).is_some_and(|diffs| clears(&diffs));
    TABLE
        .iter()
        .map(|(name, path, form, absent)| {
            let found = lookup(info, path);
            let value = match (form, found) {
                (Form::Count, Some(_)) if no_summary => Some(Value::Null),
                (_, found) => found.map(|json| value(kind, path, *form, &json)).transpose()?,
            };
            if value.is_none() && *absent == Absent::Refused {
                return Err(invalid(kind, format!("info.{} is missing", path.join("."))));
            }
            Ok(Column { name, absent: *absent, value })
        })
        .collect()
}

/// Which of the columns that absence keeps an info writes: a bit each, in the order of the table.
pub(super) fn carried(kind: &str, info: &Object<'_>) -> Result<u32, Error> {
    const { assert!(TABLE.len() <= 32) };
    let columns = columns(kind, info)?;
    let carried = columns.iter().enumerate().filter(|(_, c)| c.absent == Absent::Keeps && c.value.is_some());
    Ok(carried.fold(0, |bits, (at, _)| bits | 1 << at))
}

/// The value at a path. `null` counts as absent, as it does for the reference's own encoder.
fn lookup(info: &Object<'_>, path: &[&str]) -> Option<Json<'static>> {
    let (first, rest) = path.split_first()?;
    let json = info.get(first).filter(|json| json.kind() != Kind::Null)?;
    match rest {
        [] => Some(json.clone().into_static()),
        rest => lookup(&json.as_object()?, rest),
    }
}

fn value(kind: &str, path: &[&str], form: Form, json: &Json<'_>) -> Result<Value, Error> {
    let name = path.join(".");
    let wrong = |wanted: &str| invalid(kind, format!("info.{name} is {}, not {wanted}", json.kind()));
    Ok(match form {
        Form::ClearableJson if clears(json) => Value::Null,
        Form::Json | Form::ClearableJson => Value::Text(json.as_str().to_owned()),
        Form::Text => Value::Text(json.as_text().ok_or_else(|| wrong("a string"))?.into_owned()),
        Form::ClearableText => match json.as_text().ok_or_else(|| wrong("a string"))? {
            text if text.is_empty() => Value::Null,
            text => Value::Text(text.into_owned()),
        },
        Form::Number | Form::Count => number(kind, &name, &json.as_number().ok_or_else(|| wrong("a number"))?)?,
        Form::ClearableNumber => match number(kind, &name, &json.as_number().ok_or_else(|| wrong("a number"))?)? {
            Value::Integer(0) => Value::Null,
            number => number,
        },
    })
}

/// The info's own id, which must be the session's.
pub(super) fn checked_id(kind: &str, session: &str, info: &Object<'_>) -> Result<(), Error> {
    let id = text(kind, info, "id")?;
    if id == session { Ok(()) } else { Err(invalid(kind, format!("info.id is {id}, in the log of {session}"))) }
}
