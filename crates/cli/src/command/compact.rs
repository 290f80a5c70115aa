//! `annalist compact`

use crate::args::CompactArgs;
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::raw::Object;
use annalist_store::upkeep::{self, Compact, Reclaim, Reclaimed};
use annalist_store::{Flow, Neighbours, Store};
use std::io::Write as _;

pub(crate) fn run(args: &CompactArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = if args.dry_run { place.open()? } else { place.open_to_change()? };
    let mut progress = Progress::start();
    let how = Compact { dry_run: args.dry_run, ..Compact::default() };
    let done = upkeep::compact(&place.file, how, &mut |at| {
        progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.events, "event")));
        Flow::Continue
    })?;
    drop(progress);
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut object = Object::new();
    object.set("dryRun", args.dry_run);
    object.set("events", number(done.events()));
    object.set("bytes", number(done.bytes()));
    object.set("batches", number(done.batches));
    object.set("longestMs", number(u64::try_from(done.longest.as_millis()).unwrap_or(u64::MAX)));
    if args.json {
        writeln!(out, "{}", object.to_text())?;
    } else {
        let verb = if args.dry_run { "Would empty" } else { "Emptied" };
        writeln!(out, "{verb}: {}, {}", output::count(done.events(), "event"), size(done.bytes()))?;
    }
    out.finish()?;
    if !done.skipped.is_empty() {
        output::status(&format!("Left as they are: the logs of {}", output::count(done.skipped.len() as u64, "session")));
    }
    if done.moved > 0 {
        output::status(&format!("{} changed meanwhile; the next run sees to them.", output::count(done.moved, "event")));
    }
    if args.reclaim {
        reclaim(args, place, &store)?;
    } else if !args.dry_run && done.bytes() > 0 {
        output::status("The space is free for further growth; --reclaim gives it back to the disk.");
    }
    Ok(())
}

fn reclaim(args: &CompactArgs, place: &Place, store: &Store) -> Result<(), CliError> {
    let mut progress = Progress::start();
    // Where it cannot be told, somebody may be there.
    let others = || !matches!(store.neighbours(), Neighbours::Known { ours, foreign } if ours.is_empty() && foreign.is_empty());
    let how = Reclaim { force: args.force, ..Reclaim::default() };
    let done = upkeep::reclaim(&place.file, how, others, &mut |_| {
        progress.at(|| "giving space back".to_owned());
        Flow::Continue
    })?;
    drop(progress);
    output::status(&match done {
        Reclaimed::Nothing => "No page of the file is free.".to_owned(),
        Reclaimed::Done { before, after } | Reclaimed::Stopped { before, after } => {
            format!("The file was {}, it is {}.", size(before), size(after))
        }
        Reclaimed::Neighbours { free } => format!(
            "{} stay in the file: another program has it open. Close it and run this again, or use --force, which makes it wait.",
            size(free)
        ),
        Reclaimed::NoRoom { folder, needed, free } => {
            format!("{}: rewriting the file takes {}, and there are {}; free some.", folder.display(), size(needed), size(free))
        }
    });
    Ok(())
}

/// `1.2 MB`
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in ["KB", "MB", "GB", "TB"] {
        if value < 1_000.0 {
            break;
        }
        value /= 1_000.0;
        unit = next;
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}
