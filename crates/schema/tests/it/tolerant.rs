//! Values that fit no model: each reads as far as it can, is reported, and keeps what it was. Nothing panics.

use crate::sample;
use annalist_schema::event::{EventFrame, GlobalFrame, SyncEvent};
use annalist_schema::message::{ApiErrorData, OutputFormat};
use annalist_schema::part::FileSource;
use annalist_schema::raw::{Kind, utf8, write_pretty};
use annalist_schema::session::{GlobalSession, fork_title, is_default_title};
use annalist_schema::{
    DurableEvent, Event, FileDiff, Json, Key, Message, MessageError, ModelRef, Object, Part, PermissionRequest, PermissionRule,
    Project, Session, SessionStatus, Todo, TokenUsage, ToolState, Wrong, id,
};
use proptest::prelude::*;

fn problems(part: &str) -> Vec<(String, Wrong)> {
    let part_read = Part::parse(part).unwrap();
    assert_eq!(part_read.to_text(), part);
    part_read.problems().into_iter().map(|problem| (problem.at, problem.wrong)).collect()
}

#[test]
fn half_a_surrogate_pair() {
    let text = r#"{"type":"text","text":"a\ud83dz"}"#;
    assert_eq!(problems(text), [("text".to_owned(), Wrong::LoneSurrogate)]);
    let Part::Text(part) = Part::parse(text).unwrap() else { panic!("not a text part") };
    assert_eq!(part.text().unwrap(), "a\u{fffd}z");
    // As a key, and as the tag.
    assert_eq!(problems(r#"{"type":"text","text":"a","\ud83d":1}"#), []);
    assert!(matches!(Part::parse(r#"{"type":"\ud83d"}"#).unwrap(), Part::Unknown(_)));
}

#[test]
fn deep_nesting() {
    for depth in [1_000, 100_000] {
        for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
            let deep = format!("{}1{}", open.repeat(depth), close.repeat(depth));
            let text = format!(
                r#"{{"type":"tool","callID":"c","tool":"t","x":{deep},"state":{{"status":"running","input":{{"a":{deep}}},"time":{{"start":1}}}}}}"#
            );
            assert_eq!(problems(&text), []);
            let part = Part::parse(&text).unwrap().into_static();
            let Part::Tool(tool) = &part else { panic!("not a tool part") };
            assert_eq!(tool.state().unwrap().input().unwrap().get("a").unwrap().depth(), depth);
            assert_eq!(part, part.clone());
            assert_eq!(format!("{part:?}").len(), text.len() + "Tool(ToolPart())".len());
        }
    }
    let deep = format!("{}{}", "[".repeat(1_000), "]".repeat(1_000));
    let mut pretty = Vec::new();
    write_pretty(&deep, 0, &mut pretty).unwrap();
    assert_eq!(Json::parse(String::from_utf8(pretty).unwrap()).unwrap().depth(), 1_000);
    // Nesting without its end is an error, not an overflow.
    assert!(Json::parse("[".repeat(100_000)).is_err());
    assert!(Json::parse(r#"{"a":"#.repeat(100_000)).is_err());
}

#[test]
fn token_counts() {
    let text = r#"{"type":"step-finish","reason":"stop","cost":-0.5,"tokens":{"input":-5,"output":2.5,"reasoning":1e2,"cache":{"read":"9","write":1e999}}}"#;
    assert_eq!(
        problems(text),
        [
            ("tokens.input".to_owned(), Wrong::Negative { value: "-5".to_owned() }),
            ("tokens.output".to_owned(), Wrong::Fractional { value: "2.5".to_owned() }),
            ("tokens.cache.read".to_owned(), Wrong::Type { wanted: "a number", found: Kind::String }),
            ("tokens.cache.write".to_owned(), Wrong::OutOfRange { value: "1e999".to_owned() }),
        ]
    );
    let Part::StepFinish(part) = Part::parse(text).unwrap() else { panic!("not a step-finish part") };
    let tokens = part.tokens().unwrap();
    assert_eq!(tokens.input().unwrap().clamped(), 0);
    assert_eq!(tokens.output().unwrap().clamped(), 2);
    assert_eq!(tokens.output().unwrap().number().as_str(), "2.5");
    assert_eq!(tokens.reasoning().unwrap().clamped(), 100);
    assert_eq!(part.cost().unwrap().as_f64(), -0.5);
}

#[test]
fn missing_null_and_other_types() {
    assert_eq!(problems(r#"{"type":"text"}"#), [("text".to_owned(), Wrong::Missing)]);
    assert_eq!(problems(r#"{"type":"text","text":null}"#), [("text".to_owned(), Wrong::Null)]);
    assert_eq!(
        problems(r#"{"type":"text","text":5,"synthetic":"yes","metadata":[]}"#),
        [
            ("text".to_owned(), Wrong::Type { wanted: "a string", found: Kind::Number }),
            ("synthetic".to_owned(), Wrong::Type { wanted: "a boolean", found: Kind::String }),
            ("metadata".to_owned(), Wrong::Type { wanted: "an object", found: Kind::Array }),
        ]
    );
    // Null for an optional field reads as absent and is reported.
    let text = r#"{"type":"text","text":"a","time":null}"#;
    assert_eq!(problems(text), [("time".to_owned(), Wrong::Null)]);
    let Part::Text(part) = Part::parse(text).unwrap() else { panic!("not a text part") };
    assert_eq!(part.time().unwrap(), None);
    // Text in a number, at depth, costs that number.
    let text = r#"{"type":"tool","callID":"c","tool":"t","state":{"status":"completed","input":"ls","output":{},"title":"t","metadata":{},"time":{"start":"1","end":2.5},"attachments":[{"type":"file","mime":"m"}]}}"#;
    let places: Vec<String> = problems(text).into_iter().map(|(at, _)| at).collect();
    assert_eq!(places, ["state.input", "state.output", "state.time.start", "state.time.end", "state.attachments.0.url"]);
    let Part::Tool(tool) = Part::parse(text).unwrap() else { panic!("not a tool part") };
    let ToolState::Completed(state) = tool.state().unwrap() else { panic!("not completed") };
    assert_eq!(state.title().unwrap(), "t");
    assert_eq!(state.time().unwrap().end().unwrap_err().to_string(), "end is not a whole number (2.5)");
}

#[test]
fn unknown_names_and_wrong_ids() {
    let unknown = |what: &'static str, value: &str| Wrong::Unknown { what, value: value.to_owned() };
    assert_eq!(problems(r#"{"type":"hologram"}"#), [("type".to_owned(), unknown("part type", "hologram"))]);
    assert_eq!(problems(r#"{"text":"a"}"#), [("type".to_owned(), Wrong::Missing)]);
    assert_eq!(problems(r#"{"type":7}"#), [("type".to_owned(), Wrong::Type { wanted: "a string", found: Kind::Number })]);
    assert_eq!(
        problems(r#"{"type":"tool","callID":"","tool":"t","state":{"status":"paused"}}"#),
        [("state.status".to_owned(), unknown("tool status", "paused"))]
    );
    assert_eq!(
        problems(r#"{"id":"msg_1","sessionID":"ses_1","messageID":null,"type":"text","text":"a"}"#),
        [("id".to_owned(), Wrong::Prefix { wanted: "prt", found: "msg_1".to_owned() }), ("messageID".to_owned(), Wrong::Null)]
    );
    let rule = PermissionRule::parse(r#"{"permission":"p","pattern":"*","action":"perhaps"}"#).unwrap();
    assert_eq!(rule.problems()[0].wrong, unknown("permission action", "perhaps"));
    assert_eq!(rule.action().unwrap().as_str(), "perhaps");
    let session = Session::parse(r#"{"parentID":"none"}"#).unwrap();
    assert_eq!(session.parent_id().unwrap_err().to_string(), r#"parentID is "none" and should start with "ses""#);
}

#[test]
fn a_global_session_may_have_no_project() {
    let text = sample::SESSION.replacen('{', r#"{"project":null,"#, 1);
    let mut session = GlobalSession::parse(&text).unwrap();
    assert_eq!(session.problems(), []);
    assert_eq!(session.project().unwrap(), None);
    assert_eq!(session.session().to_text(), sample::SESSION);
    session.set_project(None);
    assert_eq!(session.to_text(), text);
}

#[test]
fn truncated_json_and_bytes() {
    for sound in sample::PARTS.iter().chain(sample::MESSAGES) {
        for end in (0..sound.len()).filter(|end| sound.is_char_boundary(*end)) {
            let error = Object::parse(&sound[..end]).unwrap_err();
            assert!(error.offset <= end, "{error} of {}", &sound[..end]);
        }
    }
    let error = utf8(b"{\"a\":\"\xed\xa0\xad\"}").unwrap_err();
    assert_eq!((error.offset, error.what), (6, "not UTF-8"));
    assert_eq!(utf8("{\"a\":\"é\"}".as_bytes()), Ok("{\"a\":\"é\"}"));
}

#[test]
fn what_is_no_json_says_where() {
    for (text, offset) in [
        ("", 0),
        ("{", 1),
        ("[1,]", 3),
        ("{\"a\":1,}", 7),
        ("{\"a\" 1}", 5),
        ("01", 1),
        ("1.", 2),
        ("1e", 2),
        ("-", 1),
        ("+1", 0),
        ("NaN", 0),
        ("nul", 0),
        ("truex", 4),
        ("\"a", 2),
        ("\"\\x\"", 1),
        ("\"\\u12g4\"", 1),
        ("\"a\nb\"", 2),
        ("1 2", 2),
        ("\u{feff}1", 0),
    ] {
        assert_eq!(Json::parse(text).unwrap_err().offset, offset, "{text:?}");
    }
}

/// Sends a text through everything that reads one.
fn exercise(text: &str) {
    macro_rules! views {
        ($($view:ty),* $(,)?) => { $(
            if let Ok(view) = <$view>::parse(text) {
                let written = view.to_text();
                assert_eq!(<$view>::parse(&written).expect("it was written as JSON").to_text(), written);
                let _problems = view.problems();
                let _own = view.clone().into_static();
            }
        )* };
    }
    views![
        Part<'_>,
        Message<'_>,
        MessageError<'_>,
        ToolState<'_>,
        FileSource<'_>,
        OutputFormat<'_>,
        SessionStatus<'_>,
        Session<'_>,
        GlobalSession<'_>,
        TokenUsage<'_>,
        ModelRef<'_>,
        ApiErrorData<'_>,
        FileDiff<'_>,
        Todo<'_>,
        Project<'_>,
        PermissionRule<'_>,
        PermissionRequest<'_>,
        EventFrame<'_>,
        GlobalFrame<'_>,
        SyncEvent<'_>,
    ];
    let strict = serde_json::from_str::<Box<serde_json::value::RawValue>>(text);
    assert_eq!(Json::parse(text).is_ok(), strict.is_ok(), "serde_json disagrees: {strict:?} of {text:?}");
    if let Ok(json) = Json::parse(text) {
        let _depth = json.depth();
        let _key = Key::from_json(&json);
        let _number = json.as_number().map(|number| (number.as_f64(), number.as_i64(), number.as_u64()));
        let mut out = Vec::new();
        write_pretty(json.as_str(), 0, &mut out).expect("a vector takes everything");
        assert!(Json::parse(String::from_utf8(out).expect("it was UTF-8")).is_ok());
        if let (Some(object), Ok(other)) = (json.as_object(), Part::parse(text)) {
            for event_type in DurableEvent::TYPES {
                let _problems = Event::from_type(*event_type, object.borrowed()).problems();
            }
            if let (Part::Tool(tool), Ok(state)) = (&other, ToolState::parse(text)) {
                let _legal = tool.state().map(|from| ToolState::check_step(Some(&from), &state));
            }
            if let Message::User(user) = Message::from_object(object.borrowed()) {
                let _variant = user.variant();
            }
            let _created = Message::from_object(object).created_ms();
        }
    }
    let _path = Key::from_path(text);
    let _time = id::time_near(text, 0);
    let _default = is_default_title(text);
    let _fork = fork_title(text);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(text) = utf8(&bytes) {
            exercise(text);
        }
    }

    #[test]
    fn any_text_that_looks_like_json(text in "[\\[\\]{}\",:0-9a-fntrul\\\\ .eE+\\-\n]{0,40}") {
        exercise(&text);
    }

    #[test]
    fn damaged_values(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        length in 0_usize..12,
        by in prop_oneof![Just(""), Just("null"), Just("-1.5"), Just("\"x\""), Just("{}"), Just("[]"), Just(","), Just("\\"), Just("\u{1f600}")],
    ) {
        let samples: Vec<&str> =
            [sample::PARTS, sample::MESSAGES, sample::ERRORS, &[sample::SESSION]].into_iter().flatten().copied().collect();
        let mut text = samples[which.index(samples.len())].to_owned();
        let from = place.index(text.len());
        let to = (from + length).min(text.len());
        text.replace_range(from..to, by);
        exercise(&text);
    }

    #[test]
    fn values_of_another_type(
        which in any::<prop::sample::Index>(),
        place in any::<prop::sample::Index>(),
        by in prop::sample::select(vec!["null", "true", "-1", "2.5", "1e999", "\"x\"", "\"\\ud83d\"", "[]", "{}", "[null]"]),
    ) {
        use crate::json::Tree;
        let samples: Vec<&str> =
            [sample::PARTS, sample::MESSAGES, sample::ERRORS, &[sample::SESSION]].into_iter().flatten().copied().collect();
        let mut tree = Tree::parse(samples[which.index(samples.len())]);
        let mut members = 0;
        tree.each_object(&mut |object| members += object.len());
        let chosen = place.index(members);
        let mut at = 0;
        tree.each_object(&mut |object| {
            for (_, value) in object {
                if at == chosen {
                    *value = Tree::Scalar(by.to_owned());
                }
                at += 1;
            }
        });
        exercise(&tree.print());
    }
}
