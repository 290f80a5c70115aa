//! The JSON tree of the versions before 1.2.

use super::bring_up::open;
use super::common::{Place, fixtures, lines, number};
use annalist_store::legacy::{Progress, Report};
use annalist_store::{Create, Error, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A copy of the fixture that can be changed.
struct Old {
    folder: TempDir,
}

impl Old {
    fn new() -> Self {
        let old = Old { folder: tempfile::tempdir().unwrap() };
        copy(&fixtures().join("legacy-storage"), old.folder.path());
        old
    }

    fn empty() -> Self {
        let old = Old { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(old.path("storage/session")).unwrap();
        fs::write(old.path("storage/migration"), "2").unwrap();
        old
    }

    fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    fn write(&self, below: &str, text: &str) {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.folder.path().to_owned()];
        while let Some(path) = waiting.pop() {
            if path.is_dir() {
                waiting.extend(fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
        found
    }

    fn first(&self, folder: &str) -> PathBuf {
        let mut names: Vec<PathBuf> = fs::read_dir(self.path(folder)).unwrap().map(|e| e.unwrap().path()).collect();
        names.sort();
        names.remove(0)
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(|e| e.unwrap()) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &target) } else { fs::copy(entry.path(), target).map(drop).unwrap() }
    }
}

fn fresh() -> (Place, Store) {
    let place = Place::empty();
    let store = Store::open(&place.file, Create::IfMissing).unwrap();
    (place, store)
}

fn import(store: &Store, old: &Old) -> Report {
    store.import_legacy(old.folder.path(), &mut |_| {}).unwrap()
}

const SESSIONS: &str = "SELECT id, project_id, parent_id, slug, directory, path, title, version, share_url, summary_additions, summary_deletions, summary_files,
    revert, permission, cost, tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write, time_created, time_updated,
    time_compacting, time_archived FROM session ORDER BY id";

#[test]
fn the_record_is_what_the_last_converting_version_made_of_it() {
    let (place, store) = fresh();
    let report = import(&store, &Old::new());
    assert_eq!(
        report,
        Report { projects: 1, sessions: 8, messages: 30, parts: 65, todos: 2, session_diffs_left: 1, ..Report::default() }
    );
    drop(store);
    let theirs = Place::vintage("legacy-by-1.2.1");
    drop(open(&theirs));
    let (ours, theirs) = (place.raw(), theirs.raw());
    assert_eq!(lines(&ours, SESSIONS), lines(&theirs, SESSIONS));
    for sql in [
        "SELECT id, session_id, time_created, json(data) FROM message ORDER BY id",
        "SELECT id, message_id, session_id, json(data) FROM part ORDER BY id",
        "SELECT session_id, content, status, priority, position FROM todo ORDER BY session_id, position",
        "SELECT id, worktree, vcs, name, icon_url, icon_color, time_created, time_initialized, sandboxes, commands FROM project",
    ] {
        assert_eq!(lines(&ours, sql), lines(&theirs, sql), "{sql}");
    }
    // Parts in the order of those days, at the time of their message.
    assert_eq!(
        number(&ours, "SELECT count(*) FROM part p JOIN message m ON m.id = p.message_id WHERE p.time_created <> m.time_created"),
        0
    );
    assert_eq!(lines(&ours, "PRAGMA foreign_key_check").len(), 0);
}

#[test]
fn the_folder_is_only_read_and_a_second_import_emits_nothing() {
    let old = Old::new();
    let before = old.files();
    let (place, store) = fresh();
    import(&store, &old);
    let events = number(&place.raw(), "SELECT count(*) FROM event");
    assert!(events > 100);
    let again = import(&store, &old);
    assert_eq!(again, Report { sessions_known: 8, session_diffs_left: 1, ..Report::default() });
    assert_eq!(number(&place.raw(), "SELECT count(*) FROM event"), events);
    assert_eq!(old.files(), before);
}

#[test]
fn the_log_gives_the_rows() {
    // Numbers without gaps, and the sums of the last event are those of the row.
    let (place, store) = fresh();
    import(&store, &Old::new());
    let db = place.raw();
    assert_eq!(
        number(
            &db,
            "SELECT count(*) FROM event_sequence s WHERE seq + 1 <> (SELECT count(*) FROM event e WHERE e.aggregate_id = s.aggregate_id)"
        ),
        0
    );
    assert_eq!(
        number(
            &db,
            "SELECT count(*) FROM session WHERE id NOT IN (SELECT aggregate_id FROM event WHERE seq = 0 AND type = 'session.created.1')"
        ),
        0
    );
    let differ = "SELECT count(*) FROM session s WHERE cost > 0 AND cost <> (SELECT data ->> '$.info.cost' FROM event
        WHERE aggregate_id = s.id AND type = 'session.updated.1' ORDER BY seq DESC LIMIT 1)";
    assert_eq!(number(&db, differ), 0);
    assert!(number(&db, "SELECT count(*) FROM session WHERE cost > 0") >= 6);
}

#[test]
fn what_is_missing_is_added_and_what_was_changed_since_stays() {
    // C29: the gate of the old conversion took ten known sessions for all of them.
    let old = Old::new();
    let (place, store) = fresh();
    import(&store, &old);
    let db = place.raw();
    let sums = lines(&db, SESSIONS);
    let gone: String =
        db.query_row("SELECT session_id FROM part GROUP BY 1 ORDER BY count(*) DESC LIMIT 1", [], |r| r.get(0)).unwrap();
    let renamed: String = db.query_row("SELECT id FROM session WHERE id <> ?1 LIMIT 1", [&gone], |r| r.get(0)).unwrap();
    db.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    db.execute("DELETE FROM session WHERE id = ?1", [&gone]).unwrap();
    db.execute("DELETE FROM event_sequence WHERE aggregate_id = ?1", [&gone]).unwrap();
    db.execute("UPDATE session SET title = 'mine' WHERE id = ?1", [&renamed]).unwrap();
    // Half a session, as an interrupted import leaves it: its last message was not written yet.
    let half: String = db
        .query_row(
            "SELECT session_id FROM message WHERE session_id NOT IN (?1, ?2) GROUP BY 1 ORDER BY count(*) DESC LIMIT 1",
            [&gone, &renamed],
            |r| r.get(0),
        )
        .unwrap();
    let last: String = db
        .query_row(
            "SELECT id FROM message WHERE session_id = ?1 AND data ->> 'role' = 'assistant' ORDER BY id DESC LIMIT 1",
            [&half],
            |r| r.get(0),
        )
        .unwrap();
    db.execute("UPDATE session SET cost = cost - (SELECT data ->> 'cost' FROM message WHERE id = ?2), tokens_input = tokens_input - (SELECT data ->> '$.tokens.input' FROM message WHERE id = ?2),
        tokens_output = tokens_output - (SELECT data ->> '$.tokens.output' FROM message WHERE id = ?2), tokens_reasoning = tokens_reasoning - (SELECT data ->> '$.tokens.reasoning' FROM message WHERE id = ?2),
        tokens_cache_read = tokens_cache_read - (SELECT data ->> '$.tokens.cache.read' FROM message WHERE id = ?2), tokens_cache_write = tokens_cache_write - (SELECT data ->> '$.tokens.cache.write' FROM message WHERE id = ?2) WHERE id = ?1", [&half, &last]).unwrap();
    db.execute("DELETE FROM message WHERE id = ?1", [&last]).unwrap();

    let report = import(&store, &old);
    assert_eq!((report.sessions, report.sessions_known), (1, 7));
    assert!(report.messages >= 2 && report.parts >= 2 && report.skipped.is_empty(), "{report:?}");
    db.execute("UPDATE session SET title = (SELECT data ->> '$.info.title' FROM event WHERE aggregate_id = session.id AND seq = 0) WHERE id = ?1", [&renamed]).unwrap();
    let rounded = |lines: Vec<String>| lines.into_iter().map(|l| l.replace("00000000001", "")).collect::<Vec<_>>();
    assert_eq!(rounded(lines(&db, SESSIONS)).len(), sums.len());
    let usage = |id: &str| {
        lines(
            &db,
            &format!(
                "SELECT round(cost, 9), tokens_input, tokens_output, tokens_reasoning, tokens_cache_read, tokens_cache_write FROM session WHERE id = '{id}'"
            ),
        )
    };
    let wanted = |id: &str| {
        lines(&db, &format!("SELECT round(sum(data ->> 'cost'), 9), sum(data ->> '$.tokens.input'), sum(data ->> '$.tokens.output'), sum(data ->> '$.tokens.reasoning'),
        sum(data ->> '$.tokens.cache.read'), sum(data ->> '$.tokens.cache.write') FROM message WHERE session_id = '{id}' AND data ->> 'role' = 'assistant'"))
    };
    for id in [&gone, &half] {
        assert_eq!(usage(id), wanted(id), "{id}");
    }
}

#[test]
fn sessions_without_a_project_file_come_under_a_project_of_that_id() {
    let old = Old::new();
    fs::remove_file(old.first("storage/project")).unwrap();
    let (place, store) = fresh();
    let report = import(&store, &old);
    assert_eq!((report.sessions, report.projects, report.projects_without_file.len()), (8, 1, 1));
    assert!(report.skipped.is_empty());
    let row = lines(
        &place.raw(),
        "SELECT worktree FROM project JOIN session ON project_id = project.id WHERE worktree = '/home/dev/project'",
    );
    assert_eq!(row.len(), 8);
}

#[test]
fn a_damaged_file_costs_one_file() {
    for (kind, damage) in [
        ("session", "{\"id\": "),
        ("message", ""),
        ("part", "\u{0}\u{0}\u{0}"),
        ("project", "[]"),
        ("todo", "{}"),
        ("session_diff", "]"),
    ] {
        let old = Old::new();
        let mut file = old.first(&format!("storage/{kind}"));
        if file.is_dir() {
            let below = file.strip_prefix(old.folder.path()).unwrap().to_str().unwrap().to_owned();
            file = old.first(&below);
        }
        let parts = || fs::read_dir(old.path("storage/part").join(file.file_stem().unwrap())).map_or(0, |d| d.count());
        let carried = if kind == "message" { parts() } else { 0 };
        fs::write(&file, damage).unwrap();
        let (place, store) = fresh();
        let report = import(&store, &old);
        let named: Vec<&Path> = report.skipped.iter().map(|s| s.file.as_path()).collect();
        assert_eq!(named, [file.strip_prefix(old.folder.path()).unwrap()], "{kind}");
        assert!(!report.skipped[0].reason.is_empty());
        let parts_lost = u64::from(kind == "part");
        assert_eq!((report.sessions, report.messages, report.parts), (8, 30, 65 - parts_lost), "{kind}: {:?}", report.skipped);
        if kind == "message" {
            assert!(carried > 0, "the fixture's first message has parts");
            let stand_in = lines(
                &place.raw(),
                "SELECT data ->> '$.error.data.message' FROM message WHERE data ->> '$.parentID' = 'msg_unknown'",
            );
            assert_eq!(stand_in.len(), 1);
        }
        // The reference lists every session that it finds: none may have a row that it cannot read.
        let problems: usize = store
            .sessions(&annalist_store::query::SessionFilter::default())
            .unwrap()
            .sessions
            .iter()
            .map(|s| s.problems().len())
            .sum();
        assert_eq!(problems, 0, "{kind}");
    }
}

#[test]
fn files_that_nothing_leads_to_are_named_with_their_reason() {
    let old = Old::new();
    old.write("storage/message/ses_gone/msg_1.json", "{}");
    old.write("storage/part/msg_gone/prt_1.json", "{}");
    old.write("storage/todo/ses_gone.json", "[]");
    old.write("storage/session_share/ses_gone.json", "{}");
    old.write("storage/cache/x/y.json", "{}");
    old.write("storage/session/stray.json", "{}");
    old.write("storage/session/global/notes.txt", "");
    old.write("storage/session/global/strange.json", "{}");
    old.write("storage/permission/global.json", "[]");
    let (_place, store) = fresh();
    let report = import(&store, &old);
    let mut named: Vec<String> = report.skipped.iter().map(|s| format!("{}: {}", s.file.display(), s.reason)).collect();
    named.sort();
    let expected = [
        "storage/cache/x/y.json: no file of this storage is called so",
        "storage/message/ses_gone/msg_1.json: its session has no file",
        "storage/part/msg_gone/prt_1.json: its message has no file",
        "storage/session/global/notes.txt: its name is not that of a session's file",
        "storage/session/global/strange.json: its name is no session's id",
        "storage/session/stray.json: no file of this storage is called so",
        "storage/session_share/ses_gone.json: its session has no file",
        "storage/todo/ses_gone.json: its session has no file",
    ];
    assert_eq!(named.len(), expected.len(), "{named:#?}");
    for (named, expected) in named.iter().zip(expected) {
        assert!(named.starts_with(expected), "{named} / {expected}");
    }
    assert_eq!((report.sessions, report.permissions_left), (8, 1));
}

#[test]
fn ids_that_belong_to_another_session_are_left_out_and_the_rest_comes() {
    let old = Old::new();
    let (place, store) = fresh();
    let donor = old.first("storage/message");
    let stolen = old.first(donor.strip_prefix(old.folder.path()).unwrap().to_str().unwrap());
    let (id, session) =
        (stolen.file_stem().unwrap().to_str().unwrap().to_owned(), donor.file_name().unwrap().to_str().unwrap().to_owned());
    // Another session in the record has that message already.
    let other = Old::empty();
    other.write("storage/session/global/ses_other.json", "{}");
    other.write(&format!("storage/message/ses_other/{id}.json"), r#"{"role":"user","time":{"created":5}}"#);
    assert_eq!(import(&store, &other).messages, 1);
    let report = import(&store, &old);
    let parts = fs::read_dir(old.path("storage/part").join(&id)).unwrap().count();
    assert_eq!((report.sessions, report.messages, report.skipped.len()), (8, 29, 1 + parts), "{:?}", report.skipped);
    assert!(report.skipped[0].reason.contains("ses_other"));
    assert_eq!(number(&place.raw(), &format!("SELECT count(*) FROM message WHERE session_id = '{session}' AND id = '{id}'")), 0);
}

#[test]
fn odd_sessions_get_what_every_reader_needs_and_keep_what_they_had() {
    let old = Old::empty();
    let app = r"D:\Work\App".replace('\\', "\\\\");
    old.write(
        "storage/session/p1/ses_windows.json",
        &format!(r#"{{"title":"on another system","directory":"{app}","time":{{"created":1,"updated":2}},"mood":"odd"}}"#),
    );
    old.write("storage/session/p1/ses_bare.json", "{}");
    old.write("storage/session/p1/ses_shapes.json", r#"{"title":7,"directory":"/x","parentID":"msg_1","model":{"providerID":"p"},"share":{"url":"https://s"},"time":{"created":-5,"updated":"x"},"summary":{"diffs":[{"file":"a","additions":2,"deletions":1},{"file":"b","additions":3,"deletions":0}]}}"#);
    old.write("storage/session_share/ses_shapes.json", r#"{"id":"i","secret":"s","url":"https://s"}"#);
    old.write("storage/message/ses_bare/msg_00000000100100000000000000.json", r#"{"role":"user"}"#);
    let (place, store) = fresh();
    let report = import(&store, &old);
    assert_eq!((report.sessions, report.messages, report.shares), (3, 1, 1), "{report:?}");
    let db = place.raw();
    let listing = store.sessions(&annalist_store::query::SessionFilter::default()).unwrap();
    for session in &listing.sessions {
        assert!(session.problems().is_empty(), "{:?}", session.problems());
    }
    assert_eq!(number(&db, "SELECT count(*) FROM session WHERE directory NOT LIKE '/%'"), 0);
    assert_eq!(
        number(
            &db,
            r#"SELECT count(*) FROM session WHERE metadata ->> '$.annalist.legacy.directory' = 'D:\Work\App' AND metadata ->> '$.annalist.session.mood' = 'odd'"#
        ),
        1
    );
    assert_eq!(
        number(
            &db,
            "SELECT count(*) FROM session WHERE metadata ->> '$.annalist.legacy.title' = 7 AND parent_id IS NULL AND title = '' AND share_url = 'https://s'"
        ),
        1
    );
    assert_eq!(
        number(
            &db,
            "SELECT count(*) FROM session WHERE summary_additions = 5 AND summary_deletions = 1 AND summary_files = 2 AND summary_diffs IS NULL"
        ),
        1
    );
    assert_eq!(
        number(&db, "SELECT count(*) FROM session WHERE time_created > 1500000000000 AND id <> 'ses_windows'"),
        2,
        "the file's own time"
    );
    assert_eq!(number(&db, "SELECT count(*) FROM session_share WHERE secret = 's'"), 1);
}

#[test]
fn the_layout_before_version_1_is_read_and_later_on_it_is_not() {
    let old = Old::empty();
    fs::remove_file(old.path("storage/migration")).unwrap();
    let base = "project/home-dev-app/storage/session";
    old.write(
        &format!("{base}/info/ses_zero.json"),
        r#"{"id":"ses_zero","version":"0.3.0","title":"very old","time":{"created":10,"updated":20}}"#,
    );
    old.write(&format!("{base}/message/ses_zero/msg_a.json"), r#"{"role":"user","time":{"created":11}}"#);
    old.write(&format!("{base}/message/ses_zero/msg_b.json"), r#"{"role":"assistant","time":{"created":12},"path":{"cwd":"/nowhere/app","root":"/nowhere/app"},"cost":0.5,"tokens":{"input":1,"output":2,"reasoning":0,"cache":{"read":0,"write":0}}}"#);
    old.write(&format!("{base}/part/ses_zero/msg_a/prt_a.json"), r#"{"type":"text","text":"hello"}"#);
    let (place, store) = fresh();
    let report = import(&store, &old);
    assert_eq!((report.sessions, report.messages, report.parts, report.skipped.len()), (1, 2, 1, 0), "{report:?}");
    assert_eq!(
        number(
            &place.raw(),
            "SELECT count(*) FROM session WHERE directory = '/nowhere/app' AND project_id = 'global' AND cost = 0.5 AND title = 'very old'"
        ),
        1
    );
    // A tree that went through version 1 has copies of all this; what was deleted since must not come back.
    fs::write(old.path("storage/migration"), "1").unwrap();
    let (_place, store) = fresh();
    assert_eq!(import(&store, &old).sessions, 0);
}

#[test]
fn a_large_session_comes_in_several_transactions_and_is_whole() {
    let old = Old::empty();
    old.write("storage/session/global/ses_large.json", r#"{"title":"large","directory":"/x","time":{"created":1,"updated":2}}"#);
    for n in 0..400 {
        let role = if n % 2 == 0 { "user" } else { "assistant" };
        old.write(&format!("storage/message/ses_large/msg_{n:05}.json"), &format!(r#"{{"role":"{role}","time":{{"created":{n}}},"cost":0.25,"tokens":{{"input":3,"output":1,"reasoning":0,"cache":{{"read":0,"write":0}}}}}}"#));
        for p in 0..3 {
            let part = if p == 2 {
                r#"{"type":"step-finish","reason":"stop","cost":9,"tokens":{"input":9,"output":9,"reasoning":9,"cache":{"read":9,"write":9}}}"#.to_owned()
            } else {
                format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(900))
            };
            old.write(&format!("storage/part/msg_{n:05}/prt_{n:05}_{p}.json"), &part);
        }
    }
    let (place, store) = fresh();
    let mut heard = Vec::new();
    let report = store.import_legacy(&old.path("storage"), &mut |progress| heard.push(progress)).unwrap();
    assert_eq!((report.sessions, report.messages, report.parts), (1, 400, 1200));
    assert_eq!(heard, [Progress { sessions: 0, of: 1, messages: 0 }, Progress { sessions: 1, of: 1, messages: 400 }]);
    let db = place.raw();
    // All but the last are superseded, and empty by now.
    let updates = "SELECT count(*) FROM event WHERE type IN ('session.updated.1', 'message.part.removed.1')";
    assert!(number(&db, updates) > 3, "one for each transaction");
    assert_eq!(
        number(
            &db,
            "SELECT count(*) FROM session WHERE cost = 50 AND tokens_input = 600 AND tokens_output = 200 AND tokens_reasoning = 0"
        ),
        1
    );
}

#[test]
fn a_folder_without_such_files_is_an_error_that_says_what_was_looked_for() {
    let (_place, store) = fresh();
    let folder = tempfile::tempdir().unwrap();
    let error = store.import_legacy(folder.path(), &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("storage/session"), "{error}");
    assert!(matches!(store.import_legacy(&folder.path().join("no"), &mut |_| {}), Err(Error::Io { .. })));
}
