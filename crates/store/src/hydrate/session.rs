//! A session's columns as its info (reference-storage 1.1, 1.2).
//!
//! Columns are typed, so an info may say more than they hold: fields this format does not have. Those go into
//! `metadata.annalist.session`, which the reference carries along, and come back to their places here.

use super::OURS;
use crate::row::{Cell, SessionRow};
use annalist_schema::raw::{Kind, Object};
use annalist_schema::{Json, Number, Session};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Under `metadata.annalist`: the fields of the info that no column holds.
const REST: &str = "session";
/// Under `metadata.annalist`: the session had no metadata of its own.
const BARE: &str = "bare";
/// Under `metadata.annalist`: columns that hold something else than their type, as they are.
const COLUMNS: &str = "columns";

/// A field that columns hold. Of an object whose members have columns of their own, those are listed; a JSON column holds
/// all of its value.
struct Held {
    key: &'static str,
    members: &'static [Held],
}

const fn whole(key: &'static str) -> Held {
    Held { key, members: &[] }
}

const HELD: &[Held] = &[
    whole("id"),
    whole("slug"),
    whole("projectID"),
    whole("workspaceID"),
    whole("directory"),
    whole("path"),
    whole("parentID"),
    Held { key: "summary", members: &[whole("additions"), whole("deletions"), whole("files"), whole("diffs")] },
    whole("cost"),
    Held {
        key: "tokens",
        members: &[
            whole("input"),
            whole("output"),
            whole("reasoning"),
            Held { key: "cache", members: &[whole("read"), whole("write")] },
        ],
    },
    Held { key: "share", members: &[whole("url")] },
    whole("title"),
    whole("agent"),
    whole("model"),
    whole("version"),
    whole("metadata"),
    Held { key: "time", members: &[whole("created"), whole("updated"), whole("compacting"), whole("archived")] },
    whole("permission"),
    whole("revert"),
];

/// The info of a row, its keys in the order in which the reference prints them.
#[must_use]
pub fn session(row: &SessionRow) -> Session<'static> {
    let mut reader = Reader::default();
    let mut info = Object::new();
    info.set_text("id", &row.id);
    reader.text(&mut info, "slug", "slug", &row.slug, true);
    reader.text(&mut info, "projectID", "project_id", &row.project_id, true);
    reader.text(&mut info, "workspaceID", "workspace_id", &row.workspace_id, false);
    reader.text(&mut info, "directory", "directory", &row.directory, true);
    reader.text(&mut info, "path", "path", &row.path, false);
    reader.text(&mut info, "parentID", "parent_id", &row.parent_id, false);
    reader.text(&mut info, "title", "title", &row.title, true);
    reader.text(&mut info, "agent", "agent", &row.agent, false);
    reader.json(&mut info, "model", "model", &row.model, Kind::Object);
    reader.text(&mut info, "version", "version", &row.version, true);

    let mut summary = Object::new();
    let counts = [&row.summary_additions, &row.summary_deletions, &row.summary_files];
    if counts.iter().any(|cell| **cell != Cell::Null) {
        reader.number(&mut summary, "additions", "summary_additions", &row.summary_additions, true);
        reader.number(&mut summary, "deletions", "summary_deletions", &row.summary_deletions, true);
        reader.number(&mut summary, "files", "summary_files", &row.summary_files, true);
        reader.json(&mut summary, "diffs", "summary_diffs", &row.summary_diffs, Kind::Array);
        info.set("summary", summary);
    }

    reader.number(&mut info, "cost", "cost", &row.cost, true);
    let mut cache = Object::new();
    let mut tokens = Object::new();
    reader.number(&mut tokens, "input", "tokens_input", &row.tokens_input, true);
    reader.number(&mut tokens, "output", "tokens_output", &row.tokens_output, true);
    reader.number(&mut tokens, "reasoning", "tokens_reasoning", &row.tokens_reasoning, true);
    reader.number(&mut cache, "read", "tokens_cache_read", &row.tokens_cache_read, true);
    reader.number(&mut cache, "write", "tokens_cache_write", &row.tokens_cache_write, true);
    tokens.set("cache", cache);
    info.set("tokens", tokens);

    // An empty address is no share: the reference cannot clear one any other way.
    if row.share_url.text() != Some("") {
        let mut share = Object::new();
        reader.text(&mut share, "url", "share_url", &row.share_url, false);
        if !share.is_empty() {
            info.set("share", share);
        }
    }
    reader.json(&mut info, "metadata", "metadata", &row.metadata, Kind::Object);
    let mut rest = Object::new();
    reader.json(&mut rest, "revert", "revert", &row.revert, Kind::Object);
    reader.json(&mut rest, "permission", "permission", &row.permission, Kind::Array);

    let mut time = Object::new();
    reader.number(&mut time, "created", "time_created", &row.time_created, true);
    reader.number(&mut time, "updated", "time_updated", &row.time_updated, true);
    reader.number(&mut time, "compacting", "time_compacting", &row.time_compacting, false);
    reader.number(&mut time, "archived", "time_archived", &row.time_archived, false);
    rest.set("time", time);

    // Now, so that a report stands where metadata always stands: a document that comes back is the same.
    reader.report(&mut info);
    rest.into_entries().into_iter().for_each(|entry| info.push(entry));
    unfold(&mut info);
    Session::from_object(info)
}

