//! Whether two values mean the same.

use super::{Json, Kind};
use std::collections::HashMap;

/// Values nested deeper are the same only if their texts are: each level is split anew.
const DEEPEST: usize = 64;

impl Json<'_> {
    /// Whether a reader could not tell the two apart: members in any order, numbers and strings in any spelling.
    #[must_use]
    pub fn same_value(&self, other: &Json<'_>) -> bool {
        if self.as_str() == other.as_str() {
            return true;
        }
        if self.depth() > DEEPEST || other.depth() > DEEPEST {
            return false;
        }
        let mut open = vec![(self.borrowed(), other.borrowed())];
        while let Some((one, other)) = open.pop() {
            if one.as_str() == other.as_str() {
                continue;
            }
            match (one.kind(), other.kind()) {
                (Kind::Object, Kind::Object) => {
                    let (one, mut other) = (members(one), members(other));
                    if one.len() != other.len() {
                        return false;
                    }
                    for (key, value) in one {
                        let Some(counterpart) = other.remove(&key) else { return false };
                        open.push((value, counterpart));
                    }
                }
                (Kind::Array, Kind::Array) => {
                    let (one, other) = (one.into_array().unwrap_or_default(), other.into_array().unwrap_or_default());
                    if one.len() != other.len() {
                        return false;
                    }
                    open.extend(one.into_iter().zip(other));
                }
                (Kind::Number, Kind::Number) => {
                    let whole = |json: &Json<'_>| json.as_number().and_then(|number| number.as_i64());
                    let float = |json: &Json<'_>| json.as_number().map(|number| number.as_f64());
                    let same = match (whole(&one), whole(&other)) {
                        (Some(one), Some(other)) => one == other,
                        _ => float(&one) == float(&other),
                    };
                    if !same {
                        return false;
                    }
                }
                // Halves of surrogate pairs all unescape to the same character.
                (Kind::String, Kind::String) => {
                    let whole = !one.has_lone_surrogate() && !other.has_lone_surrogate();
                    if !whole || one.as_text() != other.as_text() {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }
}

/// Of a key that stands twice the last value counts.
fn members<'j>(json: Json<'j>) -> HashMap<String, Json<'j>> {
    let entries = json.into_object().unwrap_or_default().into_entries();
    entries.into_iter().map(|entry| (entry.key().into_owned(), entry.into_value())).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        let (one, other) = (Json::parse(one).unwrap(), Json::parse(other).unwrap());
        assert_eq!(one.same_value(&other), other.same_value(&one));
        one.same_value(&other)
    }

    #[test]
    fn spelling_and_order_of_members_do_not_matter() {
        assert!(same(r#"{"a":1,"b":[1.0,"x"]}"#, r#"{ "b" : [1, "\u0078"], "a": 1e0 }"#));
        assert!(same(r#"{"a":1,"a":2}"#, r#"{"a":2}"#));
        assert!(same("[]", "[ ]"));
    }

    #[test]
    fn anything_else_does() {
        for (one, other) in [
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            ("[1,2]", "[2,1]"),
            ("[1]", "[1,1]"),
            ("0", "false"),
            ("null", "{}"),
            (r#""1""#, "1"),
            ("9007199254740993", "9007199254740992"),
            (r#""\ud800""#, r#""\udc00""#),
            (r#""\ud800""#, "\"\u{fffd}\""),
            (r#"{"a":{"b":[{"c":1}]}}"#, r#"{"a":{"b":[{"c":2}]}}"#),
        ] {
            assert!(!same(one, other), "{one} {other}");
        }
    }

    #[test]
    fn nesting_is_compared_as_far_as_it_is_cheap() {
        let deep = |inside: &str| format!("{}{inside}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(same(&deep("1"), &deep("1")));
        assert!(!same(&deep("1"), &deep("2")));
    }
}
