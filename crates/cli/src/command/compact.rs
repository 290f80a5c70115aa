//! `annalist compact`

use super::number;
use crate::args::CompactArgs;
use crate::error::CliError;
use crate::output::{self, Out, Progress, size};
use crate::place::Place;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use annalist_store::upkeep::{self, Compact, Compacted, Reclaim, Reclaimed};
use annalist_store::{Error, Flow, Neighbours, Store};
use std::fs;
use std::io::Write as _;

/// The file's bytes before and after; nothing if no page of it was free.
type Given = Option<(u64, u64)>;

pub(crate) fn run(args: &CompactArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = if args.dry_run { place.open()? } else { place.open_to_change()? };
    let mut progress = Progress::start("compacting");
    let how = Compact { dry_run: args.dry_run, ..Compact::default() };
    let done = upkeep::compact(&place.file, how, &mut |at| {
        progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.events, "event")));
        Flow::Continue
    })?;
    drop(progress);
    // Told also if the second half fails: the first is done.
    let given = args.reclaim.then(|| reclaim(args, place, &store)).transpose();
    tell(args, place, &done, given.as_ref().ok().copied().flatten(), out)?;
    given.map(drop)
}

fn tell(args: &CompactArgs, place: &Place, done: &Compacted, given: Option<Given>, out: &mut Out) -> Result<(), CliError> {
    if args.json {
        let mut object = Object::new();
        object.set("dryRun", args.dry_run);
        object.set("events", number(done.events()));
        object.set("bytes", number(done.bytes()));
        object.set("batches", number(done.batches));
        object.set("longestMs", number(u64::try_from(done.longest.as_millis()).unwrap_or(u64::MAX)));
        if let Some(given) = given {
            let (before, after) = given.unwrap_or_else(|| {
                let bytes = fs::metadata(&place.file).map_or(0, |meta| meta.len());
                (bytes, bytes)
            });
            let mut file = Object::new();
            file.set("before", number(before));
            file.set("after", number(after));
            object.set("file", Json::from(file));
        }
        writeln!(out, "{}", object.to_text())?;
        return Ok(out.finish()?);
    }
    let verb = if args.dry_run { "Would empty" } else { "Emptied" };
    writeln!(out, "{verb}: {}, {}", output::count(done.events(), "event"), size(done.bytes()))?;
    if let Some(Some((before, after))) = given {
        writeln!(out, "Given back: {}", size(before.saturating_sub(after)))?;
    }
    out.finish()?;
    if !done.skipped.is_empty() {
        output::status(&format!("Left as they are: the logs of {}", output::count(done.skipped.len() as u64, "session")));
    }
    if done.moved > 0 {
        output::status(&format!("{} changed meanwhile; the next run sees to them.", output::count(done.moved, "event")));
    }
    match given {
        Some(Some((before, after))) => output::status(&format!("The file was {}, it is {}.", size(before), size(after))),
        Some(None) => output::status("Nothing to give back: no page of the file is free."),
        None if !args.dry_run && !args.reclaim && done.bytes() > 0 => {
            output::status("The space is free for further growth; --reclaim gives whole free pages back to the disk.");
        }
        None => {}
    }
    Ok(())
}

fn reclaim(args: &CompactArgs, place: &Place, store: &Store) -> Result<Given, CliError> {
    let how = Reclaim { force: args.force, ..Reclaim::default() };
    let done = Progress::during("giving space back", || {
        upkeep::reclaim(&place.file, how, || store.neighbours().anybody(), &mut |_| Flow::Continue)
    })?;
    match done {
        Reclaimed::Nothing => Ok(None),
        Reclaimed::Done { before, after } | Reclaimed::Stopped { before, after } => Ok(Some((before, after))),
        Reclaimed::Neighbours { .. } => Err(CliError::NotReclaimed { file: place.file.clone(), who: who(&store.neighbours()) }),
        Reclaimed::NoRoom { folder, needed, free } => Err(Error::NoRoom { folder, needed, free }.into()),
    }
}

/// Who has the file open, for a sentence.
fn who(neighbours: &Neighbours) -> String {
    let ids: Vec<String> = match neighbours {
        Neighbours::Known { ours, foreign } => ours.iter().chain(foreign).map(u32::to_string).collect(),
        Neighbours::Unknown { .. } => Vec::new(),
    };
    match &*ids {
        [] => "another program".to_owned(),
        [one] => format!("process {one}"),
        more => format!("each of the processes {}", more.join(", ")),
    }
}
