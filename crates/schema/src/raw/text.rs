//! Strings between JSON's escapes and Rust's UTF-8.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Undoes the escapes of a string's inside (without its quotes), which must be well-formed.
///
/// JavaScript writes half a surrogate pair as `\ud83d`; Rust text cannot hold it. It becomes U+FFFD here, and the second
/// value says so.
#[must_use]
pub fn unescape(inside: &str) -> (Cow<'_, str>, bool) {
    if memchr::memchr(b'\\', inside.as_bytes()).is_none() {
        return (Cow::Borrowed(inside), false);
    }
    let mut out = String::with_capacity(inside.len());
    let mut lone = false;
    let mut rest = inside;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or(b'\\');
        rest = rest.get(at + 2..).unwrap_or_default();
        match escape {
            b'b' => out.push('\u{8}'),
            b'f' => out.push('\u{c}'),
            b'n' => out.push('\n'),
            b'r' => out.push('\r'),
            b't' => out.push('\t'),
            b'u' => {
                let unit = hex(rest);
                rest = rest.get(4..).unwrap_or_default();
                let low = match (unit, rest.strip_prefix("\\u").map(hex)) {
                    (0xd800..0xdc00, Some(low @ 0xdc00..0xe000)) => Some(low),
                    _ => None,
                };
                let code = match low {
                    Some(low) => {
                        rest = rest.get(6..).unwrap_or_default();
                        0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)
                    }
                    None => unit,
                };
                lone |= (0xd800..0xe000).contains(&code);
                out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            // `"`, `\` and `/` stand for themselves.
            other => out.push(char::from(other)),
        }
    }
    out.push_str(rest);
    (Cow::Owned(out), lone)
}

fn hex(text: &str) -> u32 {
    text.get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok()).unwrap_or(0xfffd)
}

/// Writes a string as `JSON.stringify` does: only what must be escaped is, control characters in their short forms.
pub fn write_string(out: &mut String, value: &str) {
    out.push('"');
    let mut from = 0;
    for (at, byte) in value.bytes().enumerate() {
        let short = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0c => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(&value[from..at]);
        if short.is_empty() {
            // Writing to a String cannot fail.
            write!(out, "\\u{byte:04x}").ok();
        } else {
            out.push_str(short);
        }
        from = at + 1;
    }
    out.push_str(&value[from..]);
    out.push('"');
}
