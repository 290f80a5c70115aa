//! `annalist rebuild`

use super::verify::{problem_text, unchecked};
use crate::args::RebuildArgs;
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::raw::Object;
use annalist_schema::{Field as _, Json};
use annalist_store::upkeep::{self, Copied, Rebuilt};
use annalist_store::{Error, Flow};
use std::io::{self, Write as _};

/// Tables that are the log itself.
const LOG: [&str; 2] = ["event", "event_sequence"];

pub(crate) fn run(args: &RebuildArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    drop(place.open()?);
    let mut progress = Progress::start("rebuilding");
    let rebuilt = upkeep::rebuild(&place.file, &args.into, &mut |at| {
        progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.events, "event")));
        Flow::Continue
    });
    drop(progress);
    let rebuilt = rebuilt.map_err(|error| match error {
        Error::Io { file, source } if source.kind() == io::ErrorKind::AlreadyExists => CliError::Exists { file },
        error => error.into(),
    })?;
    if args.json {
        writeln!(out, "{}", object(&rebuilt).to_text())?;
        return Ok(());
    }
    writeln!(
        out,
        "Rebuilt: {} from their logs, {} copied as they were, into {}",
        output::count(rebuilt.replayed, "session"),
        rebuilt.copied.len(),
        output::line(&args.into.to_string_lossy())
    )?;
    out.finish()?;
    for (session, why) in &rebuilt.copied {
        output::status(&format!("Copied: {session}: {}", copied(why)));
    }
    for (session, problems) in &rebuilt.partly {
        for problem in problems {
            output::status(&format!("Left out of {session}: {}", problem_text(problem)));
        }
    }
    let tables: Vec<&str> = rebuilt.tables.keys().map(String::as_str).filter(|table| !LOG.contains(table)).collect();
    output::status(&format!("No log tells of these tables, copied as they were: {}", tables.join(", ")));
    if !rebuilt.left_out.is_empty() {
        output::status(&format!("Not copied: {}", rebuilt.left_out.join(", ")));
    }
    Ok(())
}

fn copied(why: &Copied) -> String {
    match why {
        Copied::Late(why) => unchecked(why),
        Copied::Log(problem) => problem_text(problem),
        other => format!("{other:?}"),
    }
}

fn object(rebuilt: &Rebuilt) -> Object<'static> {
    let named = |session: &str, key: &str, value: Json<'static>| {
        let mut object = Object::tagged("session", session);
        object.set(key, value);
        Json::from(object).into_static()
    };
    let copies: Vec<Json<'_>> =
        rebuilt.copied.iter().map(|(session, why)| named(session, "why", Json::text(&copied(why)))).collect();
    let partly = rebuilt.partly.iter().map(|(session, problems)| {
        let problems: Vec<Json<'_>> = problems.iter().map(|problem| Json::text(&problem_text(problem))).collect();
        named(session, "leftOut", problems.to_json())
    });
    let mut tables = Object::new();
    for (table, rows) in rebuilt.tables.iter().filter(|(table, _)| !LOG.contains(&table.as_str())) {
        tables.set(table, super::number(*rows));
    }
    let left_out: Vec<Json<'_>> = rebuilt.left_out.iter().map(|table| Json::text(table)).collect();
    let mut object = Object::new();
    object.set("replayed", super::number(rebuilt.replayed));
    object.set("copied", copies.to_json());
    object.set("partly", partly.collect::<Vec<_>>().to_json());
    object.set("tables", Json::from(tables));
    object.set("leftOut", left_out.to_json());
    object.into_static()
}
