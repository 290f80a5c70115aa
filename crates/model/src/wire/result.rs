//! The answers of tools as one text, for protocols that have nothing else.

use crate::json::Out;
use crate::neutral::{Data, File, Item, Output};
use std::io;

/// A text, or the JSON text of what is none.
pub(super) fn as_string(output: &Output<'_>, out: &mut Out<'_>) -> io::Result<()> {
    match output {
        Output::Text(text) | Output::Error(text) => text.put(out),
        Output::Content(items) => out.string_of_json(|out| {
            out.open_array()?;
            for item in items {
                self::item(item, out.element()?)?;
            }
            out.close_array()
        }),
    }
}

/// One piece of an answer in the reference's own form.
pub(super) fn item(item: &Item<'_>, out: &mut Out<'_>) -> io::Result<()> {
    out.open_object()?;
    match item {
        Item::Text(text) => {
            out.key("type")?.string("text")?;
            text.put(out.key("text")?)?;
        }
        Item::File(file) => {
            let image = file.media_type.starts_with("image/");
            out.key("type")?.string(if image { "image-data" } else { "file-data" })?;
            match &file.data {
                Data::Base64(data) => out.key("data")?.string(data)?,
                Data::Url(url) => out.key("url")?.string(url)?,
            }
            out.key("mediaType")?.string(&file.media_type)?;
        }
    }
    out.close_object()
}

/// A `data:` URL, or the URL that a file already is.
pub(super) fn url(file: &File<'_>, media_type: &str, out: &mut Out<'_>) -> io::Result<()> {
    match &file.data {
        Data::Url(url) => out.string(url),
        Data::Base64(data) => out.string_with(|inside| {
            write!(inside, "data:{};base64,", escaped(media_type))?;
            crate::json::escape(data.as_bytes(), inside)
        }),
    }
}

fn escaped(text: &str) -> String {
    let mut out = Vec::new();
    // Writing to a Vec cannot fail.
    crate::json::escape(text.as_bytes(), &mut out).ok();
    String::from_utf8(out).unwrap_or_default()
}
