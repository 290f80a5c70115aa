//! Files whose tables and ledgers do not agree, and those of versions to come (C33, C34, design G7).

use super::bring_up::open;
use super::common::{Place, lines, number, shape};
use super::reading::read_all;
use annalist_store::{Create, Durability, Error, Options, Store};

fn refused(place: &Place, words: &str) {
    let before = place.bytes();
    let error = Store::open_for_writing(&place.file, Create::Never, Options::default()).err().unwrap();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains(words), "{error}");
    let store = Store::open(&place.file, Create::Never).unwrap();
    assert!(store.writable().unwrap_err().to_string().contains(words));
    assert!(!read_all(&store).0.is_empty());
    drop(store);
    assert_eq!(place.bytes(), before, "{words}");
}

fn change(place: &Place, sql: &str) {
    let db = place.raw();
    db.execute_batch(sql).unwrap();
    db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
}

#[test]
fn a_newer_nullable_column_is_no_obstacle() {
    let place = Place::current();
    change(
        &place,
        "ALTER TABLE session ADD COLUMN mood text; ALTER TABLE part ADD COLUMN n integer NOT NULL DEFAULT 3;
                    INSERT INTO migration VALUES ('20990101000000_from_the_future', 1)",
    );
    let (store, migrated) = open(&place);
    assert!(migrated.is_none());
    store.write(Durability::Power, |_| Ok(())).wait().unwrap();
}

#[test]
fn a_newer_column_that_demands_a_value_makes_it_read_only() {
    let place = Place::current();
    // SQLite adds no such column to a table with rows; a migration makes the table anew.
    change(
        &place,
        "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON;
        ALTER TABLE todo RENAME TO old;
        CREATE TABLE todo (session_id text NOT NULL, content text NOT NULL, status text NOT NULL, priority text NOT NULL,
            position integer NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL, colour text NOT NULL);
        INSERT INTO todo SELECT *, 'red' FROM old; DROP TABLE old;",
    );
    refused(&place, "demands a column colour");
}

#[test]
fn a_newer_file_that_lost_a_table_is_not_given_it_back() {
    let place = Place::current();
    change(&place, "DROP TABLE todo; INSERT INTO migration VALUES ('20990101000000_from_the_future', 1)");
    refused(&place, "20990101000000_from_the_future");
    let place = Place::current();
    change(&place, "ALTER TABLE session DROP COLUMN agent; INSERT INTO migration VALUES ('20990101000000_from_the_future', 1)");
    refused(&place, "has no column agent");
}

#[test]
fn a_ledger_that_says_more_than_the_tables_is_not_believed() {
    // All ids stamped, a column missing all the same (C31).
    let place = Place::current();
    let wanted = shape(&place.raw());
    change(&place, "ALTER TABLE session DROP COLUMN metadata; DROP INDEX part_message_id_id_idx; DROP TABLE project_directory");
    let events = lines(&place.raw(), "SELECT * FROM event ORDER BY id");
    let (store, migrated) = open(&place);
    store.writable().unwrap();
    let migrated = migrated.unwrap();
    assert_eq!((migrated.tables, migrated.columns), (vec!["project_directory".to_owned()], vec!["session.metadata".to_owned()]));
    assert!(migrated.recorded.is_empty());
    assert_eq!(shape(&place.raw()), wanted);
    assert_eq!(lines(&place.raw(), "SELECT * FROM event ORDER BY id"), events, "no reset was pending: no log is looked at");
}

#[test]
fn a_ledger_that_says_less_than_the_tables_is_completed() {
    // An empty new ledger beside the old one, over tables that were completed by hand (C34).
    let place = Place::current();
    change(
        &place,
        "DELETE FROM migration;
        CREATE TABLE __drizzle_migrations (id integer PRIMARY KEY, hash text NOT NULL, created_at numeric);
        INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('', 1769552633000), ('', 1770830228000), ('', 1770993676000)",
    );
    let sums = lines(&place.raw(), "SELECT id, cost, tokens_input FROM session ORDER BY id");
    let (_, migrated) = open(&place);
    let migrated = migrated.unwrap();
    assert_eq!(migrated.recorded.len(), 38);
    assert_eq!((migrated.tables.len(), migrated.columns.len(), migrated.usage_filled), (0, 0, 0));
    assert_eq!(
        lines(&place.raw(), "SELECT id, cost, tokens_input FROM session ORDER BY id"),
        sums,
        "filled columns are not filled again"
    );
    // OpenCode runs what is not recorded, and that would empty the log: such a file is not written as it is.
    let place = Place::current();
    change(&place, "DELETE FROM migration WHERE id = '20260622202450_simplify_session_input'");
    let store = Store::open(&place.file, Create::Never).unwrap();
    assert!(matches!(store.writable(), Err(Error::ReadOnly { .. })));
    drop(store);
    assert_eq!(open(&place).1.unwrap().recorded, ["20260622202450_simplify_session_input"]);
}

#[test]
fn an_old_ledger_with_names_this_version_does_not_know_makes_it_read_only() {
    let place = Place::vintage("1.14.34");
    change(&place, "INSERT INTO __drizzle_migrations (hash, created_at, name) VALUES ('', 1, '20260401000000_a_fork_of_opencode')");
    refused(&place, "a_fork_of_opencode");
    // No ledger at all: OpenCode would not start on it.
    let place = Place::current();
    change(&place, "DROP TABLE migration");
    let migrated = open(&place).1.unwrap();
    assert_eq!((migrated.recorded.len(), migrated.tables), (38, vec!["migration".to_owned()]));
}

