//! Whether two JSON texts say the same.

use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};
use std::collections::HashMap;

/// Deeper nesting is compared as text: taking it apart costs its depth times its size.
const DEEP: usize = 256;

/// How two texts differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    Same,
    /// The second has everything that the first has, and members more.
    More,
    Different,
}

/// Compares values, not spellings: the reference stores an event with its keys in the schema's order and the row with those
/// of whoever made the object.
pub(super) fn compare(wanted: &[u8], found: &[u8]) -> Compared {
    if wanted == found {
        return Compared::Same;
    }
    let parse = |bytes| Json::parse(std::str::from_utf8(bytes).ok()?).ok();
    let (Some(wanted), Some(found)) = (parse(wanted), parse(found)) else { return Compared::Different };
    if wanted.depth() > DEEP {
        return Compared::Different;
    }
    let mut more = false;
    let mut open = vec![(wanted, found)];
    while let Some((wanted, found)) = open.pop() {
        if wanted == found {
            continue;
        }
        if wanted.kind() != found.kind() {
            return Compared::Different;
        }
        let fine = match wanted.kind() {
            Kind::Object => match objects(wanted, found, &mut open) {
                Compared::Different => false,
                compared => {
                    more |= compared == Compared::More;
                    true
                }
            },
            Kind::Array => arrays(wanted, found, &mut open),
            // The texts differ; only their spelling may.
            Kind::String => !wanted.has_lone_surrogate() && !found.has_lone_surrogate() && wanted.as_text() == found.as_text(),
            Kind::Number => {
                let value = |json: &Json<'_>| json.as_number().map(|number| number.as_f64());
                value(&wanted) == value(&found)
            }
            Kind::Null | Kind::Bool => false,
        };
        if !fine {
            return Compared::Different;
        }
    }
    if more { Compared::More } else { Compared::Same }
}

fn objects<'j>(wanted: Json<'j>, found: Json<'j>, open: &mut Vec<(Json<'j>, Json<'j>)>) -> Compared {
    let (Some(wanted), Some(found)) = (wanted.into_object(), found.into_object()) else { return Compared::Different };
    // Of a key that stands twice the last one counts, in the order of insertion.
    let members = |object: Object<'j>| -> HashMap<String, Json<'j>> {
        object.into_entries().into_iter().map(|entry| (entry.key().into_owned(), entry.into_value())).collect()
    };
    let (wanted, mut found) = (members(wanted), members(found));
    for (key, wanted) in wanted {
        let Some(found) = found.remove(&key) else { return Compared::Different };
        open.push((wanted, found));
    }
    if found.is_empty() { Compared::Same } else { Compared::More }
}

fn arrays<'j>(wanted: Json<'j>, found: Json<'j>, open: &mut Vec<(Json<'j>, Json<'j>)>) -> bool {
    let (Some(wanted), Some(found)) = (wanted.into_array(), found.into_array()) else { return false };
    let same = wanted.len() == found.len();
    open.extend(wanted.into_iter().zip(found));
    same
}
