//! The steps of a tool call.

use annalist_schema::part::{FilePart, IllegalStep, ToolPart, ToolStep};
use annalist_schema::{Object, Part, ToolState};

fn object(text: &str) -> Object<'_> {
    Object::parse(text).unwrap()
}

fn state(text: &str) -> ToolState<'_> {
    ToolState::parse(text).unwrap()
}

fn steps() -> Vec<(&'static str, ToolStep<'static>)> {
    vec![
        ("run", ToolStep::Run { input: object(r#"{"a":1}"#), start: 10 }),
        ("progress", ToolStep::Progress { title: Some("doing".into()), metadata: Some(object(r#"{"n":1}"#)) }),
        (
            "complete",
            ToolStep::Complete {
                output: "out".into(),
                title: "did".into(),
                metadata: object("{}"),
                end: 20,
                attachments: vec![FilePart::new("image/png", "data:,")],
            },
        ),
        ("fail", ToolStep::Fail { error: "no".into(), metadata: None, end: 20 }),
        ("compact", ToolStep::Compact { at: 30 }),
    ]
}

const PENDING: &str = r#"{"status":"pending","input":{},"raw":"","x":1.0}"#;
const RUNNING: &str = r#"{"status":"running","input":{"a":1},"title":"t","metadata":{"n":0},"time":{"start":10,"x":1.0},"x":1.0}"#;
const COMPLETED: &str =
    r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":20},"x":1.0}"#;
const COMPACTED: &str =
    r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":20,"compacted":25}}"#;
const ERROR: &str = r#"{"status":"error","input":{"a":1},"error":"e","time":{"start":10,"end":20}}"#;
const UNKNOWN: &str = r#"{"status":"paused","input":{}}"#;

#[test]
fn every_pair_of_state_and_step() {
    let legal = [
        (PENDING, "run", r#"{"status":"running","input":{"a":1},"x":1.0,"time":{"start":10}}"#),
        (PENDING, "fail", r#"{"status":"error","input":{},"x":1.0,"time":{"start":20,"end":20},"error":"no"}"#),
        (
            RUNNING,
            "run",
            r#"{"status":"running","input":{"a":1},"title":"t","metadata":{"n":0},"time":{"start":10,"x":1.0},"x":1.0}"#,
        ),
        (
            RUNNING,
            "progress",
            r#"{"status":"running","input":{"a":1},"title":"doing","metadata":{"n":1},"time":{"start":10,"x":1.0},"x":1.0}"#,
        ),
        (
            RUNNING,
            "complete",
            r#"{"status":"completed","input":{"a":1},"title":"did","metadata":{},"time":{"start":10,"x":1.0,"end":20},"x":1.0,"output":"out","attachments":[{"type":"file","mime":"image/png","url":"data:,"}]}"#,
        ),
        (
            RUNNING,
            "fail",
            r#"{"status":"error","input":{"a":1},"metadata":{"n":0},"time":{"start":10,"x":1.0,"end":20},"x":1.0,"error":"no"}"#,
        ),
        (
            COMPLETED,
            "compact",
            r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":20,"compacted":30},"x":1.0}"#,
        ),
    ];
    for from in [PENDING, RUNNING, COMPLETED, COMPACTED, ERROR, UNKNOWN] {
        for (name, step) in steps() {
            let before = state(from);
            let after = before.step(step);
            let expected = legal.iter().find(|(legal_from, legal_name, _)| *legal_from == from && *legal_name == name);
            match expected {
                Some((_, _, expected)) => {
                    let after = after.unwrap();
                    assert_eq!(after.to_text(), *expected, "{name} of {from}");
                    assert_eq!(after.problems(), [], "{name} of {from}");
                    assert_eq!(ToolState::check_step(Some(&before), &after), Ok(()));
                }
                None => {
                    let to = match name {
                        "run" | "progress" => "running",
                        "fail" => "error",
                        _ => "completed",
                    };
                    let tag = before.tag().map(std::borrow::Cow::into_owned);
                    assert_eq!(after, Err(IllegalStep { from: tag, to: to.to_owned() }), "{name} of {from}");
                }
            }
            assert_eq!(before.to_text(), from, "the original is kept");
        }
    }
}

#[test]
fn every_pair_of_states() {
    let all = [PENDING, RUNNING, COMPLETED, COMPACTED, ERROR, UNKNOWN];
    let legal = [
        (None, PENDING),
        (None, RUNNING),
        (Some(PENDING), RUNNING),
        (Some(PENDING), ERROR),
        (Some(RUNNING), COMPLETED),
        (Some(RUNNING), COMPACTED),
        (Some(RUNNING), ERROR),
    ];
    for from in [None].into_iter().chain(all.map(Some)) {
        for to in all {
            let before = from.map(state);
            let expected = legal.contains(&(from, to)) || from == Some(to);
            let answer = ToolState::check_step(before.as_ref(), &state(to));
            assert_eq!(answer.is_ok(), expected, "{from:?} to {to}");
            if let Err(wrong) = answer {
                assert_eq!(wrong.from, before.as_ref().and_then(|before| before.tag()).map(std::borrow::Cow::into_owned));
                assert_eq!(Some(wrong.to.as_str()), state(to).tag().as_deref());
            }
        }
    }
}

#[test]
fn a_completed_call_takes_its_compaction_and_nothing_else() {
    let completed = state(COMPLETED);
    let legal = [
        // Another layout and order of the same.
        "{ \"x\": 1.0, \"time\": {\"end\":20, \"start\":10, \"compacted\": 5}, \"status\":\"completed\",\"input\":{ \"a\": 1 },\"output\":\"o\",\"title\":\"t\",\"metadata\":{}}",
    ];
    let illegal = [
        // Another output, beside the compaction.
        r#"{"status":"completed","input":{"a":1},"output":"","title":"t","metadata":{},"time":{"start":10,"end":20,"compacted":5},"x":1.0}"#,
        // Without a field that was there.
        r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":20,"compacted":5}}"#,
        // With one that was not.
        r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":20},"x":1.0,"y":1}"#,
        // Another time.
        r#"{"status":"completed","input":{"a":1},"output":"o","title":"t","metadata":{},"time":{"start":10,"end":21,"compacted":5},"x":1.0}"#,
    ];
    for to in legal {
        assert_eq!(ToolState::check_step(Some(&completed), &state(to)), Ok(()), "{to}");
    }
    for to in illegal {
        assert!(ToolState::check_step(Some(&completed), &state(to)).is_err(), "{to}");
    }
    // A compaction is not taken back or moved.
    assert!(ToolState::check_step(Some(&state(COMPACTED)), &completed).is_err());
    let moved = COMPACTED.replace("25", "26");
    assert!(ToolState::check_step(Some(&state(COMPACTED)), &state(&moved)).is_err());
}

#[test]
fn a_running_call_keeps_its_start() {
    let moved = RUNNING.replace("\"start\":10", "\"start\":11");
    let error = ToolState::check_step(Some(&state(RUNNING)), &state(&moved)).unwrap_err();
    assert_eq!(error.to_string(), "a tool call cannot go from running to running");
    let error = ToolState::check_step(None, &state(ERROR)).unwrap_err();
    assert_eq!(error.to_string(), "a tool call cannot go from its start to error");
}

#[test]
fn a_whole_call() {
    let mut part = ToolPart::pending("call_1", "bash");
    assert_eq!(
        part.to_text(),
        r#"{"type":"tool","callID":"call_1","tool":"bash","state":{"status":"pending","input":{},"raw":""}}"#
    );
    for (name, step) in steps() {
        if name != "fail" {
            let next = part.state().unwrap().step(step).unwrap();
            part.set_state(next);
        }
        assert_eq!(Part::from(part.clone()).problems(), []);
    }
    let state = part.state().unwrap();
    assert!(!state.is_open());
    assert_eq!(state.input().unwrap().to_text(), r#"{"a":1}"#);
    let ToolState::Completed(state) = state else { panic!("not completed") };
    assert_eq!(state.time().unwrap().to_text(), r#"{"start":10,"end":20,"compacted":30}"#);
    assert!(ToolPart::running("c", "t", Object::new(), -5).state().unwrap().is_open());
}
