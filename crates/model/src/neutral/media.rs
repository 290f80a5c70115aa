//! Files in a conversation.

use std::borrow::Cow;

/// A file in a conversation.
#[derive(Debug, Clone)]
pub struct File<'a> {
    /// Its media type.
    pub media_type: Cow<'a, str>,
    /// Its name.
    pub name: Option<Cow<'a, str>>,
    /// Its content, or where it is.
    pub data: Data<'a>,
}

/// The content of a file.
#[derive(Debug, Clone)]
pub enum Data<'a> {
    /// What stood in a `data:` URL behind the comma: base64, if all is well.
    Base64(Cow<'a, str>),
    /// Somewhere else.
    Url(Cow<'a, str>),
}

impl<'a> File<'a> {
    /// A file of a part: a `data:` URL says its own media type (reference 1.4).
    pub(super) fn of_url(media_type: Cow<'a, str>, name: Option<Cow<'a, str>>, url: Cow<'a, str>) -> Self {
        match split(&url) {
            Some((head, start)) => {
                let own = head.split(';').next().unwrap_or_default().to_owned();
                // A second comma ends it, as it does in the reference.
                let rest = cut(url, start);
                let data = match rest.find(',') {
                    Some(end) => Cow::Owned(rest[..end].to_owned()),
                    None => rest,
                };
                let media_type = if own.is_empty() { media_type } else { same_or(media_type, own) };
                File { media_type, name, data: Data::Base64(data) }
            }
            None => File { media_type, name, data: Data::Url(url) },
        }
    }

    /// An attachment of a tool's answer; only those with their content in them are sent.
    pub(super) fn of_attachment(media_type: Cow<'a, str>, name: Option<Cow<'a, str>>, url: Cow<'a, str>) -> Option<Self> {
        let (_, start) = split(&url)?;
        Some(File { media_type, name, data: Data::Base64(cut(url, start)) })
    }

    /// Bytes of the content as sent.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Base64(text) | Data::Url(text) => text.len(),
        }
    }

    /// Whether there is no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What stands before the comma of a `data:` URL, and where its content begins.
fn split(url: &str) -> Option<(&str, usize)> {
    let comma = url.strip_prefix("data:")?.find(',')? + 5;
    Some((&url[5..comma], comma + 1))
}

fn cut(text: Cow<'_, str>, start: usize) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(mut text) => {
            text.drain(..start);
            Cow::Owned(text)
        }
    }
}

fn same_or<'a>(one: Cow<'a, str>, other: String) -> Cow<'a, str> {
    if *one == other { one } else { Cow::Owned(other) }
}

/// Whether the reference calls a media type media: what tools attach for a model to look at.
pub(crate) fn is_media(mime: &str) -> bool {
    mime.starts_with("image/") || mime == "application/pdf"
}
