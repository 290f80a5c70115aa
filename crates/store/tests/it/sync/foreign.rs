//! What other processes write: noticed, in order, once; and who came and went without a word.

use super::support::{
    Room, append, append_raw, at_once, check_seqs, created, deleted, drain, erase_raw, events, ids, import_raw, insert_event, log,
    logged, plain, project, raw, told, write,
};
use annalist_store::bus::Interest;
use annalist_store::{Delivery, Error, Start};

#[test]
fn events_of_both_come_in_the_order_of_the_log() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut all = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_1")).unwrap();
    append_raw(&db, "ses_1");
    append_raw(&db, "ses_2");
    append(&store, "ses_1");
    append_raw(&db, "ses_1");
    store.poll().unwrap();
    append(&store, "ses_2");
    append_raw(&db, "ses_2");
    store.poll().unwrap();
    store.poll().unwrap();
    let received = events(&mut all);
    assert_eq!(ids(&received), log(&db));
    assert_eq!(told(&drain(&mut one)), ["ses_1:0", "ses_1:1", "ses_1:2"]);
    assert_eq!(drain(&mut all), []);
}

#[test]
fn a_foreign_event_before_ours_does_not_wait_for_the_next_look() {
    // Another subscriber's thread may look at any time; so without one: the store is not watched yet when it is written.
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    append(&store, "ses_2");
    append_raw(&db, "ses_1");
    append(&store, "ses_2");
    append_raw(&db, "ses_1");
    append(&store, "ses_2");
    let trail: Vec<_> = store.trail().iter().map(|step| step.id.to_string()).collect();
    assert_eq!(trail, log(&db));
}

#[test]
fn two_processes_write_one_session() {
    const EACH: usize = 500;
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let mut readers = [store.subscribe(Interest::all()).unwrap(), store.subscribe(Interest::session("ses_1")).unwrap()];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let db = raw(&path);
            (0..EACH).for_each(|_| drop(append_raw(&db, "ses_1")));
        });
        scope.spawn(|| (0..EACH).for_each(|_| drop(append(&store, "ses_1"))));
        for reader in &mut readers {
            scope.spawn(|| {
                let received: Vec<_> = (0..2 * EACH).map(|_| logged(reader.wait().unwrap())).collect();
                check_seqs(&received);
            });
        }
    });
    store.poll().unwrap();
    readers.iter_mut().for_each(|reader| assert_eq!(drain(reader), []));
}

#[test]
fn the_thread_looks_by_itself() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    for round in 0..2 {
        // Without a subscriber it ends; the next one starts it again.
        let mut subscription = store.subscribe(Interest::session("ses_1")).unwrap();
        append_raw(&db, "ses_1");
        assert_eq!(told(&[subscription.wait().unwrap()]), [format!("ses_1:{round}")]);
    }
    let mut subscription = store.subscribe(Interest::all()).unwrap();
    import_raw(&db, "ses_imported");
    assert_eq!(told(&[subscription.wait().unwrap()]), ["Created ses_imported"]);
    // A subscription outlives the store it came from.
    drop(store);
    append_raw(&db, "ses_1");
    assert_eq!(told(&[subscription.wait().unwrap()]), ["ses_1:2"]);
}

#[test]
fn sessions_that_come_and_go_without_an_event() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    import_raw(&db, "ses_old");
    let mut all = store.subscribe(Interest::all()).unwrap();
    let mut deletions = store.subscribe(Interest::all().types(["session.deleted"])).unwrap();
    let mut look = || {
        store.poll().unwrap();
        told(&drain(&mut all))
    };
    assert_eq!(look(), Vec::<String>::new(), "what is there when it begins is no news");
    at_once(&db, || ["ses_b", "ses_a"].map(|session| import_raw(&db, session)));
    assert_eq!(look(), ["Created ses_a", "Created ses_b"]);
    db.execute("DELETE FROM session WHERE id = 'ses_b'", []).unwrap();
    assert_eq!(look(), ["Deleted ses_b"]);
    // As many as before, and others.
    at_once(&db, || {
        db.execute("DELETE FROM session WHERE id = 'ses_a'", []).unwrap();
        import_raw(&db, "ses_c");
    });
    assert_eq!(look(), ["Deleted ses_a", "Created ses_c"]);
    // What has an event needs no notice.
    at_once(&db, || {
        insert_event(&db, "ses_d", &created("ses_d"));
        import_raw(&db, "ses_d");
    });
    assert_eq!(look(), ["ses_d:0"]);
    assert_eq!(look(), Vec::<String>::new());
    // A todo list changes no session.
    db.execute("INSERT INTO todo VALUES ('ses_d', 'x', 'pending', 'low', 0, 0, 0)", []).unwrap();
    assert_eq!(look(), Vec::<String>::new());
    assert_eq!(told(&drain(&mut deletions)), ["Deleted ses_b", "Deleted ses_a"]);
}

