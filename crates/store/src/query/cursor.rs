//! The place between two pages of messages.

use crate::error::Error;
use crate::row::Stamp;
use annalist_schema::{Number, Object};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// A position in a session's messages: the time column and the id of the oldest message already seen
/// (reference-storage 4.5).
#[derive(Debug, Clone, PartialEq)]
pub struct Cursor {
    /// the message's id
    pub id: String,
    /// its `time_created` column
    pub time: Stamp,
}

impl Cursor {
    /// As it stands in a URL: base64url, without padding, of `{"id":...,"time":...}`.
    #[must_use]
    pub fn encode(&self) -> String {
        let mut object = Object::new();
        object.set_text("id", &self.id);
        match self.time {
            Stamp::Whole(ms) => object.set("time", ms),
            Stamp::Real(ms) => object.set("time", Number::from_f64(ms)),
        }
        URL_SAFE_NO_PAD.encode(object.to_text())
    }

    /// Reads a cursor of ours or of the reference's; keys beside its two are ignored, padding is taken.
    ///
    /// # Errors
    /// [`Error::BadCursor`], which names the step that failed.
    pub fn decode(text: &str) -> Result<Self, Error> {
        let bad = |reason| Error::BadCursor { reason };
        let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).map_err(|_| bad("not base64url"))?;
        let text = std::str::from_utf8(&bytes).map_err(|_| bad("not text"))?;
        let object = Object::parse(text).map_err(|_| bad("not a JSON object"))?;
        let id = object.text("id").filter(|id| id.starts_with("msg")).ok_or(bad("its id is no message id"))?;
        let time = object.get("time").and_then(annalist_schema::Json::as_number).ok_or(bad("its time is no number"))?;
        let time = match time.as_i64() {
            Some(ms) => Stamp::Whole(ms),
            None => Stamp::Real(time.as_f64()),
        };
        if !matches!(time, Stamp::Whole(0..)) && !matches!(time, Stamp::Real(ms) if ms.is_finite() && ms >= 0.0) {
            return Err(bad("its time is out of range"));
        }
        Ok(Cursor { id: id.into_owned(), time })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn encodes_as_the_reference_does_and_back() {
        let cursor = Cursor { id: "msg_1".into(), time: Stamp::Whole(1_791_010_801_000) };
        assert_eq!(cursor.encode(), "eyJpZCI6Im1zZ18xIiwidGltZSI6MTc5MTAxMDgwMTAwMH0");
        assert_eq!(Cursor::decode(&cursor.encode()).unwrap(), cursor);
        let fractional = Cursor { id: "msg_1".into(), time: Stamp::Real(1.5) };
        assert_eq!(Cursor::decode(&fractional.encode()).unwrap(), fractional);
    }

    #[test]
    fn refuses_what_is_no_cursor() {
        let encode = |text: &str| URL_SAFE_NO_PAD.encode(text);
        for text in ["bad!", "", &encode("[]"), &encode("{\"id\":\"ses_1\",\"time\":1}"), &encode("{\"id\":\"msg_1\"}")] {
            assert!(matches!(Cursor::decode(text), Err(Error::BadCursor { .. })), "{text}");
        }
        for time in ["-1", "1e999", "\"1\"", "null"] {
            let text = encode(&format!("{{\"id\":\"msg_1\",\"time\":{time}}}"));
            assert!(matches!(Cursor::decode(&text), Err(Error::BadCursor { .. })), "{time}");
        }
    }
}
