//! One order everywhere (design G1; user reports C46, C50, C51, C53): messages by time, then id; parts by first write, then
//! id; whoever made the ids. Each history is read in every way there is.

use super::room::{Room, assistant, folder, id, part_ids, parts, user};
use annalist_store::query::Cursor;
use annalist_store::{Flow, filter_compacted, latest};
use serde_json::{Value, json};

/// Where the digits of ids began anew.
const WRAP: i64 = 1_786_706_395_136;

fn generated(prefix: &str, ms: i64, counter: u64) -> String {
    format!("{prefix}_{:012x}", (ms.unsigned_abs() * 4096 + counter) & ((1 << 48) - 1))
}

/// Plants messages (all users but each third), with a part or two, in the order of `planted`.
fn plant(room: &Room, planted: &[(String, i64)]) -> String {
    let session = room.session();
    let db = room.sql();
    db.execute_batch("BEGIN").unwrap();
    for (index, (id, at)) in planted.iter().enumerate() {
        let info = if index % 3 == 2 { assistant(id, "msg_x", *at) } else { user(id, *at) };
        db.execute("INSERT INTO message VALUES (?1, ?2, ?3, 1, ?4)", rusqlite::params![id, session, at, info.to_string()]).unwrap();
        for (part, written) in [(format!("prt_{id}_b"), 1), (format!("prt_{id}_a"), 2)] {
            let data = json!({"type": "text", "text": part}).to_string();
            db.execute("INSERT INTO part VALUES (?1, ?2, ?3, ?4, 1, ?5)", rusqlite::params![part, id, session, written, data])
                .unwrap();
        }
    }
    db.execute_batch("COMMIT").unwrap();
    session
}

fn first_texts(messages: &[annalist_store::transcript::WithParts]) -> Vec<String> {
    messages.iter().map(|message| parts(message)[0]["text"].as_str().unwrap().to_owned()).collect()
}

