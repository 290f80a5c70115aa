//! Server-sent events, from bytes cut anywhere.
//!
//! Of our own because the crates either search the whole buffer again for each chunk (quadratic: 1.5 s for an event of
//! 4 MiB) or have no bound on an event.

use std::borrow::Cow;

/// What a line or an event has too much of.
pub(super) struct TooLong;

pub(super) struct Frames {
    /// The line that is not whole yet.
    line: Vec<u8>,
    /// The event that is not whole yet.
    name: Option<String>,
    data: Option<String>,
    limit: usize,
    /// The last byte was CR, so that an LF belongs to it.
    after_cr: bool,
    /// No line was whole yet.
    first: bool,
    /// A line was one of this format.
    seen: bool,
    /// Lines of another format, as long as there was none of this.
    stray: Vec<u8>,
}

/// How much of a body that is none of ours is kept.
const STRAY: usize = 64 << 10;

impl Frames {
    pub(super) fn new(limit: usize) -> Self {
        Frames {
            line: Vec::new(),
            name: None,
            data: None,
            limit,
            after_cr: false,
            first: true,
            seen: false,
            stray: Vec::new(),
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Calls `each` with name and data of each event that becomes whole.
    pub(super) fn feed(&mut self, mut bytes: &[u8], each: &mut dyn FnMut(Option<&str>, &str)) -> Result<(), TooLong> {
        while let Some(&next) = bytes.first() {
            if std::mem::take(&mut self.after_cr) && next == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let end = memchr::memchr2(b'\n', b'\r', bytes);
            let piece = &bytes[..end.unwrap_or(bytes.len())];
            if self.line.len() + piece.len() > self.limit {
                return Err(TooLong);
            }
            let Some(end) = end else {
                self.line.extend_from_slice(piece);
                return Ok(());
            };
            self.after_cr = bytes[end] == b'\r';
            if self.line.is_empty() {
                self.whole(piece, each)?;
            } else {
                let mut line = std::mem::take(&mut self.line);
                line.extend_from_slice(piece);
                self.whole(&line, each)?;
                line.clear();
                self.line = line;
            }
            bytes = &bytes[end + 1..];
        }
        Ok(())
    }

    /// The end of the bytes is the end of the event, too: some servers leave the last line breaks out.
    pub(super) fn end(&mut self, each: &mut dyn FnMut(Option<&str>, &str)) -> Result<(), TooLong> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.whole(&line, each)?;
        }
        self.whole(b"", each)
    }

    /// A body that has not one line of this format, if there is anything in it.
    pub(super) fn other(&self) -> Option<Cow<'_, str>> {
        let found = !self.seen && !self.stray.trim_ascii().is_empty();
        found.then(|| String::from_utf8_lossy(&self.stray))
    }

    fn whole(&mut self, mut line: &[u8], each: &mut dyn FnMut(Option<&str>, &str)) -> Result<(), TooLong> {
        if std::mem::take(&mut self.first) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let name = self.name.take();
            if let Some(data) = self.data.take() {
                each(name.as_deref(), &data);
            }
            return Ok(());
        }
        let colon = memchr::memchr(b':', line);
        let (field, value) = (&line[..colon.unwrap_or(line.len())], colon.map_or(&b""[..], |colon| &line[colon + 1..]));
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                // Bytes that are no UTF-8 become U+FFFD, as in the format's definition.
                let value = String::from_utf8_lossy(value);
                match &mut self.data {
                    None => self.data = Some(value.into_owned()),
                    Some(data) if data.len() + value.len() >= self.limit => return Err(TooLong),
                    Some(data) => {
                        data.push('\n');
                        data.push_str(&value);
                    }
                }
            }
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            // A comment, or what is for clients that connect again.
            b"" | b"id" | b"retry" => {}
            _ => {
                if !self.seen {
                    let room = STRAY.saturating_sub(self.stray.len());
                    self.stray.extend_from_slice(&line[..line.len().min(room)]);
                    self.stray.push(b'\n');
                }
                return Ok(());
            }
        }
        self.seen = true;
        Ok(())
    }
}
