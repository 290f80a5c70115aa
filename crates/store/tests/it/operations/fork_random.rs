//! Any history with ids of the source in any field: none of them is in the fork (user report C79), and all it says is the
//! same.

use super::room::{Room, assistant, user, with};
use proptest::prelude::*;
use serde_json::{Value, json};

const START: i64 = 1_790_000_000_000;

/// What stands for an id: the session, a message or a part of the history, or something else.
#[derive(Debug, Clone)]
enum Name {
    Session,
    Message(usize),
    Part(usize, usize),
    Other,
}

#[derive(Debug, Clone)]
struct Planned {
    user: bool,
    /// ms before or after the start
    at: i64,
    parent: Name,
    parts: Vec<(u8, Name, Name)>,
}

fn name() -> impl Strategy<Value = Name> {
    prop_oneof![
        1 => Just(Name::Session),
        3 => (0..12_usize).prop_map(Name::Message),
        3 => (0..12_usize, 0..4_usize).prop_map(|(message, part)| Name::Part(message, part)),
        1 => Just(Name::Other),
    ]
}

fn planned() -> impl Strategy<Value = Planned> {
    let parts = prop::collection::vec((0..5_u8, name(), name()), 0..4);
    (any::<bool>(), -3..3_i64, name(), parts).prop_map(|(user, at, parent, parts)| Planned { user, at, parent, parts })
}

impl Name {
    fn text(&self, session: &str) -> String {
        match self {
            Name::Session => session.to_owned(),
            Name::Message(message) => format!("msg_source{message}"),
            Name::Part(message, part) => format!("prt_source{message}x{part}"),
            Name::Other => "msg_elsewhere".to_owned(),
        }
    }
}

fn part(kind: u8, id: &str, one: &str, two: &str) -> Value {
    let nested = json!({"a": [{"b": one, two: [two]}], "c": format!("not {one}")});
    let part = match kind {
        0 => json!({"type": "text", "text": one, "metadata": nested}),
        1 => json!({"type": "compaction", "auto": true, "tail_start_id": one}),
        2 => json!({"type": "tool", "tool": "x", "callID": "call_1", "metadata": nested,
                    "state": {"status": "completed", "input": {"x": two}, "output": one, "title": "", "metadata": nested,
                              "time": {"start": 1, "end": 2}}}),
        3 => json!({"type": "novel", "field": one, "deep": nested}),
        _ => json!({"type": "subtask", "prompt": "p", "description": "d", "agent": two}),
    };
    with(part, "id", id)
}

/// What a person, a model or a tool said; the rest must not name the source.
fn said(value: &mut Value, out: &mut Vec<Value>) {
    for path in ["/text", "/state/output"] {
        if let Some(text) = value.pointer_mut(path) {
            out.push(text.take());
        }
    }
}

/// Texts such as `not msg_source1` are no names; they stay.
fn without_sentences(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("not ") => Value::Null,
        Value::Array(list) => list.into_iter().map(without_sentences).collect(),
        Value::Object(map) => map.into_iter().map(|(key, value)| (key, without_sentences(value))).collect(),
        other => other,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn no_id_of_the_source_is_in_a_fork(history in prop::collection::vec(planned(), 1..12), before in 0..14_usize) {
        let room = Room::new();
        let session = room.session();
        for (index, plan) in history.iter().enumerate() {
            let id = format!("msg_source{index}");
            let at = START + 10 * i64::try_from(index).unwrap() + plan.at * 20;
            let parent = plan.parent.text(&session);
            let info = if plan.user { user(&id, at) } else { assistant(&id, &parent, at) };
            room.say(&session, with(info, "novel", json!({"of": parent})), &[]);
            for (place, (kind, one, two)) in plan.parts.iter().enumerate() {
                room.part(&session, &id, part(*kind, &format!("prt_source{index}x{place}"), &one.text(&session), &two.text(&session)));
            }
        }
        let order = room.messages(&session);
        let at = order.iter().position(|message| super::room::id(message) == format!("msg_source{before}")).unwrap_or(order.len());
        let forked = room.store.fork_session(&session, Some(&format!("msg_source{before}"))).wait().unwrap();
        let fork = forked.session.id().unwrap().into_owned();
        prop_assert_eq!(forked.messages, at as u64);

        let copy = room.messages(&fork);
        prop_assert_eq!(copy.len(), at);
        let source_ids: Vec<String> = std::iter::once(session.clone())
            .chain(history.iter().enumerate().flat_map(|(index, plan)| {
                let parts = (0..plan.parts.len()).map(move |place| format!("\"prt_source{index}x{place}\""));
                std::iter::once(format!("\"msg_source{index}\"")).chain(parts)
            }))
            .collect();
        let clean = |texts: &[String]| texts.iter().all(|text| source_ids.iter().all(|id| !text.contains(id.as_str())));
        for (source, copy) in order.iter().zip(&copy) {
            let (mut was, mut is) = (Vec::new(), Vec::new());
            let mut rest = vec![without_sentences(super::room::info(copy)).to_string()];
            for mut part in super::room::parts(source) {
                said(&mut part, &mut was);
            }
            for mut part in super::room::parts(copy) {
                said(&mut part, &mut is);
                rest.push(without_sentences(part).to_string());
            }
            prop_assert_eq!(was, is, "what was said is the same, in the same order");
            prop_assert!(clean(&rest), "{rest:#?}");
        }
        let mut events = Vec::new();
        for event in room.events(&fork) {
            let mut data = event.data;
            if let Some(part) = data.get_mut("part") {
                said(part, &mut Vec::new());
            }
            events.push(without_sentences(data).to_string());
        }
        prop_assert!(clean(&events), "{events:#?}");

        // Every assistant's message answers a message of the fork, unless it named something outside of the source.
        let ids = room.ids(&fork);
        for message in &copy {
            let info = super::room::info(message);
            if let Some(parent) = info["parentID"].as_str().filter(|parent| parent.starts_with("msg_") && *parent != "msg_elsewhere") {
                let dangling = parent.starts_with("msg_source");
                prop_assert!(ids.iter().any(|id| id == parent) || dangling, "{parent}");
            }
        }
    }
}
