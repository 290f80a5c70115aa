//! Damaged files: what can be read is read, nothing is replaced, deleted or written (C13, C15, C31).

use super::common::{Place, fixtures, lines};
use annalist_store::query::SessionFilter;
use annalist_store::{Create, Durability, Error, Flow, Options, Store};
use std::fs;

const PAGE: usize = 4096;

/// Opening in each way, after which every file is as it was.
fn untouched(place: &Place, what: &str, open: impl Fn(Result<Store, Error>)) {
    let before = place.bytes();
    open(Store::open(&place.file, Create::Never));
    open(Store::open(&place.file, Create::IfMissing));
    open(Store::open_for_writing(&place.file, Create::IfMissing, Options::default()).map(|(store, _)| store));
    let mut after = place.bytes();
    // The index of a log is no data, and is made by whoever looks.
    after.remove("opencode.db-shm");
    assert_eq!(after.keys().collect::<Vec<_>>(), before.keys().collect::<Vec<_>>(), "{what}");
    assert!(after == before, "{what}: the bytes are the same");
}

#[test]
fn files_that_are_no_database_are_refused_and_left() {
    let noise: Vec<u8> = (0_u32..1 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for (what, bytes) in [("random", noise), ("empty", Vec::new()), ("text", b"hello".to_vec())] {
        let place = Place::empty();
        fs::write(&place.file, &bytes).unwrap();
        untouched(&place, what, |opened| {
            let error = opened.err().unwrap();
            assert!(
                matches!(error, Error::NotADatabase { .. } | Error::EmptyFile { .. } | Error::Damaged { .. }),
                "{what}: {error:?}"
            );
        });
    }
}

#[test]
fn a_damaged_header_is_refused_and_left() {
    for version in ["../opencode-small", "1.2.1"] {
        let place = Place::vintage(version);
        let mut bytes = fs::read(&place.file).unwrap();
        bytes[..64].fill(0xA5);
        fs::write(&place.file, bytes).unwrap();
        untouched(&place, version, |opened| assert!(matches!(opened.err().unwrap(), Error::NotADatabase { .. })));
    }
}

/// A file with the page that holds this text filled with noise, and the session it is of.
fn with_noise(fixture: &str, sql: &str) -> (Place, String) {
    let place = Place::vintage(fixture);
    let db = place.raw();
    let (session, text): (String, String) = db.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    drop(db);
    let mut bytes = fs::read(&place.file).unwrap();
    let at = bytes.windows(text.len()).rposition(|window| window == text.as_bytes()).unwrap();
    let start = at / PAGE * PAGE;
    assert!(start > 0);
    bytes[start..start + PAGE].fill(0x5A);
    fs::write(&place.file, bytes).unwrap();
    (place, session)
}

#[test]
fn a_damaged_page_costs_what_is_on_it() {
    let sql = "SELECT session_id, data FROM part WHERE length(data) BETWEEN 200 AND 1500 ORDER BY rowid DESC LIMIT 1";
    let (place, session) = with_noise("../opencode-small", sql);
    let whole = Place::vintage("../opencode-small");
    let count = lines(&whole.raw(), "SELECT id FROM session").len();
    untouched(&place, "page", |opened| {
        let store = opened.unwrap();
        assert_eq!(store.sessions(&SessionFilter::default()).unwrap().sessions.len(), count, "the list needs no part");
        let mut readable = 0;
        for id in lines(&whole.raw(), "SELECT id FROM session") {
            let id = id.trim_matches('\'');
            match store.export(id, false, &mut Vec::new()) {
                Ok(_) => readable += 1,
                Err(error) => assert!(error.to_string().contains("damaged"), "{error}"),
            }
        }
        assert!(readable > count / 2, "{readable} of {count}");
        let error = store.stream(&session, |_| Flow::Continue).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        assert!(error.to_string().contains("restore a backup"), "{error}");
    });
}

#[test]
fn a_damaged_older_file_is_not_brought_up_halfway() {
    let (place, _) =
        with_noise("1.2.1", "SELECT session_id, data FROM message WHERE length(data) > 200 ORDER BY rowid DESC LIMIT 1");
    let before = place.bytes();
    assert!(Store::open(&place.file, Create::Never).unwrap().sessions(&SessionFilter::default()).is_ok());
    let error = Store::open_for_writing(&place.file, Create::Never, Options::default()).err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    assert!(place.bytes() == before, "no copy is left, no byte is changed");
}

#[test]
fn a_file_cut_short_is_read_as_far_as_it_goes() {
    let place = Place::vintage("../opencode-small");
    let bytes = fs::read(&place.file).unwrap();
    fs::write(&place.file, &bytes[..bytes.len() / 2 / PAGE * PAGE]).unwrap();
    untouched(&place, "cut", |opened| match opened {
        Ok(store) => {
            // Either way: an answer, or the word damaged.
            if let Err(error) = store.sessions(&SessionFilter::default()) {
                assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
            }
        }
        Err(error) => assert!(matches!(error, Error::Damaged { .. }), "{error:?}"),
    });
}

#[test]
fn a_log_cut_short_gives_every_whole_commit() {
    // A log with five commits, taken while its writer lives.
    let source = Place::of(&fixtures().join("opencode-small.db"));
    let writer = source.raw();
    writer.execute_batch("PRAGMA wal_autocheckpoint = 0").unwrap();
    let wal = source.file.with_file_name("opencode.db-wal");
    let mut ends = Vec::new();
    for n in 1..=5 {
        writer.execute("UPDATE session SET title = 'commit ' || ?1, time_updated = 9000000000000 + ?1 WHERE title LIKE 'plain talk' OR title LIKE 'commit %'", [n]).unwrap();
        ends.push(usize::try_from(fs::metadata(&wal).unwrap().len()).unwrap());
    }
    let bytes = fs::read(&wal).unwrap();
    for (n, end) in ends.iter().enumerate() {
        // Into the frame behind this commit, where there is one.
        let cut = (end + 1_000).min(bytes.len());
        let place = Place::of(&source.file);
        fs::write(place.file.with_file_name("opencode.db-wal"), &bytes[..cut]).unwrap();
        let expected = format!("commit {}", n + 1);
        untouched(&place, &expected, |opened| {
            let store = opened.unwrap();
            let first = store.sessions(&SessionFilter { limit: Some(1), ..SessionFilter::default() }).unwrap();
            assert_eq!(first.sessions[0].title().unwrap(), expected);
        });
    }
    // And it can be written on.
    let place = Place::of(&source.file);
    fs::write(place.file.with_file_name("opencode.db-wal"), &bytes[..ends[2] + 1_000]).unwrap();
    let store = Store::open(&place.file, Create::Never).unwrap();
    let id = store.sessions(&SessionFilter { limit: Some(1), ..SessionFilter::default() }).unwrap().sessions[0]
        .id()
        .unwrap()
        .into_owned();
    let last = store.read(|view| view.sequence(&id)).unwrap().unwrap();
    let data = format!(r#"{{"sessionID":"{id}","messageID":"msg_","partID":"prt_emptied"}}"#);
    let event = annalist_store::NewEvent::new("message.part.removed.1", data);
    store.append(&id, annalist_store::Expect::At(last), vec![event], Durability::Power).wait().unwrap();
    drop(store);
    assert_eq!(lines(&place.raw(), "PRAGMA integrity_check"), ["'ok'"]);
    assert_eq!(lines(&place.raw(), "SELECT title FROM session WHERE title LIKE 'commit %'"), ["'commit 3'"]);
}
