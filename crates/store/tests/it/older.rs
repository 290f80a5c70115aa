//! Files of other versions (design G7): reading takes the columns there are, writing is refused with the reason.

use super::support::{Room, append, event, export, int, open, raw, rows, session_ids, text};
use annalist_store::query::{Archived, SessionFilter};
use annalist_store::{Create, Error, Store};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A copy of the fixture changed by SQL.
fn changed(sql: &str) -> (Room, PathBuf) {
    let room = Room::new();
    let path = room.copy("opencode-small.db");
    raw(&path).execute_batch(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    (room, path)
}

fn plain() -> annalist_store::NewEvent {
    event("session.next.synthetic.1", &json!({"sessionID": "ses_1"}))
}

/// Reads all there is; writes nothing and says why, naming what is missing.
fn check_read_only(sql: &str, named: &str) -> (Room, Store) {
    let (room, path) = changed(sql);
    let before = std::fs::read(&path).unwrap();
    let store = Store::open(&path, Create::IfMissing).unwrap();
    let listing = store.sessions(&SessionFilter::default()).unwrap();
    assert_eq!(listing.sessions.len(), 20, "{sql}");
    for session in session_ids(&raw(&path)) {
        let document: Value = serde_json::from_str(&export(&store, &session)).unwrap();
        annalist_store::document::check(&document.to_string()).unwrap();
        store.todo(&session).unwrap();
        store.children(&session).unwrap();
        assert!(store.read(|view| view.sequence(&session)).is_ok());
        assert!(store.read(|view| view.events(&session, -1, &mut |_| annalist_store::Flow::Continue)).is_ok());
    }
    for filter in [
        SessionFilter { roots: true, archived: Archived::Exclude, path: Some("a".into()), ..SessionFilter::default() },
        SessionFilter { workspace: Some("wrk_1".into()), parent: Some("ses_1".into()), ..SessionFilter::default() },
    ] {
        store.sessions(&filter).unwrap();
    }
    let refusals = [store.writable(), append(&store, "ses_1", plain()).map(drop)];
    for refused in refusals {
        match refused {
            Err(Error::ReadOnly { file, reason }) => {
                assert_eq!(file, path);
                assert!(reason.contains(named), "{reason:?} should name {named}");
            }
            other => panic!("{sql}: {other:?}"),
        }
    }
    assert!(std::fs::read(&path).unwrap() == before, "{sql}: the file was changed");
    (room, store)
}

#[test]
fn a_file_without_a_log() {
    let (_room, store) = check_read_only("DROP TABLE event; DROP TABLE event_sequence;", "event_sequence");
    assert_eq!(store.read(|view| view.sequence("ses_1")).unwrap(), None);
}

#[test]
fn a_file_without_usage_columns() {
    let drops = ["cost", "tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write"];
    let sql: String = drops.iter().map(|column| format!("ALTER TABLE session DROP COLUMN {column};")).collect();
    let (_room, store) = check_read_only(&sql, "cost");
    let session = &store.sessions(&SessionFilter::default()).unwrap().sessions[0];
    assert_eq!(session.problems(), [], "usage is shown as none");
}

#[test]
fn a_file_without_path_or_archive() {
    let (_room, store) =
        check_read_only("ALTER TABLE session DROP COLUMN path; ALTER TABLE session DROP COLUMN time_archived;", "path");
    let total = |filter: SessionFilter| store.sessions(&filter).unwrap().total;
    assert_eq!(total(SessionFilter { archived: Archived::Exclude, ..SessionFilter::default() }), 20, "nothing is archived");
    assert_eq!(total(SessionFilter { archived: Archived::Only, ..SessionFilter::default() }), 0);
    assert_eq!(total(SessionFilter { path: Some("x".into()), ..SessionFilter::default() }), 0);
    // Rows without a path are found by their folder, as the reference finds them.
    assert_eq!(
        total(SessionFilter { path: Some("x".into()), directory: Some("/home/dev/project".into()), ..SessionFilter::default() }),
        20
    );
}

#[test]
fn files_that_lack_one_thing() {
    for (sql, named) in [
        ("ALTER TABLE session DROP COLUMN metadata", "metadata"),
        ("ALTER TABLE session DROP COLUMN agent; ALTER TABLE session DROP COLUMN model", "agent"),
        ("ALTER TABLE session DROP COLUMN permission", "permission"),
        ("DROP INDEX session_workspace_idx; ALTER TABLE session DROP COLUMN workspace_id", "workspace_id"),
        ("ALTER TABLE session DROP COLUMN time_compacting", "time_compacting"),
        ("ALTER TABLE project DROP COLUMN commands", "commands"),
        ("ALTER TABLE event_sequence DROP COLUMN owner_id", "owner_id"),
        ("DROP TABLE todo", "todo"),
        ("DROP TABLE project_directory", "project_directory"),
        ("DROP INDEX session_parent_idx; ALTER TABLE session DROP COLUMN parent_id", "parent_id"),
    ] {
        check_read_only(sql, named);
    }
}

#[test]
fn a_column_that_must_be_filled_and_is_unknown_stops_writing() {
    // SQLite adds none to a table with rows; a newer version would have made the table anew.
    check_read_only(
        "PRAGMA writable_schema = ON;
         UPDATE sqlite_master SET sql = replace(sql, '`seq` integer NOT NULL', '`seq` integer NOT NULL, `origin` text NOT NULL') WHERE name = 'event';
         PRAGMA writable_schema = RESET;",
        "origin",
    );
}

#[test]
fn columns_that_need_no_value_do_not_matter() {
    for sql in [
        "ALTER TABLE session ADD COLUMN time_idle INTEGER",
        "ALTER TABLE event ADD COLUMN created INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE part ADD COLUMN words TEXT; ALTER TABLE message ADD COLUMN words TEXT NOT NULL DEFAULT ''",
        "CREATE TABLE later (x TEXT NOT NULL); CREATE INDEX later_idx ON event (type)",
        "INSERT INTO migration VALUES ('20990101000000_unknown', 1)",
        "CREATE VIRTUAL TABLE words USING fts5 (text)",
        "CREATE TABLE \"it's odd\" (\"a'b\")",
    ] {
        let (_room, path) = changed(sql);
        let store = open(&path);
        store.writable().unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(append(&store, "ses_1", plain()).unwrap().seq, 0, "{sql}");
        let session = &session_ids(&raw(&path))[0];
        let message: String =
            raw(&path).query_row("SELECT id FROM message WHERE session_id = ?1 LIMIT 1", [session], |r| r.get(0)).unwrap();
        append(&store, session, super::support::part(&text(session, &message, "prt_new", "x"), 1)).unwrap();
        assert_eq!(int(&raw(&path), "SELECT count(*) FROM part WHERE id = 'prt_new'"), 1, "{sql}");
    }
}

#[test]
fn a_table_of_a_module_that_is_not_here_does_not_matter() {
    // Extensions keep their search tables in the file; only programs that have the extension can look into them.
    let (_room, path) = changed("CREATE VIRTUAL TABLE words USING fts5 (text)");
    raw(&path)
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_master SET sql = 'CREATE VIRTUAL TABLE words USING vec0 (text)' WHERE name = 'words';
             PRAGMA writable_schema = RESET;",
        )
        .unwrap();
    let store = open(&path);
    assert_eq!(store.sessions(&SessionFilter::default()).unwrap().total, 20);
    append(&store, "ses_1", plain()).unwrap();
}

#[test]
fn column_order_does_not_matter() {
    // Migrations add columns at the end, a new file has them elsewhere: no query may go by position.
    let (_room, path) = changed("SELECT 1");
    let db = raw(&path);
    let columns: Vec<String> =
        rows(&db, "SELECT name FROM pragma_table_info('session')").iter().map(|r| r[0].text().unwrap().to_owned()).collect();
    let turned: Vec<String> = columns.iter().rev().cloned().collect();
    db.execute_batch(&format!(
        "PRAGMA foreign_keys = OFF; CREATE TABLE turned AS SELECT {} FROM session; DROP TABLE session; ALTER TABLE turned RENAME TO session;",
        turned.join(", ")
    ))
    .unwrap();
    let room = Room::new();
    let clean = open(&room.copy("opencode-small.db"));
    assert_eq!(open(&path).sessions(&SessionFilter::default()).unwrap(), clean.sessions(&SessionFilter::default()).unwrap());
}
