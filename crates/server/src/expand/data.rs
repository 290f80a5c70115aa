//! `data:` addresses.

use annalist_schema::raw::Object;
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use percent_encoding::percent_decode_str;

/// Takes what is missing at the end.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

/// The pictures that models take, with the bytes they begin with.
const PICTURES: &[(&str, &[&[u8]])] = &[
    ("image/png", &[b"\x89PNG\r\n\x1a\n"]),
    ("image/jpeg", &[b"\xff\xd8\xff"]),
    ("image/gif", &[b"GIF87a", b"GIF89a"]),
    ("image/webp", &[b"RIFF"]),
];

/// The text that an address holds. What is no address of this kind holds none.
pub(super) fn text(url: &str) -> String {
    let Some((head, body)) = url.split_once(',') else { return String::new() };
    let bytes = if base64(head) { decode(body) } else { percent_decode_str(body).collect() };
    String::from_utf8_lossy(&bytes).into_owned()
}

fn base64(head: &str) -> bool {
    head.rsplit(';').next().is_some_and(|last| last.trim().eq_ignore_ascii_case("base64"))
}

/// Decodes as Node's `Buffer` does: both alphabets, and what belongs to neither is passed over.
fn decode(text: &str) -> Vec<u8> {
    let mut digits: Vec<u8> = text
        .bytes()
        .take_while(|byte| *byte != b'=')
        .filter_map(|byte| match byte {
            b'-' => Some(b'+'),
            b'_' => Some(b'/'),
            b'+' | b'/' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Some(byte),
            _ => None,
        })
        .collect();
    // A single digit is no byte.
    if digits.len() % 4 == 1 {
        digits.pop();
    }
    LENIENT.decode(digits).unwrap_or_default()
}

/// Whether a part can be sent on: a picture has to be one, and to be here.
pub(super) fn acceptable(part: &Object<'_>) -> bool {
    let text = |key: &str| part.text(key).unwrap_or_default().into_owned();
    let mime = text("mime").to_ascii_lowercase();
    if part.text("type").as_deref() != Some("file") || !mime.starts_with("image/") {
        return true;
    }
    let Some((_, starts)) = PICTURES.iter().find(|(known, _)| *known == mime || (mime == "image/jpg" && *known == "image/jpeg"))
    else {
        return false;
    };
    let url = text("url");
    let Some((head, body)) = url.split_once(',') else { return false };
    let begin = body.get(..64.min(body.len())).unwrap_or_default();
    head.to_ascii_lowercase().starts_with("data:image/")
        && base64(head)
        && starts.iter().any(|start| decode(begin).starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_as_recorded() {
        assert_eq!(text("data:text/plain;base64,aMOpbGxvCg=="), "héllo\n");
        assert_eq!(text("data:text/plain;charset=utf-8;base64,eA=="), "x");
        assert_eq!(text("DATA:text/plain;base64,eA=="), "x");
        assert_eq!(text("data:text/plain;base64,@@@"), "");
        assert_eq!(text("data:text/plain;base64"), "");
        assert_eq!(text("data:text/plain;base64,aGVs\nbG8="), "hello");
        assert_eq!(text("data:text/plain;base64,aGVsbG8"), "hello");
        assert_eq!(text("data:text/plain;base64,Y2Fm6Q=="), "caf\u{fffd}");
        assert_eq!(text("data:text/plain;base64,-_-_"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(text("data:text/plain,a%20b"), "a b");
    }

    #[test]
    fn pictures_have_to_be_pictures() {
        let file = |mime: &str, url: &str| {
            let mut part = Object::tagged("type", "file");
            part.set_text("mime", mime);
            part.set_text("url", url);
            acceptable(&part)
        };
        assert!(file("image/png", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAA"));
        assert!(!file("image/gif", "data:image/gif;base64,bm9wZQ=="));
        assert!(!file("image/png", "data:text/plain;base64,eA=="));
        assert!(!file("image/svg+xml", "data:image/svg+xml;base64,PHN2Zy8+"));
        assert!(!file("image/png", "http://localhost:1/a.png"));
        assert!(file("audio/wav", "data:audio/wav;base64,AAAA") && file("text/plain", "http://localhost:1/a.txt"));
    }
}
