//! Reading changes nothing, whatever the file's age.

use super::common::{Place, VINTAGES, lines};
use annalist_store::query::SessionFilter;
use annalist_store::{Create, Error, Flow, Store};

/// Reads all there is through the store: ids of sessions, and counts of messages and parts.
pub(super) fn read_all(store: &Store) -> (Vec<String>, usize, usize) {
    let listing = store.sessions(&SessionFilter::default()).unwrap();
    let mut ids: Vec<String> = listing.sessions.iter().map(|s| s.id().unwrap().to_string()).collect();
    ids.sort();
    let (mut messages, mut parts) = (0, 0);
    for id in &ids {
        store
            .stream(id, |message| {
                messages += 1;
                parts += message.parts.len();
                Flow::Continue
            })
            .unwrap();
        store.todo(id).unwrap();
        store.export(id, false, &mut Vec::new()).unwrap();
    }
    (ids, messages, parts)
}

#[test]
fn reading_a_vintage_finds_everything_and_changes_no_byte() {
    for version in VINTAGES {
        let place = Place::vintage(version);
        let before = place.bytes();
        let db = place.raw();
        let ids = lines(&db, "SELECT id FROM session ORDER BY id").len();
        let count = |table: &str| usize::try_from(super::common::number(&db, &format!("SELECT count(*) FROM {table}"))).unwrap();
        let expected = (ids, count("message"), count("part"));
        drop(db);
        assert_eq!(place.bytes(), before, "{version}: looking at it from outside");

        let store = Store::open(&place.file, Create::Never).unwrap();
        let (ids, messages, parts) = read_all(&store);
        assert_eq!((ids.len(), messages, parts), expected, "{version}");
        assert!(expected.0 >= 8 && expected.1 >= 20, "{version}: the fixture has something in it");
        drop(store);
        assert_eq!(place.bytes(), before, "{version}");
    }
}

#[test]
fn a_vintage_opened_for_reading_refuses_writes_and_says_what_to_do() {
    for version in VINTAGES {
        let place = Place::vintage(version);
        let before = place.bytes();
        let store = Store::open(&place.file, Create::IfMissing).unwrap();
        let refused = store.write(annalist_store::Durability::Power, |_| Ok(())).wait().unwrap_err();
        assert!(matches!(refused, Error::ReadOnly { .. }), "{version}: {refused}");
        assert!(refused.to_string().contains("opening it for writing brings it up"), "{version}: {refused}");
        drop(store);
        assert_eq!(place.bytes(), before, "{version}");
    }
}
