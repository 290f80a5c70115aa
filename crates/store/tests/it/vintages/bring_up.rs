//! A writing open brings an older file up: by what is missing, once, after a copy.

use super::common::{Place, VINTAGES, lines, number, raw, shape};
use super::reading::read_all;
use annalist_store::{Create, Migrated, Options, Store};
use std::fs;

pub(super) fn open(place: &Place) -> (Store, Option<Migrated>) {
    Store::open_for_writing(&place.file, Create::Never, Options::default()).unwrap()
}

/// The tables of a new file.
fn new_shape() -> std::collections::BTreeMap<String, Vec<String>> {
    let place = Place::empty();
    drop(Store::open(&place.file, Create::IfMissing).unwrap());
    shape(&place.raw())
}

const CONTENT: &[&str] = &[
    "SELECT id, project_id, parent_id, slug, directory, title, version, share_url, summary_additions, summary_deletions,
     summary_files, summary_diffs, revert, permission, time_created, time_updated, time_compacting, time_archived FROM session ORDER BY id",
    "SELECT id, session_id, time_created, time_updated, data FROM message ORDER BY id",
    "SELECT id, message_id, session_id, time_created, time_updated, data FROM part ORDER BY id",
    "SELECT session_id, content, status, priority, position, time_created, time_updated FROM todo ORDER BY 1, position",
    "SELECT id, worktree, vcs, name, icon_url, icon_color, time_created, time_updated, time_initialized, sandboxes, commands FROM project ORDER BY id",
];

fn content(db: &rusqlite::Connection) -> Vec<Vec<String>> {
    CONTENT.iter().map(|sql| lines(db, sql)).collect()
}

#[test]
fn a_vintage_gets_the_tables_of_a_new_file_and_keeps_every_row() {
    let wanted = new_shape();
    for version in VINTAGES {
        let place = Place::vintage(version);
        let rows = content(&place.raw());
        let seen = read_all(&Store::open(&place.file, Create::Never).unwrap());
        let (store, migrated) = open(&place);
        let migrated = migrated.unwrap_or_else(|| panic!("{version} is old"));
        store.writable().unwrap();
        assert_eq!(read_all(&store), seen, "{version}");
        drop(store);

        let db = place.raw();
        let mut found = shape(&db);
        found.remove("table __drizzle_migrations");
        assert_eq!(found, wanted, "{version}");
        assert_eq!(content(&db), rows, "{version}");
        assert_eq!(number(&db, "SELECT count(*) FROM migration"), 38, "{version}");
        assert_eq!(lines(&db, "PRAGMA integrity_check"), ["'ok'"], "{version}");
        assert!(lines(&db, "PRAGMA foreign_key_check").is_empty(), "{version}");
        assert!(!migrated.recorded.is_empty(), "{version}");
        drop(db);
        assert!(open(&place).1.is_none(), "{version}: the second time there is nothing to do");
    }
}

#[test]
fn the_copy_is_the_file_as_it_was_private_and_named_in_the_report() {
    for version in VINTAGES {
        let place = Place::vintage(version);
        let original = place.raw();
        let (store, migrated) = open(&place);
        drop(store);
        let copy = migrated.unwrap().backup;
        drop(original);
        let name = copy.file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with("opencode.db.backup-2"), "{name}");
        assert_eq!(place.names(), ["opencode.db".to_owned(), name], "{version}: nothing else is left");
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&copy).unwrap().permissions()) & 0o777, 0o600);
        let (was, is) = (Place::vintage(version), raw(&copy));
        let was = was.raw();
        assert_eq!(shape(&was), shape(&is), "{version}");
        assert_eq!(content(&was), content(&is), "{version}");
        for table in ["event", "event_sequence", "session_message", "migration", "__drizzle_migrations"] {
            let sql = format!("SELECT * FROM {table} ORDER BY 1");
            if was.prepare(&sql).is_ok() {
                assert_eq!(lines(&was, &sql), lines(&is, &sql), "{version} {table}");
            }
        }
    }
}

