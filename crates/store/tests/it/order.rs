//! Order (design G1): messages by time and id, parts by first write and id, never by id alone.

use super::support::{Room, THEN, begin, export, ids_of, info, message, part, raw, shown, text, user, write};
use annalist_store::backend::Flow;
use annalist_store::query::{Cursor, MessageRange};
use annalist_store::{Store, transcript};
use serde_json::{Value, json};

/// Ids on both sides of 2026-08-14T11:19:55.136Z, as OpenCode made them: the later ones sort far below.
const WRAP: i64 = 1_786_706_395_136;
const BEFORE: &str = "msg_fffffffff001AAAAAAAAAAAAAA";
const AFTER: &str = "msg_000000001001AAAAAAAAAAAAAA";

/// A session whose order is not that of any id, written in a third order. Answers the messages and parts in their order.
fn tangled(store: &Store) -> Vec<(String, Vec<String>)> {
    let times: [(&str, Value); 9] = [
        ("msg_zz_oldest", json!(5)),
        ("msg_half_b", json!(5.25)),
        ("msg_half_a", json!(5.5)),
        ("msg_six", json!(6)),
        (BEFORE, json!(WRAP - 1)),
        (AFTER, json!(WRAP)),
        // Equal times: the id decides, by its bytes.
        ("msg_B", json!(WRAP + 5)),
        ("msg_a", json!(WRAP + 5)),
        ("msg_a_", json!(WRAP + 5)),
    ];
    begin(store, &info("ses_1"));
    for index in [4, 0, 8, 5, 2, 7, 1, 6, 3] {
        let (id, time) = &times[index];
        write(store, "ses_1", vec![message(&user("ses_1", id, time))]);
        // Names from elsewhere and numbers that do not count up: only the time of the first write counts.
        let parts = [("call_9", 1), ("call_1", 2), ("prt_fffffffff001A", 3), ("prt_000000001001A", 4), ("prt_b", 5), ("prt_c", 5)];
        for (name, at) in [3, 0, 5, 2, 4, 1].map(|index| parts[index]) {
            write(store, "ses_1", vec![part(&text("ses_1", id, &format!("{name}_{index}"), "x"), THEN + at)]);
        }
        // Written again later: it stays where it was.
        write(store, "ses_1", vec![part(&text("ses_1", id, &format!("call_9_{index}"), "new"), THEN + 99)]);
    }
    let order = ["call_9", "call_1", "prt_fffffffff001A", "prt_000000001001A", "prt_b", "prt_c"];
    let parts = |index: usize| order.map(|name| format!("{name}_{index}")).to_vec();
    times.iter().enumerate().map(|(index, (id, _))| ((*id).to_owned(), parts(index))).collect()
}

fn in_document(document: &str) -> Vec<(String, Vec<String>)> {
    let document: Value = serde_json::from_str(document).unwrap();
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
    let messages = document["messages"].as_array().unwrap().iter();
    messages.map(|m| (id(&m["info"]), m["parts"].as_array().unwrap().iter().map(id).collect())).collect()
}

/// All ways to read a session, which must agree.
fn check_everywhere(store: &Store, session: &str, wanted: &[(String, Vec<String>)]) {
    assert_eq!(shown(store, session), wanted, "page");
    assert_eq!(in_document(&export(store, session)), wanted, "export");
    let mut streamed = Vec::new();
    store
        .stream(session, |message| {
            streamed.insert(0, ids_of(&message));
            Flow::Continue
        })
        .unwrap();
    assert_eq!(streamed, wanted, "stream");
    let mut visited = Vec::new();
    store
        .read(|view| {
            transcript::visit(view, &MessageRange::oldest_first(session), &mut |message, parts| {
                visited.push((message.id.to_string(), parts.iter().map(|part| part.id.to_string()).collect::<Vec<_>>()));
                Flow::Continue
            })
        })
        .unwrap();
    assert_eq!(visited, wanted, "visit");
    for (id, parts) in wanted {
        assert_eq!(ids_of(&store.get(session, id).unwrap()), (id.clone(), parts.clone()), "get");
    }
}

/// Pages of `limit` messages from the newest to the oldest, put together; each cursor goes through its URL form.
fn paged(store: &Store, session: &str, limit: u32) -> Vec<(String, Vec<String>)> {
    let mut all = Vec::new();
    let mut before = None;
    loop {
        let page = store.page(session, Some(limit), before).unwrap();
        assert!(page.messages.len() <= limit as usize);
        all.splice(0..0, page.messages.iter().map(ids_of));
        let Some(older) = page.older else { return all };
        assert_eq!(page.messages.len(), limit as usize, "a page with one before it is full");
        before = Some(Cursor::decode(&older.encode()).unwrap());
    }
}

#[test]
fn every_way_of_reading_has_one_order() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let wanted = tangled(&store);
    check_everywhere(&store, "ses_1", &wanted);
    for limit in 1..=10 {
        assert_eq!(paged(&store, "ses_1", limit), wanted, "pages of {limit}");
    }
}

#[test]
fn order_outlives_export_and_import() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    let wanted = tangled(&store);
    let (_path, second) = room.store("second.db");
    second.import(export(&store, "ses_1"), super::support::folder()).unwrap();
    check_everywhere(&second, "ses_1", &wanted);
}

