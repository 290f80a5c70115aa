//! The text of a file, numbered and bounded.

use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::Path;

/// Lines given at a time.
const LINES: u64 = 2_000;
/// UTF-16 units of a line that are given.
const WIDTH: usize = 2_000;
/// Bytes of all lines given.
const BYTES: usize = 50 * 1024;
/// Bytes looked at to tell text from other things.
const SAMPLE: u64 = 4_096;
/// Bytes of a line that are kept: enough for [`WIDTH`] of any characters.
const KEPT: usize = 4 * WIDTH + 4;
/// Names proposed for a file that is not there.
const PROPOSED: usize = 3;

/// The lines wanted, the first being 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl Default for Range {
    fn default() -> Self {
        Range { offset: 1, limit: LINES }
    }
}

/// What a file turned out to be.
#[derive(Debug)]
pub(super) enum Read {
    Text(String),
    /// Something that is attached; `text` says what.
    Attachment {
        text: &'static str,
        mime: &'static str,
        bytes: Vec<u8>,
    },
}

impl Read {
    pub(super) fn into_text(self) -> String {
        match self {
            Read::Text(text) => text,
            Read::Attachment { text, .. } => text.to_owned(),
        }
    }
}

/// Kinds of files that are no text, whatever is in them.
const BINARY: &[&str] = &[
    "zip", "tar", "gz", "exe", "dll", "so", "class", "jar", "war", "7z", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods",
    "odp", "bin", "dat", "obj", "o", "a", "lib", "wasm", "pyc", "pyo",
];

/// Kinds of files that are attached.
const ATTACHED: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("pdf", "application/pdf"),
];

/// Reads a file. `path` is shown as it is given. Fails in the reference's words.
pub(super) fn read(path: &str, range: Range, largest: u64) -> Result<Read, String> {
    let place = Path::new(path);
    let binary = || format!("Cannot read binary file: {path}");
    let found = fs::metadata(place).map_err(|_| missing(path))?;
    // A pipe or a device may never end.
    if !found.is_file() {
        return Err(binary());
    }
    let extension = place.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if let Some((_, mime)) = ATTACHED.iter().find(|(known, _)| *known == extension) {
        if found.len() > largest {
            return Err(format!("File too large: {path}"));
        }
        let bytes = fs::read(place).map_err(|error| error.to_string())?;
        let text = if *mime == "application/pdf" { "PDF read successfully" } else { "Image read successfully" };
        return Ok(Read::Attachment { text, mime, bytes });
    }
    if BINARY.contains(&extension.as_str()) {
        return Err(binary());
    }
    let mut sample = Vec::new();
    let mut file = File::open(place).map_err(|error| error.to_string())?;
    file.by_ref().take(SAMPLE).read_to_end(&mut sample).map_err(|error| error.to_string())?;
    if is_binary(&sample) {
        return Err(binary());
    }
    let file = File::open(place).map_err(|error| error.to_string())?;
    let lines = numbered(Lines::new(BufReader::with_capacity(64 * 1024, file)), range)?;
    Ok(Read::Text(format!("<path>{path}</path>\n<type>file</type>\n<content>\n{lines}\n</content>")))
}

fn is_binary(sample: &[u8]) -> bool {
    if sample.contains(&0) {
        return true;
    }
    let odd = sample.iter().filter(|byte| **byte < 9 || (14..32).contains(*byte)).count();
    // More than three in ten.
    odd * 10 > sample.len() * 3
}

fn numbered(mut lines: Lines<impl std::io::BufRead>, range: Range) -> Result<String, String> {
    let Range { offset, limit } = range;
    let mut given: Vec<String> = Vec::new();
    let (mut count, mut bytes) = (0_u64, 0);
    let (mut more, mut capped) = (false, false);
    while let Some(line) = lines.next().map_err(|error| error.to_string())? {
        count += 1;
        if count < offset {
            continue;
        }
        if given.len() as u64 >= limit {
            more = true;
            continue;
        }
        let line = narrow(line);
        let size = line.len() + usize::from(!given.is_empty());
        if bytes + size > BYTES {
            capped = true;
            break;
        }
        bytes += size;
        given.push(format!("{count}: {line}"));
    }
    if count < offset && !(count == 0 && offset == 1) {
        return Err(format!("Offset {offset} is out of range for this file ({count} lines)"));
    }
    let last = (offset + given.len() as u64).saturating_sub(1);
    let next = last + 1;
    let end = if capped {
        format!("(Output capped at 50 KB. Showing lines {offset}-{last}. Use offset={next} to continue.)")
    } else if more {
        format!("(Showing lines {offset}-{last} of {count}. Use offset={next} to continue.)")
    } else {
        format!("(End of file - total {count} lines)")
    };
    Ok(format!("{}\n\n{end}", given.join("\n")))
}

/// A line, cut where it is too wide. A character that would be cut in two goes as a whole.
fn narrow(line: &Line) -> String {
    let mut units = 0;
    let mut out = String::new();
    for character in String::from_utf8_lossy(&line.bytes).chars() {
        units += character.len_utf16();
        if units > WIDTH {
            return out + "... (line truncated to 2000 chars)";
        }
        out.push(character);
    }
    if line.more { out + "... (line truncated to 2000 chars)" } else { out }
}

/// A line without its end, or the beginning of a long one.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    more: bool,
}

/// Lines ended by a line feed, a carriage return or both, in constant memory.
struct Lines<R> {
    from: R,
    line: Line,
    first: bool,
    /// the last byte was a carriage return: a line feed behind it ends the same line
    returned: bool,
}

impl<R: std::io::BufRead> Lines<R> {
    fn new(from: R) -> Self {
        Lines { from, line: Line::default(), first: true, returned: false }
    }

