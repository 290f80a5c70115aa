//! `annalist rebuild`

use super::verify::{problem_text, unchecked};
use crate::args::RebuildArgs;
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_store::Flow;
use annalist_store::upkeep::{self, Copied};
use std::io::Write as _;

pub(crate) fn run(args: &RebuildArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    drop(place.open()?);
    let mut progress = Progress::start();
    let rebuilt = upkeep::rebuild(&place.file, &args.into, &mut |at| {
        progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.events, "event")));
        Flow::Continue
    })?;
    drop(progress);
    writeln!(
        out,
        "Rebuilt: {} from their logs, {} copied as they were, into {}",
        output::count(rebuilt.replayed, "session"),
        rebuilt.copied.len(),
        args.into.display()
    )?;
    out.finish()?;
    for (session, why) in &rebuilt.copied {
        let why = match why {
            Copied::Late(why) => unchecked(why),
            Copied::Log(problem) => problem_text(problem),
            other => format!("{other:?}"),
        };
        output::status(&format!("Copied: {session}: {why}"));
    }
    for (session, problems) in &rebuilt.partly {
        for problem in problems {
            output::status(&format!("Left out of {session}: {}", problem_text(problem)));
        }
    }
    let tables: Vec<&str> = rebuilt.tables.keys().map(String::as_str).collect();
    output::status(&format!("No log tells of these tables, copied as they were: {}", tables.join(", ")));
    if !rebuilt.left_out.is_empty() {
        output::status(&format!("Not copied: {}", rebuilt.left_out.join(", ")));
    }
    Ok(())
}
