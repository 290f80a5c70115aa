//! `annalist import --legacy`

use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_store::legacy;
use std::io::Write as _;
use std::path::Path;

pub(super) fn run(folder: &Path, place: &Place, out: &mut Out) -> Result<(), CliError> {
    // Before the database: a typing error must not leave an empty one behind.
    legacy::check(folder)?;
    let new = !place.exists()?;
    let store = place.open_or_make()?;
    if new {
        output::status(&format!("New database: {}", place.file.display()));
    }
    let mut progress = Progress::start("importing");
    let report = store.import_legacy(folder, &mut |at| {
        progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.messages, "message")));
    })?;
    drop(progress);
    writeln!(
        out,
        "Imported: {}, {}, {} ({} here already)",
        output::count(report.sessions, "session"),
        output::count(report.messages, "message"),
        output::count(report.parts, "part"),
        output::count(report.sessions_known, "session"),
    )?;
    if !report.projects_without_file.is_empty() {
        let projects = report.projects_without_file.join(", ");
        output::status(&format!("Projects without a file of their own, made from what their sessions say: {projects}"));
    }
    if report.session_diffs_left + report.permissions_left > 0 {
        let diffs = output::count(report.session_diffs_left, "changed file");
        let rules = output::count(report.permissions_left, "permission");
        output::status(&format!("Left in their files, since the database has no place for them: {diffs}, {rules}"));
    }
    for skipped in &report.skipped {
        output::status(&format!("Left out: {}: {}", skipped.file.display(), skipped.reason));
    }
    if !report.skipped.is_empty() {
        output::status(&format!("{} left out.", output::count(report.skipped.len() as u64, "file")));
    }
    Ok(())
}
