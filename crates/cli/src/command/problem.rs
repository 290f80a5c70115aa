//! What is wrong with a stored value, in words.

use crate::output;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Problem, Session, Wrong};
use annalist_store::hydrate;

/// Columns of a session that hold something else than they should, and what is wrong with each.
pub(super) fn columns(session: &Session<'_>) -> Vec<(String, String)> {
    // Where the store puts what it could not read (`metadata.annalist.columns`).
    let columns = ours(session.object()).and_then(|ours| ours.get("columns").and_then(Json::as_object).map(Object::into_static));
    let entries = columns.map(Object::into_entries).unwrap_or_default();
    let problem = |value: &Json<'_>| value.as_object().and_then(|kept| kept.text("problem").map(|text| text.into_owned()));
    entries.iter().map(|entry| (entry.key().into_owned(), problem(entry.value()).unwrap_or_default())).collect()
}

/// What the stand-in for bytes that are no JSON says of them; nothing if the object is none.
pub(super) fn unreadable(object: &Object<'_>) -> Option<String> {
    hydrate::carried(object)?;
    ours(object)?.text("problem").map(|text| text.into_owned())
}

fn ours(object: &Object<'_>) -> Option<Object<'static>> {
    let metadata = object.get("metadata")?.as_object()?;
    metadata.get(hydrate::OURS)?.as_object().map(Object::into_static)
}

/// Problems as a line each, at most a few: whoever wants them all looks at the JSON.
pub(super) fn lines(problems: &[Problem]) -> impl Iterator<Item = String> {
    const SHOWN: usize = 5;
    // A text is shown with a sign in the place of a lone surrogate, which says enough.
    problems
        .iter()
        .filter(|problem| problem.wrong != Wrong::LoneSurrogate)
        .take(SHOWN)
        .map(|problem| output::one_line(&problem.to_string(), 150))
}
