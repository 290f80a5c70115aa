//! Checking a value.

use super::{Field, Shape};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};

/// Longer values are cut in what a client is told.
const SHOWN: usize = 1_000;

/// Whether optional members may be `null`, which then means absent: the typed bodies of the reference take it, the two it
/// reads by hand (create, fork) do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nulls {
    Absent,
    Refused,
}

/// Says what is wrong with a value, in the reference's words; nothing if it fits.
pub(crate) fn check(shape: &Shape, json: &Json<'_>, nulls: Nulls) -> Result<(), String> {
    let mut at = Path(String::new());
    value(shape, json, nulls, false, &mut at)
}

/// The place, as `["parts"][0]["text"]`.
struct Path(String);

impl Path {
    fn key(&mut self, name: &str) -> usize {
        let before = self.0.len();
        self.0.push('[');
        annalist_schema::raw::write_string(&mut self.0, name);
        self.0.push(']');
        before
    }

    fn index(&mut self, index: usize) -> usize {
        let before = self.0.len();
        self.0.push_str(&format!("[{index}]"));
        before
    }

    fn wrong(&self, what: &str) -> String {
        if self.0.is_empty() { what.to_owned() } else { format!("{what}\n  at {}", self.0) }
    }
}

fn value(shape: &Shape, json: &Json<'_>, nulls: Nulls, optional: bool, at: &mut Path) -> Result<(), String> {
    let nullable = optional && nulls == Nulls::Absent;
    if nullable && json.kind() == Kind::Null {
        return Ok(());
    }
    let expected = |what: &str| {
        let or_null = if nullable { " | null" } else { "" };
        at.wrong(&format!("Expected {what}{or_null}, got {}", shown(json)))
    };
    match shape {
        Shape::Any => Ok(()),
        Shape::Named(name, inner) => match (inner, json.kind()) {
            (Shape::List(_) | Shape::Some(_), Kind::Array) | (Shape::Object(_), Kind::Object) | (Shape::Tagged { .. }, _) => {
                value(inner, json, nulls, optional, at)
            }
            (Shape::Words(words), Kind::String) if json.as_text().is_some_and(|text| words.contains(&&*text)) => Ok(()),
            _ => Err(expected(name)),
        },
        Shape::Text if json.kind() != Kind::String => Err(expected("string")),
        Shape::Bool if json.kind() != Kind::Bool => Err(expected("boolean")),
        Shape::Text | Shape::Bool => Ok(()),
        Shape::Number | Shape::Count => {
            let number = json.as_number().ok_or_else(|| expected("number"))?.as_f64();
            if !number.is_finite() {
                return Err(at.wrong("Expected a finite number, got Infinity"));
            }
            if matches!(shape, Shape::Count) {
                if number.fract() != 0.0 {
                    return Err(at.wrong(&format!("Expected an integer, got {}", shown(json))));
                }
                if number < 0.0 {
                    return Err(at.wrong(&format!("Expected a value greater than or equal to 0, got {}", shown(json))));
                }
            }
            Ok(())
        }
        Shape::Id(prefix) => {
            let text = json.as_text().ok_or_else(|| expected("string"))?;
            if text.starts_with(prefix) {
                return Ok(());
            }
            Err(at.wrong(&format!("Expected a string starting with \"{prefix}\", got {}", shown(json))))
        }
        Shape::Words(words) => match json.as_text() {
            Some(text) if words.contains(&&*text) => Ok(()),
            _ => Err(expected(&words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" | "))),
        },
        Shape::Record | Shape::Map(_) | Shape::Object(_) => {
            let object = json.as_object().ok_or_else(|| expected("object"))?;
            match shape {
                Shape::Map(inner) => members(&object, inner, nulls, at),
                Shape::Object(fields) => object_of(fields, &object, nulls, at),
                _ => Ok(()),
            }
        }
        Shape::List(inner) | Shape::Some(inner) => {
            let list = json.as_array().ok_or_else(|| expected("array"))?;
            if list.is_empty() && matches!(shape, Shape::Some(_)) {
                at.index(0);
                return Err(at.wrong("Missing key"));
            }
            for (index, item) in list.iter().enumerate() {
                let before = at.index(index);
                value(inner, item, nulls, false, at)?;
                at.0.truncate(before);
            }
            Ok(())
        }
        Shape::Tagged { name, tag, variants } => {
            let object = json.as_object();
            let found = object.as_ref().and_then(|object| object.text(tag));
            let variant = variants.iter().find(|(word, _)| found.as_deref() == Some(word));
            match (object.as_ref(), variant) {
                (Some(object), Some((_, fields))) => object_of(fields, object, nulls, at),
                (found, _) => {
                    let what = name.map_or_else(|| spelled(tag, variants), str::to_owned);
                    let or_null = if nullable && found.is_none() { " | null" } else { "" };
                    Err(at.wrong(&format!("Expected {what}{or_null}, got {}", shown(json))))
                }
            }
        }
    }
}

