//! Replacing whole strings at any depth of a value.

use super::text::{unescape, write_string};
use super::{Json, Kind, scan};
use memchr::memmem;

impl Json<'_> {
    /// A copy in which strings (keys too) are replaced: those that start with one of `prefixes` and for which `with` has
    /// another. Nothing if there is none.
    #[must_use]
    pub fn replace_strings(&self, prefixes: &[&str], with: impl Fn(&str) -> Option<String>) -> Option<Json<'static>> {
        let text = self.as_str();
        let bytes = text.as_bytes();
        if self.kind() == Kind::String && !prefixes.iter().any(|prefix| text[1..].starts_with(prefix)) {
            return None;
        }
        // Most values hold no such string, and some are megabytes: look before walking through all of them.
        let opens = |prefix: &&str| memmem::find_iter(bytes, prefix).any(|at| at > 0 && bytes[at - 1] == b'"');
        if !prefixes.iter().any(opens) {
            return None;
        }
        let mut out = String::new();
        let mut copied = 0;
        let mut at = 0;
        while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
            let start = at + found;
            let end = scan::string(bytes, start).unwrap_or(bytes.len());
            let inside = text.get(start + 1..end.saturating_sub(1)).unwrap_or_default();
            if prefixes.iter().any(|prefix| inside.starts_with(prefix))
                && let Some(other) = with(&unescape(inside).0)
            {
                out.push_str(&text[copied..start]);
                write_string(&mut out, &other);
                copied = end;
            }
            at = end;
        }
        if copied == 0 {
            return None;
        }
        out.push_str(&text[copied..]);
        Some(Json::trusted(out))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn replaced(text: &str) -> Option<String> {
        let with = |text: &str| matches!(text, "msg_1" | "msg_\"1").then(|| "msg_2".to_owned());
        Json::parse(text).unwrap().replace_strings(&["msg"], with).map(|json| json.as_str().to_owned())
    }

    #[test]
    fn only_whole_strings_are_replaced() {
        assert_eq!(
            replaced(r#"{"a":"msg_1","b":["msg_1"," msg_1","say \"msg_1\"",{"msg_1":"msg_11"}]}"#).unwrap(),
            r#"{"a":"msg_2","b":["msg_2"," msg_1","say \"msg_1\"",{"msg_2":"msg_11"}]}"#
        );
        assert_eq!(replaced(r#""msg_1""#).unwrap(), r#""msg_2""#);
        assert_eq!(replaced(r#"["msg_\"1"]"#).unwrap(), r#"["msg_2"]"#);
    }

    #[test]
    fn without_such_a_string_there_is_no_copy() {
        for text in [r#"["msg_3","say \"msg_1\"","x"]"#, "[]", "\"\"", "7"] {
            assert_eq!(replaced(text), None, "{text}");
        }
    }
}
