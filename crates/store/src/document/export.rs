//! Writing a document, a batch of messages at a time.

use super::sanitize;
use crate::backend::{Flow, Snapshot};
use crate::error::Error;
use crate::hydrate;
use crate::query::MessageRange;
use crate::transcript;
use annalist_schema::Json;
use annalist_schema::raw::write_pretty;
use std::io::{self, Write};

/// Why a document is not complete.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The record could not be read.
    #[error(transparent)]
    Store(#[from] Error),
    /// The receiver took no more.
    #[error("cannot write the document: {0}")]
    Out(#[from] io::Error),
}

/// What a document holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    /// messages written
    pub messages: u64,
    /// parts written
    pub parts: u64,
}

/// Writes the document of a session with two spaces a level and a line break at the end. `sanitize` puts placeholders in
/// the place of everything a person or a model wrote.
///
/// # Errors
/// [`Error::NotFound`] before the first byte; later those of the backend and of `out`.
pub fn export(view: &dyn Snapshot, session: &str, sanitize: bool, out: &mut dyn Write) -> Result<Exported, ExportError> {
    let row = view.session(session)?.ok_or_else(|| Error::NotFound { what: "Session", id: session.to_owned() })?;
    let clean = |json: Json<'static>, rule: fn(Json<'static>) -> Json<'static>| if sanitize { rule(json) } else { json };
    let info = clean(hydrate::session(&row).into(), sanitize::session);

    out.write_all(b"{\n  \"info\": ")?;
    write_pretty(info.as_str(), 1, out)?;
    out.write_all(b",\n  \"messages\": [")?;
    let mut done = Exported::default();
    let mut failed: io::Result<()> = Ok(());
    transcript::visit(view, &MessageRange::oldest_first(session), &mut |message, parts| {
        let info = clean(hydrate::message(message), sanitize::message);
        let parts = parts.iter().map(|part| clean(hydrate::part(part), sanitize::part));
        failed = write_message(out, done.messages == 0, &info, parts, &mut done.parts);
        done.messages += 1;
        if failed.is_ok() { Flow::Continue } else { Flow::Stop }
    })?;
    failed?;
    out.write_all(if done.messages == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" })?;
    out.flush()?;
    Ok(done)
}

fn write_message(
    out: &mut dyn Write,
    first: bool,
    info: &Json<'_>,
    parts: impl Iterator<Item = Json<'static>>,
    count: &mut u64,
) -> io::Result<()> {
    out.write_all(if first { b"\n    {\n      \"info\": " } else { b",\n    {\n      \"info\": " })?;
    write_pretty(info.as_str(), 3, out)?;
    out.write_all(b",\n      \"parts\": [")?;
    let mut any = false;
    for part in parts {
        out.write_all(if any { b",\n        " } else { b"\n        " })?;
        write_pretty(part.as_str(), 4, out)?;
        any = true;
        *count += 1;
    }
    out.write_all(if any { b"\n      ]\n    }" } else { b"]\n    }" })
}
