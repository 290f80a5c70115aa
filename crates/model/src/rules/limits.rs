//! Numbers and lists that the providers' rules name.

use crate::describe::{Model, Protocol};

/// What a provider takes of files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Media {
    /// Media types of images.
    pub(crate) images: &'static [&'static str],
    /// Media types of other files, exact or as far as the `*`.
    pub(crate) files: &'static [&'static str],
    /// Bytes of base64 of one image.
    pub(crate) image_bytes: usize,
    /// The longer side of an image.
    pub(crate) pixels: Option<u32>,
    /// The longer side of an image where there are more than so many of them.
    pub(crate) pixels_of_many: Option<(usize, u32)>,
    /// Images in one request.
    pub(crate) images_count: usize,
    /// Bytes of a request. Only files count against it here: a text that is too long is a matter of compaction.
    pub(crate) request_bytes: u64,
}

const OPENAI_IMAGES: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];
const MB: u64 = 1024 * 1024;

pub(crate) fn media(model: &Model) -> Media {
    match model.protocol {
        Protocol::Chat => Media {
            images: OPENAI_IMAGES,
            files: &["application/pdf", "audio/wav", "audio/mp3", "audio/mpeg", "text/*"],
            image_bytes: 20 * MB as usize,
            pixels: None,
            pixels_of_many: None,
            images_count: 500,
            request_bytes: 50 * MB,
        },
        Protocol::Responses => Media {
            images: OPENAI_IMAGES,
            files: &["application/pdf"],
            image_bytes: 20 * MB as usize,
            pixels: None,
            pixels_of_many: None,
            images_count: 500,
            request_bytes: 50 * MB,
        },
        Protocol::Anthropic => Media {
            images: OPENAI_IMAGES,
            files: &["application/pdf"],
            image_bytes: 5 * MB as usize,
            pixels: Some(8000),
            pixels_of_many: Some((20, 2000)),
            images_count: 100,
            request_bytes: 32 * MB,
        },
        Protocol::Google => Media {
            images: &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
            files: &["application/pdf", "audio/*", "video/*", "text/*"],
            image_bytes: 20 * MB as usize,
            pixels: None,
            pixels_of_many: None,
            images_count: 3000,
            request_bytes: 20 * MB,
        },
    }
}

impl Media {
    pub(crate) fn takes(&self, media_type: &str) -> bool {
        self.images.contains(&media_type)
            || self.files.iter().any(|known| match known.strip_suffix('*') {
                Some(kind) => media_type.starts_with(kind),
                None => *known == media_type,
            })
    }
}

/// The longest call id.
pub(crate) fn id_length(model: &Model) -> usize {
    match model.protocol {
        _ if model.is_mistral() => 9,
        Protocol::Chat => 40,
        Protocol::Responses | Protocol::Anthropic | Protocol::Google => 64,
    }
}

/// Whether a call id has the provider's form.
pub(crate) fn is_call_id(id: &str, model: &Model) -> bool {
    let word = |extra: &str| id.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c));
    if model.is_mistral() {
        return id.len() == 9 && word("");
    }
    !id.is_empty() && id.chars().count() <= id_length(model) && (!model.is_claude() || word("_-"))
}

/// Whether a tool's name has the provider's form.
pub(crate) fn is_tool_name(name: &str, model: &Model) -> bool {
    let (length, extra) = match model.protocol {
        Protocol::Chat | Protocol::Responses => (64, "_-"),
        Protocol::Anthropic => (128, "_-"),
        Protocol::Google => (64, "_-.:"),
    };
    let starts = model.protocol != Protocol::Google || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    !name.is_empty() && name.len() <= length && starts && name.chars().all(|c| c.is_ascii_alphanumeric() || extra.contains(c))
}

/// Whether the conversation has to begin with the person.
pub(crate) fn begins_with_user(model: &Model) -> bool {
    matches!(model.protocol, Protocol::Anthropic | Protocol::Google) || model.is_mistral()
}

/// Whether it has to end with the person, or with the results of tools.
pub(crate) fn ends_with_user(model: &Model) -> bool {
    begins_with_user(model) || model.is_claude()
}

/// Whether the first call of each answer needs a signature.
pub(crate) fn signs_calls(model: &Model) -> bool {
    model.protocol == Protocol::Google && model.is_of(&["gemini-3"])
}
