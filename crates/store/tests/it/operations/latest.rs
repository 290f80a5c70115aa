//! The newest messages of their kinds (reference-storage 4.7; user reports C46, C47, C49, C50).

use super::room::{assistant, user, with};
use annalist_schema::Json;
use annalist_store::transcript::WithParts;
use annalist_store::{Latest, latest};
use serde_json::{Value, json};

fn of(messages: &[(Value, &[Value])]) -> Latest {
    let messages: Vec<_> = messages
        .iter()
        .map(|(info, parts)| WithParts {
            info: Json::parse(info.to_string()).unwrap(),
            parts: parts.iter().map(|part| Json::parse(part.to_string()).unwrap()).collect(),
        })
        .collect();
    latest(&messages)
}

fn open(id: &str, parent: &str, created: i64) -> Value {
    let mut info = assistant(id, parent, created);
    info.as_object_mut().unwrap().remove("finish");
    info
}

#[test]
fn nothing_in_nothing() {
    assert_eq!(of(&[]), Latest::default());
    assert_eq!(of(&[(json!({"role": "novel", "id": "x"}), &[])]), Latest::default());
}

#[test]
fn time_decides_before_ids_do() {
    // The ids say the opposite: wrapped digits, a client whose clock is ten minutes off either way, ids made elsewhere.
    for (question, asked, answer, answered) in [
        ("msg_ffffff000001", 1_786_706_340_000, "msg_000000000001", 1_786_706_460_000),
        ("msg_f00000000000", 600_000, "msg_e00000000000", 600_056),
        ("msg_e55166ef", 1_000, "msg_e55166ed", 1_056),
        ("msg_client", 5_000, "msg_aaaa", 5_001),
    ] {
        let found = of(&[(user(question, asked), &[]), (assistant(answer, question, answered), &[])]);
        assert_eq!((found.user, found.assistant, found.finished), (Some(0), Some(1), Some(1)), "{question}");
        // The same messages in the other order.
        let found = of(&[(assistant(answer, question, answered), &[]), (user(question, asked), &[])]);
        assert_eq!((found.user, found.assistant), (Some(1), Some(0)));
    }
    let found = of(&[(user("msg_b", 5), &[]), (user("msg_c", 5), &[]), (user("msg_a", 5), &[])]);
    assert_eq!(found.user, Some(1), "of one time the greater id is newer");
    let found = of(&[(with(user("msg_a", 5), "time", json!({"created": 5.5})), &[]), (user("msg_b", 5), &[])]);
    assert_eq!(found.user, Some(0), "a user's time may have a fraction");
}

#[test]
fn finished_is_what_has_an_end() {
    let found = of(&[
        (user("msg_1", 1), &[]),
        (assistant("msg_2", "msg_1", 2), &[]),
        (open("msg_3", "msg_1", 3), &[]),
        (with(open("msg_4", "msg_1", 4), "finish", ""), &[]),
    ]);
    assert_eq!((found.assistant, found.finished), (Some(3), Some(1)));
}

#[test]
fn tasks_are_those_behind_the_last_end() {
    let compaction = json!({"type": "compaction", "auto": true});
    let subtask = json!({"type": "subtask", "prompt": "", "description": "", "agent": "a"});
    let text = json!({"type": "text", "text": "x"});
    let history = [
        (user("msg_1", 1), vec![subtask.clone()]),
        (assistant("msg_2", "msg_1", 2), vec![]),
        (user("msg_3", 3), vec![text.clone(), subtask.clone()]),
        (open("msg_4", "msg_3", 4), vec![]),
        (user("msg_5", 5), vec![compaction.clone(), text, subtask]),
    ];
    let borrowed: Vec<_> = history.iter().map(|(info, parts)| (info.clone(), parts.as_slice())).collect();
    assert_eq!(of(&borrowed).tasks, [(2, 1), (4, 0), (4, 2)]);
    // Without an end all are.
    assert_eq!(of(&[(user("msg_1", 1), std::slice::from_ref(&compaction))]).tasks, [(0, 0)]);
    // What is as old as the end is not behind it.
    let found = of(&[(user("msg_1", 2), std::slice::from_ref(&compaction)), (assistant("msg_2", "msg_1", 2), &[])]);
    assert_eq!(found.tasks, []);
}