#[test]
fn tables_of_the_same_name_and_another_shape_are_made_anew() {
    let place = Place::vintage("1.14.34");
    change(&place, "DROP TABLE workspace; DROP TABLE account_state; DROP TABLE permission;
        CREATE TABLE workspace (name text NOT NULL, colour text NOT NULL); INSERT INTO workspace VALUES ('a', 'b');
        CREATE TABLE account_state (account text NOT NULL); INSERT INTO account_state VALUES ('x');
        CREATE TABLE permission (project_id text PRIMARY KEY, time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
        INSERT INTO permission SELECT id, 1, 1, '{}' FROM project");
    let (_, migrated) = open(&place);
    let migrated = migrated.unwrap();
    let lost = |table: &str| migrated.rebuilt.iter().find(|(t, _)| t == table).map(|(_, lost)| *lost);
    assert_eq!((lost("account_state"), lost("permission")), (Some(1), Some(1)), "{:?}", migrated.rebuilt);
    let copy = super::common::raw(&migrated.backup);
    assert_eq!(lines(&copy, "SELECT * FROM account_state").len(), 1, "the copy has what did not fit");
    let fresh = Place::empty();
    drop(Store::open(&fresh.file, Create::IfMissing).unwrap());
    let mut found = shape(&place.raw());
    found.remove("table __drizzle_migrations");
    assert_eq!(found, shape(&fresh.raw()));
}

#[test]
fn rows_that_fit_are_carried_into_a_table_made_anew() {
    let place = Place::vintage("1.17.0");
    let sql = "SELECT project_id, directory, type, time_created FROM project_directory";
    change(
        &place,
        "INSERT INTO project_directory (project_id, directory, type, time_created) SELECT id, '/elsewhere', 'worktree', 5 FROM project LIMIT 1",
    );
    let rows = lines(&place.raw(), sql);
    let (_, migrated) = open(&place);
    assert!(migrated.unwrap().rebuilt.contains(&("project_directory".to_owned(), 0)));
    assert_eq!(lines(&place.raw(), sql), rows);
}

#[test]
fn a_record_that_adding_columns_does_not_mend_stays_as_it_is() {
    let place = Place::vintage("1.2.1");
    change(&place, "CREATE TABLE other AS SELECT * FROM todo; DROP TABLE todo; ALTER TABLE other RENAME TO todo");
    let before = place.bytes();
    let error = Store::open_for_writing(&place.file, Create::Never, Options::default()).err().unwrap();
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    assert!(error.to_string().contains("its table todo has another primary key"), "{error}");
    assert!(!read_all(&Store::open(&place.file, Create::Never).unwrap()).0.is_empty());
    assert_eq!(place.bytes(), before);
}

#[test]
fn an_organisation_and_an_icon_come_along() {
    let place = Place::vintage("1.2.1");
    change(&place, "CREATE TABLE account (id text PRIMARY KEY, email text NOT NULL, url text NOT NULL, access_token text NOT NULL,
            refresh_token text NOT NULL, token_expiry integer, selected_org_id text, time_created integer NOT NULL, time_updated integer NOT NULL);
        CREATE TABLE account_state (id integer PRIMARY KEY NOT NULL, active_account_id text REFERENCES account(id) ON DELETE SET NULL);
        INSERT INTO account VALUES ('a', 'e', 'u', 't', 'r', NULL, 'org', 1, 1); INSERT INTO account_state VALUES (1, 'a');
        UPDATE project SET icon_url = 'picture'");
    drop(open(&place));
    let db = place.raw();
    assert_eq!(lines(&db, "SELECT active_org_id FROM account_state WHERE active_account_id = 'a'").len(), 1);
    assert_eq!(number(&db, "SELECT count(*) FROM account_state WHERE active_org_id = 'org'"), 1);
    assert_eq!(number(&db, "SELECT count(*) FROM project WHERE icon_url_override = 'picture'"), 1);
}

#[test]
fn paths_of_windows_are_respelled_and_others_are_not() {
    let place = Place::vintage("1.14.34");
    change(
        &place,
        r#"UPDATE project SET worktree = 'D:\Work\App', sandboxes = '["D:\\Work\\Two"]';
        UPDATE session SET directory = 'D:\Work\App\sub', path = 'sub\deep' WHERE id = (SELECT min(id) FROM session);
        UPDATE session SET directory = '/odd\name', path = 'odd\name' WHERE id = (SELECT max(id) FROM session)"#,
    );
    drop(open(&place));
    let db = place.raw();
    assert_eq!(number(&db, r#"SELECT count(*) FROM project WHERE worktree = 'D:/Work/App' AND sandboxes = '["D:/Work/Two"]'"#), 1);
    assert_eq!(number(&db, "SELECT count(*) FROM session WHERE directory = 'D:/Work/App/sub' AND path = 'sub/deep'"), 1);
    assert_eq!(number(&db, r"SELECT count(*) FROM session WHERE directory = '/odd\name' AND path = 'odd\name'"), 1);
}
