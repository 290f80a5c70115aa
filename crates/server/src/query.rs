//! The query of an address, read as browsers' `URLSearchParams` reads it: of a name that stands twice the first counts, `+`
//! is a space, and what is no escape stays as it is.

use percent_encoding::percent_decode_str;

#[derive(Debug, Default)]
pub(crate) struct Query(Vec<(String, String)>);

impl Query {
    pub(crate) fn parse(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        Query(pairs.collect())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// A value that says something: an empty one is as good as none.
    pub(crate) fn filled(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// All pairs in order, for an address that is this one with a change.
    pub(crate) fn pairs(&self) -> &[(String, String)] {
        &self.0
    }
}

fn decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

/// What JavaScript's `Number` makes of a text; not a number becomes `NaN`.
pub(crate) fn number(text: &str) -> f64 {
    let text = text.trim();
    if text.is_empty() {
        return 0.0;
    }
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).map_or(f64::NAN, |whole| whole as f64);
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        return radix(digits, 16);
    }
    match text {
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        // Rust reads more words as numbers than JavaScript does.
        _ if text.contains(|c: char| c.is_ascii_alphabetic() && !matches!(c, 'e' | 'E')) => f64::NAN,
        _ => text.parse().unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_as_browsers_do() {
        let query = Query::parse("a=1&b=%2Fx%20y&b=2&c&d=a+b&e=%zz&=q");
        assert_eq!(query.get("a"), Some("1"));
        assert_eq!(query.get("b"), Some("/x y"));
        assert_eq!(query.get("c"), Some(""));
        assert_eq!(query.filled("c"), None);
        assert_eq!(query.get("d"), Some("a b"));
        assert_eq!(query.get("e"), Some("%zz"));
        assert_eq!(query.get("f"), None);
    }

    #[test]
    fn numbers_are_javascripts() {
        assert_eq!(number(""), 0.0);
        assert_eq!(number(" 12 "), 12.0);
        assert_eq!(number("0x10"), 16.0);
        assert_eq!(number("-1.5e2"), -150.0);
        assert!(number("x").is_nan() && number("inf").is_nan() && number("1x").is_nan() && number("nan").is_nan());
    }
}
