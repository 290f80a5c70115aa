//! Fields that were taken away. An event cannot say so by leaving a field out, since then it stays as it is
//! (reference-storage 1.2), and the reference's replay refuses `null`; it says the empty value that the replay takes.
//!
//! An empty object or list may also be meant (`PATCH` with `metadata: {}` is answered with `{}`), and the log has to give the
//! row again without knowing more than the event. So an empty value that clears is spelled in a way of its own, with two
//! spaces in it: to every reader of JSON it is the empty value, to our projector it is nothing.

use crate::error::Error;
use annalist_schema::Json;
use annalist_schema::raw::Object;

const NO_OBJECT: &str = "{  }";
const NO_LIST: &str = "[  ]";

/// Whether an empty value is one that clears.
pub(crate) fn clears(json: &Json<'_>) -> bool {
    [NO_OBJECT, NO_LIST].contains(&json.as_str())
}

/// Puts the empty value where `after` lacks what `before` has.
///
/// # Errors
/// [`Error::Invalid`] for a field that has no empty value.
pub(super) fn say(before: &Object<'_>, after: &mut Object<'_>) -> Result<(), Error> {
    let empties = [
        ("metadata", empty(NO_OBJECT)?),
        ("permission", empty(NO_LIST)?),
        ("share", Object::tagged("url", "").into()),
        ("summary", zeros()?.into()),
    ];
    for (key, empty) in empties {
        if before.has(key) && !after.has(key) {
            after.set(key, empty);
        }
    }
    let part =
        |object: &Object<'_>, key: &str| object.get(key).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    let (was, mut time) = (part(before, "time"), part(after, "time"));
    if was.has("archived") && !time.has("archived") {
        time.set("archived", 0);
        after.set("time", Json::from(time.clone()));
    }
    let lost = ["parentID", "path", "agent", "model"].into_iter().find(|key| before.has(key) && !after.has(key));
    match lost.or_else(|| (was.has("compacting") && !time.has("compacting")).then_some("time.compacting")) {
        Some(key) => Err(Error::Invalid { what: "session".to_owned(), problem: format!("{key} cannot be taken away again") }),
        None => Ok(()),
    }
}

fn empty(spelled: &'static str) -> Result<Json<'static>, Error> {
    Json::parse(spelled).map_err(|malformed| Error::Invalid { what: "session".to_owned(), problem: malformed.to_string() })
}

/// A summary of nothing; its list says that there is none.
fn zeros() -> Result<Object<'static>, Error> {
    let mut summary = Object::new();
    for key in ["additions", "deletions", "files"] {
        summary.set(key, 0);
    }
    summary.set("diffs", empty(NO_LIST)?);
    Ok(summary)
}
