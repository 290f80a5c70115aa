//! Indented output.

use super::scan;
use std::io::{self, Write};

const INDENT: usize = 2;

/// Writes a well-formed JSON text as `JSON.stringify(value, null, 2)` lays it out, starting at nesting `level`.
///
/// Strings and numbers go through as they are spelled. Nothing is buffered: a value of any size passes in small writes,
/// so `out` should be buffered.
///
/// # Errors
/// Those of `out`.
pub fn write_pretty(text: &str, level: usize, out: &mut dyn Write) -> io::Result<()> {
    let bytes = text.as_bytes();
    let mut level = level;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = scan::string(bytes, at).unwrap_or(bytes.len());
                out.write_all(&bytes[at..end])?;
                at = end;
                continue;
            }
            b'{' | b'[' => {
                out.write_all(&[byte])?;
                let next = scan::skip_space(bytes, at + 1);
                if let Some(b'}' | b']') = bytes.get(next) {
                    out.write_all(&bytes[next..=next])?;
                    at = next;
                } else {
                    level += 1;
                    new_line(level, out)?;
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                new_line(level, out)?;
                out.write_all(&[byte])?;
            }
            b',' => {
                out.write_all(b",")?;
                new_line(level, out)?;
            }
            b':' => out.write_all(b": ")?,
            b' ' | b'\n' | b'\r' | b'\t' => {}
            _ => {
                let end = bytes[at..].iter().position(|b| matches!(b, b',' | b'}' | b']' | b' ' | b'\n' | b'\r' | b'\t'));
                let end = end.map_or(bytes.len(), |n| at + n);
                out.write_all(&bytes[at..end])?;
                at = end;
                continue;
            }
        }
        at += 1;
    }
    Ok(())
}

/// A line break and the indentation of a level.
fn new_line(level: usize, out: &mut dyn Write) -> io::Result<()> {
    const SPACES: [u8; 64] = [b' '; 64];
    out.write_all(b"\n")?;
    let mut left = level * INDENT;
    while left > 0 {
        let now = left.min(SPACES.len());
        out.write_all(&SPACES[..now])?;
        left -= now;
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::expect_used, reason = "a failing test is meant to panic")]
mod tests {
    use super::*;

    fn pretty(text: &str) -> String {
        let mut out = Vec::new();
        write_pretty(text, 0, &mut out).expect("a vector takes everything");
        String::from_utf8(out).expect("JSON stays UTF-8")
    }

    #[test]
    fn lays_out_as_json_stringify_does() {
        assert_eq!(
            pretty(r#"{"a":[1,{"b":[]},{}] ,"c":"x:,{}","d":1.0e3}"#),
            "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    },\n    {}\n  ],\n  \"c\": \"x:,{}\",\n  \"d\": 1.0e3\n}"
        );
        assert_eq!(pretty("null"), "null");
        assert_eq!(pretty("[ ]"), "[]");
    }
}
