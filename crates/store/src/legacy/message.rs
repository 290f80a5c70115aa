//! A message's file and its parts, as events.

use super::batch::{Batches, Item};
use super::read::{object, written_ms};
use super::tree::{Found, FoundMessage, Tree};
use crate::error::Error;
use annalist_schema::raw::Object;
use annalist_schema::{Json, id};

/// Reads a message with its parts into the batches. Answers whether its parts were looked at.
pub(super) fn read(tree: &Tree, found: &Found, message: &FoundMessage, batches: &mut Batches<'_>) -> Result<bool, Error> {
    if id::check(id::Kind::Message, &message.id).is_err() {
        let skipped = tree.skipped(&message.file, "its name is no message's id");
        batches.skipped().push(skipped);
        return Ok(false);
    }
    let parts = tree.parts(found, &message.id, batches.skipped());
    let mut info = match object(&message.file) {
        Ok(mut info) => {
            info.set_text("id", &message.id);
            info
        }
        Err(problem) => {
            let reason = if parts.is_empty() { problem.clone() } else { format!("{problem}; a stand-in carries its parts") };
            let skipped = tree.skipped(&message.file, &reason);
            batches.skipped().push(skipped);
            if parts.is_empty() {
                return Ok(true);
            }
            stand_in(message, &problem)
        }
    };
    let created = info.get("time").and_then(Json::as_object).and_then(|time| time.get("created")?.as_number()?.as_i64());
    let time = created.unwrap_or_else(|| made_ms(message));
    info.set_text("sessionID", &found.id);
    batches.push(Item::message(&message.id, &message.file, info, &found.id))?;
    for part in parts {
        let read = match id::check(id::Kind::Part, &part.id) {
            Ok(()) => object(&part.file),
            Err(wrong) => Err(format!("its name is no part's id: {wrong}")),
        };
        match read {
            Ok(mut object) => {
                object.set_text("id", &part.id);
                object.set_text("sessionID", &found.id);
                object.set_text("messageID", &message.id);
                batches.push(Item::part(&part.id, &message.id, &part.file, object, &found.id, time))?;
            }
            Err(problem) => {
                let skipped = tree.skipped(&part.file, &problem);
                batches.skipped().push(skipped);
            }
        }
    }
    Ok(true)
}

/// When a message was made, by its id; the file's own time tells which of the possible times.
fn made_ms(message: &FoundMessage) -> i64 {
    let written = written_ms(&message.file);
    id::time_near(&message.id, written).unwrap_or(written)
}

/// A whole assistant message with an error, so that every program can list it and none sends it to a model.
fn stand_in(message: &FoundMessage, problem: &str) -> Object<'static> {
    let object = |fields: &[(&str, Json<'static>)]| {
        let mut object = Object::new();
        for (name, value) in fields {
            object.set(name, value.clone());
        }
        object
    };
    let time = made_ms(message);
    let zero = || Json::from(0_i64);
    let cache = object(&[("read", zero()), ("write", zero())]);
    let tokens = object(&[("input", zero()), ("output", zero()), ("reasoning", zero()), ("cache", cache.into())]);
    let told = object(&[("message", Json::text(&format!("The file of this message cannot be read: {problem}")))]);
    object(&[
        ("id", Json::text(&message.id)),
        ("role", Json::text("assistant")),
        ("time", object(&[("created", time.into()), ("completed", time.into())]).into()),
        ("error", object(&[("name", Json::text("UnknownError")), ("data", told.into())]).into()),
        ("parentID", Json::text("msg_unknown")),
        ("modelID", Json::text("")),
        ("providerID", Json::text("")),
        ("mode", Json::text("")),
        ("agent", Json::text("")),
        ("path", object(&[("cwd", Json::text("")), ("root", Json::text(""))]).into()),
        ("cost", zero()),
        ("tokens", tokens.into()),
    ])
}
