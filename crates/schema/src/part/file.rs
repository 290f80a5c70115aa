//! The part `file`: something attached, by the person or by a tool.

use crate::raw::{Number, Object};
use std::borrow::Cow;

object! {
    /// An attached file (reference-storage 2.2). Also the form of a tool result's attachments.
    pub struct FilePart {
        /// Its media type; `application/x-directory` for a folder.
        required "mime" mime / set_mime: Cow<'_, str>,
        /// A name to show.
        optional "filename" filename / set_filename: Cow<'_, str>,
        /// Where it is: `data:`, `file:` or `http(s):`.
        required "url" url / set_url: Cow<'_, str>,
        /// What in the person's text it stands for.
        optional "source" source / set_source: FileSource<'_>,
    }
}

tagged! {
    /// What the person referred to with an attached file.
    pub enum FileSource by "type", "file source" {
        "file" => File(FileSourceFile),
        "symbol" => Symbol(FileSourceSymbol),
        "resource" => Resource(FileSourceResource),
    }
}

object! {
    /// A file, or a range of it.
    pub struct FileSourceFile {
        /// Where the reference stands in the text.
        required "text" text / set_text: FileSourceText<'_>,
        /// The file's path.
        required "path" path / set_path: Cow<'_, str>,
    }
}

object! {
    /// A symbol of a program.
    pub struct FileSourceSymbol {
        /// Where the reference stands in the text.
        required "text" text / set_text: FileSourceText<'_>,
        /// The path of the file that it is in.
        required "path" path / set_path: Cow<'_, str>,
        /// Where in that file it stands.
        required "range" range / set_range: SymbolRange<'_>,
        /// Its name.
        required "name" name / set_name: Cow<'_, str>,
        /// Its kind, numbered as in the language server protocol.
        required "kind" kind / set_kind: u64,
    }
}

object! {
    /// A resource of an MCP server.
    pub struct FileSourceResource {
        /// Where the reference stands in the text.
        required "text" text / set_text: FileSourceText<'_>,
        /// The server, as configured.
        required "clientName" client_name / set_client_name: Cow<'_, str>,
        /// The resource's URI.
        required "uri" uri / set_uri: Cow<'_, str>,
    }
}

object! {
    /// A stretch of the person's text, in UTF-16 units.
    pub struct FileSourceText {
        /// What stands there.
        required "value" value / set_value: Cow<'_, str>,
        /// The first unit.
        required "start" start / set_start: Number<'_>,
        /// The unit behind the last.
        required "end" end / set_end: Number<'_>,
    }
}

object! {
    /// A stretch of a file.
    pub struct SymbolRange {
        /// The first place.
        required "start" start / set_start: FilePosition<'_>,
        /// The place behind the last.
        required "end" end / set_end: FilePosition<'_>,
    }
}

object! {
    /// A place in a file; both numbers start at 0.
    pub struct FilePosition {
        /// The line.
        required "line" line / set_line: Number<'_>,
        /// The UTF-16 unit in it.
        required "character" character / set_character: Number<'_>,
    }
}

impl FilePart<'static> {
    /// An attached file of a media type and a URL.
    #[must_use]
    pub fn new(mime: &str, url: &str) -> Self {
        let mut part = FilePart::from_object(Object::tagged("type", "file"));
        part.set_mime(mime.into()).set_url(url.into());
        part
    }
}
