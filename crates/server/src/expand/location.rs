//! Addresses of files, as browsers read them.

use super::text::Range;
use crate::query::Query;
use percent_encoding::percent_decode_str;

/// A file on this machine and the lines asked for. Numbers are JavaScript's: one that cannot be read is `NaN`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Location {
    pub(crate) path: String,
    pub(super) offset: Option<f64>,
    pub(super) limit: Option<f64>,
}

/// The scheme of an address, in small letters; nothing if it is none.
pub(super) fn scheme(url: &str) -> Option<String> {
    let (scheme, _) = url.trim_start().split_once(':')?;
    let mut chars = scheme.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    (starts && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))).then(|| scheme.to_ascii_lowercase())
}

impl Location {
    /// Reads a `file:` address; nothing if it is one of another machine.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        let (_, rest) = url.trim_start().split_once(':')?;
        let rest: String = rest.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
        let rest = rest.split('#').next().unwrap_or_default();
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let path = path.replace('\\', "/");
        let path = match path.strip_prefix("//") {
            None => path,
            Some(authority) => {
                let (host, below) = authority.split_once('/').unwrap_or((authority, ""));
                if !matches!(host, "" | "localhost") {
                    return None;
                }
                format!("/{below}")
            }
        };
        let path = percent_decode_str(&straight(&path)).decode_utf8().ok()?.into_owned();
        let query = Query::parse(query);
        let offset = query.get("start").map(integer).map(|start| if start.is_nan() { start } else { start.max(1.0) });
        let end = query.get("end").map(integer).filter(|end| !end.is_nan() && *end != 0.0);
        let limit = offset.and_then(|offset| end.map(|end| end - (offset - 1.0)));
        Some(Location { path, offset, limit })
    }

    /// The lines asked for; words where the numbers are none that could be read.
    pub(super) fn range(&self) -> Result<Range, String> {
        let usual = Range::default();
        Ok(Range {
            offset: whole("offset", self.offset)?.unwrap_or(usual.offset).max(1),
            limit: whole("limit", self.limit)?.unwrap_or(usual.limit),
        })
    }
}

fn whole(name: &str, number: Option<f64>) -> Result<Option<u64>, String> {
    let Some(number) = number else { return Ok(None) };
    let problem = match number {
        n if n.is_nan() => "Expected an integer, got NaN".to_owned(),
        n if n < 0.0 => format!("Expected a value greater than or equal to 0, got {n}"),
        n => return Ok(Some(n as u64)),
    };
    Err(format!(
        "The read tool was called with invalid arguments: SchemaError({problem}\n  at [\"{name}\"]).\nPlease rewrite the input so it satisfies the expected schema."
    ))
}

/// A path without `.` and `..`, with one slash at the beginning.
fn straight(path: &str) -> String {
    let mut steps: Vec<&str> = Vec::new();
    let given: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    for (index, step) in given.iter().enumerate() {
        let last = index + 1 == given.len();
        match step.to_ascii_lowercase().as_str() {
            "." | "%2e" if last => steps.push(""),
            "." | "%2e" => {}
            ".." | "%2e%2e" | ".%2e" | "%2e." => {
                steps.pop();
                if last {
                    steps.push("");
                }
            }
            _ => steps.push(step),
        }
    }
    format!("/{}", steps.join("/"))
}

/// JavaScript's `parseInt`.
fn integer(text: &str) -> f64 {
    let text = text.trim_start();
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => (10, digits),
    };
    let mut value = f64::NAN;
    for digit in digits.chars().map_while(|c| c.to_digit(radix)) {
        value = if value.is_nan() { 0.0 } else { value } * f64::from(radix) + f64::from(digit);
    }
    sign * value
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn addresses_are_read_as_the_reference_reads_them() {
        let at = |url: &str| Location::parse(url).unwrap();
        assert_eq!(at("file:///a/sp%20ace/%C3%BC").path, "/a/sp ace/ü");
        assert_eq!(at("FILE:///a b/ü#L3").path, "/a b/ü");
        assert_eq!(at("file:hello.txt").path, "/hello.txt");
        assert_eq!(at("file:///a/b/.").path, "/a/b/");
        assert_eq!(at("file:///a/b/../c").path, "/a/c");
        assert!(Location::parse("file://host/x").is_none());
        let lines = |url: &str| (at(url).offset, at(url).limit);
        assert_eq!(lines("file:///f?start=2"), (Some(2.0), None));
        assert_eq!(lines("file:///f?start=5&end=10"), (Some(5.0), Some(6.0)));
        assert_eq!(lines("file:///f?start=10&end=5"), (Some(10.0), Some(-4.0)));
        assert_eq!(lines("file:///f?start=-5&end=3"), (Some(1.0), Some(3.0)));
        assert_eq!(lines("file:///f?start=2.5&end=4"), (Some(2.0), Some(3.0)));
        assert_eq!(lines("file:///f?start=1e3&end=1e4"), (Some(1.0), Some(1.0)));
        assert_eq!(lines("file:///f?start=0x2"), (Some(2.0), None));
        assert_eq!(lines("file:///f?end=3"), (None, None));
        assert_eq!(lines("file:///f?start=1&end="), (Some(1.0), None));
        assert!(at("file:///f?start=x").offset.unwrap().is_nan());
        assert!(at("file:///f?start=x").range().unwrap_err().contains("Expected an integer, got NaN\n  at [\"offset\"]"));
        assert!(at("file:///f?start=10&end=5").range().unwrap_err().contains("got -4\n  at [\"limit\"]"));
        assert_eq!((scheme("res://x"), scheme("nonsense"), scheme("1:x")), (Some("res".into()), None, None));
    }
}