/// Reads a session in every way and compares with `expected`, the ids in their one order.
fn one_order(room: &Room, session: &str, expected: &[String]) {
    let all = room.messages(session);
    assert_eq!(all.iter().map(id).collect::<Vec<_>>(), expected, "messages");
    let texts: Vec<_> = expected.iter().map(|id| format!("prt_{id}_b")).collect();
    assert_eq!(first_texts(&all), texts, "parts by first write");

    let mut streamed = Vec::new();
    room.store
        .stream(session, |message| {
            streamed.push(id(&message));
            Flow::Continue
        })
        .unwrap();
    streamed.reverse();
    assert_eq!(streamed, expected, "stream");

    for size in [1, 7, 50] {
        let mut paged: Vec<String> = Vec::new();
        let mut before: Option<Cursor> = None;
        loop {
            let page = room.store.page(session, Some(size), before).unwrap();
            paged.splice(0..0, page.messages.iter().map(id));
            // As a client gives it back.
            before = page.older.map(|older| Cursor::decode(&older.encode()).unwrap());
            if before.is_none() {
                break;
            }
        }
        assert_eq!(paged, expected, "pages of {size}");
    }

    let found = latest(&all);
    let newest = |role: &str| all.iter().rposition(|message| super::room::info(message)["role"] == role);
    assert_eq!((found.user, found.assistant), (newest("user"), newest("assistant")), "latest");

    let filtered = filter_compacted(all.iter().rev().cloned().map(Ok::<_, std::convert::Infallible>)).unwrap();
    assert_eq!(filtered, all, "filter_compacted");
    assert_eq!(room.store.filter_compacted(session).unwrap(), all);

    let mut document = Vec::new();
    room.store.export(session, false, &mut document).unwrap();
    let document: Value = serde_json::from_slice(&document).unwrap();
    let exported: Vec<_> =
        document["messages"].as_array().unwrap().iter().map(|message| message["info"]["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(exported, expected, "export");

    let middle = expected.len() / 2;
    let fork = room.store.fork_session(session, None).wait().unwrap().session.id().unwrap().into_owned();
    assert_eq!(first_texts(&room.messages(&fork)), texts, "fork");
    let half = room.store.fork_session(session, Some(&expected[middle])).wait().unwrap().session.id().unwrap().into_owned();
    assert_eq!(first_texts(&room.messages(&half)), texts[..middle], "fork before one");

    let boundary = room.store.revert_session(session, &expected[middle], None).wait().unwrap().boundary.unwrap().message;
    let at = expected.iter().position(|id| *id == boundary).unwrap();
    let is_user = |at: usize| super::room::info(&all[at])["role"] == "user";
    assert_eq!(at, (0..=middle).rev().find(|at| is_user(*at)).unwrap_or(middle), "revert");
    assert_eq!(room.store.commit_revert(session).wait().unwrap(), expected[at..]);
    assert_eq!(room.ids(session), expected[..at]);
}

fn sorted(planted: &[(String, i64)]) -> Vec<String> {
    let mut sorted = planted.to_vec();
    sorted.sort_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
    sorted.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn on_both_sides_of_the_wrap() {
    let room = Room::new();
    let planted: Vec<_> =
        (0..120_u64).map(|n| WRAP - 60_000 + i64::try_from(n).unwrap() * 1_000).map(|at| (generated("msg", at, 1), at)).collect();
    assert!(planted[0].0 > planted[119].0, "the later ids are the smaller ones");
    let session = plant(&room, &planted);
    one_order(&room, &session, &sorted(&planted));
}

#[test]
fn with_clocks_ten_minutes_off() {
    let room = Room::new();
    for skew in [-600_000_i64, 600_000] {
        // A client makes the ids of questions by its own clock; the times are the server's.
        let planted: Vec<_> = (0..80_i64)
            .map(|n| {
                let at = WRAP + 1_000_000_000 + n * 900;
                (generated("msg", at + if n % 3 == 2 { 0 } else { skew }, n.unsigned_abs() + u64::from(skew > 0) * 1_000), at)
            })
            .collect();
        let session = plant(&room, &planted);
        one_order(&room, &session, &sorted(&planted));
    }
}

#[test]
fn with_three_hundred_in_one_millisecond() {
    let room = Room::new();
    let planted: Vec<_> = (0..300_u64).map(|n| (format!("msg_{:03}_{n}", (n * 7919) % 1000), WRAP + 5)).collect();
    let session = plant(&room, &planted);
    one_order(&room, &session, &sorted(&planted));
}

#[test]
fn with_ids_of_others_and_fractions() {
    let room = Room::new();
    let planted = ["msg_custom", "msg_1", "msg_Z", "msg_é", "msg_a"].map(|id| (id.to_owned(), WRAP)).to_vec();
    let session = plant(&room, &planted);
    let mut expected = sorted(&planted);
    // Of these times SQLite has reals; between them stand the whole ones.
    for (id, at) in [("msg_half", WRAP as f64 + 0.5), ("msg_quarter", WRAP as f64 + 0.25)] {
        room.plant_message(&session, id, at, &json!({"role": "user", "time": {"created": at}}).to_string());
        room.plant_part(
            &session,
            id,
            &format!("prt_{id}_b"),
            1,
            &json!({"type": "text", "text": format!("prt_{id}_b")}).to_string(),
        );
    }
    expected.extend(["msg_quarter".to_owned(), "msg_half".to_owned()]);
    one_order(&room, &session, &expected);
}

/// User report C51: parts written in this order, their ids a provider's; planted, through an import, through an update.
#[test]
fn parts_with_ids_of_others() {
    let room = Room::new();
    let order = ["prt_z", "call_9", "call_1", "prt_a"];
    let part = |id: &str| json!({"id": id, "type": "text", "text": id});
    let session = room.session();
    room.say(&session, user("msg_1", 1), &[]);
    for (at, id) in order.into_iter().enumerate() {
        room.plant_part(&session, "msg_1", id, i64::try_from(at).unwrap(), &part(id).to_string());
    }
    let read = |session: &str| part_ids(&room.messages(session)[0]);
    assert_eq!(read(&session), order);
    room.part(&session, "msg_1", json!({"id": "call_9", "type": "text", "text": "rewritten"}));
    assert_eq!(read(&session), order, "stable after a rewrite");

    let mut document = Vec::new();
    room.store.export(&session, false, &mut document).unwrap();
    let document = String::from_utf8(document).unwrap();
    let other = Room::new();
    other.store.import(document.clone(), folder()).unwrap();
    assert_eq!(part_ids(&other.messages(&session)[0]), order, "through export and import");
    let mut again = Vec::new();
    other.store.export(&session, false, &mut again).unwrap();
    let messages = |document: &str| serde_json::from_str::<Value>(document).unwrap()["messages"].clone();
    assert_eq!(messages(&String::from_utf8(again).unwrap()), messages(&document));

    let reverted = room.store.revert_session(&session, "msg_1", Some("call_1")).wait().unwrap();
    assert_eq!(reverted.boundary.unwrap().part.as_deref(), Some("call_1"));
    assert_eq!(room.store.commit_revert(&session).wait().unwrap(), ["call_1", "prt_a"]);
    assert_eq!(read(&session), ["prt_z", "call_9"]);
}

/// Times that are no numbers (damaged rows) stand behind all others and neither end nor repeat a reading.
#[test]
fn times_that_are_none() {
    let room = Room::new();
    let planted: Vec<_> = (0..60).map(|n| (format!("msg_{n:03}"), WRAP + n)).collect();
    let session = plant(&room, &planted);
    for n in 0..130 {
        room.plant_message(&session, &format!("msg_bad{n:03}"), "soon", r#"{"role":"user"}"#);
    }
    let ids = room.ids(&session);
    assert_eq!(ids.len(), 190);
    assert_eq!(ids[..60], sorted(&planted));
    let mut streamed = 0;
    room.store
        .stream(&session, |_| {
            streamed += 1;
            if streamed > 190 { Flow::Stop } else { Flow::Continue }
        })
        .unwrap();
    assert_eq!(streamed, 190);
    assert_eq!(room.store.fork_session(&session, None).wait().unwrap().messages, 190);
}
