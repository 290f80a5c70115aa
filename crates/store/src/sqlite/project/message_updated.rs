//! `message.updated`: a message is written whole. The first write fixes its time and its session for ever
//! (reference-storage 4.4).

use super::{Context, invalid, number, object, text};
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
    context.run(
        "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?4, CAST(?5 AS TEXT))
         ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
        params![id, context.session, created(&info)?, context.at, stored],
    )?;
    Ok(())
}

fn created(info: &Object<'_>) -> Result<Value, Error> {
    let time = info.get("time").and_then(Json::as_object);
    let created = time.as_ref().and_then(|time| time.get("created"));
    let created = created.and_then(Json::as_number).ok_or_else(|| invalid(KIND, "info.time.created is missing or no number"))?;
    number(KIND, "info.time.created", &created)
}
