//! What programs make: errors, messages, parts and sessions.

use annalist_schema::message::{ApiErrorData, AssistantPath, UserSummary};
use annalist_schema::part::{
    AgentPart, CompactionPart, FilePart, PatchPart, ReasoningPart, StepFinishPart, StepStartPart, SubtaskPart, TextPart,
};
use annalist_schema::permission::PermissionAction;
use annalist_schema::{
    AssistantMessage, Message, MessageError, ModelRef, Part, PermissionRule, Session, SessionModel, SessionStatus, Todo,
    TokenUsage, UserMessage,
};

#[test]
fn errors_have_their_names_and_data() {
    let mut api = ApiErrorData::new("overloaded", true);
    api.set_status_code(Some(529));
    for (error, text) in [
        (MessageError::provider_auth("p", "m"), r#"{"name":"ProviderAuthError","data":{"providerID":"p","message":"m"}}"#),
        (MessageError::unknown("m"), r#"{"name":"UnknownError","data":{"message":"m"}}"#),
        (MessageError::output_length(), r#"{"name":"MessageOutputLengthError","data":{}}"#),
        (MessageError::aborted("Aborted"), r#"{"name":"MessageAbortedError","data":{"message":"Aborted"}}"#),
        (MessageError::structured_output("m", 2), r#"{"name":"StructuredOutputError","data":{"message":"m","retries":2}}"#),
        (
            MessageError::context_overflow("m", Some("b")),
            r#"{"name":"ContextOverflowError","data":{"message":"m","responseBody":"b"}}"#,
        ),
        (MessageError::context_overflow("m", None), r#"{"name":"ContextOverflowError","data":{"message":"m"}}"#),
        (MessageError::content_filter("m"), r#"{"name":"ContentFilterError","data":{"message":"m"}}"#),
        (MessageError::api(api), r#"{"name":"APIError","data":{"message":"overloaded","isRetryable":true,"statusCode":529}}"#),
    ] {
        assert_eq!(error.to_text(), text);
        assert_eq!(error.problems(), []);
        assert_eq!(error.message().is_some(), error.wire_name() != Some("MessageOutputLengthError"));
    }
}

#[test]
fn messages_begin_as_the_reference_begins_them() {
    let mut model = ModelRef::new("p", "m");
    model.set_variant(Some("high".into()));
    let mut user = UserMessage::new("msg_1", "ses_1", 5, "build", model);
    assert_eq!(
        user.to_text(),
        r#"{"id":"msg_1","sessionID":"ses_1","role":"user","time":{"created":5},"agent":"build","model":{"providerID":"p","modelID":"m","variant":"high"}}"#
    );
    let mut assistant = AssistantMessage::new("msg_2", &user, 6, AssistantPath::new("/a", "/")).unwrap();
    assert_eq!(
        assistant.to_text(),
        r#"{"id":"msg_2","sessionID":"ses_1","role":"assistant","time":{"created":6},"parentID":"msg_1","modelID":"m","providerID":"p","mode":"build","agent":"build","path":{"cwd":"/a","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"variant":"high"}"#
    );
    assert!(assistant.is_open());
    let mut time = assistant.time().unwrap().into_static();
    time.set_completed(Some(9));
    assistant.set_time(time);
    assert!(!assistant.is_open());
    user.set_summary(Some(UserSummary::new(Vec::new())));
    assert!(user.to_text().ends_with(r#""summary":{"diffs":[]}}"#));
    for (message, created) in [(Message::from(user), 5), (Message::from(assistant), 6)] {
        assert_eq!(message.problems(), []);
        assert_eq!(message.created_ms().unwrap(), created);
    }
}

#[test]
fn parts_have_what_they_must() {
    for (part, text) in [
        (Part::from(TextPart::new("a")), r#"{"type":"text","text":"a"}"#),
        (ReasoningPart::new("", 5).into(), r#"{"type":"reasoning","text":"","time":{"start":5}}"#),
        (FilePart::new("image/png", "data:,").into(), r#"{"type":"file","mime":"image/png","url":"data:,"}"#),
        (AgentPart::new("plan").into(), r#"{"type":"agent","name":"plan"}"#),
        (SubtaskPart::new("p", "d", "general").into(), r#"{"type":"subtask","prompt":"p","description":"d","agent":"general"}"#),
        (StepStartPart::new(None).into(), r#"{"type":"step-start"}"#),
        (
            StepFinishPart::new("stop", Some("abc"), 0.1 + 0.2, TokenUsage::new(1, 2, 3, 4, 5)).into(),
            r#"{"type":"step-finish","reason":"stop","snapshot":"abc","cost":0.30000000000000004,"tokens":{"input":1,"output":2,"reasoning":3,"cache":{"read":4,"write":5}}}"#,
        ),
        (PatchPart::new("abc", &["/a"]).into(), r#"{"type":"patch","hash":"abc","files":["/a"]}"#),
        (CompactionPart::new(true).into(), r#"{"type":"compaction","auto":true}"#),
    ] {
        assert_eq!(part.to_text(), text);
        assert_eq!(part.problems(), []);
    }
    let mut part = Part::from(TextPart::new("a"));
    assert!(part.id().is_err());
    part.set_identity("prt_1", "ses_1", "msg_1");
    assert_eq!((&*part.id().unwrap(), &*part.session_id().unwrap(), &*part.message_id().unwrap()), ("prt_1", "ses_1", "msg_1"));
    assert_eq!(part.to_text(), r#"{"type":"text","text":"a","id":"prt_1","sessionID":"ses_1","messageID":"msg_1"}"#);
    assert_eq!(part.problems(), []);
}

#[test]
fn the_rest() {
    let mut session = Session::new("ses_1", "calm-river", "p", "/a", "t", "1.18.33", 5);
    session.set_model(Some(SessionModel::new("p", "m", None)));
    session.set_permission(Some(vec![PermissionRule::new("bash", "*", PermissionAction::Deny)]));
    assert_eq!(session.problems(), []);
    assert_eq!(
        session.to_text(),
        r#"{"id":"ses_1","slug":"calm-river","projectID":"p","directory":"/a","cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"title":"t","version":"1.18.33","time":{"created":5,"updated":5},"model":{"id":"m","providerID":"p","variant":"default"},"permission":[{"permission":"bash","pattern":"*","action":"deny"}]}"#
    );
    assert_eq!(Todo::new("c", "pending", "low").problems(), []);
    for status in [SessionStatus::idle(), SessionStatus::busy(), SessionStatus::retry(1, "m", 5)] {
        assert_eq!(status.problems(), []);
    }
}