/// Reads cells; what does not fit is kept aside instead of failing the session.
#[derive(Default)]
struct Reader {
    broken: Object<'static>,
}

impl Reader {
    fn text(&mut self, into: &mut Object<'static>, key: &str, column: &str, cell: &Cell, required: bool) {
        match cell {
            Cell::Text(text) => return into.set_text(key, text),
            Cell::Null => {}
            other => self.keep(column, other, "no text"),
        }
        if required {
            into.set_text(key, "");
        }
    }

    fn number(&mut self, into: &mut Object<'static>, key: &str, column: &str, cell: &Cell, required: bool) {
        match cell {
            Cell::Int(value) => return into.set(key, *value),
            Cell::Real(value) if value.is_finite() => return into.set(key, Number::from_f64(*value)),
            Cell::Null => {}
            other => self.keep(column, other, "no number"),
        }
        if required {
            into.set(key, 0_i64);
        }
    }

    fn json(&mut self, into: &mut Object<'static>, key: &str, column: &str, cell: &Cell, kind: Kind) {
        match cell {
            Cell::Null => {}
            Cell::Text(text) => match Json::parse(text.as_str()) {
                Ok(json) if json.kind() == kind => into.set(key, json.into_static()),
                Ok(json) if json.kind() == Kind::Null => {}
                Ok(json) => self.keep(column, cell, &format!("{}, not {kind}", json.kind())),
                Err(malformed) => self.keep(column, cell, &malformed.to_string()),
            },
            other => self.keep(column, other, "no text"),
        }
    }

    fn keep(&mut self, column: &str, cell: &Cell, problem: &str) {
        let mut kept = Object::new();
        kept.set_text("problem", problem);
        match cell {
            Cell::Text(text) => kept.set_text("text", text),
            Cell::Bytes(bytes) => kept.set_text("data", &STANDARD.encode(bytes)),
            Cell::Int(value) => kept.set("number", *value),
            Cell::Real(value) => kept.set_text("text", &value.to_string()),
            Cell::Null => {}
        }
        self.broken.set(column, kept);
    }

    fn report(self, info: &mut Object<'static>) {
        if !self.broken.is_empty() {
            let (mut metadata, mut ours) = opened(info);
            ours.set(COLUMNS, self.broken);
            metadata.set(OURS, ours);
            info.set("metadata", metadata);
        }
    }
}

/// The info's metadata, and our object in it.
fn opened(info: &Object<'_>) -> (Object<'static>, Object<'static>) {
    let metadata = info.get("metadata").and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    let ours = metadata.get(OURS).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    (metadata, ours)
}

/// A session's metadata without the report on unreadable columns; nothing if that is all there was.
pub(crate) fn without_report(mut metadata: Object<'static>) -> Option<Object<'static>> {
    let mut ours = metadata.get(OURS).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    if ours.remove(COLUMNS).is_none() {
        return Some(metadata);
    }
    if ours.is_empty() {
        metadata.remove(OURS);
    } else {
        metadata.set(OURS, ours);
    }
    (!metadata.is_empty()).then_some(metadata)
}

/// Moves the fields that no column holds into `metadata.annalist.session`.
pub(crate) fn fold(info: &mut Object<'static>) {
    let rest = rest(info, HELD);
    info.retain(|key, _| HELD.iter().any(|held| held.key == key));
    if rest.is_empty() {
        return;
    }
    let bare = !info.has("metadata");
    let (mut metadata, mut ours) = opened(info);
    ours.set(REST, rest);
    if bare {
        ours.set(BARE, true);
    }
    metadata.set(OURS, ours);
    info.set("metadata", metadata);
}

/// What of an object no column holds, at every level that has columns.
fn rest(object: &Object<'_>, held: &[Held]) -> Object<'static> {
    let mut left = Object::new();
    for entry in object.entries() {
        let key = entry.key();
        match held.iter().find(|held| held.key == key) {
            None => left.set(&key, entry.value().clone().into_static()),
            Some(held) => {
                let inner = entry.value().as_object().map(|inner| rest(&inner, held.members)).unwrap_or_default();
                if !held.members.is_empty() && !inner.is_empty() {
                    left.set(&key, inner);
                }
            }
        }
    }
    left
}

/// Undoes [`fold`].
fn unfold(info: &mut Object<'static>) {
    let (mut metadata, mut ours) = opened(info);
    let Some(rest) = ours.remove(REST).and_then(Json::into_object) else { return };
    let bare = ours.remove(BARE).is_some();
    if ours.is_empty() {
        metadata.remove(OURS);
    } else {
        metadata.set(OURS, ours);
    }
    if bare && metadata.is_empty() {
        info.remove("metadata");
    } else {
        info.set("metadata", metadata);
    }
    put_back(info, rest, HELD);
}

fn put_back(info: &mut Object<'static>, rest: Object<'static>, held: &[Held]) {
    for entry in rest.into_entries() {
        let key = entry.key().into_owned();
        match held.iter().find(|held| held.key == key) {
            None => info.push(entry),
            // Beside the columns, if those still say that the field is there: half a summary or share would be none.
            Some(held) => {
                let inner = info.get(&key).and_then(Json::as_object).map(Object::into_static);
                if let (Some(mut inner), Some(more)) = (inner, entry.into_value().into_object()) {
                    put_back(&mut inner, more, held.members);
                    info.set(&key, inner);
                }
            }
        }
    }
}
