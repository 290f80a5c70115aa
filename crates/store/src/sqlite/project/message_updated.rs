//! `message.updated`: a message is written whole. The first write fixes its time and its session for ever
//! (reference-storage 4.4).

use super::{Context, number, object, text};
use crate::error::Error;
use crate::hydrate;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension as _, params};

const KIND: &str = "message.updated";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let info = object(KIND, data, "info")?;
    let id = text(KIND, &info, "id")?;
    let owner: Option<String> = context
        .db
        .prepare_cached("SELECT session_id FROM message WHERE id = ?1")
        .and_then(|mut s| s.query_row([&*id], |row| row.get(0)).optional())
        .map_err(context.failed())?;
    if let Some(owner) = owner.filter(|owner| owner != context.session) {
        return Err(Error::IdTaken { what: "message", id: id.into_owned(), owner: Some(format!("session {owner}")) });
    }
    let stored = match hydrate::carried(&info) {
        Some(original) => original,
        None => {
            let mut out = String::new();
            info.write_without(&["id", "sessionID"], &mut out);
            out.into_bytes()
        }
    };
    // The cast keeps bytes that are not UTF-8 in a text column, as they were found.
    context.run_below(
        "Session",
        context.session,
        "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?4, CAST(?5 AS TEXT))
         ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
        params![id, context.session, created(context, &info)?, context.at, stored],
    )?;
    Ok(())
}

/// The message's own time, the first half of its order. A message that says none stands behind those before it: at their
/// latest time, or at the event's.
fn created(context: &Context<'_>, info: &Object<'_>) -> Result<Value, Error> {
    let time = info.get("time").and_then(Json::as_object);
    let created = time.as_ref().and_then(|time| time.get("created")).and_then(Json::as_number);
    if let Some(created) = created.filter(|number| number.as_f64().is_finite()) {
        return number(KIND, "info.time.created", &created);
    }
    context
        .db
        .prepare_cached("SELECT coalesce(max(time_created), ?2) FROM message WHERE session_id = ?1")
        .and_then(|mut s| s.query_row(params![context.session, context.at], |row| row.get(0)))
        .map_err(context.failed())
}