#[test]
fn sessions_longer_than_a_batch_are_whole() {
    // Reading goes by batches of 50: on, below and above a border.
    for count in [49, 50, 51, 100, 101, 151] {
        let room = Room::new();
        let (_path, store) = room.store("opencode.db");
        begin(&store, &info("ses_1"));
        // All in few milliseconds, ids falling: within one time the id decides, across times it must not.
        let mut wanted: Vec<(i64, String)> = (0..count).map(|at| (at / 7, format!("msg_{:03}", (at * 37) % count))).collect();
        let mut events = Vec::new();
        for (time, id) in &wanted {
            events.push(message(&user("ses_1", id, &json!(time))));
            events.push(part(&text("ses_1", id, &format!("prt_{id}"), "x"), *time));
        }
        events.sort_by_key(|event| !event.kind.starts_with("message.updated"));
        write(&store, "ses_1", events);
        wanted.sort();
        let wanted: Vec<_> = wanted.into_iter().map(|(_, id)| (id.clone(), vec![format!("prt_{id}")])).collect();
        check_everywhere(&store, "ses_1", &wanted);
        for limit in [1, 3, 49, 50, 51, 100, 1_000] {
            assert_eq!(paged(&store, "ses_1", limit), wanted, "{count} messages in pages of {limit}");
        }
    }
}

#[test]
fn a_stream_stops_when_told() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    write(&store, "ses_1", (0..120).map(|at| message(&user("ses_1", &format!("msg_{at:03}"), &json!(at)))).collect());
    for wanted in [1, 49, 50, 51, 120] {
        let mut seen = 0;
        store
            .stream("ses_1", |_| {
                seen += 1;
                if seen == wanted { Flow::Stop } else { Flow::Continue }
            })
            .unwrap();
        assert_eq!(seen, wanted);
    }
}

#[test]
fn pages_hold_while_messages_are_written_and_removed_between_them() {
    for limit in 1..=6 {
        let room = Room::new();
        let (_path, store) = room.store("opencode.db");
        begin(&store, &info("ses_1"));
        let id = |at: i64| format!("msg_{:03}", 999 - at);
        write(&store, "ses_1", (0..20).map(|at| message(&user("ses_1", &id(at), &json!(THEN + at / 3)))).collect());
        let mut seen = Vec::new();
        let mut before = None;
        let mut next = 20;
        loop {
            let page = store.page("ses_1", Some(limit), before).unwrap();
            seen.splice(0..0, page.messages.iter().map(|message| ids_of(message).0));
            let Some(older) = page.older else { break };
            // New ones, one of them with the newest time but the smallest id; and the very message of the cursor goes.
            write(&store, "ses_1", vec![message(&user("ses_1", &id(next), &json!(THEN + 100)))]);
            write(&store, "ses_1", vec![super::support::message_removed("ses_1", &older.id)]);
            next += 1;
            before = Some(older);
        }
        let mut wanted: Vec<(i64, String)> = (0..20).map(|at| (at / 3, id(at))).collect();
        wanted.sort();
        assert_eq!(seen, wanted.into_iter().map(|(_, id)| id).collect::<Vec<_>>(), "pages of {limit}");
    }
}

#[test]
fn a_cursor_is_the_place_of_the_oldest_message_shown() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    tangled(&store);
    let page = store.page("ses_1", Some(7), None).unwrap();
    let older = page.older.unwrap();
    assert_eq!(older.id, "msg_half_a");
    assert_eq!(ids_of(&page.messages[0]).0, older.id);
    let column: f64 =
        raw(&path).query_row("SELECT time_created FROM message WHERE id = ?1", [&older.id], |row| row.get(0)).unwrap();
    assert_eq!(older.time, annalist_store::row::Stamp::Real(column));
    // Nothing older: no cursor, even if the page is exactly full.
    assert_eq!(store.page("ses_1", Some(9), None).unwrap().older, None);
    assert!(store.page("ses_1", Some(8), None).unwrap().older.is_some());
    // Before the oldest there is nothing, which is no error.
    let oldest = Cursor { id: "msg_zz_oldest".into(), time: annalist_store::row::Stamp::Whole(5) };
    assert_eq!(store.page("ses_1", Some(3), Some(oldest)).unwrap().messages.len(), 0);
    assert_eq!(store.page("ses_1", Some(0), None).unwrap().messages.len(), 0);
}

#[test]
fn a_time_that_is_no_number_hides_no_other_message() {
    // SQLite sorts text behind all numbers; a page border on such a row must not swallow the rest.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    write(&store, "ses_1", (0..120).map(|at| message(&user("ses_1", &format!("msg_{at:03}"), &json!(at)))).collect());
    let db = raw(&path);
    db.execute_batch(
        "UPDATE message SET time_created = 'soon' WHERE id IN ('msg_002', 'msg_004');
         UPDATE message SET time_created = x'00ff' WHERE id = 'msg_003';",
    )
    .unwrap();
    let plain = (0..120).filter(|at| ![2, 3, 4].contains(at)).map(|at| format!("msg_{at:03}"));
    let wanted: Vec<_> = plain.chain(["msg_002", "msg_004", "msg_003"].map(str::to_owned)).map(|id| (id, vec![])).collect();
    check_everywhere(&store, "ses_1", &wanted);
    for limit in [1, 2, 50, 60] {
        assert_eq!(paged(&store, "ses_1", limit), wanted, "pages of {limit}");
    }
}

#[test]
fn parts_of_one_time_are_in_the_order_of_their_ids() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    begin(&store, &info("ses_1"));
    let ids = ["prt_c", "prt_a", "prt_B", "prt_aa", "prt_ä"];
    let mut events = vec![message(&user("ses_1", "msg_1", &json!(1)))];
    events.extend(ids.map(|id| part(&text("ses_1", "msg_1", id, "x"), THEN)));
    write(&store, "ses_1", events);
    let wanted = ["prt_B", "prt_a", "prt_aa", "prt_c", "prt_ä"].map(str::to_owned).to_vec();
    check_everywhere(&store, "ses_1", &[("msg_1".to_owned(), wanted)]);
}
