//! What a prompt's parts become before they are stored (reference-engine 4.2): texts of files, lists of folders, images.
//!
//! The synthetic texts are wire: models and front ends know them byte for byte, so they are written as the reference writes
//! them, its limits and its odd cases included. Everything here blocks.

mod collate;
mod data;
mod directory;
mod instructions;
mod location;
mod text;

use crate::error::{Problem, Where};
use annalist_engine::config::Agent;
use annalist_schema::Part;
use annalist_schema::raw::{Object, write_string};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
pub(crate) use location::Location;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What is needed beside the parts.
pub(crate) struct Surroundings<'s> {
    /// the session's folder
    pub(crate) directory: &'s Path,
    /// who is to answer
    pub(crate) agent: &'s Agent,
    /// bytes of a file that becomes part of a message, at most
    pub(crate) largest: u64,
}

/// What became of a prompt's parts.
#[derive(Debug, Default)]
pub(crate) struct Expanded {
    pub(crate) parts: Vec<Part<'static>>,
    /// What could not be read, in words: each is told as `session.error`.
    pub(crate) failures: Vec<String>,
    instructions: HashSet<PathBuf>,
}

/// Expands parts in their order.
pub(crate) fn expand(parts: &[Object<'_>], around: &Surroundings<'_>) -> Result<Expanded, Problem> {
    let mut out = Expanded::default();
    for (index, part) in parts.iter().enumerate() {
        match part.text("type").as_deref() {
            Some("agent") => out.agent(part, around),
            Some("file") => out.file(part, index, around)?,
            _ => out.push(part.borrowed().into_static()),
        }
    }
    if out.parts.iter().any(|part| !data::acceptable(part.object())) {
        // The reference looks at every picture and refuses the prompt without a word more.
        return Err(Problem::Refused);
    }
    Ok(out)
}

impl Expanded {
    fn push(&mut self, part: Object<'static>) {
        self.parts.push(Part::from_object(part));
    }

    fn synthetic(&mut self, text: &str) {
        let mut part = Object::tagged("type", "text");
        part.set("synthetic", true);
        part.set_text("text", text);
        self.push(part);
    }

    fn agent(&mut self, part: &Object<'_>, around: &Surroundings<'_>) {
        let name = part.text("name").unwrap_or_default().into_owned();
        self.push(part.borrowed().into_static());
        let hint = if around.agent.may_not_ask(&name) { " . Invoked by user; guaranteed to exist." } else { "" };
        self.synthetic(&format!(
            " Use the above message and context to generate a prompt and call the task tool with subagent: {name}{hint}"
        ));
    }

    fn file(&mut self, part: &Object<'_>, index: usize, around: &Surroundings<'_>) -> Result<(), Problem> {
        let url = part.text("url").unwrap_or_default().into_owned();
        let mime = part.text("mime").unwrap_or_default().into_owned();
        let bad = |what: &str| Problem::bad(Where::Payload, format!("{what}\n  at [\"parts\"][{index}][\"url\"]"));
        let source = part.get("source").and_then(annalist_schema::Json::as_object);
        if source.is_some_and(|source| source.text("type").as_deref() == Some("resource")) {
            return Err(bad("Expected a file, got a resource: no MCP server is connected"));
        }
        let scheme = location::scheme(&url).ok_or_else(|| bad("Expected a URL"))?;
        match scheme.as_str() {
            "data" if mime == "text/plain" => {
                let name = part.text("filename").map(std::borrow::Cow::into_owned);
                self.called(name.as_deref(), None, None);
                self.synthetic(&data::text(&url));
                self.push(part.borrowed().into_static());
                Ok(())
            }
            "file" => {
                let location = Location::parse(&url).ok_or_else(|| bad("Expected a file on this machine"))?;
                self.local(part, &location, &mime, around).map_err(|problem| match problem {
                    Failed::Missing(what) => bad(&what),
                    Failed::Large => Problem::TooLarge { limit: around.largest },
                })
            }
            _ => {
                self.push(part.borrowed().into_static());
                Ok(())
            }
        }
    }

    fn local(&mut self, part: &Object<'_>, at: &Location, mime: &str, around: &Surroundings<'_>) -> Result<(), Failed> {
        let folder = fs::metadata(&at.path).is_ok_and(|found| found.is_dir());
        let mime = if folder { directory::MIME } else { mime };
        match mime {
            "text/plain" => {
                self.called(Some(&at.path), at.offset, at.limit);
                match at.range().and_then(|range| text::read(&at.path, range, around.largest)) {
                    Ok(text::Read::Text(text)) => {
                        let more = instructions::around(Path::new(&at.path), around.directory, &mut self.instructions);
                        self.synthetic(&(text + &more));
                        self.push(part.borrowed().into_static());
                    }
                    Ok(text::Read::Attachment { text, mime, bytes }) => {
                        self.synthetic(text);
                        let mut attached = Object::tagged("type", "file");
                        attached.set("synthetic", true);
                        attached.set_text("mime", mime);
                        attached.set_text("url", &encoded(mime, &bytes));
                        self.push(attached);
                    }
                    Err(problem) => self.failed(&at.path, problem),
                }
            }
            directory::MIME => {
                let read = if folder {
                    directory::list(Path::new(&at.path), &at.path)
                } else {
                    text::read(&at.path, text::Range::default(), around.largest).map(text::Read::into_text)
                };
                match read {
                    Ok(text) => {
                        self.called(Some(&at.path), None, None);
                        self.synthetic(&text);
                        let mut part = part.borrowed().into_static();
                        part.set_text("mime", directory::MIME);
                        self.push(part);
                    }
                    // Here nothing says that it was tried.
                    Err(problem) => self.failed(&at.path, problem),
                }
            }
            other => {
                let found = fs::metadata(&at.path).ok().filter(fs::Metadata::is_file);
                let size = found.ok_or_else(|| Failed::Missing(format!("File not found: {}", at.path)))?.len();
                if size > around.largest {
                    return Err(Failed::Large);
                }
                let bytes = fs::read(&at.path).map_err(|_| Failed::Missing(format!("File not found: {}", at.path)))?;
                self.called(Some(&at.path), None, None);
                let mut part = part.borrowed().into_static();
                part.set_text("url", &encoded(other, &bytes));
                self.push(part);
            }
        }
        Ok(())
    }

    /// The sentence that makes a model believe it had read the file itself.
    fn called(&mut self, path: Option<&str>, offset: Option<f64>, limit: Option<f64>) {
        let mut input = String::from("{");
        if let Some(path) = path {
            input.push_str("\"filePath\":");
            write_string(&mut input, path);
        }
        for (key, value) in [("offset", offset), ("limit", limit)] {
            if let Some(value) = value {
                let value = if value.is_finite() { format!("{value}") } else { "null".to_owned() };
                input.push_str(&format!(",\"{key}\":{value}"));
            }
        }
        input.push('}');
        self.synthetic(&format!("Called the Read tool with the following input: {input}"));
    }

    fn failed(&mut self, path: &str, problem: String) {
        self.synthetic(&format!("Read tool failed to read {path} with the following error: {problem}"));
        self.failures.push(problem);
    }
}

enum Failed {
    Missing(String),
    Large,
}

fn encoded(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", STANDARD.encode(bytes))
}
