//! What the processes of these tests do.

use super::room::{answer, part, user};
use crate::child::{say, wait, wait_for_go};
use crate::support::{event, open, raw, write};
use annalist_store::{ClaimError, Create, Durability, Expect, Store};
use serde_json::json;
use std::path::Path;

pub fn work(task: &str, arguments: &[&str]) {
    match (task, arguments) {
        ("claim", [file, session]) => claim(Path::new(file), session),
        ("run", [file, session]) => run(Path::new(file), session),
        ("recover", [file]) => {
            let store = open(Path::new(file));
            wait_for_go();
            for recovered in store.recover().unwrap() {
                say(&format!("{} {} {}", recovered.holder.session, recovered.messages.join(","), recovered.parts.join(",")));
            }
        }
        ("write and stay", [file, session]) => {
            let store = open(Path::new(file));
            write(&store, session, vec![user(session, "msg_ours", 1)]);
            wait_for_go();
        }
        ("foreign", [file]) => {
            let db = raw(Path::new(file));
            db.query_row("SELECT count(*) FROM session", [], |row| row.get::<_, i64>(0)).unwrap();
            wait_for_go();
        }
        ("hold", [file, seconds]) => {
            let db = raw(Path::new(file));
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            wait_for_go();
            std::thread::sleep(std::time::Duration::from_secs(seconds.parse().unwrap()));
            db.execute_batch("COMMIT").unwrap();
        }
        ("append to one", [file, session, count]) => append(Path::new(file), session, count.parse().unwrap()),
        ("make and append", [file]) => {
            wait_for_go();
            let store = Store::open(Path::new(file), Create::IfMissing).unwrap();
            let event = event("session.next.synthetic.1", &json!({"sessionID": "ses_all"}));
            let recorded = store.append("ses_all", Expect::Any, vec![event], Durability::Power).wait().unwrap();
            say(&recorded[0].seq.to_string());
        }
        other => panic!("no task {other:?}"),
    }
}

/// Asks for a claim and stays, with it or without.
fn claim(file: &Path, session: &str) {
    let store = open(file);
    wait_for_go();
    let claim = match store.claim(session) {
        Ok(claim) => {
            say("given");
            Some(claim)
        }
        Err(ClaimError::Held { by, .. }) => {
            say(&format!("held by {}", by.map(|by| by.pid).unwrap_or_default()));
            None
        }
        Err(other) => panic!("{other:?}"),
    };
    wait();
    drop(claim);
}

/// Runs a session until it is killed, in the middle of an answer: a call that waits, two that run, one that is done, text and
/// thoughts that stream.
fn run(file: &Path, session: &str) {
    let store = open(file);
    let claim = store.claim(session).unwrap();
    let id = |name: &str| format!("{name}_{session}");
    let message = id("msg_run");
    claim.answering(&message).unwrap();
    let tool = |name: &str, state| {
        part(
            session,
            &message,
            &id(name),
            11,
            json!({"type": "tool", "callID": name, "tool": "bash", "state": state, "extra": 1.0}),
        )
    };
    let mut events = vec![
        user(session, &id("msg_user"), 10),
        answer(session, &message, 11),
        tool("prt_pending", json!({"status": "pending", "input": {}, "raw": ""})),
        tool("prt_running", json!({"status": "running", "input": {"a": 1}, "time": {"start": 12}})),
        tool(
            "prt_noted",
            json!({"status": "running", "input": {}, "title": "t", "metadata": {"output": "so far"}, "time": {"start": 13}}),
        ),
        tool(
            "prt_done",
            json!({"status": "completed", "input": {}, "output": "o", "title": "", "metadata": {}, "time": {"start": 1, "end": 2}}),
        ),
    ];
    for (name, text) in [
        ("prt_text", json!({"type": "text", "text": "half an ans", "time": {"start": 14}})),
        ("prt_thought", json!({"type": "reasoning", "text": "hm", "time": {"start": 14, "end": 15}})),
        ("prt_thinking", json!({"type": "reasoning", "text": "h", "time": {"start": 16}})),
        ("prt_plain", json!({"type": "text", "text": "no time"})),
    ] {
        events.push(part(session, &message, &id(name), 14, text));
    }
    let owned = session.to_owned();
    let done = claim.write(Durability::Process, move |tx| {
        for event in events {
            tx.append(&owned, Expect::Any, event)?;
        }
        Ok(())
    });
    done.wait().unwrap();
    wait_for_go();
    // Told to go on: it ends in order.
    claim.release();
}

fn append(file: &Path, session: &str, count: usize) {
    let store = open(file);
    wait_for_go();
    let mut pending = std::collections::VecDeque::new();
    for at in 0..count {
        let event = event("session.next.synthetic.1", &json!({"sessionID": session, "at": at}));
        pending.push_back(store.append(session, Expect::Any, vec![event], Durability::Process));
        if pending.len() == 32 {
            said(pending.pop_front().unwrap());
        }
    }
    pending.into_iter().for_each(said);
}

fn said(pending: annalist_store::Pending<Vec<annalist_store::Recorded>>) {
    let recorded = pending.wait().unwrap();
    say(&format!("{} {}", recorded[0].id, recorded[0].seq));
}
