//! What the steps of a session cost, kept on its row by difference (reference-storage 1.9).

use super::support::{
    Room, THEN, append, begin, info, message, message_removed, part, part_removed, raw, rows, text, updated, user, with, write,
};
use annalist_store::Store;
use annalist_store::row::Cell;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn session() -> (Room, PathBuf, Store) {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    begin(&store, &info("ses_2"));
    write(&store, "ses_1", ["msg_1", "msg_2"].map(|id| message(&user("ses_1", id, &json!(THEN)))).into());
    (room, path, store)
}

fn step(message: &str, id: &str, cost: &Value, tokens: &Value) -> Value {
    json!({"id": id, "sessionID": "ses_1", "messageID": message, "type": "step-finish", "reason": "stop", "cost": cost, "tokens": tokens})
}

fn tokens(input: i64, output: i64, reasoning: i64, read: i64, write: i64) -> Value {
    json!({"total": 999, "input": input, "output": output, "reasoning": reasoning, "cache": {"read": read, "write": write}})
}

fn usage(path: &Path) -> (f64, [i64; 5]) {
    let sql = "SELECT cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write FROM session WHERE id = 'ses_1'";
    raw(path)
        .query_row(sql, [], |row| Ok((row.get(0)?, [row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?])))
        .unwrap()
}

#[test]
fn steps_add_up_and_subtract_again() {
    let (_room, path, store) = session();
    let put = |part: &Value| append(&store, "ses_1", super::support::part(part, THEN)).unwrap();
    put(&step("msg_1", "prt_1", &json!(0.5), &tokens(1, 2, 3, 4, 5)));
    assert_eq!(usage(&path), (0.5, [1, 2, 3, 4, 5]));
    put(&step("msg_1", "prt_2", &json!(0.25), &tokens(10, 20, 30, 40, 50)));
    put(&step("msg_2", "prt_3", &json!(1), &tokens(100, 0, 0, 0, 0)));
    put(&text("ses_1", "msg_2", "prt_4", "costs nothing"));
    assert_eq!(usage(&path), (1.75, [111, 22, 33, 44, 55]));
    // Replaced: the difference.
    put(&step("msg_1", "prt_2", &json!(0.125), &tokens(11, 20, 0, 40, 50)));
    assert_eq!(usage(&path), (1.625, [112, 22, 3, 44, 55]));
    put(&step("msg_1", "prt_2", &json!(0.125), &tokens(11, 20, 0, 40, 50)));
    assert_eq!(usage(&path), (1.625, [112, 22, 3, 44, 55]), "the same again adds nothing");
    // No step any more.
    put(&with(text("ses_1", "msg_1", "prt_2", "x"), &json!({"cost": 7, "tokens": tokens(7, 7, 7, 7, 7)})));
    assert_eq!(usage(&path), (1.5, [101, 2, 3, 4, 5]));
    put(&step("msg_1", "prt_2", &json!(0.25), &tokens(0, 0, 1, 0, 0)));
    // Removed: alone, by another session (nothing), with its message.
    append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_1")).unwrap();
    assert_eq!(usage(&path), (1.25, [100, 0, 1, 0, 0]));
    append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_1")).unwrap();
    append(&store, "ses_2", part_removed("ses_2", "msg_1", "prt_2")).unwrap();
    append(&store, "ses_2", message_removed("ses_2", "msg_1")).unwrap();
    assert_eq!(usage(&path), (1.25, [100, 0, 1, 0, 0]));
    append(&store, "ses_1", message_removed("ses_1", "msg_1")).unwrap();
    assert_eq!(usage(&path), (1.0, [100, 0, 0, 0, 0]));
    append(&store, "ses_1", message_removed("ses_1", "msg_2")).unwrap();
    assert_eq!(usage(&path), (0.0, [0; 5]));
}

