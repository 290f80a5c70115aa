//! JSON with comments, trailing commas and placeholders.

use std::fs;
use std::path::Path;

/// The same text as plain JSON: comments become spaces, commas before a closing bracket go.
pub(super) fn plain(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}');
    let mut out = String::with_capacity(text.len());
    // The place of a comma that nothing has followed yet.
    let mut comma = None;
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        if let Some(string) = string(rest) {
            comma = None;
            out.push_str(string);
            rest = rest.get(string.len()..).unwrap_or_default();
            continue;
        }
        if rest.starts_with("//") {
            rest = rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default();
            continue;
        }
        if let Some(inner) = rest.strip_prefix("/*") {
            rest = inner.split_once("*/").map_or("", |(_, behind)| behind);
            out.push(' ');
            continue;
        }
        match next {
            ',' => comma = Some(out.len()),
            ']' | '}' => {
                if let Some(place) = comma.take() {
                    out.remove(place);
                }
            }
            other if other.is_whitespace() => {}
            _ => comma = None,
        }
        out.push(next);
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    out
}

/// The string that a text begins with, its quotes too; up to the end if it has none.
fn string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('"')?;
    let mut escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return text.get(..at + 2),
            _ => {}
        }
    }
    Some(text)
}

/// Puts the environment's values and files' contents where `{env:NAME}` and `{file:PATH}` stand.
pub(super) fn filled(text: &str, folder: &Path, home: &Path) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let next = ["{env:", "{file:"].iter().filter_map(|mark| Some((rest.find(mark)?, *mark))).min();
        let Some((place, mark)) = next else { break };
        let (before, from) = rest.split_at(place);
        let inner = from.get(mark.len()..).unwrap_or_default();
        let Some((name, behind)) = inner.split_once('}') else { break };
        out.push_str(before);
        let value = if mark == "{env:" { std::env::var(name).unwrap_or_default() } else { content(name, folder, home)? };
        // Placeholders stand inside of strings.
        let mut quoted = String::new();
        annalist_schema::raw::write_string(&mut quoted, &value);
        out.push_str(quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default());
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}

fn content(name: &str, folder: &Path, home: &Path) -> Result<String, String> {
    let path = match name.strip_prefix("~/") {
        Some(below) => home.join(below),
        None => folder.join(name),
    };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.trim().to_owned()),
        Err(error) => Err(format!("bad file reference \"{{file:{name}}}\": {error}")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn comments_and_trailing_commas_go_and_strings_stay() {
        let text =
            "{\n// one, \"two\"\n\"a\": \"// no /* no */ ,]\", /* c */ \"b\": [1, 2, /* x */ ], \"q\\\"\": {\"x\":1 , } ,\n}";
        let plain = plain(text);
        let json = annalist_schema::Json::parse(plain.as_str()).unwrap();
        assert_eq!(json.as_object().unwrap().text("a").unwrap(), "// no /* no */ ,]");
        assert_eq!(json.as_object().unwrap().get("b").unwrap().as_array().unwrap().len(), 2);
        assert!(json.as_object().unwrap().has("q\""));
    }

    #[test]
    fn placeholders_are_filled_in_and_escaped() {
        let room = tempfile::tempdir().unwrap();
        fs::write(room.path().join("key"), "a \"quoted\"\nkey\n").unwrap();
        let at = room.path();
        let filled = filled("{\"a\":\"x{file:key}y\",\"b\":\"{env:ANNALIST_NO_SUCH}\"}", at, at).unwrap();
        assert_eq!(filled, "{\"a\":\"xa \\\"quoted\\\"\\nkeyy\",\"b\":\"\"}");
        assert!(super::filled("\"{file:none}\"", at, at).unwrap_err().contains("{file:none}"));
    }
}
