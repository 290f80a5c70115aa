//! Closing what a dead process of ours left open (design G5).

use super::room::{Room, answer, check, part};
use crate::child::Worker;
use crate::support::{event, int, open, raw, write};
use annalist_store::Durability;
use serde_json::{Value, json};

fn stored(db: &rusqlite::Connection, table: &str, id: &str) -> Value {
    let text: String = db.query_row(&format!("SELECT data FROM {table} WHERE id = ?1"), [id], |row| row.get(0)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// A process of ours that was killed in the middle of an answer.
fn killed(room: &Room, session: &str) {
    let mut worker = Worker::start("run", &[room.file(), session]);
    worker.ready();
    worker.kill();
}

const CLOSED: [&str; 5] = ["prt_pending_ses_1", "prt_running_ses_1", "prt_noted_ses_1", "prt_text_ses_1", "prt_thinking_ses_1"];

fn sorted(mut ids: Vec<String>) -> Vec<String> {
    ids.sort();
    ids
}

#[test]
fn what_a_killed_process_left_open_is_closed_once_with_events() {
    let (room, store) = Room::with(&["ses_1", "ses_2"]);
    // Left by OpenCode: nobody of ours named it.
    let theirs = part(
        "ses_1",
        "msg_theirs",
        "prt_theirs",
        5,
        json!({"type": "tool", "callID": "c", "tool": "t",
        "state": {"status": "running", "input": {}, "time": {"start": 5}}}),
    );
    write(&store, "ses_1", vec![answer("ses_1", "msg_theirs", 5), theirs]);
    killed(&room, "ses_1");
    let mut alive = Worker::start("run", &[room.file(), "ses_2"]);
    alive.ready();
    let db = raw(&room.path);
    let before = int(&db, "SELECT count(*) FROM event WHERE aggregate_id = 'ses_1'");
    let bystanders = |db: &rusqlite::Connection| {
        let mut all = db
            .prepare(
                "SELECT id, data FROM part WHERE session_id = 'ses_2' OR message_id = 'msg_theirs'
            UNION ALL SELECT id, data FROM message WHERE session_id = 'ses_2' OR id = 'msg_theirs' ORDER BY 1",
            )
            .unwrap();
        all.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().collect::<Result<Vec<(String, String)>, _>>().unwrap()
    };
    let untouched = bystanders(&db);

    let recovered = store.recover().unwrap();
    assert_eq!(recovered.len(), 1, "{recovered:?}");
    assert_eq!(recovered[0].holder.session, "ses_1");
    assert_eq!(recovered[0].messages, ["msg_run_ses_1"]);
    assert_eq!(sorted(recovered[0].parts.clone()), sorted(CLOSED.map(str::to_owned).to_vec()));

    let message = stored(&db, "message", "msg_run_ses_1");
    assert_eq!(message["error"], json!({"name": "MessageAbortedError", "data": {"message": "Aborted"}}));
    let end = message["time"]["completed"].as_i64().unwrap();
    assert_eq!(message["time"]["created"], 11);
    assert_eq!(message["kept"], "as it was");
    let failed = |id: &str, input: Value, metadata: Value, start: i64| {
        let part = stored(&db, "part", id);
        let state = json!({"status": "error", "input": input, "error": "Tool execution aborted", "metadata": metadata,
            "time": {"start": start, "end": end}});
        assert_eq!(part["state"], state, "{id}");
        assert_eq!(part["extra"], 1.0, "{id}");
    };
    failed("prt_pending_ses_1", json!({}), json!({"interrupted": true}), end);
    failed("prt_running_ses_1", json!({"a": 1}), json!({"interrupted": true}), 12);
    failed("prt_noted_ses_1", json!({}), json!({"output": "so far", "interrupted": true}), 13);
    let text = stored(&db, "part", "prt_text_ses_1");
    assert_eq!((&text["text"], &text["time"]), (&json!("half an ans"), &json!({"start": 14, "end": end})));
    assert_eq!(stored(&db, "part", "prt_thought_ses_1")["time"], json!({"start": 14, "end": 15}));
    assert_eq!(stored(&db, "part", "prt_done_ses_1")["state"]["status"], "completed");
    assert!(stored(&db, "part", "prt_plain_ses_1").get("time").is_none());
    assert_eq!(bystanders(&db), untouched);

    // Each change has its event, the message's last, and the log says what the rows say.
    let after = int(&db, "SELECT count(*) FROM event WHERE aggregate_id = 'ses_1'");
    assert_eq!(after, before + 6);
    let last: (String, String) = db
        .query_row("SELECT type, data FROM event WHERE aggregate_id = 'ses_1' ORDER BY seq DESC LIMIT 1", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(last.0, "message.updated.1");
    let info = &serde_json::from_str::<Value>(&last.1).unwrap()["info"];
    assert_eq!((&info["id"], &info["error"]), (&json!("msg_run_ses_1"), &message["error"]));
    check(&db);

    assert_eq!(store.recover().unwrap(), [], "once");
    assert_eq!(int(&db, "SELECT count(*) FROM event WHERE aggregate_id = 'ses_1'"), after);
    alive.go();
    alive.finish();
    assert_eq!(store.recover().unwrap(), [], "a run that ended in order leaves nothing to recover");
    assert_eq!(bystanders(&db), untouched);
}

#[test]
fn processes_that_start_together_close_it_once() {
    let (room, store) = Room::with(&["ses_1"]);
    for _ in 0..3 {
        killed(&room, "ses_1");
        let mut workers: Vec<Worker> = (0..3).map(|_| Worker::start("recover", &[room.file()])).collect();
        workers.iter_mut().for_each(|worker| worker.ready());
        let db = raw(&room.path);
        let before = int(&db, "SELECT count(*) FROM event");
        workers.iter_mut().for_each(Worker::go);
        let said: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("ses_1 msg_run_ses_1 "), "{said:?}");
        assert_eq!(int(&db, "SELECT count(*) FROM event"), before + 6);
        // For the next round.
        let removed = event("message.removed.1", &json!({"sessionID": "ses_1", "messageID": "msg_run_ses_1"}));
        write(&store, "ses_1", vec![removed]);
    }
}

#[test]
fn the_next_claim_closes_what_the_last_one_left() {
    let (room, store) = Room::with(&["ses_1"]);
    killed(&room, "ses_1");
    let claim = store.claim("ses_1").unwrap();
    let db = raw(&room.path);
    assert_eq!(stored(&db, "message", "msg_run_ses_1")["error"]["name"], "MessageAbortedError");
    let events = int(&db, "SELECT count(*) FROM event");
    // Its own answer is alive, however often somebody recovers.
    claim.answering("msg_mine").unwrap();
    claim
        .write(Durability::Process, |tx| tx.append("ses_1", annalist_store::Expect::Any, answer("ses_1", "msg_mine", 20)))
        .wait()
        .unwrap();
    assert_eq!(open(&room.path).recover().unwrap(), []);
    assert_eq!(int(&db, "SELECT count(*) FROM event"), events + 1);
    // It fails within a living process: dropped, not released.
    drop(claim);
    let recovered = store.recover().unwrap();
    assert_eq!(recovered.len(), 1);
    assert_eq!((&recovered[0].messages[..], recovered[0].holder.pid), (&["msg_mine".to_owned()][..], std::process::id()));
}

#[test]
fn what_is_gone_or_already_complete_needs_nothing() {
    let (room, store) = Room::with(&["ses_1", "ses_2"]);
    killed(&room, "ses_1");
    killed(&room, "ses_2");
    let removed = event("message.removed.1", &json!({"sessionID": "ses_1", "messageID": "msg_run_ses_1"}));
    write(&store, "ses_1", vec![removed]);
    raw(&room.path).execute_batch("PRAGMA foreign_keys = on; DELETE FROM session WHERE id = 'ses_2'").unwrap();
    let recovered = store.recover().unwrap();
    assert_eq!(recovered.len(), 2);
    assert!(recovered.iter().all(|one| one.messages.is_empty() && one.parts.is_empty()), "{recovered:?}");
    assert_eq!(store.recover().unwrap(), []);
}

#[test]
fn a_claim_file_that_cannot_be_read_hides_no_other() {
    let (room, store) = Room::with(&["ses_1"]);
    killed(&room, "ses_1");
    std::fs::write(room.side().join("claims").join("aaa"), b"\xff{not a line").unwrap();
    let recovered = store.recover().unwrap();
    assert_eq!(recovered.iter().map(|one| &*one.holder.session).collect::<Vec<_>>(), ["ses_1"]);
    assert_eq!(std::fs::read_dir(room.side().join("claims")).unwrap().count(), 0);
}
