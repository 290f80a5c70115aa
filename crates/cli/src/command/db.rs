//! `annalist db path`

use crate::args::PathArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;
use annalist_schema::raw::Object;
use annalist_schema::{Field as _, Json};
use std::io::Write;

pub(crate) fn path(args: &PathArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let exists = place.file.exists();
    if args.json {
        let siblings: Vec<Json<'_>> = place.siblings.iter().map(|path| Json::text(&path.to_string_lossy())).collect();
        let mut object = Object::new();
        object.set_text("path", &place.file.to_string_lossy());
        object.set("exists", exists);
        object.set("siblings", siblings.to_json());
        writeln!(out, "{}", object.to_text())?;
        return Ok(());
    }
    writeln!(out, "{}", place.file.display())?;
    if !exists {
        output::status("There is no such file yet; the first import makes it.");
    }
    if let Some(hint) = place.hint() {
        output::status(&hint);
    }
    Ok(())
}