#[test]
fn a_change_in_the_shadow_of_our_own_commits_is_found_when_it_is_quiet() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    import_raw(&db, "ses_a");
    let mut all = store.subscribe(Interest::all()).unwrap();
    append(&store, "ses_1");
    at_once(&db, || {
        db.execute("DELETE FROM session WHERE id = 'ses_a'", []).unwrap();
        import_raw(&db, "ses_b");
    });
    append(&store, "ses_1");
    store.poll().unwrap();
    store.poll().unwrap();
    let mut received = told(&drain(&mut all));
    // The thread may have looked between our commits, and then it was found before the last.
    received.sort_unstable();
    assert_eq!(received, ["Created ses_b", "Deleted ses_a", "ses_1:0", "ses_1:1"]);
}

#[test]
fn our_own_sessions_are_no_news() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    let mut all = store.subscribe(Interest::all()).unwrap();
    write(&store, "ses_1", vec![created("ses_1")]);
    store.poll().unwrap();
    write(&store, "ses_2", vec![created("ses_2")]);
    write(&store, "ses_2", vec![deleted("ses_2")]);
    store.poll().unwrap();
    erase_raw(&db, "ses_2");
    store.poll().unwrap();
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut all)), ["ses_1:0", "Deleted ses_2"]);
}

#[test]
fn a_foreign_deletion_seen_halfway_is_told_once() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    write(&store, "ses_1", vec![created("ses_1")]);
    let mut all = store.subscribe(Interest::all()).unwrap();
    // The reference says so in one transaction and erases the log in the next.
    at_once(&db, || {
        insert_event(&db, "ses_1", &deleted("ses_1"));
        db.execute("DELETE FROM session WHERE id = 'ses_1'", []).unwrap();
    });
    store.poll().unwrap();
    let received = drain(&mut all);
    assert_eq!(told(&received), ["Deleted ses_1"]);
    assert!(
        matches!(&received[0], Delivery::Notice(notice) if notice.data.as_deref().is_some_and(|data| data.contains("calm-river")))
    );
    erase_raw(&db, "ses_1");
    store.poll().unwrap();
    store.poll().unwrap();
    assert_eq!(drain(&mut all), []);
}

#[test]
fn what_went_while_nobody_listened_is_told_to_who_comes_back() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    project(&db);
    write(&store, "ses_1", vec![created("ses_1")]);
    write(&store, "ses_2", vec![created("ses_2")]);
    let position = {
        let mut subscription = store.catch_up(Interest::all(), Start::Beginning).unwrap();
        assert_eq!(drain(&mut subscription).len(), 2);
        subscription.position().unwrap().to_string()
    };
    at_once(&db, || {
        db.execute("DELETE FROM session WHERE id = 'ses_2'", []).unwrap();
        erase_raw(&db, "ses_2");
        insert_event(&db, "ses_1", &plain("ses_1"));
    });
    let mut back = store.catch_up(Interest::all(), Start::resume(&position)).unwrap();
    assert_eq!(told(&drain(&mut back)), ["ses_1:1", "Deleted ses_2"]);
    let mut fresh = store.subscribe(Interest::all()).unwrap();
    assert_eq!(drain(&mut fresh), []);
}

#[test]
fn a_file_without_a_log_has_nothing_to_tell() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    drop(store);
    raw(&path).execute_batch("DROP TABLE event; DROP TABLE event_sequence").unwrap();
    let store = annalist_store::Store::open(&path, annalist_store::Create::Never).unwrap();
    let mut all = store.catch_up(Interest::all(), Start::Beginning).unwrap();
    let mut one = store.catch_up(Interest::session("ses_1"), Start::resume("5")).unwrap();
    store.update_part_delta("ses_1", "msg_1", "prt_1", "text", "x");
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut all)), ["message.part.delta x"]);
    assert_eq!(told(&drain(&mut one)), ["Unknown", "message.part.delta x"]);
}

#[test]
fn when_nothing_can_be_noticed_one_is_told_and_misses_nothing() {
    let room = Room::new();
    let (path, store) = room.store("opencode.db");
    let db = raw(&path);
    let mut all = store.subscribe(Interest::all()).unwrap();
    let mut one = store.subscribe(Interest::session("ses_1")).unwrap();
    append(&store, "ses_2");
    append_raw(&db, "ses_1");
    // Not what anybody does; it stands for a disk that does not answer.
    db.execute_batch("PRAGMA foreign_keys = OFF; ALTER TABLE event RENAME TO hidden").unwrap();
    assert!(store.poll().is_err());
    // What waits in the log cannot be read either; who waits for more is told why nothing comes.
    assert!(all.try_next().is_err());
    match one.wait() {
        Err(Error::Watching { cause }) => assert!(cause.contains("event"), "{cause}"),
        other => panic!("{other:?}"),
    }
    db.execute_batch("ALTER TABLE hidden RENAME TO event").unwrap();
    append_raw(&db, "ses_1");
    store.poll().unwrap();
    assert_eq!(told(&drain(&mut all)), ["ses_2:0", "ses_1:0", "ses_1:1"]);
    assert_eq!(told(&drain(&mut one)), ["ses_1:0", "ses_1:1"]);
}
