//! What still counts after compactions (reference-storage 4.6, reference-engine 5.4), by cases and beside what the reference
//! sent to its model.

use super::room::{Room, assistant, folder, info, parts, user, with};
use annalist_schema::Json;
use annalist_store::filter_compacted;
use annalist_store::transcript::WithParts;
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;

fn message(info: Value, parts: &[Value]) -> WithParts {
    WithParts {
        info: Json::parse(info.to_string()).unwrap(),
        parts: parts.iter().map(|part| Json::parse(part.to_string()).unwrap()).collect(),
    }
}

/// A history in short: `q` a question, `a` an answer, `c` a compaction, `c>x` one whose tail begins at `x`, `s` its finished
/// summary, `s?` one without an end, `s!` one with an error, `s0` an answer without `summary`. Numbers tell them apart; a
/// summary answers the compaction of its number.
fn history(short: &str) -> Vec<WithParts> {
    short
        .split_whitespace()
        .enumerate()
        .map(|(at, word)| {
            let at = i64::try_from(at).unwrap();
            let (name, tail) = word.split_once('>').map_or((word, None), |(name, tail)| (name, Some(tail)));
            let id = format!("msg_{}", name.trim_end_matches(['?', '!']));
            match name.as_bytes()[0] {
                b'q' => message(user(&id, at), &[json!({"type": "text", "text": name})]),
                b'c' => {
                    let mut part = json!({"type": "compaction", "auto": false});
                    if let Some(tail) = tail {
                        part["tail_start_id"] = json!(format!("msg_{tail}"));
                    }
                    message(user(&id, at), &[json!({"type": "text", "text": "x"}), part])
                }
                b's' => {
                    let number = name.trim_start_matches('s').trim_end_matches(['?', '!', '-']);
                    let mut info = with(assistant(&id, &format!("msg_c{number}"), at), "summary", !name.ends_with('-'));
                    if name.ends_with('?') {
                        info.as_object_mut().unwrap().remove("finish");
                    }
                    if name.ends_with('!') {
                        info["error"] = json!({"name": "UnknownError", "data": {"message": "x"}});
                    }
                    message(info, &[])
                }
                _ => message(assistant(&id, "msg_x", at), &[]),
            }
        })
        .collect()
}

/// The filtered history in short, and how many messages were read.
fn filtered(short: &str) -> (String, usize) {
    let read = Cell::new(0);
    let newest_first = history(short).into_iter().rev().map(|message| {
        read.set(read.get() + 1);
        Ok::<_, std::convert::Infallible>(message)
    });
    let kept = filter_compacted(newest_first).unwrap();
    let names = kept.iter().map(|message| info(message)["id"].as_str().unwrap()[4..].to_owned()).collect::<Vec<_>>();
    (names.join(" "), read.get())
}

#[test]
fn the_cases() {
    for (short, expected, read) in [
        ("", "", 0),
        ("q1 a1 q2 a2", "q1 a1 q2 a2", 4),
        // Without a tail the history begins at the compaction, and nothing before it is read.
        ("q1 a1 q2 a2 c1 s1 q3 a3", "c1 s1 q3 a3", 4),
        ("q1 a1 c1 s1", "c1 s1", 2),
        // With one it goes on down to the tail, which then stands behind the summary.
        ("q1 a1 q2 a2 c1>q2 s1 q3", "c1 s1 q2 a2 q3", 5),
        ("q1 a1 a2 c1>a2 s1 q3", "c1 s1 a2 q3", 4),
        // The tail is the first message.
        ("q1 a1 c1>q1 s1 q2", "c1 s1 q1 a1 q2", 5),
        // A tail that is the compaction itself ends there, and nothing stands before it.
        ("q1 c1>c1 s1 q2", "c1 s1 q2", 3),
        // A tail that is nowhere keeps everything where it is.
        ("q1 a1 c1>q9 s1 q2", "q1 a1 c1 s1 q2", 5),
        // A tail behind its compaction does too.
        ("q1 c1>q2 s1 q2", "q1 c1 s1 q2", 4),
        // An unfinished, a failed and an unmarked summary do not count.
        ("q1 a1 c1 s1? q2", "q1 a1 c1 s1 q2", 5),
        ("q1 a1 c1 s1! q2", "q1 a1 c1 s1 q2", 5),
        ("q1 a1 c1 s1- q2", "q1 a1 c1 s1- q2", 5),
        ("q1 a1 c1 q2 a2", "q1 a1 c1 q2 a2", 5),
        // With a tail an unfinished summary does not cut; the pair is still put before the tail.
        ("q1 a1 q2 c1>q2 s1? q3", "q1 a1 c1 s1 q2 q3", 6),
        // Tried again after a failure.
        ("q1 c1 s1! c2 s2 q2", "c2 s2 q2", 3),
        // Two compactions: the newer one counts; one that lies in its tail is only a message there.
        ("q1 c1 s1 q2 a2 c2 s2 q3", "c2 s2 q3", 3),
        ("q1 c1 s1 q2 a2 c2>q2 s2 q3", "c2 s2 q2 a2 q3", 5),
        ("q1 q2 c1>q2 s1 q3 c2>q2 s2 q4", "c2 s2 q2 c1 s1 q3 q4", 7),
        ("q1 c1 s1 q2 c2>c1 s2 q3", "c2 s2 c1 s1 q2 q3", 6),
        // A finished one below an unfinished one.
        ("q1 c1 s1 q2 c2 s2? q3", "c1 s1 q2 c2 s2 q3", 6),
        // What stands between a compaction and its summary moves along.
        ("q1 q2 c1>q2 a9 s1 q3", "c1 a9 s1 q2 q3", 5),
    ] {
        assert_eq!(filtered(short), (expected.to_owned(), read), "{short}");
    }
}

