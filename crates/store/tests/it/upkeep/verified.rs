//! `verify`: it names what was tampered with, and is silent about what a real reference wrote.

use super::support::{Room, append, begin, checked, finish, info, message, open, projected, raw, store, text, updated, with};
use annalist_store::Flow;
use annalist_store::upkeep::{Difference, Finding, LogProblem, News, Shape, UNLOGGED, Unchecked, What, verify};
use serde_json::json;
use std::path::Path;

const S: &str = "ses_a";
const M: &str = "msg_ases_a";

/// A session with every column filled.
fn full(path: &Path) {
    let store = store(path, true);
    begin(&store, S);
    append(&store, S, text(S, M, "prt_a", "something said")).unwrap();
    append(&store, S, finish(S, M, "prt_b", 0.25)).unwrap();
    append(&store, S, message(S, "msg_second", &json!({"time": {"created": super::support::THEN + 9}}))).unwrap();
    let all = json!({"parentID": "ses_parent", "workspaceID": "wrk_a", "share": {"url": "https://example.com"}, "agent": "build",
        "summary": {"additions": 1, "deletions": 2, "files": 3, "diffs": [{"additions": 1, "deletions": 2}]}, "metadata": {"a": 1},
        "permission": [], "model": {"id": "m", "providerID": "p"}, "revert": {"messageID": "msg_second"}, "cost": 1.5,
        "tokens": {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}},
        "time": {"created": super::support::THEN, "updated": super::support::THEN + 1, "compacting": 7, "archived": 8}});
    append(&store, S, updated(&with(info(S), &all))).unwrap();
}

