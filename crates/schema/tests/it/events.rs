//! Events: their tables and what they are wrapped in.

use crate::sample;
use annalist_schema::event::{EventFrame, GlobalFrame, MessagePartUpdated, MessageUpdated, Payload, SessionUpdated, SyncEvent};
use annalist_schema::{DurableEvent, Event, Message, Object, Part, Session, Wrong};

#[test]
fn the_log_names_events_with_their_version() {
    assert_eq!(
        DurableEvent::VERSIONED,
        [
            "session.created.1",
            "session.updated.1",
            "session.deleted.1",
            "message.updated.1",
            "message.removed.1",
            "message.part.updated.1",
            "message.part.removed.1"
        ]
    );
    for (event_type, versioned) in DurableEvent::TYPES.iter().zip(DurableEvent::VERSIONED) {
        let event = DurableEvent::from_versioned(*versioned, Object::new());
        assert_eq!(event.event_type(), *event_type);
        assert_eq!(event.versioned_type(), *versioned);
        assert!(!matches!(event, DurableEvent::Unknown(_)));
    }
}

#[test]
fn other_versions_and_types_are_unknown_and_kept() {
    for versioned in
        ["session.updated", "session.updated.2", "session.updated.01", "session.next.step.ended.2", "session.updated.1.1", ""]
    {
        let event = DurableEvent::from_versioned(versioned, Object::parse(r#"{"sessionID":"ses_1","x":1.0}"#).unwrap());
        assert!(matches!(event, DurableEvent::Unknown(_)), "{versioned}");
        assert_eq!(event.versioned_type(), versioned);
        assert_eq!(event.aggregate_id().as_deref(), Some("ses_1"));
        assert_eq!(event.problems()[0].wrong, Wrong::Unknown { what: "event type", value: versioned.to_owned() });
        assert_eq!(event.into_data().to_text(), r#"{"sessionID":"ses_1","x":1.0}"#);
    }
}

#[test]
fn events_are_made_of_what_they_are_about() {
    let session = Session::parse(sample::SESSION).unwrap();
    let event = DurableEvent::from(SessionUpdated::new(&session).unwrap());
    assert_eq!(event.problems(), []);
    assert_eq!(event.data().to_text(), format!(r#"{{"sessionID":"ses_1","info":{}}}"#, sample::SESSION));

    let message = Message::parse(sample::MESSAGES[0]).unwrap();
    let event = MessageUpdated::new(&message).unwrap();
    assert_eq!(event.to_text(), format!(r#"{{"sessionID":"ses_1","info":{}}}"#, sample::MESSAGES[0]));

    let part = Part::parse(sample::PARTS[0]).unwrap();
    let event = MessagePartUpdated::new(&part, 5).unwrap();
    assert_eq!(event.to_text(), format!(r#"{{"sessionID":"ses_1","part":{},"time":5}}"#, sample::PARTS[0]));

    // A row's data does not say its session.
    assert!(MessagePartUpdated::new(&Part::parse(sample::PARTS[1]).unwrap(), 5).is_err());
}

#[test]
fn the_streams() {
    let idle = Event::from_type("session.idle", Object::parse(r#"{"sessionID":"ses_1"}"#).unwrap());
    let frame = EventFrame::new("evt_1", &idle);
    assert_eq!(frame.to_text(), r#"{"id":"evt_1","type":"session.idle","properties":{"sessionID":"ses_1"}}"#);
    assert_eq!(frame.problems(), []);
    assert!(matches!(frame.event().unwrap(), Event::Passing(_)));

    let removed =
        DurableEvent::from_versioned("message.removed.1", Object::parse(r#"{"sessionID":"ses_1","messageID":"msg_1"}"#).unwrap());
    let sync = SyncEvent::new("evt_2", 3, "ses_1", &removed);
    let text =
        format!(r#"{{"directory":"/a","project":"p","payload":{{"type":"sync","syncEvent":{},"id":"evt_2"}}}}"#, sync.to_text());
    assert_eq!(
        sync.to_text(),
        r#"{"id":"evt_2","type":"message.removed.1","seq":3,"aggregateID":"ses_1","data":{"sessionID":"ses_1","messageID":"msg_1"}}"#
    );
    let global = GlobalFrame::parse(&text).unwrap();
    assert_eq!(global.problems(), []);
    assert_eq!(global.to_text(), text);
    let Payload::Sync(payload) = global.payload().unwrap() else { panic!("not a sync payload") };
    assert_eq!(payload.sync_event().unwrap().event().unwrap(), removed);

    let bad = GlobalFrame::parse(r#"{"payload":{"type":"sync","syncEvent":{"id":"evt1","seq":-1},"id":"evt_2"}}"#).unwrap();
    let places: Vec<String> = bad.problems().into_iter().map(|problem| problem.at).collect();
    let under = |key: &str| format!("payload.syncEvent.{key}");
    assert_eq!(places, [under("id"), under("type"), under("seq"), under("aggregateID"), under("data")]);
}

#[test]
fn connected_has_a_payload_only() {
    let text = r#"{"payload":{"id":"evt_1","type":"server.connected","properties":{}}}"#;
    let frame = GlobalFrame::parse(text).unwrap();
    assert_eq!(frame.problems(), []);
    let Payload::Event(event) = frame.payload().unwrap() else { panic!("a sync payload") };
    assert_eq!(event.event().unwrap().event_type(), "server.connected");
}
