//! Work that tests give to processes of their own: this test binary, started again.

use super::support::{message, open, raw, user};
use annalist_store::{Create, Durability, Expect, NewEvent, Store};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const TASK: &str = "ANNALIST_TEST_TASK";
const ARGUMENTS: &str = "ANNALIST_TEST_ARGUMENTS";

/// A child process, and the lines it says.
pub struct Worker {
    pub process: Child,
    said: BufReader<ChildStdout>,
    told: ChildStdin,
}

impl Worker {
    pub fn start(task: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child::work", "--ignored", "--nocapture", "--test-threads=1"])
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
            // A line cut off by the process's death was never said.
            let Some(line) = line.strip_suffix('\n') else { continue };
            if let Some((_, said)) = line.split_once("> ") {
                return Some(said.to_owned());
            }
        }
    }

    /// Waits until the worker stands ready.
    pub fn ready(&mut self) {
        assert_eq!(self.line().as_deref(), Some("ready"));
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

pub fn say(text: &str) {
    // Past the harness, which would keep it until the end. One write a line: several threads speak.
    std::io::stdout().lock().write_all(format!("> {text}\n").as_bytes()).unwrap();
}

pub fn wait_for_go() {
    say("ready");
    wait();
}

/// Until the parent says `go`, or is gone.
pub fn wait() {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
#[ignore = "the work of a child process; other tests start it"]
fn work() {
    let Ok(task) = std::env::var(TASK) else { return };
    let arguments = std::env::var(ARGUMENTS).unwrap();
    let arguments: Vec<&str> = arguments.lines().collect();
    match (&*task, &*arguments) {
        ("append", [file, own, shared, count]) => appends(Path::new(file), own, shared, count.parse().unwrap()),
        ("append for ever", [file, sessions @ ..]) => appends_for_ever(Path::new(file), sessions),
        ("make", [file]) => {
            wait_for_go();
            let store = Store::open(Path::new(file), Create::IfMissing).unwrap();
            say(&store.sessions(&annalist_store::query::SessionFilter::default()).unwrap().total.to_string());
        }
        ("open and close", [file, count]) => open_and_close(Path::new(file), count.parse().unwrap()),
        ("write and die", [file, session]) => {
            let store = open(Path::new(file));
            let said = user(session, "msg_last_words", &json!(super::support::THEN));
            super::support::write(&store, session, vec![message(&said)]);
            say("written");
            // The parent kills this process; nothing is closed, and the log file stays.
            wait_for_go();
        }
        (task, arguments) => super::sharing::task::work(task, arguments),
    }
}

fn appends(file: &Path, own: &str, shared: &str, count: usize) {
    let store = open(file);
    wait_for_go();
    for at in 0..count {
        for session in [own, shared] {
            let event = NewEvent::new("session.next.synthetic.1", json!({"sessionID": session, "at": at}).to_string());
            let id = event.id.clone();
            let recorded = store.append(session, Expect::Any, vec![event], Durability::Process).wait().unwrap();
            assert_eq!(recorded[0].id, id);
            say(&format!("{session} {} {id}", recorded[0].seq));
        }
    }
}

fn appends_for_ever(file: &Path, sessions: &[&str]) {
    let store = open(file);
    say("ready");
    std::thread::scope(|scope| {
        for (number, session) in sessions.iter().enumerate() {
            let store = &store;
            scope.spawn(move || {
                // Which messages there are is read from the file: an earlier child may have made some.
                let mut at = raw(file).query_row("SELECT count(*) FROM event", [], |row| row.get::<_, i64>(0)).unwrap();
                loop {
                    at += 1;
                    let id = format!("msg_{session}_{at}");
                    let part = json!({"id": format!("prt_{session}_{at}"), "sessionID": session, "messageID": id,
                        "type": "text", "text": "x".repeat(500)});
                    let events = vec![message(&user(session, &id, &json!(at))), super::support::part(&part, at)];
                    // One session's appends survive a loss of power, the other's only this process: both must survive it.
                    let durability = if number == 0 { Durability::Power } else { Durability::Process };
                    let recorded = store.append(session, Expect::Any, events, durability).wait().unwrap();
                    for event in recorded {
                        say(&format!("{session} {} {}", event.seq, event.id));
                    }
                }
            });
        }
    });
}

fn open_and_close(file: &Path, count: usize) {
    let open_files = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let once = |at: usize| {
        let store = open(file);
        store.sessions(&annalist_store::query::SessionFilter::default()).unwrap();
        // Each tenth time it writes too: the writer's connection has to go as well.
        if at.is_multiple_of(10) {
            let event = NewEvent::new("session.next.synthetic.1", json!({"sessionID": "ses_1"}).to_string());
            store.append("ses_1", Expect::Any, vec![event], Durability::Process).wait().unwrap();
        }
    };
    once(0);
    let before = open_files();
    for at in 1..=count {
        once(at);
    }
    say(&format!("{before} {}", open_files()));
}
