//! `message.part.updated`: a part is written whole. Its first write fixes its place for ever: the time (the event's `time`),
//! the message and the session (reference-storage 4.4). Usage of a `step-finish` goes to the session by difference (1.9).

use super::usage::{Usage, add};
use super::{Context, invalid, number, object, text};
use crate::error::Error;
use crate::hydrate;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use rusqlite::{OptionalExtension as _, params};

const KIND: &str = "message.part.updated";

pub(super) fn project(context: &Context<'_>, data: &Object<'_>) -> Result<(), Error> {
    let part = object(KIND, data, "part")?;
    let id = text(KIND, &part, "id")?;
    let message = text(KIND, &part, "messageID")?;
    let time = data.get("time").and_then(Json::as_number).ok_or_else(|| invalid(KIND, "time is missing or no number"))?;
    let time = number(KIND, "time", &time)?;

    let before = before(context, &id, &message)?;
    if before.is_none() {
        message_exists(context, &message)?;
    }

    let (stored, after) = match hydrate::carried(&part) {
        Some(original) => (original, Usage::default()),
        None => {
            let mut out = String::with_capacity(part.size());
            part.write_without(&["id", "sessionID", "messageID"], &mut out);
            let after = Usage::of(&part);
            (out.into_bytes(), after)
        }
    };
    let mut change = after;
    // The cast keeps bytes that are not UTF-8 in a text column, as they were found.
    match before {
        Some((rowid, before)) => {
            change.subtract(&before);
            let sql = "UPDATE part SET data = CAST(?1 AS TEXT), time_updated = ?2 WHERE rowid = ?3";
            context.run(sql, params![stored, context.at, rowid])?;
        }
        None => {
            context.run(
                "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
                 VALUES (?1, ?2, ?3, ?4, ?5, CAST(?6 AS TEXT))",
                params![id, message, context.session, time, context.at, stored],
            )?;
        }
    }
    add(context, context.session, &change)
}

/// The row of a part and what it costs; nothing if it is new.
fn before(context: &Context<'_>, id: &str, message: &str) -> Result<Option<(i64, Usage)>, Error> {
    let failed = context.failed();
    let mut statement =
        context.db.prepare_cached("SELECT rowid, data, session_id, message_id FROM part WHERE id = ?1").map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else { return Ok(None) };
    let owner = |at: usize| row.get_ref(at).map(super::super::value::text).map_err(&failed);
    let (session, of) = (owner(2)?, owner(3)?);
    if session != context.session || of != message {
        let owner = Some(format!("message {of} of session {session}"));
        return Err(Error::IdTaken { what: "part", id: id.to_owned(), owner });
    }
    let usage = Usage::of_row(row.get_ref(1).map_err(&failed)?);
    Ok(Some((row.get(0).map_err(&failed)?, usage)))
}

fn message_exists(context: &Context<'_>, message: &str) -> Result<(), Error> {
    let found: Option<i64> = context
        .db
        .prepare_cached("SELECT 1 FROM message WHERE id = ?1 AND session_id = ?2")
        .and_then(|mut s| s.query_row(params![message, context.session], |row| row.get(0)).optional())
        .map_err(context.failed())?;
    match found {
        Some(_) => Ok(()),
        None => Err(Error::NotFound { what: "Message", id: message.to_owned() }),
    }
}