#[test]
fn usage_does_not_touch_the_time_of_the_session_or_its_neighbour() {
    let (_room, path, store) = session();
    append(&store, "ses_1", part(&step("msg_1", "prt_1", &json!(0.5), &tokens(1, 2, 3, 4, 5)), THEN + 1_000)).unwrap();
    let others =
        rows(&raw(&path), "SELECT time_updated FROM session UNION ALL SELECT tokens_input + cost FROM session WHERE id = 'ses_2'");
    assert_eq!(others, [[Cell::Int(THEN)], [Cell::Int(THEN)], [Cell::Real(0.0)]]);
}

#[test]
fn counts_that_are_none_count_as_nothing_and_stay_in_the_part() {
    let (_room, path, store) = session();
    let cases = [
        (
            json!(0.5),
            json!({"input": -5, "output": "7", "reasoning": null, "cache": {"read": 1, "write": []}}),
            (0.5, [0, 0, 0, 1, 0]),
        ),
        (json!(0.5), json!({"input": 3.0, "output": 2}), (0.5, [3, 2, 0, 0, 0])),
        (json!(0.5), json!({"input": 1, "cache": 9}), (0.5, [1, 0, 0, 0, 0])),
        (json!(-0.5), json!({"input": 1}), (-0.5, [1, 0, 0, 0, 0])),
        (json!("0.5"), json!({"input": 1}), (0.0, [0; 5])),
        (json!(null), json!({"input": 1}), (0.0, [0; 5])),
        (json!(0.5), json!(null), (0.0, [0; 5])),
        (json!(0.5), json!([1]), (0.0, [0; 5])),
    ];
    for (cost, tokens, wanted) in cases {
        let given = step("msg_1", "prt_1", &cost, &tokens);
        append(&store, "ses_1", part(&given, THEN)).unwrap();
        assert_eq!(usage(&path), wanted, "{given}");
        let kept = store.get("ses_1", "msg_1").unwrap().parts.remove(0);
        assert_eq!(serde_json::from_str::<Value>(kept.as_str()).unwrap(), given, "the part is as it was given");
        append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_1")).unwrap();
        assert_eq!(usage(&path), (0.0, [0; 5]), "what was added goes again: {given}");
    }
    // No number at all, which JSON can spell and nothing can hold.
    let huge = annalist_store::NewEvent::new(
        "message.part.updated.1",
        r#"{"sessionID":"ses_1","time":1,"part":{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"step-finish","cost":1e999,"tokens":{"input":1e400,"output":1e18}}}"#.to_owned(),
    );
    append(&store, "ses_1", huge).unwrap();
    assert_eq!(usage(&path).0, 0.0);
    append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_1")).unwrap();
    assert_eq!(usage(&path), (0.0, [0; 5]));
}

#[test]
fn a_missing_cost_or_missing_tokens_is_no_usage() {
    let (_room, path, store) = session();
    for key in ["cost", "tokens"] {
        let given = super::support::without(step("msg_1", "prt_1", &json!(1), &tokens(1, 1, 1, 1, 1)), &[key]);
        append(&store, "ses_1", part(&given, THEN)).unwrap();
        assert_eq!(usage(&path), (0.0, [0; 5]), "without {key}");
    }
}

#[test]
fn an_updated_session_overwrites_the_sums() {
    let (_room, path, store) = session();
    append(&store, "ses_1", part(&step("msg_1", "prt_1", &json!(0.5), &tokens(1, 2, 3, 4, 5)), THEN)).unwrap();
    append(&store, "ses_1", updated(&with(info("ses_1"), &json!({"cost": 8, "tokens": tokens(9, 9, 9, 9, 9)})))).unwrap();
    assert_eq!(usage(&path), (8.0, [9; 5]));
    append(&store, "ses_1", part_removed("ses_1", "msg_1", "prt_1")).unwrap();
    assert_eq!(usage(&path), (7.5, [8, 7, 6, 5, 4]));
}

#[test]
fn a_messages_own_cost_does_not_count() {
    let (_room, path, store) = session();
    let answer = json!({"id": "msg_3", "sessionID": "ses_1", "role": "assistant", "time": {"created": 1}, "cost": 3, "tokens": tokens(1, 1, 1, 1, 1)});
    append(&store, "ses_1", message(&answer)).unwrap();
    assert_eq!(usage(&path), (0.0, [0; 5]));
}
