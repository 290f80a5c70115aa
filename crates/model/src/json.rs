//! JSON written piece by piece into a writer.

use std::io::{self, Write};

/// Writes the members of objects and the elements of arrays with their commas.
///
/// The shape is the caller's: what is opened has to be closed.
pub(crate) struct Out<'w> {
    to: &'w mut dyn Write,
    /// Whether the next member or element is the first of its object or array.
    first: bool,
}

impl<'w> Out<'w> {
    pub(crate) fn new(to: &'w mut dyn Write) -> Self {
        Out { to, first: true }
    }

    /// The comma before an element, if one is due. Values of members need none.
    pub(crate) fn element(&mut self) -> io::Result<&mut Self> {
        if !std::mem::replace(&mut self.first, false) {
            self.to.write_all(b",")?;
        }
        Ok(self)
    }

    pub(crate) fn open_object(&mut self) -> io::Result<()> {
        self.first = true;
        self.to.write_all(b"{")
    }

    pub(crate) fn close_object(&mut self) -> io::Result<()> {
        self.first = false;
        self.to.write_all(b"}")
    }

    pub(crate) fn open_array(&mut self) -> io::Result<()> {
        self.first = true;
        self.to.write_all(b"[")
    }

    pub(crate) fn close_array(&mut self) -> io::Result<()> {
        self.first = false;
        self.to.write_all(b"]")
    }

    /// The key of a member whose value comes next.
    pub(crate) fn key(&mut self, key: &str) -> io::Result<&mut Self> {
        self.element()?.string(key)?;
        self.to.write_all(b":")?;
        Ok(self)
    }

    /// A string.
    pub(crate) fn string(&mut self, text: &str) -> io::Result<()> {
        self.string_with(|inside| escape(text.as_bytes(), inside))
    }

    /// A string whose inside is written, already escaped, by `inside`.
    pub(crate) fn string_with(&mut self, inside: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.first = false;
        self.to.write_all(b"\"")?;
        inside(self.to)?;
        self.to.write_all(b"\"")
    }

    /// A string that is itself a JSON text, as `JSON.stringify` inside of it would give.
    pub(crate) fn string_of_json(&mut self, json: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> io::Result<()> {
        self.string_with(|inside| json(&mut Out::new(&mut Escaping(inside))))
    }

    /// A value that is JSON already: without the space between its tokens, halves of surrogate pairs replaced.
    pub(crate) fn value(&mut self, json: &str) -> io::Result<()> {
        self.first = false;
        compact(json, self.to)
    }
}

/// Whatever is written is escaped as the inside of a string.
struct Escaping<'w>(&'w mut dyn Write);

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        escape(bytes, self.0)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The inside of a string as `JSON.stringify` writes it.
pub(crate) fn escape(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut from = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let short: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0c => b"\\f",
            0..0x20 => b"",
            _ => continue,
        };
        out.write_all(&bytes[from..at])?;
        if short.is_empty() {
            write!(out, "\\u{byte:04x}")?;
        } else {
            out.write_all(short)?;
        }
        from = at + 1;
    }
    out.write_all(&bytes[from..])
}

/// Whether an escape like `\ud83d` may stand in a text; rarely true of one that has none.
pub(crate) fn may_have_surrogates(escaped: &str) -> bool {
    let bytes = escaped.as_bytes();
    let digits = |at: usize| bytes.get(at + 2..at + 4);
    memchr::memmem::find_iter(bytes, "\\u")
        .any(|at| matches!(digits(at), Some([b'd' | b'D', digit]) if !matches!(digit, b'0'..=b'7')))
}

/// An escaped text as it is, with U+FFFD in the place of each half of a surrogate pair.
pub(crate) fn clean(escaped: &str, out: &mut dyn Write) -> io::Result<()> {
    if may_have_surrogates(escaped) {
        // Rare enough to be copied.
        let (text, lone) = annalist_schema::raw::unescape(escaped);
        if lone {
            return escape(text.as_bytes(), out);
        }
    }
    out.write_all(escaped.as_bytes())
}

/// A JSON text without the space between its tokens, its strings cleaned.
fn compact(json: &str, out: &mut dyn Write) -> io::Result<()> {
    let bytes = json.as_bytes();
    let clean_strings = may_have_surrogates(json);
    let (mut copied, mut at) = (0, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at);
                if clean_strings {
                    out.write_all(&bytes[copied..=at])?;
                    clean(json.get(at + 1..end).unwrap_or_default(), out)?;
                    copied = end;
                }
                at = end + 1;
            }
            b' ' | b'\n' | b'\r' | b'\t' => {
                out.write_all(&bytes[copied..at])?;
                at += 1;
                copied = at;
            }
            _ => at += 1,
        }
    }
    out.write_all(bytes.get(copied..).unwrap_or_default())
}

/// Where the string that begins at `start` has its closing quote.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        if bytes[at + found] == b'"' {
            return at + found;
        }
        at += found + 2;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn written(write: impl FnOnce(&mut Out<'_>) -> io::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut Out::new(&mut bytes)).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn commas_stand_between_members_and_elements() {
        let text = written(|out| {
            out.open_object()?;
            out.key("a")?.open_array()?;
            out.element()?.string("x\n")?;
            out.element()?.value("{ \"k\" : [ 1 , 2 ] }")?;
            out.close_array()?;
            out.key("b")?.string_of_json(|out| {
                out.open_object()?;
                out.key("q")?.string("\"")?;
                out.close_object()
            })?;
            out.close_object()
        });
        assert_eq!(text, r#"{"a":["x\n",{"k":[1,2]}],"b":"{\"q\":\"\\\"\"}"}"#);
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_pairs_are_not() {
        let value = |json: &str| written(|out| out.value(json));
        assert_eq!(value(r#"{"a \ud83d":"\ude00\ud83d"}"#), "{\"a \u{fffd}\":\"\u{fffd}\u{fffd}\"}");
        assert_eq!(value(r#"["\ud83d\ude00", "\\ud83d"]"#), r#"["\ud83d\ude00","\\ud83d"]"#);
    }
}
