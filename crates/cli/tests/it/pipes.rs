//! Where the output goes: pipes that are closed, slow or full, and disks that are.

use crate::world::{PLAIN, World};
use serde_json::json;
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;

const READING: [&[&str]; 9] = [
    &["list", "--all"],
    &["list", "--all", "--json"],
    &["show", PLAIN],
    &["show", PLAIN, "--json"],
    &["export", PLAIN],
    &["db", "path"],
    &["db", "path", "--json"],
    &["list", "--help"],
    &["--version"],
];

/// A pipe nobody reads from any more.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// `annalist list | head -1`: the reader has what it wanted.
#[test]
fn a_closed_pipe_ends_quietly() {
    let world = World::with_fixture();
    for arguments in READING {
        let mut command = world.process();
        command.args(["--db", "../small.db"]).args(arguments).stdout(closed()).stderr(Stdio::piped());
        let run = world.told(&world.unchanged(|| command.output().unwrap()));
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
        assert!(!run.err.contains("annalist:"), "{arguments:?}: {}", run.err);
    }
}

/// An import is not done because somebody reads of it.
#[test]
fn a_closed_pipe_does_not_stop_an_import() {
    let world = World::with_fixture();
    let mut command = world.process();
    command.args(["--db", "../new.db", "import"]);
    for id in ["dd1bcd", "dd1bc8", "dd1bc3"] {
        command.arg(world.write(&format!("{id}.json"), world.run(&["export", id]).ok()));
    }
    let run = world.told(&command.stdout(closed()).stderr(closed()).output().unwrap());
    assert_eq!(run.code, 0);
    assert_eq!(world.run_on("../new.db", &["list", "--json"]).json().as_array().unwrap().len(), 3);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let world = World::with_fixture();
    for arguments in READING {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut command = world.process();
        command.args(["--db", "../small.db"]).args(arguments).stdout(full).stderr(Stdio::piped());
        let run = world.told(&world.unchanged(|| command.output().unwrap()));
        assert!(run.failure().starts_with("annalist: cannot write the output: No space left on device"), "{}", run.err);
    }
}

/// A database with a session whose document has over 20 MB, and that document in a file.
fn large(world: &World) -> PathBuf {
    let info = world.run(&["export", PLAIN]).json()["info"].clone();
    let messages: Vec<_> = (0..30)
        .map(|n| {
            let id = format!("msg_large{n:02}");
            let part = json!({"id": format!("prt_large{n:02}"), "type": "text", "text": format!("{n} «é» ").repeat(80_000)});
            let info = json!({"id": id, "role": "user", "time": {"created": n}, "agent": "build",
                              "model": {"providerID": "p", "modelID": "m"}});
            json!({"info": info, "parts": [part]})
        })
        .collect();
    let document = world.write("large.json", json!({"info": info, "messages": messages}).to_string());
    world.run_on("../large.db", &["import", document.to_str().unwrap()]).ok();

    let whole = world.path("whole.json");
    let mut command = world.process();
    command.args(["--db", "../large.db", "export", PLAIN]).stdout(File::create(&whole).unwrap()).stderr(Stdio::null());
    assert!(command.status().unwrap().success());
    assert!(fs::metadata(&whole).unwrap().len() > 20_000_000);
    whole
}

/// Takes a little at a time, letting others run in between, so that the pipe is full all the while.
fn slowly(mut from: impl Read) -> Vec<u8> {
    let mut all = Vec::new();
    let mut some = [0; 1500];
    loop {
        let read = from.read(&mut some).unwrap();
        if read == 0 {
            return all;
        }
        all.extend_from_slice(&some[..read]);
        thread::yield_now();
    }
}

/// Making the document is most of the time, so one serves for all that is tried with it.
#[test]
fn a_large_document_arrives_whole() {
    let world = World::with_fixture();
    let whole = large(&world);
    a_slow_reader(&world, &whole);
    a_reader_that_says_not_now(&world, &whole);
    from_a_pipe_that_can_be_read_once(&world, whole);
}

fn a_slow_reader(world: &World, whole: &Path) {
    for command in [&["export", PLAIN][..], &["show", PLAIN, "--json"]] {
        let mut child = world
            .process()
            .args(["--db", "../large.db"])
            .args(command)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let received = slowly(child.stdout.take().unwrap());
        assert!(child.wait().unwrap().success());
        if command[0] == "export" {
            assert!(received == fs::read(whole).unwrap(), "{} bytes arrived", received.len());
        } else {
            let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
            assert!(value(&received) == value(&fs::read(whole).unwrap()));
        }
    }
}

/// A program that made its standard output non-blocking hands that on to its children; "not now" is no failure.
fn a_reader_that_says_not_now(world: &World, whole: &Path) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut command = world.process();
    command.args(["--db", "../large.db", "export", PLAIN]).stdout(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    // Our copy of the other end is in the command; the end of the stream shows only when it is gone.
    drop(command);
    let received = slowly(ours);
    assert!(child.wait().unwrap().success());
    assert!(received == fs::read(whole).unwrap(), "{} bytes arrived", received.len());
}

/// And goes in again.
fn from_a_pipe_that_can_be_read_once(world: &World, whole: PathBuf) {
    let (reader, writer) = std::io::pipe().unwrap();
    let copy = thread::spawn(move || std::io::copy(&mut File::open(whole).unwrap(), &mut { writer }).unwrap());
    let mut command = world.process();
    command.args(["--db", "../again.db", "import", "/dev/stdin"]).stdin(reader);
    assert_eq!(world.told(&command.output().unwrap()).ok(), format!("Imported session: {PLAIN}\n"));
    assert!(copy.join().unwrap() > 20_000_000);
}
