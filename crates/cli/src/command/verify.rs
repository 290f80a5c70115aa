//! `annalist verify`

use super::session::named;
use crate::args::VerifyArgs;
use crate::error::CliError;
use crate::output::{self, Out, Progress};
use crate::place::Place;
use annalist_schema::raw::Object;
use annalist_store::Flow;
use annalist_store::upkeep::{self, Difference, Finding, LogProblem, News, Shape, UNLOGGED, Unchecked, What};
use std::io::Write as _;

pub(crate) fn run(args: &VerifyArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let id = args.id.as_deref().map(|id| named(&store, place, id)).transpose()?;
    drop(store);
    let mut progress = Progress::start("verifying");
    let mut told = Ok(());
    let mut found = 0_u64;
    let verified = upkeep::verify(&place.file, id.as_deref(), &mut |news| {
        match news {
            News::Progress(at) => {
                progress.at(|| format!("{} of {} sessions, {}", at.sessions, at.of, output::count(at.events, "event")))
            }
            News::Finding(finding) => {
                let (session, problem) = finding_text(&finding);
                told = if args.json {
                    let mut object = Object::tagged("session", session);
                    object.set_text("problem", &problem);
                    let before = if found == 0 { "{\"findings\":[" } else { ",\n" };
                    write!(out, "{before}{}", object.to_text())
                } else {
                    writeln!(out, "{}", output::line(&format!("{session}: {problem}")))
                };
                found += 1;
            }
        }
        if told.is_ok() { Flow::Continue } else { Flow::Stop }
    })?;
    drop(progress);
    told?;
    let counts = [
        ("equal", verified.equal),
        ("differing", verified.differing),
        ("unchecked", verified.unchecked),
        ("problems", verified.problems),
        ("unlogged", verified.unlogged),
        ("events", verified.events),
    ];
    if args.json {
        let mut object = Object::new();
        for (name, count) in counts {
            object.set(name, super::number(count));
        }
        let before = if found == 0 { "{\"findings\":[" } else { "" };
        // The members of the counts, behind the list.
        writeln!(out, "{before}],{}", &object.to_text()[1..])?;
    }
    out.finish()?;
    output::status(&format!(
        "{} as their logs have them, {} differ, {} cannot be checked; {} read.",
        output::count(verified.equal, "session"),
        verified.differing,
        verified.unchecked,
        output::count(verified.events, "event")
    ));
    for (kind, count) in &verified.skipped {
        output::status(&format!("Kept and not looked into: {} of type {kind}", output::count(*count, "event")));
    }
    output::status(&format!("No log tells of these tables, so they are not checked: {}", UNLOGGED.join(", ")));
    if verified.clean() {
        return Ok(());
    }
    let findings = output::count(verified.differing + verified.problems, "problem");
    Err(CliError::Unsound { findings, file: place.file.clone() })
}

/// The session, and what is wrong with it.
fn finding_text(finding: &Finding) -> (&str, String) {
    match finding {
        Finding::Differs(difference) => (&difference.session, difference_text(difference)),
        Finding::Unlogged { session, messages, parts } => {
            let (messages, parts) = (output::count(*messages, "message"), output::count(*parts, "part"));
            (session, format!("{messages} and {parts} that no event mentions"))
        }
        Finding::Unchecked { session, why } => (session, format!("cannot be checked: {}", unchecked(why))),
        Finding::Log { session, problem } => (session, problem_text(problem)),
        other => ("", format!("{other:?}")),
    }
}

pub(super) fn unchecked(why: &Unchecked) -> String {
    match why {
        Unchecked::NoLog => "it has no log (imported by OpenCode, or wiped by a migration)".to_owned(),
        Unchecked::StartsAt { seq } => format!("its log starts at event {seq}"),
        Unchecked::StartsWith { kind } => format!("its log starts with {kind}, not with its creation"),
        other => format!("{other:?}"),
    }
}

fn difference_text(difference: &Difference) -> String {
    let place = format!("{} {}", difference.table, difference.id);
    let what = match &difference.what {
        What::Missing => "is missing, the log has it".to_owned(),
        What::Extra => "is there, the log removed it".to_owned(),
        What::Value { column, wanted, found } => {
            format!("{column} is {}, {} in the log", shape(found), shape(wanted))
        }
        What::More { column } => format!("{column} holds more than any event says"),
    };
    let seq = difference.seq.map(|seq| format!(" (last touched by event {seq})")).unwrap_or_default();
    format!("{place}: {what}{seq}")
}

/// What a value is, without its text.
fn shape(shape: &Shape) -> String {
    match shape {
        Shape::Null => "NULL".to_owned(),
        Shape::Int(value) => value.to_string(),
        Shape::Real(value) => value.to_string(),
        Shape::Text(bytes) => format!("another text ({bytes} bytes)"),
        Shape::Bytes(bytes) => format!("a blob ({bytes} bytes)"),
    }
}

pub(super) fn problem_text(problem: &LogProblem) -> String {
    match problem {
        LogProblem::Gap { after, next } => format!("its log has no events between {after} and {next}"),
        LogProblem::Repeat { seq } => format!("its log has event {seq} twice"),
        LogProblem::Counter { says, last } => {
            let number = |number: &Option<i64>| number.map_or("nothing".to_owned(), |number| number.to_string());
            format!("its counter says {}, its last event is {}", number(says), number(last))
        }
        LogProblem::Undecodable { seq, kind, problem } => format!("event {seq} ({kind}) cannot be read: {problem}"),
        LogProblem::Refused { seq, kind, problem } => format!("event {seq} ({kind}) does not fit: {problem}"),
        other => format!("{other:?}"),
    }
}
