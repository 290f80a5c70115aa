//! Shapes of older versions, which are sound.

use annalist_schema::{Message, MessageError, Part};

fn user(text: &str) -> annalist_schema::UserMessage<'_> {
    let message = Message::parse(text).unwrap();
    assert_eq!(message.problems(), [], "{text}");
    assert_eq!(message.to_text(), text);
    match message {
        Message::User(message) => message,
        other => panic!("{other:?}"),
    }
}

#[test]
fn user_messages() {
    let old = user(
        r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"},"variant":"high","summary":{"title":"t"}}"#,
    );
    assert_eq!(old.variant().unwrap().as_deref(), Some("high"));
    assert_eq!(old.summary().unwrap().unwrap().diffs().unwrap(), None);

    let both = user(
        r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m","variant":"low"},"variant":"high"}"#,
    );
    assert_eq!(both.variant().unwrap().as_deref(), Some("low"));
    assert_eq!(both.summary().unwrap(), None);

    let none = user(r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"}}"#);
    assert_eq!(none.variant().unwrap(), None);

    // Diffs with the whole file before and after.
    user(
        r#"{"role":"user","time":{"created":1},"agent":"build","model":{"providerID":"p","modelID":"m"},"summary":{"diffs":[{"file":"a","before":"x","after":"y","additions":1,"deletions":1}]}}"#,
    );
}

#[test]
fn assistant_messages_without_a_mode() {
    let text = r#"{"role":"assistant","time":{"created":1},"parentID":"msg_1","modelID":"m","providerID":"p","agent":"build","path":{"cwd":"/","root":"/"},"cost":0,"tokens":{"input":0,"output":0,"reasoning":0,"cache":{"read":0,"write":0}},"system":["s"]}"#;
    let Message::Assistant(message) = Message::parse(text).unwrap() else { panic!("not an assistant") };
    assert_eq!(message.problems(), []);
    assert_eq!(message.mode().unwrap(), None);
    assert!(message.is_open());
}

#[test]
fn short_error_names_read_as_the_long_ones() {
    for (short, long) in [
        ("AuthError", "ProviderAuthError"),
        ("OutputLengthError", "MessageOutputLengthError"),
        ("AbortedError", "MessageAbortedError"),
    ] {
        let text = format!(r#"{{"name":"{short}","data":{{"providerID":"p","message":"m"}}}}"#);
        let error = MessageError::parse(&text).unwrap();
        assert_eq!(error.wire_name(), Some(long));
        assert_eq!(error.tag().as_deref(), Some(short));
        assert_eq!(error.problems(), []);
        assert_eq!(error.to_text(), text);
    }
    let empty = MessageError::parse(r#"{"name":"MessageAbortedError","data":{}}"#).unwrap();
    assert_eq!(empty.problems(), []);
}

#[test]
fn parts_nobody_makes_any_more() {
    assert_eq!(Part::parse(r#"{"type":"snapshot","snapshot":"abc"}"#).unwrap().problems(), []);
}
