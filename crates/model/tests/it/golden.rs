//! The conversation of each recorded history, for each protocol, beside what the reference sent.

use crate::support::{Case, body, conversation, expected, has_lone, messages, model_of, names, provider, recorded_body, same};
use annalist_model::describe::Protocol;
use annalist_model::neutral::Settings;
use annalist_model::rules::check;
use std::collections::{BTreeMap, BTreeSet};

/// Without our repairs the conversation is the recorded one, wherever the reference got as far as a request.
#[test]
fn without_repairs_it_is_what_the_reference_sends() {
    let as_reference = Settings { as_reference: true, ..Settings::default() };
    let (mut equal, mut failed, mut differing) = (0, 0, Vec::new());
    for name in names() {
        for protocol in Protocol::ALL {
            let Some(expected) = expected(&name, protocol) else {
                failed += 1;
                continue;
            };
            let case = Case::read(&name, protocol);
            let (ours, _) = conversation(&case, &model_of(protocol), &as_reference);
            match same(&ours, &expected) {
                Ok(()) => equal += 1,
                Err(why) => differing.push(format!("{name} {protocol:?}: {why}")),
            }
        }
    }
    assert!(differing.is_empty(), "{}\n{} differ", differing.join("\n"), differing.len());
    assert_eq!((equal, failed), (283, 17));
}

/// One line of `accepted.txt`: a difference from the recording, and what demands it.
struct Accepted {
    case: String,
    protocol: String,
    why: BTreeSet<String>,
}

fn accepted() -> Vec<Accepted> {
    let lines = include_str!("accepted.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let mut fields = line.split('|').map(|field| field.trim().to_owned());
        let mut next = || fields.next().unwrap_or_else(|| panic!("a field is missing in {line:?}"));
        let (case, protocol) = (next(), next());
        Accepted { case, protocol, why: next().split(',').map(|rule| rule.trim().to_owned()).collect() }
    };
    lines.map(split).collect()
}

/// With repairs every conversation obeys its provider, and differs from the recorded one only where the recorded one does
/// not, or where there is none; each difference is on the list, and each line of the list is a difference.
#[test]
fn with_repairs_it_obeys_the_provider_and_differs_only_where_that_demands_it() {
    let accepted = accepted();
    let mut used = vec![false; accepted.len()];
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    let ours = Settings::default();
    for name in names() {
        for protocol in Protocol::ALL {
            let model = model_of(protocol);
            let case = Case::read(&name, protocol);
            let (text, report) = body(&case, &model, &ours);
            let violations = check(&text, &model);
            if !violations.is_empty() {
                wrong.push(format!("{name} {protocol:?} breaks {violations:?}"));
            }
            let expected = expected(&name, protocol);
            let mut why: BTreeSet<String> = report.repairs.iter().map(|repair| repair.rule.name().to_owned()).collect();
            let differs = match &expected {
                // Both read the same; a Value cannot hold what the reference sent.
                Some(_) if has_lone(&recorded_body(&name, protocol)) => Some("a half of a surrogate pair".to_owned()),
                Some(expected) => same(&messages(&text), expected).err(),
                None => Some("the reference made no request".to_owned()),
            };
            // What a person ignores is not sent; that is a decision and no rule.
            if differs.is_some() && why.is_empty() && expected.is_some() {
                why.insert("ignored".to_owned());
            }
            *counts
                .entry(
                    if differs.is_none() {
                        "equal"
                    } else if expected.is_some() {
                        "repaired"
                    } else {
                        "no request recorded"
                    }
                    .to_owned(),
                )
                .or_default() += 1;
            let Some(differs) = differs else {
                if !report.is_empty() {
                    wrong.push(format!("{name} {protocol:?} tells of {:?} and is equal", report.repairs));
                }
                continue;
            };
            for rule in &why {
                *counts.entry(format!("rule {rule}")).or_default() += 1;
            }
            // A repair of what was recorded is demanded by what the recorded body breaks.
            if expected.is_some() {
                let recorded = check(&recorded_body(&name, protocol), &model);
                let broken: BTreeSet<&str> = recorded.iter().map(|violation| violation.rule.name()).collect();
                for rule in why.iter().filter(|rule| *rule != "ignored" && !broken.contains(rule.as_str())) {
                    wrong.push(format!("{name} {protocol:?} is repaired for {rule}, which only {broken:?} demand"));
                }
            }
            let line = accepted.iter().position(|line| line.case == name && line.protocol == provider(protocol) && line.why == why);
            match line {
                Some(index) => used[index] = true,
                None => wrong.push(format!(
                    "{name} | {} | {} | {differs}",
                    provider(protocol),
                    why.into_iter().collect::<Vec<_>>().join(", ")
                )),
            }
        }
    }
    for (line, _) in accepted.iter().zip(&used).filter(|(_, used)| !**used) {
        wrong.push(format!("unused line: {} | {} | {:?}", line.case, line.protocol, line.why));
    }
    #[allow(clippy::print_stdout, reason = "the counts are a result of their own")]
    {
        println!("{counts:#?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((counts["equal"], counts["repaired"], counts["no request recorded"]), (241, 42, 17));
}
