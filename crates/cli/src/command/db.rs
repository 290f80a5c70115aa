//! `annalist db path`

use crate::args::PathArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::{Place, Source};
use annalist_schema::raw::Object;
use annalist_schema::{Field as _, Json};
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn path(args: &PathArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let exists = place.exists()?;
    if args.json {
        let path = place.file.to_str().ok_or_else(|| CliError::NotText { file: place.file.clone() })?;
        let siblings: Vec<Json<'_>> = place.siblings.iter().map(|path| Json::text(&path.to_string_lossy())).collect();
        let mut object = Object::new();
        object.set_text("path", path);
        object.set_text("source", place.source.word());
        object.set("exists", exists);
        object.set("siblings", siblings.to_json());
        writeln!(out, "{}", object.to_text())?;
        return Ok(());
    }
    write_path(&place.file, out)?;
    out.finish()?;
    let why = match place.source {
        Source::Theirs => "OpenCode's file at its usual place.".to_owned(),
        Source::Ours => "Annalist's own: OpenCode has none at its usual place.".to_owned(),
        named => format!("Named by {}.", named.word()),
    };
    let missing = if exists { "" } else { " There is no such file yet; the first import makes it." };
    output::status(&format!("{why}{missing}"));
    if let Some(hint) = place.hint() {
        output::status(&hint);
    }
    Ok(())
}

/// The path itself and not a legible form of it: `"$(annalist db path)"` has to name the file.
fn write_path(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(path.as_os_str().as_encoded_bytes())?;
    out.write_all(b"\n")
}
