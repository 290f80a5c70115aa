//! Lossless JSON: values keep the text they were read from.
//!
//! A conversation passes through many programs. Decoding into typed structs and encoding again loses what the structs do
//! not know: unknown fields, the spelling of numbers (`1.0`, `1e3`, `12345678901234567890`), half a surrogate pair that
//! JavaScript wrote as `"\ud83d"`. So nothing here is decoded until someone asks: an [`Object`] is split once into keys
//! and raw values, a [`Json`] is the text of one value, and typed views read fields out of them.
//!
//! Scanning is iterative: nesting costs a byte a level on the heap, never stack.

mod compact;
mod number;
mod object;
mod pretty;
mod replace;
mod same;
mod scan;
mod text;

use std::borrow::Cow;
use std::fmt;

pub use compact::compact;
pub use number::Number;
pub use object::{Entry, Object};
pub use pretty::write_pretty;
pub use scan::Malformed;
pub use text::{unescape, write_string};

/// What a JSON value is, told by its first byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// a number, in any spelling
    Number,
    /// a string
    String,
    /// an array
    Array,
    /// an object
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        })
    }
}

/// Bytes as text, for `parse`.
///
/// # Errors
/// [`Malformed`] with the offset of the first byte that is not UTF-8.
pub fn utf8(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|error| Malformed { offset: error.valid_up_to(), what: "not UTF-8" })
}

/// The text of one well-formed JSON value, without surrounding white space.
///
/// Equality is equality of the text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// Checks that `text` is exactly one JSON value. Nesting is not limited.
    ///
    /// # Errors
    /// [`Malformed`] with the byte offset where the text stops being JSON.
    pub fn parse(text: impl Into<Cow<'a, str>>) -> Result<Self, Malformed> {
        let text = text.into();
        let (start, end) = scan::whole(text.as_bytes())?;
        Ok(Json(slice(text, start, end)))
    }

    /// A text that is known to be JSON because this module cut it out of a checked one or wrote it.
    pub(crate) fn trusted(text: impl Into<Cow<'a, str>>) -> Self {
        Json(text.into())
    }

    /// The value as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the value is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// A string value, unescaped. Half a surrogate pair becomes U+FFFD; the raw text still has it.
    #[must_use]
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        self.borrowed().into_string()
    }

    /// The same, borrowing from what this value borrows from.
    #[must_use]
    pub fn into_string(self) -> Option<Cow<'a, str>> {
        if self.kind() != Kind::String {
            return None;
        }
        Some(match self.0 {
            Cow::Borrowed(text) => unescape(&text[1..text.len() - 1]).0,
            Cow::Owned(text) => Cow::Owned(unescape(&text[1..text.len() - 1]).0.into_owned()),
        })
    }

    /// Whether a string value holds half a surrogate pair, which no UTF-8 text can carry.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        self.kind() == Kind::String && unescape(&self.0[1..self.0.len() - 1]).1
    }

    /// A number value, as spelled.
    #[must_use]
    pub fn as_number(&self) -> Option<Number<'_>> {
        self.borrowed().into_number()
    }

    /// The same, borrowing from what this value borrows from.
    #[must_use]
    pub fn into_number(self) -> Option<Number<'a>> {
        (self.kind() == Kind::Number).then(|| Number::trusted(self.0))
    }

    /// A boolean value.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.0.starts_with('t'))
    }

    /// The members of an object value, split but not decoded.
    #[must_use]
    pub fn as_object(&self) -> Option<Object<'_>> {
        self.borrowed().into_object()
    }

    /// The same, borrowing from what this value borrows from.
    #[must_use]
    pub fn into_object(self) -> Option<Object<'a>> {
        if self.kind() != Kind::Object {
            return None;
        }
        match self.0 {
            Cow::Borrowed(text) => Object::parse(text).ok(),
            Cow::Owned(text) => Object::parse(&text).ok().map(Object::into_static),
        }
    }

    /// The elements of an array value, split but not decoded.
    #[must_use]
    pub fn as_array(&self) -> Option<Vec<Json<'_>>> {
        self.borrowed().into_array()
    }

    /// The same, borrowing from what this value borrows from.
    #[must_use]
    pub fn into_array(self) -> Option<Vec<Json<'a>>> {
        if self.kind() != Kind::Array {
            return None;
        }
        let spans = scan::elements(&self.0).ok()?;
        Some(match self.0 {
            Cow::Borrowed(text) => spans.into_iter().map(|span| Json(Cow::Borrowed(&text[span]))).collect(),
            Cow::Owned(text) => spans.into_iter().map(|span| Json(Cow::Owned(text[span].to_owned()))).collect(),
        })
    }

    /// The same value with a text of its own.
    #[must_use]
    pub fn into_static(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }

    /// The text itself.
    #[must_use]
    pub fn into_text(self) -> Cow<'a, str> {
        self.0
    }

    /// A borrowed copy.
    #[must_use]
    pub fn borrowed(&self) -> Json<'_> {
        Json(Cow::Borrowed(&self.0))
    }

    /// `null`.
    #[must_use]
    pub fn null() -> Json<'static> {
        Json(Cow::Borrowed("null"))
    }

    /// A string value.
    #[must_use]
    pub fn text(value: &str) -> Json<'static> {
        let mut out = String::with_capacity(value.len() + 2);
        write_string(&mut out, value);
        Json(Cow::Owned(out))
    }

    /// Number of levels of arrays and objects, 0 for a scalar.
    #[must_use]
    pub fn depth(&self) -> usize {
        scan::depth(self.0.as_bytes())
    }
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Number<'_>> for Json<'static> {
    fn from(value: Number<'_>) -> Self {
        Json(Cow::Owned(value.as_str().to_owned()))
    }
}

impl From<i64> for Json<'static> {
    fn from(value: i64) -> Self {
        Json(Cow::Owned(value.to_string()))
    }
}

impl From<bool> for Json<'static> {
    fn from(value: bool) -> Self {
        Json(Cow::Borrowed(if value { "true" } else { "false" }))
    }
}

impl<'a> From<Object<'a>> for Json<'static> {
    fn from(value: Object<'a>) -> Self {
        Json(Cow::Owned(value.to_text()))
    }
}

/// Cuts without copying what is borrowed, and without moving what is owned and already exact.
fn slice(text: Cow<'_, str>, start: usize, end: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(t) => Cow::Borrowed(&t[start..end]),
        Cow::Owned(t) if start == 0 && end == t.len() => Cow::Owned(t),
        Cow::Owned(t) => Cow::Owned(t[start..end].to_owned()),
    }
}

mod serde_support {
    use super::{Json, Object};
    use serde::de::Error as _;
    use serde::ser::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::value::RawValue;

    impl Serialize for Json<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let raw: &RawValue = serde_json::from_str(self.as_str()).map_err(S::Error::custom)?;
            raw.serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Json<'static> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let raw = Box::<RawValue>::deserialize(deserializer)?;
            Json::parse(String::from(Box::<str>::from(raw))).map_err(D::Error::custom)
        }
    }

    impl Serialize for Object<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            Json::trusted(self.to_text()).serialize(serializer)
        }
    }

    impl<'de> Deserialize<'de> for Object<'static> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let raw = Box::<RawValue>::deserialize(deserializer)?;
            Ok(Object::parse(raw.get()).map_err(D::Error::custom)?.into_static())
        }
    }
}