#[test]
fn what_another_program_left_in_the_wal_is_in_the_copy_and_in_the_file() {
    let place = Place::vintage("1.2.1");
    let other = place.raw();
    other.execute("UPDATE session SET title = 'only in the log' WHERE title = 'plain talk'", []).unwrap();
    let (store, migrated) = open(&place);
    let copy = raw(&migrated.unwrap().backup);
    let sql = "SELECT count(*) FROM session WHERE title = 'only in the log'";
    assert_eq!((number(&copy, sql), number(&other, sql)), (1, 1));
    drop(store);
}

#[test]
fn usage_comes_from_the_assistant_messages_and_a_broken_one_counts_nothing() {
    let place = Place::vintage("1.2.1");
    let db = place.raw();
    let session: String = db.query_row("SELECT id FROM session WHERE title = 'tools and todos'", [], |r| r.get(0)).unwrap();
    let sum = |path: &str| {
        let sql =
            "SELECT sum(json_extract(data, ?2)) FROM message WHERE session_id = ?1 AND json_extract(data, '$.role') = 'assistant'";
        db.query_row(sql, [&session, path], |row| row.get::<_, f64>(0)).unwrap()
    };
    let expected =
        [sum("$.cost"), sum("$.tokens.input"), sum("$.tokens.output"), sum("$.tokens.reasoning"), sum("$.tokens.cache.read")];
    assert!(expected.iter().all(|n| *n > 0.0), "the fixture counts something: {expected:?}");
    for (id, data) in
        [("msg_broken", "{\"role\":\"assistant\",\"cost\":"), ("msg_words", r#"{"role":"assistant","cost":"much","tokens":7}"#)]
    {
        db.execute("INSERT INTO message VALUES (?1, ?2, 1, 1, ?3)", [id, &session, data]).unwrap();
    }
    db.execute("INSERT INTO message VALUES ('msg_bytes', ?1, 1, 1, CAST(x'ff7b' AS TEXT))", [&session]).unwrap();
    let (store, migrated) = open(&place);
    drop(store);
    assert_eq!(migrated.unwrap().usage_filled, 8 - 1, "the empty or unanswered sessions aside");
    let sql = "SELECT cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read FROM session WHERE id = ?1";
    let found: [f64; 5] = db
        .query_row(sql, [&session], |row| {
            Ok([
                row.get(0)?,
                row.get::<_, i64>(1)? as f64,
                row.get::<_, i64>(2)? as f64,
                row.get::<_, i64>(3)? as f64,
                row.get::<_, i64>(4)? as f64,
            ])
        })
        .unwrap();
    assert_eq!(found, expected);
}

#[test]
fn a_log_that_replays_stays_and_another_goes_with_its_reason() {
    let place = Place::vintage("1.17.0");
    let db = place.raw();
    let title: String = db.query_row("SELECT id FROM session WHERE title = 'plain talk'", [], |r| r.get(0)).unwrap();
    let late: String = db.query_row("SELECT id FROM session WHERE title = 'put away'", [], |r| r.get(0)).unwrap();
    let part: String = db
        .query_row(
            "SELECT session_id FROM part WHERE session_id IN (SELECT id FROM session WHERE title = 'tools and todos')",
            [],
            |r| r.get(0),
        )
        .unwrap();
    // A row that was written past the log, a log that starts late, a part that nobody logged.
    db.execute("UPDATE session SET title = 'renamed past the log' WHERE id = ?1", [&title]).unwrap();
    db.execute("DELETE FROM event WHERE aggregate_id = ?1 AND seq = 0", [&late]).unwrap();
    db.execute("UPDATE part SET data = json_set(data, '$.text', 'another') WHERE id = (SELECT id FROM part WHERE session_id = ?1 AND data ->> 'type' = 'text' LIMIT 1)", [&part]).unwrap();
    let kept_sql = format!("SELECT * FROM event WHERE aggregate_id NOT IN ('{title}', '{late}', '{part}') ORDER BY id");
    let kept = lines(&db, &kept_sql);
    let (store, migrated) = open(&place);
    drop(store);
    let migrated = migrated.unwrap();
    assert_eq!(migrated.logs_kept, 5);
    let reason = |id: &str| migrated.logs_dropped.iter().find(|(s, _)| s == id).map(|(_, r)| r.as_str()).unwrap_or_default();
    assert_eq!(migrated.logs_dropped.len(), 3, "{:?}", migrated.logs_dropped);
    assert!(reason(&title).contains("title of the session"), "{}", reason(&title));
    assert!(reason(&late).contains("event 0 is missing"), "{}", reason(&late));
    assert!(reason(&part).starts_with("part prt_"), "{}", reason(&part));
    assert_eq!(lines(&db, &kept_sql), kept, "not a byte of the kept ones changed");
    assert_eq!(lines(&db, "SELECT * FROM event").len(), kept.len());
    assert_eq!(number(&db, "SELECT count(*) FROM event_sequence"), 5);
    assert!(kept.iter().any(|line| line.contains("session.next.")) || kept.len() > 50);
}

#[test]
fn all_logs_of_1_17_replay_and_none_with_partial_updates_does() {
    let place = Place::vintage("1.17.0");
    let migrated = open(&place).1.unwrap();
    assert_eq!((migrated.logs_kept, migrated.logs_dropped), (8, Vec::new()));
    let place = Place::vintage("1.14.34");
    let migrated = open(&place).1.unwrap();
    assert_eq!((migrated.logs_kept, migrated.logs_dropped.len()), (0, 8), "{:?}", migrated.logs_dropped);
    assert_eq!(number(&place.raw(), "SELECT count(*) FROM event"), 0);
    let place = Place::vintage("both-ledgers");
    let migrated = open(&place).1.unwrap();
    assert_eq!((migrated.logs_kept, migrated.logs_dropped.len()), (1, 1), "{:?}", migrated.logs_dropped);
}

#[test]
fn what_is_written_after_it_goes_on_in_the_kept_log() {
    let place = Place::vintage("1.17.0");
    let (store, _) = open(&place);
    let (ids, ..) = read_all(&store);
    for id in ids {
        let last = store.read(|view| view.sequence(&id)).unwrap().unwrap();
        let data = format!(r#"{{"sessionID":"{id}","messageID":"msg_","partID":"prt_emptied"}}"#);
        let event = annalist_store::NewEvent::new("message.part.removed.1", data);
        let recorded =
            store.append(&id, annalist_store::Expect::At(last), vec![event], annalist_store::Durability::Power).wait().unwrap();
        assert_eq!(recorded[0].seq, last + 1);
    }
}

#[test]
fn the_state_of_the_second_generation_is_reset_as_the_reference_does() {
    for version in VINTAGES {
        let place = Place::vintage(version);
        let db = place.raw();
        if db.table_exists(None, "workspace").unwrap() {
            let columns = if *version == "1.17.0" || *version == "both-ledgers" { ", time_used" } else { "" };
            let value = if columns.is_empty() { "" } else { ", 1" };
            db.execute(
                &format!(
                    "INSERT INTO workspace (id, type, project_id{columns}) SELECT 'wrk_1', 't', id{value} FROM project LIMIT 1"
                ),
                [],
            )
            .unwrap();
            db.execute("UPDATE session SET workspace_id = 'wrk_1' WHERE id = (SELECT min(id) FROM session)", []).unwrap();
        }
        drop(open(&place));
        for table in
            ["workspace", "session_message", "session_input", "session_context_epoch", "session WHERE workspace_id IS NOT NULL"]
        {
            assert_eq!(number(&db, &format!("SELECT count(*) FROM {table}")), 0, "{version} {table}");
        }
    }
}

#[test]
fn a_current_file_is_left_alone() {
    let place = Place::current();
    let before = place.bytes();
    let (store, migrated) = open(&place);
    assert!(migrated.is_none());
    store.writable().unwrap();
    drop(store);
    assert_eq!(place.bytes(), before);
}