fn object_of(fields: &[Field], object: &Object<'_>, nulls: Nulls, at: &mut Path) -> Result<(), String> {
    for field in fields {
        let before = at.key(field.name);
        match object.get(field.name) {
            Some(json) => value(&field.shape, json, nulls, !field.required, at)?,
            None if field.required => return Err(at.wrong("Missing key")),
            None => {}
        }
        at.0.truncate(before);
    }
    Ok(())
}

fn members(object: &Object<'_>, inner: &Shape, nulls: Nulls, at: &mut Path) -> Result<(), String> {
    for entry in object.entries() {
        let before = at.key(&entry.key());
        value(inner, entry.value(), nulls, false, at)?;
        at.0.truncate(before);
    }
    Ok(())
}

fn spelled(tag: &str, variants: &[(&str, &[Field])]) -> String {
    let one = |(word, _): &(&str, &[Field])| format!("{{ readonly \"{tag}\": \"{word}\", ... }}");
    variants.iter().map(one).collect::<Vec<_>>().join(" | ")
}

/// A value as JavaScript would print it, without white space between its parts, cut where it is long.
fn shown(json: &Json<'_>) -> String {
    let mut out = String::new();
    let (mut quoted, mut escaped) = (false, false);
    for character in json.as_str().chars() {
        if out.len() > SHOWN {
            out.push_str("...");
            break;
        }
        if !quoted && character.is_ascii_whitespace() {
            continue;
        }
        out.push(character);
        quoted ^= character == '"' && !escaped;
        escaped = quoted && character == '\\' && !escaped;
    }
    out
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;
    use crate::shapes;

    fn said(shape: &Shape, text: &str) -> String {
        check(shape, &Json::parse(text).unwrap(), Nulls::Absent).err().unwrap_or_default()
    }

    /// Asked of the reference.
    #[test]
    fn misfits_are_told_in_the_words_of_the_reference() {
        let prompt = |text: &str| said(&shapes::PROMPT, text);
        assert_eq!(prompt("{}"), "Missing key\n  at [\"parts\"]");
        assert_eq!(prompt("[]"), "Expected object, got []");
        assert_eq!(prompt("{\"parts\": { }}"), "Expected array, got {}\n  at [\"parts\"]");
        assert_eq!(
            prompt(r#"{"parts":[{"type":"text","text":null}]}"#),
            "Expected string, got null\n  at [\"parts\"][0][\"text\"]"
        );
        assert_eq!(prompt(r#"{"noReply":"x","parts":[]}"#), "Expected boolean | null, got \"x\"\n  at [\"noReply\"]");
        assert_eq!(prompt(r#"{"tools":{"a":1},"parts":[]}"#), "Expected boolean, got 1\n  at [\"tools\"][\"a\"]");
        assert_eq!(
            prompt(r#"{"format":{"type": "zz"},"parts":[]}"#),
            "Expected OutputFormat, got {\"type\":\"zz\"}\n  at [\"format\"]"
        );
        assert_eq!(prompt(r#"{"format":5,"parts":[]}"#), "Expected OutputFormat | null, got 5\n  at [\"format\"]");
        assert_eq!(
            prompt(r#"{"parts":[{"type":"text","text":"x","time":{"start":1.5}}]}"#),
            "Expected an integer, got 1.5\n  at [\"parts\"][0][\"time\"][\"start\"]"
        );
        assert_eq!(prompt(r#"{"agent":null,"parts":[{"type":"text","text":"x","synthetic":null,"more":[1]}],"new":1}"#), "");
        let rules = |text: &str| said(&shapes::RULES, text);
        assert_eq!(rules(r#"[{"permission":"x"}]"#), "Missing key\n  at [0][\"pattern\"]");
        assert_eq!(
            rules(r#"[{"permission":"x","pattern":"y","action":"z"}]"#),
            "Expected PermissionAction, got \"z\"\n  at [0][\"action\"]"
        );
        assert_eq!(rules(r#"["x"]"#), "Expected PermissionRule, got \"x\"\n  at [0]");
        assert_eq!(rules("\"x\""), "Expected PermissionRuleset, got \"x\"");
        assert_eq!(said(&Shape::Number, "1e999"), "Expected a finite number, got Infinity");
    }

    #[test]
    fn a_value_is_shown_without_white_space_and_cut() {
        assert_eq!(shown(&Json::parse("{ \"a b\" : [ 1 , \"\\\" x\" ] }").unwrap()), "{\"a b\":[1,\"\\\" x\"]}");
        assert!(shown(&Json::text(&"x".repeat(5_000))).len() < 1_010);
    }
}