fn difference(path: &Path) -> Difference {
    let (verified, findings) = checked(path);
    assert!(!verified.clean());
    match <[Finding; 1]>::try_from(findings) {
        Ok([Finding::Differs(difference)]) => difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_column_of_each_table_is_watched() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    assert_eq!(checked(&path).1, []);
    let whole = std::fs::read(&path).unwrap();
    let mut watched = 0;
    for (table, id, seq) in [("session", S, 5), ("message", "msg_second", 4), ("part", "prt_a", 2)] {
        let columns: Vec<String> = {
            let db = raw(&path);
            let mut names = db.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            names.query_map([table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        for column in columns.into_iter().filter(|column| column != "id") {
            let others: &[&str] = match &*column {
                // Another session's row would be missing from this one's.
                "session_id" | "message_id" | "project_id" => &["'other'"],
                "data" => &["'{}'", "data || ' x'", "replace(data, 'm', 'M')", "X'00ff'"],
                "time_updated" if table != "session" => &["0", "time_updated - 100000", "time_updated + 400000000000", "'later'"],
                "summary_diffs" | "metadata" | "permission" | "model" | "revert" => &["NULL", "'{\"else\":1}'", "'not JSON'"],
                name if name.starts_with("t") && name != "title" || name.starts_with("summary") || name == "cost" => {
                    &["99", "'text'", "coalesce(NULL, -1)"]
                }
                _ => &["'else'", "X'ff'", "''"],
            };
            for other in others {
                std::fs::write(&path, &whole).unwrap();
                let db = raw(&path);
                db.execute_batch(&format!("PRAGMA foreign_keys = OFF; UPDATE {table} SET {column} = {other} WHERE id = '{id}'"))
                    .unwrap();
                drop(db);
                let found = difference(&path);
                assert_eq!((found.table, &*found.id, found.session.as_str()), (table, id, S), "{column} = {other}");
                assert!(
                    matches!(found.what, What::Value { column: named, .. } if named == column),
                    "{column} = {other}: {found:?}"
                );
                assert_eq!(found.seq, Some(seq), "{column} = {other}: {found:?}");
                watched += 1;
            }
        }
    }
    assert!(watched > 80, "{watched}");
}

#[test]
fn a_difference_says_sizes_and_never_what_stands_there() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    raw(&path).execute_batch("UPDATE session SET title = 'a secret'").unwrap();
    let found = difference(&path);
    assert_eq!(found.what, What::Value { column: "title", wanted: Shape::Text(9), found: Shape::Text(8) });
    assert!(!format!("{found:?}").contains("secret"));
}

#[test]
fn rows_that_are_gone_or_came_from_nowhere() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    let whole = std::fs::read(&path).unwrap();
    let after = |sql: &str| {
        std::fs::write(&path, &whole).unwrap();
        raw(&path).execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
        checked(&path).1
    };
    for (table, id, seq) in [("session", S, 5), ("message", "msg_second", 4), ("part", "prt_b", 3)] {
        let missing = Difference { session: S.into(), table, id: id.into(), what: What::Missing, seq: Some(seq) };
        assert_eq!(after(&format!("DELETE FROM {table} WHERE id = '{id}'")), [Finding::Differs(missing)]);
    }
    // A row that no event ever made is told apart from one that an event removed.
    let planted = "INSERT INTO message VALUES ('msg_new', 'ses_a', 1, 1, '{}'); INSERT INTO part VALUES ('prt_new', 'msg_new', 'ses_a', 1, 1, '{}')";
    assert_eq!(after(planted), [Finding::Unlogged { session: S.into(), messages: 1, parts: 1 }]);
    std::fs::write(&path, &whole).unwrap();
    let row = raw(&path).query_row("SELECT data FROM part WHERE id = 'prt_a'", [], |row| row.get::<_, String>(0)).unwrap();
    let store = open(&path, true);
    append(&store, S, super::support::part_removed(S, M, "prt_a")).unwrap();
    drop(store);
    raw(&path).execute("INSERT INTO part VALUES ('prt_a', ?1, 'ses_a', 1, 1, ?2)", [M, &row]).unwrap();
    let extra = Difference { session: S.into(), table: "part", id: "prt_a".into(), what: What::Extra, seq: Some(6) };
    assert_eq!(checked(&path).1, [Finding::Differs(extra)]);
}

#[test]
fn members_that_no_event_has_are_told() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    raw(&path).execute_batch("UPDATE part SET data = json_set(data, '$.later', 1) WHERE id = 'prt_a'").unwrap();
    assert_eq!(difference(&path).what, What::More { column: "data" });
}

#[test]
fn spelling_and_order_of_keys_do_not_matter() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    let sql = r#"UPDATE part SET data = ' { "text" : "something \u0073aid", "type":"text" } ' WHERE id = 'prt_a';
        UPDATE session SET model = '{"providerID":"p","id":"m"}', cost = 1.5000000000001"#;
    raw(&path).execute_batch(sql).unwrap();
    assert_eq!(checked(&path).1, []);
}

/// `docs/compatibility.md`, "Writing": what the reference stores otherwise is no damage.
#[test]
fn values_that_only_the_reference_writes_are_fine() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let store = store(&path, true);
    begin(&store, S);
    append(&store, S, updated(&with(info(S), &json!({"share": {"url": ""}, "time": {"created": 1, "updated": 1, "archived": 0}}))))
        .unwrap();
    let tokens = json!({"input": -7, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    let step = json!({"type": "step-finish", "reason": "stop", "cost": 1, "tokens": tokens});
    append(&store, S, super::support::part(S, M, "prt_a", &step)).unwrap();
    drop(store);
    raw(&path).execute_batch("UPDATE session SET share_url = '', time_archived = 0, tokens_input = -7").unwrap();
    assert_eq!(checked(&path).1, []);
    raw(&path).execute_batch("UPDATE session SET tokens_input = 1").unwrap();
    assert_eq!(difference(&path).table, "session");
}

#[test]
fn a_real_file_is_fine_as_it_is() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let before = std::fs::read(&path).unwrap();
    let (verified, findings) = checked(&path);
    assert_eq!(findings, []);
    assert_eq!((verified.equal, verified.unchecked, verified.events), (20, 0, 614));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(UNLOGGED.contains(&"todo"));
}

