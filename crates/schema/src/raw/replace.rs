//! Replacing whole strings at any depth of a JSON text.

use super::scan;
use super::text::write_string;

/// Copies a well-formed JSON text, replacing every string (keys too) that starts with one of `prefixes` and for which `with`
/// has another. Strings with escapes in them are left alone: what is looked for (ids) has none.
#[must_use]
pub fn replace_strings(text: &str, prefixes: &[&str], mut with: impl FnMut(&str) -> Option<String>) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'"', rest)) {
        let start = at + found;
        let end = scan::string(bytes, start).unwrap_or(bytes.len());
        let inside = text.get(start + 1..end.saturating_sub(1)).unwrap_or_default();
        if prefixes.iter().any(|prefix| inside.starts_with(prefix))
            && memchr::memchr(b'\\', inside.as_bytes()).is_none()
            && let Some(other) = with(inside)
        {
            out.push_str(&text[copied..start]);
            write_string(&mut out, &other);
            copied = end;
        }
        at = end;
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_strings_are_replaced() {
        let with = |text: &str| (text == "msg_1").then(|| "msg_2".to_owned());
        assert_eq!(
            replace_strings(r#"{"a":"msg_1","b":["msg_1"," msg_1","say \"msg_1\"",{"msg_1":"msg_11"}]}"#, &["msg"], with),
            r#"{"a":"msg_2","b":["msg_2"," msg_1","say \"msg_1\"",{"msg_2":"msg_11"}]}"#
        );
    }
}
