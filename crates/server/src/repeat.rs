//! Whether a prompt was said before: a client that did not hear the answer says it again under the same id.

use crate::expand::Location;
use crate::request::without_nulls;
use annalist_schema::raw::{Json, Object, write_string};
use annalist_store::transcript::WithParts;

/// Whether a stored message came of this body. What a file said then is no matter: it may have changed since.
pub(crate) fn same(body: &Object<'_>, there: &WithParts) -> bool {
    let Some(info) = there.info.as_object() else { return false };
    let stored: Vec<Object<'_>> = there.parts.iter().filter_map(Json::as_object).collect();
    let parts = body.get("parts").and_then(Json::as_array).unwrap_or_default();
    same_info(body, &info) && same_parts(&parts, &stored)
}

fn same_info(body: &Object<'_>, info: &Object<'_>) -> bool {
    let body = without_nulls(body, &[]);
    let model = info.get("model").and_then(Json::as_object).unwrap_or_default();
    body.entries().iter().all(|entry| {
        let given = entry.value();
        match &*entry.key() {
            "agent" => given.as_str() == "\"\"" || info.get("agent").is_some_and(|stored| stored == given),
            "system" | "tools" => info.get(&entry.key()).is_some_and(|stored| stored == given),
            "variant" => model.get("variant").is_some_and(|stored| stored == given),
            "model" => given.as_object().is_some_and(|given| {
                ["providerID", "modelID"].iter().all(|key| given.text(key).is_some() && given.text(key) == model.text(key))
            }),
            "format" => match (given.as_object(), info.get("format").and_then(Json::as_object)) {
                (Some(given), Some(stored)) => {
                    given.entries().iter().all(|member| stored.get(&member.key()) == Some(member.value()))
                }
                _ => false,
            },
            _ => true,
        }
    })
}

/// Walks over both: each given part must be met in order, and what lies between must be what parts become.
fn same_parts(given: &[Json<'_>], stored: &[Object<'_>]) -> bool {
    let mut at = 0;
    for part in given.iter().filter_map(Json::as_object) {
        let part = without_nulls(&part, &["time", "model", "source"]);
        loop {
            let Some(candidate) = stored.get(at) else { return false };
            at += 1;
            if meets(&part, candidate) {
                break;
            }
            if !made(candidate) {
                return false;
            }
        }
    }
    stored.iter().skip(at).all(made)
}

/// Whether a stored part is what a given one became, or begins what it became.
fn meets(given: &Object<'_>, stored: &Object<'_>) -> bool {
    let own = ["id", "sessionID", "messageID"];
    let all = given.entries().iter().all(|entry| stored.get(&entry.key()) == Some(entry.value()));
    let mut rest = stored.borrowed();
    rest.retain(|key, _| !own.contains(&key) && !given.has(key));
    if all && rest.is_empty() {
        return true;
    }
    let local = || Location::parse(&given.text("url")?);
    if given.text("type").as_deref() != Some("file")
        || !given.text("url").is_some_and(|url| url.to_ascii_lowercase().starts_with("file:"))
    {
        return false;
    }
    // A file may have become other parts; the first of them names it.
    local().is_some_and(|at| {
        let mut path = String::new();
        write_string(&mut path, &at.path);
        let text = stored.text("text").unwrap_or_default();
        text.starts_with(&format!("Called the Read tool with the following input: {{\"filePath\":{path}"))
            || text.starts_with(&format!("Read tool failed to read {} with", at.path))
    })
}

/// Whether a part was made, not given: a synthetic text, or a file in the place of its address.
fn made(part: &Object<'_>) -> bool {
    let synthetic = part.get("synthetic").and_then(Json::as_bool) == Some(true);
    synthetic || part.text("type").as_deref() == Some("file")
}
