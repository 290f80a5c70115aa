//! Whether two texts are the same JSON value.

use annalist_schema::Json;
use annalist_schema::raw::Kind;
use std::collections::HashMap;

/// As JavaScript compares them: members in any order (of a key that stands twice the last counts), numbers by value,
/// strings unescaped. Bytes that are no JSON are the same only as bytes.
///
/// Nesting costs heap and no stack.
pub(super) fn same(a: &[u8], b: &[u8]) -> bool {
    if a == b {
        return true;
    }
    let parse = |bytes| std::str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok());
    let (Some(a), Some(b)) = (parse(a), parse(b)) else { return false };
    let mut pairs = vec![(a, b)];
    while let Some((a, b)) = pairs.pop() {
        if a == b {
            continue;
        }
        if a.kind() != b.kind() || !same_here(a, b, &mut pairs) {
            return false;
        }
    }
    true
}

/// Compares two values of one kind; what is inside them goes to `pairs`.
fn same_here<'a>(a: Json<'a>, b: Json<'a>, pairs: &mut Vec<(Json<'a>, Json<'a>)>) -> bool {
    match a.kind() {
        // Their texts differ, and they have only one spelling.
        Kind::Null | Kind::Bool => false,
        Kind::Number => match (a.as_number(), b.as_number()) {
            (Some(a), Some(b)) => a.as_f64() == b.as_f64(),
            _ => false,
        },
        // Unescaped, different halves of surrogate pairs look alike.
        Kind::String => !a.has_lone_surrogate() && !b.has_lone_surrogate() && a.as_text() == b.as_text(),
        Kind::Array => match (a.into_array(), b.into_array()) {
            (Some(a), Some(b)) if a.len() == b.len() => {
                pairs.extend(a.into_iter().zip(b));
                true
            }
            _ => false,
        },
        Kind::Object => match (members(a), members(b)) {
            (Some(a), Some(mut b)) if a.len() == b.len() => a.into_iter().all(|(key, a)| {
                let other = b.remove(&key);
                let there = other.is_some();
                pairs.extend(other.map(|b| (a, b)));
                there
            }),
            _ => false,
        },
    }
}

fn members(object: Json<'_>) -> Option<HashMap<String, Json<'_>>> {
    let entries = object.into_object()?.into_entries();
    Some(entries.into_iter().map(|entry| (entry.key().into_owned(), entry.into_value())).collect())
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn what_is_the_same() {
        for (a, b) in [
            (r#"{"a":1,"b":[2,{"c":null}]}"#, r#"{ "b" : [2.0, {"c":null}], "a": 1e0 }"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#""\u00e9\/""#, "\"\u{e9}/\""),
            (r#"{"\u0061":true}"#, r#"{"a":true}"#),
            ("no json", "no json"),
            (r#""\ud83d""#, r#""\ud83d""#),
        ] {
            assert!(same(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn what_is_not() {
        for (a, b) in [
            ("1", "2"),
            ("1", "\"1\""),
            ("null", "false"),
            ("true", "false"),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            (r#"{"a":1}"#, r#"{"a":1,"b":1}"#),
            (r#"{"a":1}"#, r#"{"b":1}"#),
            (r#"{"a":{"b":1}}"#, r#"{"a":{"b":2}}"#),
            (r#""\ud83d""#, r#""\ud83e""#),
            ("no json", "no  json"),
            ("{}", "no json"),
        ] {
            assert!(!same(a.as_bytes(), b.as_bytes()), "{a} {b}");
        }
    }

    #[test]
    fn nesting_costs_no_stack() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(1_000), "]".repeat(1_000));
        assert!(same(deep("1").as_bytes(), deep("1.0").as_bytes()));
        assert!(!same(deep("1").as_bytes(), deep("2").as_bytes()));
    }
}
