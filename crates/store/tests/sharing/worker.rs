//! Work that tests give to processes of their own: this test binary, started again.

use super::room::{answer, event, open, part, raw, user, write};
use annalist_store::{ClaimError, Create, Durability, Expect, Store};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const TASK: &str = "ANNALIST_SHARING_TASK";
const ARGUMENTS: &str = "ANNALIST_SHARING_ARGUMENTS";

/// A child process, and the lines it says.
pub struct Worker {
    pub process: Child,
    said: BufReader<ChildStdout>,
    told: ChildStdin,
}

impl Worker {
    pub fn start(task: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker::work", "--ignored", "--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .env(ARGUMENTS, arguments.join("\n"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let told = process.stdin.take().unwrap();
        Worker { process, said, told }
    }

    /// The next thing that the task said; nothing once it has ended. What the test harness prints is left out.
    pub fn line(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.said.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some((_, said)) = line.strip_suffix('\n').and_then(|line| line.split_once("> ")) {
                return Some(said.to_owned());
            }
        }
    }

    pub fn expect(&mut self, said: &str) {
        assert_eq!(self.line().as_deref(), Some(said));
    }

    pub fn go(&mut self) {
        self.told.write_all(b"go\n").unwrap();
    }

    /// SIGKILL, and the end of it.
    pub fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// What is left to be said. The task must succeed.
    pub fn finish(mut self) -> Vec<String> {
        let rest = std::iter::from_fn(|| self.line()).collect();
        let status = self.process.wait().unwrap();
        assert!(status.success(), "the child process failed: {status}");
        rest
    }
}

fn say(text: &str) {
    // Past the harness, which would keep it until the end.
    std::io::stdout().lock().write_all(format!("> {text}\n").as_bytes()).unwrap();
}

fn wait() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

fn wait_for_go() {
    say("ready");
    wait();
}

#[test]
#[ignore = "the work of a child process; other tests start it"]
fn work() {
    let Ok(task) = std::env::var(TASK) else { return };
    let arguments = std::env::var(ARGUMENTS).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    match (&*task, &*arguments) {
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
        ("append", [file, session, count]) => append(Path::new(file), session, count.parse().unwrap()),
        ("make", [file]) => {
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
