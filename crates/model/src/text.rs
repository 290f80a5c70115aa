//! A text that is passed on as it is stored.

use crate::json::{self, Out};
use annalist_schema::Json;
use annalist_schema::raw::{Kind, unescape};
use std::borrow::Cow;
use std::io;

/// A text of a conversation.
///
/// What comes out of a row stays the slice of JSON that it was, still escaped: most texts have line breaks, and undoing
/// and redoing the escapes of a long history would be a second copy of it. What this crate makes itself is plain.
#[derive(Clone, Debug)]
pub struct Text<'a>(Form<'a>);

#[derive(Clone, Debug)]
enum Form<'a> {
    /// The inside of a JSON string.
    Escaped(Cow<'a, str>),
    Plain(Cow<'a, str>),
}

impl<'a> Text<'a> {
    /// A text of this program.
    #[must_use]
    pub fn plain(text: impl Into<Cow<'a, str>>) -> Self {
        Text(Form::Plain(text.into()))
    }

    /// A JSON value that is a string; nothing if it is none.
    #[must_use]
    pub fn from_json(json: Json<'a>) -> Option<Self> {
        if json.kind() != Kind::String {
            return None;
        }
        Some(Text(Form::Escaped(match json.into_text() {
            Cow::Borrowed(text) => Cow::Borrowed(&text[1..text.len() - 1]),
            Cow::Owned(text) => Cow::Owned(text[1..text.len() - 1].to_owned()),
        })))
    }

    /// The text of a JSON value, if it is a string.
    pub(crate) fn from_raw(raw: &'a str) -> Option<Self> {
        crate::members::inside(raw).map(|inside| Text(Form::Escaped(Cow::Borrowed(inside))))
    }

    /// Whether there is no character.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is nothing but white space.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match &self.0 {
            Form::Plain(text) => blank(text),
            // Most texts tell by their first character.
            Form::Escaped(text) => match text.chars().next() {
                Some(first) if first != '\\' && !white(first) => false,
                _ => blank(&unescape(text).0),
            },
        }
    }

    /// Bytes as it is kept; with escapes more than it has characters.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Escaped(text) | Form::Plain(text) => text.len(),
        }
    }

    /// Whether a half of a surrogate pair stands in it, which no provider takes. It is written as U+FFFD in any case.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        match &self.0 {
            Form::Plain(_) => false,
            Form::Escaped(text) => json::may_have_surrogates(text) && unescape(text).1,
        }
    }

    /// The text itself. A copy only if it is stored with escapes.
    #[must_use]
    pub fn to_str(&self) -> Cow<'_, str> {
        match &self.0 {
            Form::Escaped(text) => unescape(text).0,
            Form::Plain(text) => Cow::Borrowed(text),
        }
    }

    /// The same, borrowing from what this text borrows from.
    #[must_use]
    pub fn into_str(self) -> Cow<'a, str> {
        match self.0 {
            Form::Escaped(Cow::Borrowed(text)) => unescape(text).0,
            Form::Escaped(Cow::Owned(text)) => Cow::Owned(unescape(&text).0.into_owned()),
            Form::Plain(text) => text,
        }
    }

    /// Writes the inside of a JSON string.
    pub(crate) fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match &self.0 {
            Form::Plain(text) => json::escape(text.as_bytes(), out),
            Form::Escaped(text) => json::clean(text, out),
        }
    }

    /// Writes a JSON string.
    pub(crate) fn put(&self, out: &mut Out<'_>) -> io::Result<()> {
        out.string_with(|inside| self.write(inside))
    }
}

impl PartialEq for Text<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Form::Escaped(one), Form::Escaped(other)) if one == other => true,
            _ => self.to_str() == other.to_str(),
        }
    }
}

/// White space as JavaScript's `trim` has it.
pub(crate) fn white(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

pub(crate) fn blank(text: &str) -> bool {
    text.chars().all(white)
}
