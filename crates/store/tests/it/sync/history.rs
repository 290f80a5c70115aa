//! The history that another copy asks for.

use super::support::{Room, append, event, raw, write};
use annalist_store::Flow;
use annalist_store::log::Logged;
use serde_json::json;
use std::collections::HashMap;

fn known(of: &[(&str, i64)]) -> HashMap<String, i64> {
    of.iter().map(|(session, seq)| ((*session).to_owned(), *seq)).collect()
}

fn filled() -> (Room, std::path::PathBuf, annalist_store::Store) {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    for (n, session) in ["ses_b", "ses_a", "ses_c", "ses_a", "ses_b", "ses_a", "ses_a", "ses_c"].into_iter().enumerate() {
        write(&store, session, vec![event("session.next.later.7", &json!({"n": n, "text": "x".repeat(n * 10)}))]);
    }
    (room, path, store)
}

/// `ORDER BY seq`, as the reference asks; equal ones come as they were recorded.
fn by_sql(db: &rusqlite::Connection, filter: &str) -> Vec<(String, i64)> {
    let sql = format!("SELECT aggregate_id, seq FROM event WHERE {filter} ORDER BY seq, rowid");
    let mut statement = db.prepare(&sql).unwrap();
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

fn places(events: &[Logged]) -> Vec<(String, i64)> {
    events.iter().map(|event| (event.session.clone(), event.seq)).collect()
}

#[test]
fn what_a_copy_does_not_have() {
    let (_room, path, store) = filled();
    let db = raw(&path);
    for (had, filter) in [
        (known(&[]), "true"),
        (known(&[("ses_a", 1)]), "NOT (aggregate_id = 'ses_a' AND seq <= 1)"),
        (known(&[("ses_a", 99), ("ses_b", 0)]), "aggregate_id = 'ses_c' OR (aggregate_id = 'ses_b' AND seq > 0)"),
        (known(&[("ses_none", 5)]), "true"),
        (known(&[("ses_a", 3), ("ses_b", 1), ("ses_c", 1)]), "false"),
        (known(&[("ses_c", -1), ("ses_b", i64::MAX)]), "aggregate_id != 'ses_b'"),
    ] {
        let expected = by_sql(&db, filter);
        let mut whole = Vec::new();
        store
            .history(&had, |head, data| {
                whole.push(head.with(data));
                Flow::Continue
            })
            .unwrap();
        assert_eq!(places(&whole), expected, "{had:?}");
        for limit in [0, 1, 2, 3, 7, 8, 9] {
            let mut pieces = Vec::new();
            let mut after = None;
            loop {
                let page = store.history_page(&had, after, limit).unwrap();
                assert!(page.events.len() <= limit.max(1));
                pieces.extend(page.events);
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(pieces, whole, "{had:?} by {limit}");
        }
    }
}

#[test]
fn it_is_passed_on_untouched() {
    let (_room, path, store) = filled();
    let odd = "{ \"a\": 1.0, \"b\": \"\\ud83d\" , \"a\": 2 }";
    raw(&path).execute("UPDATE event SET data = ?1 WHERE aggregate_id = 'ses_b' AND seq = 1", [odd]).unwrap();
    raw(&path).execute("UPDATE event SET data = x'ff00' WHERE aggregate_id = 'ses_b' AND seq = 0", []).unwrap();
    let page = store.history_page(&known(&[("ses_a", 9), ("ses_c", 9)]), None, 10).unwrap();
    assert_eq!(page.events[0].data, [0xff, 0]);
    assert_eq!(page.events[1].data, odd.as_bytes());
    assert_eq!(page.events[1].kind, "session.next.later.7");
    assert_eq!(page.next, None);
}

#[test]
fn a_visit_ends_when_it_is_told_to() {
    let (_room, _path, store) = filled();
    let mut seen = 0;
    let stop = |_: &annalist_store::log::LogHead<'_>, _: &[u8]| {
        seen += 1;
        if seen == 3 { Flow::Stop } else { Flow::Continue }
    };
    store.history(&known(&[]), stop).unwrap();
    assert_eq!(seen, 3);
}

#[test]
fn logs_with_holes_and_logs_that_begin_late() {
    let (_room, path, store) = filled();
    let db = raw(&path);
    db.execute("DELETE FROM event WHERE aggregate_id = 'ses_a' AND seq IN (0, 2)", []).unwrap();
    db.execute("UPDATE event SET seq = seq + 1000000 WHERE aggregate_id = 'ses_c'", []).unwrap();
    for had in [known(&[]), known(&[("ses_a", 0)]), known(&[("ses_c", 5)])] {
        let page = store.history_page(&had, None, 100).unwrap();
        assert_eq!(places(&page.events), by_sql(&db, "true"));
    }
}

#[test]
fn pieces_are_bounded_in_bytes() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for session in ["ses_a", "ses_b"] {
        for _ in 0..6 {
            write(&store, session, vec![event("session.next.text.1", &json!({"text": "x".repeat(1 << 20)}))]);
        }
    }
    let mut count = 0;
    let mut after = None;
    loop {
        let page = store.history_page(&known(&[]), after, 1_000).unwrap();
        assert!(page.events.len() <= 4);
        count += page.events.len();
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(count, 12);
}

#[test]
fn one_session_in_pieces() {
    let room = Room::new();
    let (_path, store) = room.store("opencode.db");
    for _ in 0..7 {
        append(&store, "ses_a");
        append(&store, "ses_b");
    }
    let mut seqs = Vec::new();
    let mut after = -1;
    loop {
        let page = store.session_history("ses_a", after, 3).unwrap();
        assert!(page.events.iter().all(|event| event.session == "ses_a"));
        seqs.extend(page.events.iter().map(|event| event.seq));
        match page.next {
            Some(next) => after = next,
            None => break,
        }
    }
    assert_eq!(seqs, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(store.session_history("ses_a", 6, 3).unwrap().events, []);
    assert_eq!(store.session_history("ses_none", -1, 3).unwrap().events, []);
}