    fn next(&mut self) -> std::io::Result<Option<&Line>> {
        self.line.bytes.clear();
        self.line.more = false;
        let mut any = false;
        loop {
            let chunk = self.from.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            if std::mem::take(&mut self.returned) && chunk.first() == Some(&b'\n') {
                self.from.consume(1);
                continue;
            }
            any = true;
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let part = chunk.get(..end.unwrap_or(chunk.len())).unwrap_or_default();
            let room = KEPT.saturating_sub(self.line.bytes.len());
            self.line.more |= part.len() > room;
            self.line.bytes.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
            self.returned = end.is_some_and(|end| chunk.get(end) == Some(&b'\r'));
            let used = end.map_or(chunk.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                break;
            }
        }
        if std::mem::take(&mut self.first) && self.line.bytes.starts_with(b"\xef\xbb\xbf") {
            self.line.bytes.drain(..3);
        }
        Ok(any.then_some(&self.line))
    }
}

/// That a file is not there, and what may have been meant: names beside it that contain its name or are contained in it.
fn missing(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    let (folder, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
    let folder = if folder.is_empty() { "/" } else { folder };
    let wanted = name.to_lowercase();
    // A folder that cannot be listed proposes nothing.
    let entries = fs::read_dir(folder).map(|entries| entries.filter_map(Result::ok).collect()).unwrap_or_else(|_| Vec::new());
    let names = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let alike = names.filter(|name| {
        let name = name.to_lowercase();
        name.contains(&wanted) || wanted.contains(&name)
    });
    let proposed: Vec<String> = alike.take(PROPOSED).map(|name| format!("{}/{name}", folder.trim_end_matches('/'))).collect();
    if proposed.is_empty() {
        return format!("File not found: {path}");
    }
    format!("File not found: {path}\n\nDid you mean one of these?\n{}", proposed.join("\n"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;
    use std::io::Cursor;

    fn shown(bytes: impl AsRef<[u8]>, range: Range) -> Result<String, String> {
        // A buffer of one byte finds every place where a line could be torn.
        numbered(Lines::new(BufReader::with_capacity(1, Cursor::new(bytes.as_ref()))), range)
    }

    fn from(offset: u64, limit: u64) -> Range {
        Range { offset, limit }
    }

    #[test]
    fn lines_as_recorded() {
        let all = Range::default();
        assert_eq!(shown("one\ntwo\n", all).unwrap(), "1: one\n2: two\n\n(End of file - total 2 lines)");
        assert_eq!(shown("", all).unwrap(), "\n\n(End of file - total 0 lines)");
        assert_eq!(shown("a\r\nb\rc", all).unwrap(), "1: a\n2: b\n3: c\n\n(End of file - total 3 lines)");
        assert_eq!(shown("\n\n\n", all).unwrap(), "1: \n2: \n3: \n\n(End of file - total 3 lines)");
        assert_eq!(shown(b"\xef\xbb\xbfhi\ncaf\xe9\n", all).unwrap(), "1: hi\n2: caf\u{fffd}\n\n(End of file - total 2 lines)");
        assert_eq!(shown("a\nb\nc\n", from(2, 1)).unwrap(), "2: b\n\n(Showing lines 2-2 of 3. Use offset=3 to continue.)");
        assert_eq!(shown("a\nb\n", from(2, 5)).unwrap(), "2: b\n\n(End of file - total 2 lines)");
        assert_eq!(shown("a\nb\n", from(3, 5)).unwrap_err(), "Offset 3 is out of range for this file (2 lines)");
        assert_eq!(shown("", from(2, 5)).unwrap_err(), "Offset 2 is out of range for this file (0 lines)");
    }

    #[test]
    fn limits_as_recorded() {
        let all = Range::default();
        let lines = |n: usize| (0..n).map(|_| "l\n").collect::<String>();
        assert!(shown(lines(2000), all).unwrap().ends_with("2000: l\n\n(End of file - total 2000 lines)"));
        assert!(shown(lines(2001), all).unwrap().ends_with("(Showing lines 1-2000 of 2001. Use offset=2001 to continue.)"));
        let cut = "... (line truncated to 2000 chars)";
        assert!(!shown("x".repeat(2000), all).unwrap().contains(cut));
        assert!(shown("x".repeat(2001), all).unwrap().starts_with(&format!("1: {}{cut}\n", "x".repeat(2000))));
        // 1,500 characters of two units each.
        assert!(shown("\u{1f30d}".repeat(1500), all).unwrap().starts_with(&format!("1: {}{cut}\n", "\u{1f30d}".repeat(1000))));
        assert!(shown("é".repeat(100_000), all).unwrap().starts_with(&format!("1: {}{cut}\n", "é".repeat(2000))));
        let wide = |first: usize| {
            format!("{}\n{}", "q".repeat(first), "rrrrrrrrrrr\n".replace("rrrrrrrrrrr", &"r".repeat(99)).repeat(511))
        };
        assert!(shown(wide(100), all).unwrap().ends_with("(End of file - total 512 lines)"));
        assert!(
            shown(wide(101), all).unwrap().ends_with("(Output capped at 50 KB. Showing lines 1-511. Use offset=512 to continue.)")
        );
    }

    #[test]
    fn three_odd_bytes_in_ten_are_text() {
        assert!(!is_binary(&[vec![1; 30], vec![b'a'; 70]].concat()));
        assert!(is_binary(&[vec![1; 31], vec![b'a'; 69]].concat()));
        assert!(is_binary(b"a\0b") && !is_binary(b"\x1b[0m") && !is_binary(b"") && !is_binary(&[0xe9; 50]));
    }
}
