//! What can be told of a file from its first bytes.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// Lenient about the end: what is looked at is cut off anywhere.
const PREFIX: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent).with_decode_allow_trailing_bits(true),
);

/// As much of a file as is looked at, in characters of base64: enough for the thumbnail that a camera puts before the size.
const LOOK: usize = 128 * 1024;

/// What a file turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seen {
    /// Its media type, if it is one of those known here.
    pub(crate) media_type: Option<&'static str>,
    /// Width and height of an image.
    pub(crate) pixels: Option<(u32, u32)>,
}

/// Whether a text is base64 with its padding, and not empty.
pub(crate) fn is_base64(text: &str) -> bool {
    let body = text.strip_suffix("==").or_else(|| text.strip_suffix('=')).unwrap_or(text);
    !body.is_empty()
        && text.len().is_multiple_of(4)
        && body.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/')
}

/// Looks at the beginning of a file in base64.
pub(crate) fn look(base64: &str) -> Seen {
    let mut end = base64.len().min(LOOK);
    end -= end % 4;
    let bytes = base64.get(..end).and_then(|text| PREFIX.decode(text).ok()).unwrap_or_default();
    let (media_type, pixels) = match bytes.as_slice() {
        [0x89, b'P', b'N', b'G', ..] => ("image/png", be32(&bytes, 16).zip(be32(&bytes, 20))),
        [0xff, 0xd8, 0xff, ..] => ("image/jpeg", jpeg(&bytes)),
        [b'G', b'I', b'F', b'8', ..] => ("image/gif", le16(&bytes, 6).zip(le16(&bytes, 8))),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => ("image/webp", webp(&bytes)),
        [b'B', b'M', ..] => ("image/bmp", None),
        [b'%', b'P', b'D', b'F', ..] => ("application/pdf", None),
        _ => return Seen::default(),
    };
    Seen { media_type: Some(media_type), pixels }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

/// The size stands in the first start-of-frame segment.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        let marker = *bytes.get(at + 1)?;
        if matches!(marker, 0xc0..=0xcf) && !matches!(marker, 0xc4 | 0xc8 | 0xcc) {
            return be16(bytes, at + 7).zip(be16(bytes, at + 5));
        }
        at += 2 + usize::try_from(be16(bytes, at + 2)?).ok()?;
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    let le24 = |at: usize| Some(le16(bytes, at)? | u32::from(*bytes.get(at + 2)?) << 16);
    match bytes.get(12..16)? {
        b"VP8X" => Some((le24(24)? + 1, le24(27)? + 1)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(bytes.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        _ => Some((le16(bytes, 26)? & 0x3fff, le16(bytes, 28)? & 0x3fff)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD;

    fn seen(bytes: &[u8]) -> Seen {
        look(&STANDARD.encode(bytes))
    }

    #[test]
    fn types_and_sizes_stand_in_the_first_bytes() {
        let png = look("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==");
        assert_eq!(png, Seen { media_type: Some("image/png"), pixels: Some((1, 1)) });
        let gif = seen(b"GIF89a\x40\x01\x02\x00");
        assert_eq!(gif, Seen { media_type: Some("image/gif"), pixels: Some((320, 2)) });
        let jpeg = seen(b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x10\x00\x20\x03");
        assert_eq!(jpeg, Seen { media_type: Some("image/jpeg"), pixels: Some((32, 16)) });
        let webp = seen(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x07\0\0");
        assert_eq!(webp, Seen { media_type: Some("image/webp"), pixels: Some((16, 8)) });
        assert_eq!(seen(b"BM").media_type, Some("image/bmp"));
        assert_eq!(seen(b"nothing"), Seen::default());
        assert_eq!(seen(b"\xff\xd8\xff\xe0\x00").pixels, None);
    }

    #[test]
    fn base64_has_its_padding() {
        for (text, is) in [("aGk=", true), ("aGk", false), ("", false), ("====", false), ("%89P", false), ("aGkx", true)] {
            assert_eq!(is_base64(text), is, "{text}");
        }
    }
}