#[test]
fn logs_that_do_not_tell_all_are_named_with_the_reason() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    let whole = std::fs::read(&path).unwrap();
    let after = |sql: &str| {
        std::fs::write(&path, &whole).unwrap();
        raw(&path).execute_batch(sql).unwrap();
        let rows = projected(&path);
        let (verified, findings) = checked(&path);
        assert_eq!((verified.equal, verified.differing, verified.unchecked), (0, 0, 1), "{sql}: {findings:?}");
        assert_eq!(projected(&path), rows);
        findings
    };
    let unchecked = |why| Finding::Unchecked { session: S.into(), why };
    assert_eq!(after("DELETE FROM event; DELETE FROM event_sequence"), [unchecked(Unchecked::NoLog)]);
    assert_eq!(after("DELETE FROM event WHERE seq < 2"), [unchecked(Unchecked::StartsAt { seq: 2 })]);
    let begun = after("DELETE FROM event WHERE seq < 2; UPDATE event SET seq = seq - 2; UPDATE event_sequence SET seq = seq - 2");
    assert_eq!(begun, [unchecked(Unchecked::StartsWith { kind: "message.part.updated.1".into() })]);
}

#[test]
fn what_is_wrong_with_a_log_is_named() {
    let room = Room::new();
    let path = room.path("opencode.db");
    full(&path);
    let whole = std::fs::read(&path).unwrap();
    let after = |sql: &str| -> Vec<LogProblem> {
        std::fs::write(&path, &whole).unwrap();
        raw(&path).execute_batch(sql).unwrap();
        let (verified, findings) = checked(&path);
        assert!(!verified.clean());
        findings.into_iter().filter_map(|f| if let Finding::Log { problem, .. } = f { Some(problem) } else { None }).collect()
    };
    assert_eq!(after("DELETE FROM event WHERE seq = 2"), [LogProblem::Gap { after: 1, next: 3 }]);
    assert_eq!(after("UPDATE event_sequence SET seq = 4"), [LogProblem::Counter { says: Some(4), last: Some(5) }]);
    assert_eq!(after("PRAGMA foreign_keys = OFF; DELETE FROM event_sequence"), [LogProblem::Counter { says: None, last: Some(5) }]);
    let twice = "DROP INDEX event_aggregate_seq_idx; INSERT INTO event SELECT 'evt_again', aggregate_id, seq, type, data FROM event WHERE seq = 5";
    assert_eq!(after(twice), [LogProblem::Repeat { seq: 5 }]);
    let cut = after("UPDATE event SET data = substr(data, 1, 40) WHERE seq = 2");
    assert!(matches!(&cut[..], [LogProblem::Undecodable { seq: 2, kind, .. }] if kind == "message.part.updated.1"), "{cut:?}");
    let refused = after("UPDATE event SET data = replace(data, 'msg_ases_a', 'msg_gone') WHERE seq = 2");
    assert!(matches!(&refused[..], [LogProblem::Refused { seq: 2, .. }]), "{refused:?}");
    // Types of a newer program are no problem: they are kept, skipped and counted.
    std::fs::write(&path, &whole).unwrap();
    let store = open(&path, true);
    append(&store, S, super::support::event("session.next.synthetic.1", &json!({"sessionID": S}))).unwrap();
    drop(store);
    let (verified, findings) = checked(&path);
    assert_eq!((findings, verified.skipped.get("session.next.synthetic.1")), (vec![], Some(&1)));
}

#[test]
fn one_session_alone_and_a_stop() {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    let session: String = raw(&path).query_row("SELECT id FROM session LIMIT 1", [], |row| row.get(0)).unwrap();
    let one = verify(&path, Some(&session), &mut |_| Flow::Continue).unwrap();
    assert_eq!(one.equal, 1);
    assert!(verify(&path, Some("ses_nobody"), &mut |_| Flow::Continue).unwrap_err().is_not_found());
    let mut told = 0;
    let stopped = verify(&path, None, &mut |news| {
        if let News::Progress(progress) = news {
            told = progress.sessions;
            assert_eq!(progress.of, 20);
        }
        if told == 3 { Flow::Stop } else { Flow::Continue }
    });
    let stopped = stopped.unwrap();
    assert_eq!((stopped.stopped, stopped.equal), (true, 3));
}
