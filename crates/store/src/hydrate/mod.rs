//! From rows to what a reader sees: the stored JSON with its ids put back, or, where the bytes are no JSON, a stand-in that
//! says so and carries them (design G6).

mod session;

pub use session::session;
pub(crate) use session::{fold, without_report};

use crate::row::{MessageRow, PartRow, Stamp};
use annalist_schema::raw::Object;
use annalist_schema::{Json, Number};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The key of `metadata` that is ours (sharing rules: an object, never a scalar).
pub const OURS: &str = "annalist";

/// A message's info: the stored object, then `id` and `sessionID`, as JavaScript's `{...data, id, sessionID}`.
#[must_use]
pub fn message(row: &MessageRow<'_>) -> Json<'static> {
    message_object(row).into()
}

/// The same, split.
pub(crate) fn message_object<'r>(row: &'r MessageRow<'_>) -> Object<'r> {
    match object(&row.data) {
        Ok(mut info) => {
            info.set_text("id", &row.id);
            info.set_text("sessionID", &row.session);
            info
        }
        Err(problem) => message_stand_in(row, &problem),
    }
}

/// A part: the stored object, then `id`, `sessionID` and `messageID`.
#[must_use]
pub fn part(row: &PartRow<'_>) -> Json<'static> {
    part_object(row).into()
}

/// The same, split.
pub(crate) fn part_object<'r>(row: &'r PartRow<'_>) -> Object<'r> {
    match object(&row.data) {
        Ok(mut part) => {
            part.set_text("id", &row.id);
            part.set_text("sessionID", &row.session);
            part.set_text("messageID", &row.message);
            part
        }
        Err(problem) => part_stand_in(row, &problem),
    }
}

fn object(data: &[u8]) -> Result<Object<'_>, String> {
    let text = std::str::from_utf8(data).map_err(|e| format!("not UTF-8 at byte {}", e.valid_up_to()))?;
    Object::parse(text).map_err(|e| e.to_string())
}

/// `{"annalist":{"problem":...,"data":base64}}`
fn original(problem: &str, data: &[u8]) -> Object<'static> {
    let mut ours = Object::new();
    ours.set_text("problem", problem);
    ours.set_text("data", &STANDARD.encode(data));
    let mut metadata = Object::new();
    metadata.set(OURS, ours);
    metadata
}

/// An ignored, empty text part: people see that something is there, no model is told.
fn part_stand_in(row: &PartRow<'_>, problem: &str) -> Object<'static> {
    let mut part = Object::new();
    part.set_text("type", "text");
    part.set_text("text", "");
    part.set("ignored", true);
    part.set("metadata", original(problem, &row.data));
    part.set_text("id", &row.id);
    part.set_text("sessionID", &row.session);
    part.set_text("messageID", &row.message);
    part
}

/// An assistant message with an error: complete, so that no reader stumbles, and left out of model requests.
fn message_stand_in(row: &MessageRow<'_>, problem: &str) -> Object<'static> {
    let text = |value: &str| Json::text(value);
    let mut path = Object::new();
    path.set("cwd", text(""));
    path.set("root", text(""));
    let mut cache = Object::new();
    cache.set("read", 0_i64);
    cache.set("write", 0_i64);
    let mut tokens = Object::new();
    for name in ["input", "output", "reasoning"] {
        tokens.set(name, 0_i64);
    }
    tokens.set("cache", cache);
    let mut data = Object::new();
    data.set_text("message", &format!("This message's stored data cannot be read: {problem}"));
    let mut error = Object::new();
    error.set_text("name", "UnknownError");
    error.set("data", data);
    let mut time = Object::new();
    match row.created {
        Stamp::Whole(ms) => time.set("created", ms),
        Stamp::Real(ms) => time.set("created", Number::from_f64(ms)),
    }
    time.set("completed", row.created.ms());

    let mut info = Object::new();
    info.set_text("role", "assistant");
    info.set("time", time);
    info.set("error", error);
    // The model demands a parent; nobody knows which.
    info.set_text("parentID", "msg_unknown");
    for name in ["modelID", "providerID", "mode", "agent"] {
        info.set_text(name, "");
    }
    info.set("path", path);
    info.set("cost", 0_i64);
    info.set("tokens", tokens);
    info.set("metadata", original(problem, &row.data));
    info.set_text("id", &row.id);
    info.set_text("sessionID", &row.session);
    info
}

/// The bytes that a stand-in carries; nothing if the object is none.
///
/// Only what this module writes counts: an empty ignored text part, or an assistant message with an unknown error, whose
/// `metadata.annalist` has `problem` and `data`.
#[must_use]
pub fn carried(object: &Object<'_>) -> Option<Vec<u8>> {
    let part = object.text("type").as_deref() == Some("text") && object.text("text").as_deref() == Some("");
    let message = object.text("role").as_deref() == Some("assistant") && object.has("error");
    if !(part || message) {
        return None;
    }
    let metadata = object.get("metadata")?.as_object()?;
    let ours = metadata.get(OURS)?.as_object()?;
    ours.text("problem")?;
    STANDARD.decode(ours.text("data")?.as_bytes()).ok()
}
