//! Output without white space.

use super::scan;

/// A well-formed JSON text without the white space between its tokens; strings and numbers stay as they are spelled.
#[must_use]
pub fn compact(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = scan::string(bytes, at).unwrap_or(bytes.len()),
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.push_str(&text[copied..at]);
                at = scan::skip_space(bytes, at);
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.push_str(&text[copied..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_space_between_tokens_goes() {
        assert_eq!(compact("{ \"a b\" : [ 1.0,\n\t\" \\\" x\" ] }"), "{\"a b\":[1.0,\" \\\" x\"]}");
        assert_eq!(compact("1e3"), "1e3");
    }
}
