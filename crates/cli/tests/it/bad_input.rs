//! Wrong input of every kind: one clear line with the file and the next step, and nothing written.

use crate::world::{PLAIN, World};
use std::fmt::Write as _;
use std::fs;

/// Runs each line on a world of its own and puts what is said into one text.
fn table(lines: &[&[&str]], code: i32) -> String {
    let mut told = String::new();
    for arguments in lines {
        let world = bad_world();
        let run = world.unchanged(|| world.outcome(world.command().args(*arguments)));
        assert_eq!((run.code, run.out.as_str()), (code, ""), "{arguments:?}: {}", run.err);
        if code == 1 {
            run.failure();
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
        let about = arguments.iter().map(|argument| format!("{argument:?}")).collect::<Vec<_>>().join(" ");
        write!(told, "{about}\n{}\n", run.err).unwrap();
    }
    told
}

fn bad_world() -> World {
    let world = World::with_fixture();
    world.write("zero.db", "");
    world.write("text.db", "no database".repeat(1000));
    world.write("short.db", "SQLite");
    world.write("zeros.db", [0; 8192]);
    world.sqlite("other.db").execute_batch("CREATE TABLE t (a)").unwrap();
    fs::create_dir(world.path("folder")).unwrap();
    world.write("empty.json", "");
    world.write("blank.json", " \n");
    world.write("text.json", "Dear diary,\n");
    world.write("cut.json", "{\"info\": {\"id\": \"ses_1\",\n  \"title\": \"é");
    world.write("two.json", "{} {}");
    world.write("bytes.json", b"{\"a\": \"\xff\"}");
    world.write("array.json", "[]");
    world.write("null.json", "null");
    world.write("number.json", "12");
    world.write("object.json", "{}");
    world.write("bare.json", r#"{"info": {}, "messages": []}"#);
    world.write("id.json", r#"{"info": {"id": "msg_1"}, "messages": []}"#);
    world.write("little.json", r#"{"info": {"id": "ses_1"}, "messages": []}"#);
    world.write("info.json", r#"{"info": [], "messages": []}"#);
    world.write("messages.json", r#"{"info": {"id": "ses_1"}, "messages": {}}"#);
    world.write("message.json", r#"{"info": {"id": "ses_1"}, "messages": [7]}"#);
    world.write("part.json", r#"{"info": {"id": "ses_1"}, "messages": [{"info": {"id": "msg_1"}, "parts": [{}]}]}"#);
    world.write("deep.json", "[".repeat(100_000));
    world
}

#[test]
fn the_database() {
    let mut told = String::new();
    for file in [
        "../none.db",
        "../none/deep.db",
        "../zero.db",
        "../text.db",
        "../short.db",
        "../zeros.db",
        "../other.db",
        "../folder",
        "../folder/",
        "../text.db/below.db",
    ] {
        told += &table(&[&["--db", file, "list"]], 1);
        // The others say the same of it.
        for command in [&["list", "--all", "--json"][..], &["show", PLAIN], &["show", "latest", "--json"], &["export", PLAIN]] {
            table(&[&[&["--db", file], command].concat()], 1);
        }
    }
    insta::assert_snapshot!(told);
}

/// What cannot be read is not written to either, and never replaced.
#[test]
fn the_database_of_an_import() {
    let document = bad_world().run(&["export", PLAIN]).ok().to_owned();
    for file in ["zero.db", "text.db", "short.db", "zeros.db", "other.db", "folder", "text.db/below.db"] {
        let world = bad_world();
        let document = world.write("it.json", &document);
        let file = format!("../{file}");
        let run = world.unchanged(|| world.run_on(&file, &["import", document.to_str().unwrap()]));
        assert!(run.failure().starts_with(&format!("annalist: [TOP]/{}", &file[3..])), "{}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{}", run.err);
    }
}

/// Every command that changes something or looks into the log says it in a line, and leaves nothing behind.
#[test]
fn the_database_of_the_others() {
    for file in [
        "none.db",
        "none/deep.db",
        "zero.db",
        "text.db",
        "short.db",
        "zeros.db",
        "other.db",
        "folder",
        "folder/",
        "text.db/below.db",
    ] {
        for command in [
            &["rename", PLAIN, "t"][..],
            &["archive", PLAIN],
            &["unarchive", PLAIN],
            &["fork", PLAIN],
            &["revert", PLAIN, "msg_1"],
            &["revert", PLAIN, "--commit"],
            &["unrevert", PLAIN],
            &["delete", PLAIN, "--yes", "--export", "kept"],
            &["verify"],
            &["verify", PLAIN, "--json"],
            &["rebuild", "--into", "../rebuilt.db"],
            &["compact"],
            &["compact", "--dry-run", "--json"],
            &["compact", "--reclaim", "--force"],
        ] {
            let told = table(&[&[&["--db", &format!("../{file}")], command].concat()], 1);
            let line = told.lines().nth(1).unwrap();
            let named = line.strip_prefix(&format!("annalist: [TOP]/{}", file.trim_end_matches('/')));
            assert!(named.is_some_and(|rest| rest.contains("; ") || rest.contains("not an OpenCode database")), "{told}");
        }
    }
}

#[test]
fn the_document() {
    let files = [
        "none.json",
        "empty.json",
        "blank.json",
        "text.json",
        "cut.json",
        "two.json",
        "bytes.json",
        "array.json",
        "null.json",
        "number.json",
        "object.json",
        "bare.json",
        "id.json",
        "little.json",
        "info.json",
        "messages.json",
        "message.json",
        "part.json",
        "deep.json",
        "folder",
        "small.db",
    ];
    let files: Vec<String> = files.iter().map(|file| format!("../{file}")).collect();
    let mut told = String::new();
    for file in files.iter().map(String::as_str).chain(["https://opncd.ai/share/abc"]) {
        told += &table(&[&["--db", "../new.db", "import", file]], 1);
        table(&[&["--db", "../small.db", "import", file]], 1);
    }
    insta::assert_snapshot!(told);
}

#[test]
fn the_document_on_standard_input() {
    for (content, problem) in [
        ("", "empty"),
        ("[]", "not a session document: it is an array"),
        ("{", "not JSON: "),
        ("{\n\n  \"a\": é", "not JSON: not a value in line 3, column 8"),
    ] {
        let world = World::with_fixture();
        let run =
            world.unchanged(|| world.outcome(world.command().args(["--db", "../new.db", "import", "-"]).write_stdin(content)));
        let told = run.failure();
        assert!(told.starts_with(&format!("annalist: standard input: {problem}")), "{told}");
    }
    let run = World::with_fixture().run(&["import", "-", "-"]);
    assert_eq!(run.failure(), "annalist: standard input: can be read only once; name it once");
}

#[test]
fn the_session() {
    let mut told = String::new();
    for command in ["show", "export"] {
        told += &table(&[&["--db", "../small.db", command, "ses_none"], &["--db", "../small.db", command, "dd1bb"]], 1);
    }
    for command in [&["rename"][..], &["archive"], &["unarchive"], &["fork"], &["revert"], &["unrevert"], &["delete"], &["verify"]]
    {
        for id in ["ses_none", "dd1bb"] {
            let rest: &[&str] = match command[0] {
                "rename" => &["t"],
                "revert" => &["msg_1", "--commit"],
                "delete" => &["--yes", "--export", "kept"],
                _ => &[],
            };
            let said = table(&[&[&["--db", "../small.db"], command, &[id], rest].concat()], 1);
            // The line is that of `show`.
            assert!(told.contains(said.lines().nth(1).unwrap()), "{said}");
        }
    }
    // A name is shown so that it cannot steer the terminal.
    told += &table(&[&["--db", "../small.db", "show", "a\nb\u{1b}[31m"]], 1);
    insta::assert_snapshot!(told);
}

#[test]
fn the_command_line() {
    insta::assert_snapshot!(table(
        &[
            &["bogus"],
            &["lst"],
            &["list", "--bogus"],
            &["list", "extra"],
            &["list", "--limit"],
            &["list", "--limit", "x"],
            &["list", "--limit", "-1"],
            &["list", "--limit", "4294967296"],
            &["show"],
            &["show", ""],
            &["show", "a", "b"],
            &["show", "a", "--last", "1.5"],
            &["show", "a", "--last", "1", "--all"],
            &["export"],
            &["export", ""],
            &["import"],
            &["import", "--legacy", "../folder", "../little.json"],
            &["rename", "a"],
            &["rename", "a", ""],
            &["fork", "a", "--before", ""],
            &["revert", "a"],
            &["revert", "a", "--part", "prt_1"],
            &["delete"],
            &["delete", "a", "b"],
            &["rebuild"],
            &["compact", "--force"],
            &["compact", "--reclaim", "--dry-run"],
            &["db", "bogus"],
            &["--db", "", "list"],
            &["--db"],
        ],
        2
    ));
}

#[cfg(unix)]
#[test]
fn arguments_that_are_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_fixture();
    let odd = OsStr::from_bytes(b"\xff");
    let run = world.unchanged(|| world.outcome(world.command().args(["--db", "../small.db", "show"]).arg(odd)));
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("invalid UTF-8"), "{}", run.err);
    let run = world.unchanged(|| world.outcome(world.command().args(["--db", "../new.db", "import"]).arg(odd)));
    assert_eq!(run.failure(), "annalist: \u{fffd}: no such file; check the path");
}

/// Devices and pipes are no empty files: the advice to remove those would be bad.
#[cfg(target_os = "linux")]
#[test]
fn devices() {
    for device in ["/dev/null", "/dev/zero", "/dev/full"] {
        for command in ["list", "import"] {
            let world = World::with_fixture();
            let document = world.write("it.json", world.run(&["export", PLAIN]).ok());
            let arguments = if command == "list" { vec!["list"] } else { vec!["import", document.to_str().unwrap()] };
            let run = world.unchanged(|| world.run_on(device, &arguments));
            assert_eq!(run.failure(), format!("annalist: {device}: not a file; name a database file with --db"));
        }
    }
}

/// A name may hold anything; the line stays one line.
#[cfg(unix)]
#[test]
fn names_cannot_steer_the_terminal() {
    let world = World::new();
    let run = world.run_on("../a\nb\u{1b}[31m.db", &["list"]);
    assert!(run.failure().starts_with("annalist: [TOP]/a\u{fffd}b\u{fffd}[31m.db: no such database"), "{}", run.err);
}
