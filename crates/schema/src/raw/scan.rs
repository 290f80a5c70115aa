//! The scanner: checks JSON text and finds where values begin and end, without building anything.

use std::ops::Range;

/// Where and why a text is not JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not JSON at byte {offset}: {what}")]
pub struct Malformed {
    /// Byte offset into the text.
    pub offset: usize,
    /// What is wrong there.
    pub what: &'static str,
}

fn bad<T>(offset: usize, what: &'static str) -> Result<T, Malformed> {
    Err(Malformed { offset, what })
}

/// One member of an object: the key without its quotes (still escaped) and the value.
pub(super) struct Member {
    pub(super) key: Range<usize>,
    pub(super) value: Range<usize>,
}

pub(super) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// The span of the one value that the text consists of.
pub(super) fn whole(bytes: &[u8]) -> Result<(usize, usize), Malformed> {
    let start = skip_space(bytes, 0);
    let end = value(bytes, start)?;
    let rest = skip_space(bytes, end);
    if rest < bytes.len() {
        return bad(rest, "text after the value");
    }
    Ok((start, end))
}

/// The end of the string whose opening quote is at `at`.
pub(super) fn string(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    let mut from = at + 1;
    loop {
        let Some(found) = memchr::memchr2(b'"', b'\\', bytes.get(from..).unwrap_or_default()) else {
            return bad(bytes.len(), "a string without its closing quote");
        };
        let stop = from + found;
        // A fold instead of a search: it has no early exit, so it is vectorised.
        if bytes[from..stop].iter().fold(false, |any, b| any | (*b < 0x20)) {
            let offset = from + bytes[from..stop].iter().position(|b| *b < 0x20).unwrap_or(0);
            return bad(offset, "a control character inside a string");
        }
        if bytes[stop] == b'"' {
            return Ok(stop + 1);
        }
        from = match bytes.get(stop + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => stop + 2,
            Some(b'u') => match bytes.get(stop + 2..stop + 6) {
                Some(hex) if hex.iter().all(u8::is_ascii_hexdigit) => stop + 6,
                _ => return bad(stop, "an incomplete \\u escape"),
            },
            _ => return bad(stop, "an unknown escape"),
        };
    }
}

fn digits(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        at += 1;
    }
    at
}

fn number(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    let mut end = at + usize::from(bytes.get(at) == Some(&b'-'));
    end = match bytes.get(end) {
        Some(b'0') => end + 1,
        Some(b'1'..=b'9') => digits(bytes, end),
        _ => return bad(end, "not a value"),
    };
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(bytes, end + 1);
        if fraction == end + 1 {
            return bad(fraction, "a number without digits after its point");
        }
        end = fraction;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let first = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(bytes, first);
        if exponent == first {
            return bad(exponent, "a number without digits in its exponent");
        }
        end = exponent;
    }
    Ok(end)
}

fn scalar(bytes: &[u8], at: usize) -> Result<usize, Malformed> {
    let word = |word: &'static [u8]| {
        if bytes[at..].starts_with(word) { Ok(at + word.len()) } else { bad(at, "not a value") }
    };
    match bytes.get(at) {
        None => bad(at, "the text ends where a value should be"),
        Some(b'"') => string(bytes, at),
        Some(b't') => word(b"true"),
        Some(b'f') => word(b"false"),
        Some(b'n') => word(b"null"),
        _ => number(bytes, at),
    }
}

/// `"key" :`, from the opening quote; gives the end of the key and the start of the value.
fn key(bytes: &[u8], at: usize) -> Result<(usize, usize), Malformed> {
    if bytes.get(at) != Some(&b'"') {
        return bad(at, "not a key");
    }
    let end = string(bytes, at)?;
    let colon = skip_space(bytes, end);
    if bytes.get(colon) != Some(&b':') {
        return bad(colon, "a key without its colon");
    }
    Ok((end, skip_space(bytes, colon + 1)))
}

/// The end of the value that starts at `at`.
pub(super) fn value(bytes: &[u8], mut at: usize) -> Result<usize, Malformed> {
    // The open containers, innermost last: true is an object.
    let mut open: Vec<bool> = Vec::new();
    loop {
        // At the start of a value.
        match bytes.get(at) {
            Some(b'{') => {
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&b'}') {
                    at += 1;
                } else {
                    open.push(true);
                    at = key(bytes, at)?.1;
                    continue;
                }
            }
            Some(b'[') => {
                at = skip_space(bytes, at + 1);
                if bytes.get(at) == Some(&b']') {
                    at += 1;
                } else {
                    open.push(false);
                    continue;
                }
            }
            _ => at = scalar(bytes, at)?,
        }
        // Behind a value: close what ends here, or go to the next one.
        loop {
            let Some(object) = open.last() else { return Ok(at) };
            at = skip_space(bytes, at);
            match (bytes.get(at), object) {
                (Some(b','), true) => {
                    at = key(bytes, skip_space(bytes, at + 1))?.1;
                    break;
                }
                (Some(b','), false) => {
                    at = skip_space(bytes, at + 1);
                    break;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    open.pop();
                    at += 1;
                }
                (None, _) => return bad(at, "the text ends inside an array or object"),
                _ => return bad(at, "neither a comma nor the end of the array or object"),
            }
        }
    }
}

/// The members of the object that the text consists of; this is also the check of the whole text.
pub(super) fn members(text: &str) -> Result<Vec<Member>, Malformed> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'{') {
        return bad(at, "not an object");
    }
    let mut members = Vec::new();
    at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b'}') {
        at += 1;
    } else {
        loop {
            let (key_end, start) = key(bytes, at)?;
            let end = value(bytes, start)?;
            members.push(Member { key: at + 1..key_end - 1, value: start..end });
            at = skip_space(bytes, end);
            match bytes.get(at) {
                Some(b',') => at = skip_space(bytes, at + 1),
                Some(b'}') => {
                    at += 1;
                    break;
                }
                None => return bad(at, "the text ends inside an object"),
                _ => return bad(at, "neither a comma nor the end of the object"),
            }
        }
    }
    let rest = skip_space(bytes, at);
    if rest < bytes.len() {
        return bad(rest, "text after the value");
    }
    Ok(members)
}

/// The elements of the array that the text consists of.
pub(super) fn elements(text: &str) -> Result<Vec<Range<usize>>, Malformed> {
    let bytes = text.as_bytes();
    let mut at = skip_space(bytes, 0);
    if bytes.get(at) != Some(&b'[') {
        return bad(at, "not an array");
    }
    let mut elements = Vec::new();
    at = skip_space(bytes, at + 1);
    if bytes.get(at) == Some(&b']') {
        return Ok(elements);
    }
    loop {
        let end = value(bytes, at)?;
        elements.push(at..end);
        at = skip_space(bytes, end);
        match bytes.get(at) {
            Some(b',') => at = skip_space(bytes, at + 1),
            Some(b']') => return Ok(elements),
            None => return bad(at, "the text ends inside an array"),
            _ => return bad(at, "neither a comma nor the end of the array"),
        }
    }
}

/// Levels of nesting of a checked text.
pub(super) fn depth(bytes: &[u8]) -> usize {
    let (mut at, mut level, mut most) = (0, 0_usize, 0);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                at = string(bytes, at).unwrap_or(bytes.len());
                continue;
            }
            b'{' | b'[' => {
                level += 1;
                most = most.max(level);
            }
            b'}' | b']' => level = level.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    most
}
