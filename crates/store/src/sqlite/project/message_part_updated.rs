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

    let before: Option<(String, String, Usage)> = context
        .db
        .prepare_cached("SELECT session_id, message_id, data FROM part WHERE id = ?1")
        .and_then(|mut s| s.query_row([&*id], |row| Ok((row.get(0)?, row.get(1)?, Usage::of_row(row.get_ref(2)?)))).optional())
        .map_err(context.failed())?;
    match &before {
        Some((session, owner, _)) if session != context.session || *owner != message => {
            return Err(Error::IdTaken {
                what: "part",
                id: id.into_owned(),
                owner: Some(format!("message {owner} of session {session}")),
            });
        }
        Some(_) => {}
        None => message_exists(context, &message)?,
    }

    let (stored, after) = match hydrate::carried(&part) {
        Some(original) => (original, Usage::default()),
        None => {
            let mut out = String::new();
            part.write_without(&["id", "sessionID", "messageID"], &mut out);
            let after = Usage::of(&part);
            (out.into_bytes(), after)
        }
    };
    context.run(
        "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data)
         VALUES (?1, ?2, ?3, ?4, ?5, CAST(?6 AS TEXT))
         ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
        params![id, message, context.session, time, context.at, stored],
    )?;
    let mut change = after;
    if let Some((_, _, before)) = before {
        change.subtract(&before);
    }
    add(context, context.session, &change)
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