#[test]
fn the_first_error_ends_it() {
    let mut asked = 0;
    let broken = history("q1 a1 q2 a2").into_iter().rev().map(|message| {
        asked += 1;
        if asked == 2 { Err("broken") } else { Ok(message) }
    });
    assert_eq!(filter_compacted(broken), Err("broken"));
    assert_eq!(asked, 2);
}

#[test]
fn a_store_reads_no_further_than_the_batch_of_the_boundary() {
    let room = Room::new();
    let session = room.session();
    let data = |info: &Value| info.to_string();
    let db = room.sql();
    db.execute_batch("BEGIN").unwrap();
    for at in 0..400 {
        let id = format!("msg_{at:04}");
        let created = i64::from(at);
        db.execute(
            "INSERT INTO message VALUES (?1, ?2, ?3, 1, ?4)",
            rusqlite::params![id, session, created, data(&user(&id, created))],
        )
        .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
    room.part(&session, "msg_0380", json!({"id": "prt_c", "type": "compaction", "auto": false}));
    room.say(&session, with(assistant("msg_sum", "msg_0380", 380), "summary", true), &[]);
    let kept = room.store.filter_compacted(&session).unwrap();
    assert_eq!(kept.len(), 21);
    let mut read = 0;
    room.store
        .read(|view| {
            let counted = annalist_store::transcript::NewestFirst::of(view, &session).inspect(|_| read += 1);
            filter_compacted(counted)
        })
        .unwrap();
    assert_eq!(read, 21);
    assert_eq!(room.store.filter_compacted("ses_nowhere").unwrap(), []);
}

/// The documents of `conformance/golden/convert` that have compactions, and what the reference sent to its model after
/// importing them: the same texts in the same order.
#[test]
fn as_the_reference_sent_it() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/golden/convert");
    let mut compared = 0;
    for entry in std::fs::read_dir(&golden).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let Some(case) = name.strip_suffix(".json").filter(|case| case.starts_with("compaction-") && !case.contains(".golden"))
        else {
            continue;
        };
        let document = std::fs::read_to_string(golden.join(&name)).unwrap().replace("{dir}", "/work/app");
        let recorded = std::fs::read_to_string(golden.join(format!("{case}.chat.golden.json"))).unwrap();
        let recorded: Value = serde_json::from_str(&recorded).unwrap();
        let mut sent = Vec::new();
        for message in recorded["conversation"].as_array().unwrap() {
            let (role, text) = (message["role"].as_str().unwrap(), message["content"].as_str().unwrap());
            if role != "tool" && !text.is_empty() {
                sent.push(format!("{role}: {text}"));
            }
        }
        assert_eq!(sent.pop().as_deref(), Some("user: go on"), "{case}: the prompt behind the import");

        let room = Room::new();
        let session = room.store.import(document, folder()).unwrap().session;
        let mut ours = Vec::new();
        for message in room.store.filter_compacted(&session).unwrap() {
            let role = info(&message)["role"].as_str().unwrap().to_owned();
            for part in parts(&message) {
                match part["type"].as_str().unwrap() {
                    "text" => ours.push(format!("{role}: {}", part["text"].as_str().unwrap())),
                    "compaction" => ours.push(format!("{role}: What did we do so far?")),
                    _ => {}
                }
            }
        }
        assert_eq!(ours, sent, "{case}");
        compared += 1;
    }
    assert_eq!(compared, 9, "every recorded case");
}
