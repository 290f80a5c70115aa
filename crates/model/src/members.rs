//! Members of stored objects, found in one pass over text that is known to be JSON.
//!
//! `annalist_schema::raw` checks as it splits, and splits one level at a time: of a tool's part it would look at every byte
//! twice. A history is long, and what a [`Json`] holds has been checked when it was made.

use annalist_schema::Json;
use annalist_schema::raw::unescape;
use std::borrow::Cow;

/// The members of an object; of a key that stands twice the last counts.
#[derive(Debug, Default)]
pub(crate) struct Members<'a> {
    entries: Vec<(&'a str, Value<'a>)>,
}

#[derive(Debug)]
enum Value<'a> {
    Text(&'a str),
    /// The object under the one key that is looked into.
    Object(Members<'a>),
}

impl<'a> Members<'a> {
    /// Those of a value that is an object, else none. The object under `into` is split in the same pass; it has no text of
    /// its own then.
    pub(crate) fn of(json: &'a str, into: Option<&str>) -> Self {
        if json.starts_with('{') { object(json, 0, into).0 } else { Members::default() }
    }

    /// The text of a value.
    pub(crate) fn raw(&self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            Value::Object(_) => None,
        }
    }

    fn get(&self, key: &str) -> Option<&Value<'a>> {
        let is = |name: &str| if name.contains('\\') { unescape(name).0 == key } else { name == key };
        self.entries.iter().rev().find(|(name, _)| is(name)).map(|(_, value)| value)
    }

    /// A member that is a string.
    pub(crate) fn string(&self, key: &str) -> Option<Cow<'a, str>> {
        inside(self.raw(key)?).map(|text| unescape(text).0)
    }

    /// The object under the key that was looked into.
    pub(crate) fn inner(&self, key: &str) -> Option<&Members<'a>> {
        match self.get(key)? {
            Value::Object(members) => Some(members),
            Value::Text(_) => None,
        }
    }

    /// A member that is an object.
    pub(crate) fn object(&self, key: &str) -> Option<Members<'a>> {
        self.raw(key).filter(|raw| raw.starts_with('{')).map(|raw| Members::of(raw, None))
    }

    /// The objects in a member that is an array.
    pub(crate) fn objects(&self, key: &str) -> Vec<Members<'a>> {
        let Some(array) = self.raw(key).filter(|raw| raw.starts_with('[')) else { return Vec::new() };
        let mut found = Vec::new();
        let mut at = space(array.as_bytes(), 1);
        while array.as_bytes().get(at).is_some_and(|byte| *byte != b']') {
            let end = skip(array.as_bytes(), at);
            found.push(Members::of(array.get(at..end).unwrap_or_default(), None));
            at = space(array.as_bytes(), end);
            if array.as_bytes().get(at) == Some(&b',') {
                at = space(array.as_bytes(), at + 1);
            }
        }
        found
    }

    /// A member as it is.
    pub(crate) fn json(&self, key: &str) -> Option<Json<'a>> {
        self.raw(key).and_then(|raw| Json::parse(raw).ok())
    }

    /// Whether JavaScript would take a member for true.
    pub(crate) fn truthy(&self, key: &str) -> bool {
        match self.get(key) {
            None => false,
            Some(Value::Object(_)) => true,
            Some(Value::Text(raw)) => match *raw {
                "null" | "false" | "\"\"" => false,
                _ => !raw.parse::<f64>().is_ok_and(|number| number == 0.0),
            },
        }
    }
}

/// The inside of a string.
pub(crate) fn inside(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// The members of the object that begins at `at`, and where it ends.
fn object<'a>(text: &'a str, at: usize, into: Option<&str>) -> (Members<'a>, usize) {
    let bytes = text.as_bytes();
    let mut members = Members { entries: Vec::with_capacity(8) };
    let mut at = space(bytes, at + 1);
    while bytes.get(at) == Some(&b'"') {
        let key_end = string(bytes, at);
        let key = text.get(at + 1..key_end - 1).unwrap_or_default();
        // Behind the colon.
        let start = space(bytes, space(bytes, key_end) + 1);
        let (value, end) = if Some(key) == into && bytes.get(start) == Some(&b'{') {
            let (inner, end) = object(text, start, None);
            (Value::Object(inner), end)
        } else {
            let end = skip(bytes, start);
            (Value::Text(text.get(start..end).unwrap_or_default()), end)
        };
        members.entries.push((key, value));
        at = space(bytes, end);
        if bytes.get(at) == Some(&b',') {
            at = space(bytes, at + 1);
        }
    }
    (members, at + 1)
}

fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The end of the string that begins at `at`: the first quote that no odd number of backslashes stands before.
fn string(bytes: &[u8], at: usize) -> usize {
    let mut from = at + 1;
    while let Some(found) = memchr::memchr(b'"', bytes.get(from..).unwrap_or_default()) {
        let quote = from + found;
        let before = bytes[at + 1..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if before % 2 == 0 {
            return quote + 1;
        }
        from = quote + 1;
    }
    bytes.len()
}

/// The end of the value that begins at `at`.
fn skip(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    loop {
        match bytes.get(at) {
            None => return at,
            Some(b'"') => at = string(bytes, at),
            Some(b'{' | b'[') => {
                depth += 1;
                at += 1;
                continue;
            }
            Some(b'}' | b']') => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') => {
                at += 1;
                continue;
            }
            // A number or a word.
            Some(_) => {
                while bytes.get(at).is_some_and(|byte| !matches!(byte, b',' | b'}' | b']' | b':' | b' ' | b'\n' | b'\r' | b'\t')) {
                    at += 1;
                }
            }
        }
        if depth == 0 {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;
    use annalist_schema::raw::Object;
    use proptest::prelude::*;

    #[test]
    fn one_level_more_is_split_where_asked() {
        let text = r#"{ "a" : [1, {"b":"]}\\\""} ] , "state":{"x":{"y":[]},"z":"\\"},"n":-1.5e3,"a":0 , "\u0065":true}"#;
        let members = Members::of(text, Some("state"));
        assert_eq!(members.raw("a"), Some("0"));
        assert_eq!(members.raw("n"), Some("-1.5e3"));
        assert_eq!(members.raw("e"), Some("true"));
        let state = members.inner("state").unwrap();
        assert_eq!((state.raw("x"), state.string("z").as_deref()), (Some(r#"{"y":[]}"#), Some("\\")));
        assert!(!members.truthy("a") && members.truthy("state") && members.truthy("n") && !members.truthy("missing"));
        let list = Members::of(r#"{"l":[{"a":1}, 2 ,[],{"a":"]"}]}"#, None);
        assert_eq!(
            list.objects("l").iter().map(|member| member.raw("a")).collect::<Vec<_>>(),
            [Some("1"), None, None, Some("\"]\"")]
        );
    }

    fn value() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::json!(null)),
            any::<f32>().prop_map(|n| serde_json::json!(n)),
            "[ -~\n\"\\\\é]{0,8}".prop_map(|t| serde_json::json!(t))
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::vec(("[a-c\"\\\\]{0,3}", inner), 0..4).prop_map(|pairs| pairs.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// It finds what the checking scanner finds.
        #[test]
        fn it_splits_as_the_checking_scanner_does(value in value(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
            let ours = Members::of(&text, None);
            let theirs = Object::parse(&text).unwrap_or_default();
            prop_assert_eq!(ours.entries.len(), theirs.entries().len());
            for entry in theirs.entries() {
                prop_assert_eq!(ours.raw(&entry.key()), theirs.get(&entry.key()).map(Json::as_str));
            }
        }
    }
}
