//! Which database file is used.

use crate::world::{Run, World};
use assert_cmd::Command;
use serde_json::json;
use std::fs;

/// Runs `db path --json` with these variables.
fn json(world: &World, variables: &[(&str, &str)], arguments: &[&str]) -> serde_json::Value {
    let run = run(world, variables, &[arguments, &["db", "path", "--json"]].concat());
    assert_eq!(run.err, "");
    run.json()
}

fn run(world: &World, variables: &[(&str, &str)], arguments: &[&str]) -> Run {
    let mut command: Command = world.command();
    command.envs(variables.iter().copied()).args(arguments);
    world.unchanged(|| world.outcome(&mut command))
}

/// From the most particular to the most general.
#[test]
fn the_order() {
    let world = World::new();
    let usual = "[TOP]/home/.local/share";
    let at = |path: &str, source: &str| json!({"path": path, "source": source, "exists": false, "siblings": []});
    let all = [("ANNALIST_DB", "/a/ours.db"), ("OPENCODE_DB", "/a/theirs.db")];

    assert_eq!(json(&world, &all, &["--db", "/a/given.db"]), at("/a/given.db", "--db"));
    assert_eq!(json(&world, &all, &[]), at("/a/ours.db", "ANNALIST_DB"));
    assert_eq!(json(&world, &all[1..], &[]), at("/a/theirs.db", "OPENCODE_DB"));
    assert_eq!(json(&world, &[], &[]), at(&format!("{usual}/annalist/annalist.db"), "annalist"));
    let file = world.copy("opencode-small.db", "home/.local/share/opencode/opencode.db");
    let theirs = json!({"path": format!("{usual}/opencode/opencode.db"), "source": "opencode", "exists": true, "siblings": []});
    assert_eq!(json(&world, &[], &[]), theirs);
    // An empty variable is none.
    assert_eq!(json(&world, &[("ANNALIST_DB", ""), ("OPENCODE_DB", ""), ("XDG_DATA_HOME", "")], &[]), theirs);
    // Neither file there: ours. Ours there and theirs not: ours.
    fs::remove_file(file).unwrap();
    world.copy("opencode-empty.db", "home/.local/share/annalist/annalist.db");
    assert_eq!(json(&world, &[], &[])["exists"], true);
}

/// Where each command's own options stand, `--db` is understood before and behind them.
#[test]
fn the_option_may_stand_anywhere() {
    let world = World::with_fixture();
    for arguments in [
        ["--db", "../small.db", "list", "--all"],
        ["list", "--db", "../small.db", "--all"],
        ["list", "--all", "--db", "../small.db"],
    ] {
        assert_eq!(run(&world, &[], &arguments).ok().lines().count(), 20);
    }
}

/// A path from here is made absolute: it may be handed on to a program elsewhere, and SQLite has names of its own.
#[test]
fn relative_paths() {
    let world = World::with_fixture();
    assert_eq!(json(&world, &[], &["--db", "x.db"])["path"], "[TOP]/here/x.db");
    assert_eq!(json(&world, &[("ANNALIST_DB", "x.db")], &[])["path"], "[TOP]/here/x.db");
    // As the reference reads it.
    assert_eq!(json(&world, &[("OPENCODE_DB", "x.db")], &[])["path"], "[TOP]/home/.local/share/opencode/x.db");
    let elsewhere = world.path("data");
    let variables = [("OPENCODE_DB", "x.db"), ("XDG_DATA_HOME", elsewhere.to_str().unwrap())];
    assert_eq!(json(&world, &variables, &[])["path"], "[TOP]/data/opencode/x.db");

    for name in ["file:../small.db", "file:small.db?mode=memory"] {
        let told = run(&world, &[], &["--db", name, "list"]);
        assert!(told.failure().contains("no such database"), "{}", told.err);
    }
}

#[test]
fn the_data_folder() {
    let world = World::new();
    let elsewhere = world.path("data");
    let elsewhere = elsewhere.to_str().unwrap();
    assert_eq!(json(&world, &[("XDG_DATA_HOME", elsewhere)], &[])["path"], "[TOP]/data/annalist/annalist.db");
    world.copy("opencode-empty.db", "data/opencode/opencode.db");
    assert_eq!(json(&world, &[("XDG_DATA_HOME", elsewhere)], &[])["path"], "[TOP]/data/opencode/opencode.db");
    // The specification has relative ones ignored.
    assert_eq!(json(&world, &[("XDG_DATA_HOME", "data")], &[])["path"], "[TOP]/home/.local/share/annalist/annalist.db");
}

#[test]
fn without_a_home() {
    let world = World::with_fixture();
    for home in ["", "relative"] {
        let told = run(&world, &[("HOME", home)], &["list"]);
        assert!(told.failure().ends_with("so there is no usual place for the database; name one with --db"), "{}", told.err);
    }
    let told = world.outcome(world.command().env_remove("HOME").args(["db", "path"]));
    assert!(told.failure().contains("HOME"), "{}", told.err);
    run(&world, &[("HOME", "")], &["--db", "../small.db", "list"]).ok();
    run(&world, &[("HOME", ""), ("OPENCODE_DB", "/a/b.db")], &["db", "path"]).ok();
}

#[test]
fn a_database_in_memory_is_refused() {
    let world = World::with_fixture();
    let document = world.write("it.json", world.run(&["export", "latest"]).ok());
    let document = document.to_str().unwrap();
    for (variables, option, who) in [
        (&[("OPENCODE_DB", ":memory:")][..], &[][..], "OPENCODE_DB"),
        (&[("ANNALIST_DB", ":memory:")], &[], "ANNALIST_DB"),
        (&[], &["--db", ":memory:"], "--db"),
    ] {
        for command in [&["list"][..], &["import", document], &["db", "path"]] {
            let told = run(&world, variables, &[option, command].concat());
            assert_eq!(
                told.failure(),
                format!("annalist: {who} is \":memory:\", a database that only its own process sees; name a file with --db")
            );
        }
    }
}

/// OpenCode's release channels keep files of their own; somebody may be looking for what is in one of them.
#[test]
fn files_of_other_channels_are_mentioned() {
    let world = World::new();
    let folder = "home/.local/share/opencode";
    world.copy("opencode-small.db", &format!("{folder}/opencode-dev.db"));
    world.copy("opencode-small.db", &format!("{folder}/opencode-next.db"));
    for other in ["opencode-dev.db-wal", "opencode.db.bak", "notes.db", "opencoder.db"] {
        world.write(&format!("{folder}/{other}"), "");
    }
    let hint = "Other OpenCode databases here, to be named with --db: \
                [TOP]/home/.local/share/opencode/opencode-dev.db, [TOP]/home/.local/share/opencode/opencode-next.db";
    let told = run(&world, &[], &["list"]);
    assert_eq!(
        told.failure(),
        format!(
            "annalist: [TOP]/home/.local/share/annalist/annalist.db: no such database; OpenCode has none at its usual place \
             either; name one with --db, or import a session to make one. {hint}"
        )
    );
    world.copy("opencode-small.db", &format!("{folder}/opencode.db"));
    let told = run(&world, &[], &["list"]);
    told.ok();
    assert_eq!(told.err, format!("Folders outside of git: no sessions; 19 more with --all.\n{hint}\n"));
    let told = run(&world, &[("OPENCODE_DB", "opencode-dev.db")], &["db", "path"]);
    assert_eq!(told.ok(), "[TOP]/home/.local/share/opencode/opencode-dev.db\n");
    assert_eq!(
        told.err,
        "Named by OPENCODE_DB.\nOther OpenCode databases here, to be named with --db: \
         [TOP]/home/.local/share/opencode/opencode-next.db, [TOP]/home/.local/share/opencode/opencode.db\n"
    );
    // Whoever names a file means that file.
    assert!(!run(&world, &[], &["--db", "x.db", "db", "path"]).err.contains("Other"));
}

#[test]
fn says_why_it_is_this_file() {
    let world = World::new();
    let told = run(&world, &[], &["db", "path"]);
    assert_eq!(told.ok(), "[TOP]/home/.local/share/annalist/annalist.db\n");
    assert_eq!(
        told.err,
        "Annalist's own: OpenCode has none at its usual place. There is no such file yet; the first import makes it.\n"
    );
    world.copy("opencode-small.db", "home/.local/share/opencode/opencode.db");
    assert_eq!(run(&world, &[], &["db", "path"]).err, "OpenCode's file at its usual place.\n");
}

/// A link to a disk that is not there is OpenCode's file all the same. To take our own instead would show an empty history
/// and send imports elsewhere.
#[cfg(unix)]
#[test]
fn a_link_to_nowhere_is_still_opencodes_file() {
    let world = World::with_fixture();
    let document = world.write("it.json", world.run(&["export", "latest"]).ok());
    fs::create_dir_all(world.path("home/.local/share/opencode")).unwrap();
    std::os::unix::fs::symlink("/no/such/disk.db", world.path("home/.local/share/opencode/opencode.db")).unwrap();
    for command in [&["list"][..], &["import", document.to_str().unwrap()]] {
        let told = run(&world, &[], command);
        assert!(told.failure().contains("opencode/opencode.db: "), "{}", told.err);
    }
}

/// `"$(annalist db path)"` has to name the file, whatever its name.
#[cfg(unix)]
#[test]
fn a_path_that_is_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_fixture();
    let path = world.top.join(OsStr::from_bytes(b"sm\xffall.db"));
    fs::rename(world.path("small.db"), &path).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = world.command();
        command.arg("--db").arg(&path).args(arguments);
        command
    };
    let output = command(&["db", "path"]).output().unwrap();
    assert_eq!(output.stdout, [path.as_os_str().as_bytes(), b"\n"].concat());
    assert_eq!(world.outcome(&mut command(&["list", "--all"])).ok().lines().count(), 20);
    let told = world.outcome(&mut command(&["db", "path", "--json"]));
    assert!(told.failure().contains("not UTF-8"), "{}", told.err);
}

/// A folder that the record cannot hold, or that is gone, stops only what depends on it.
#[cfg(unix)]
#[test]
fn a_current_folder_that_is_of_no_use() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let world = World::with_fixture();
    let document = world.write("it.json", world.run(&["export", "latest"]).ok());
    let folder = world.top.join(OsStr::from_bytes(b"h\xffre"));
    fs::create_dir(&folder).unwrap();
    let command = |arguments: &[&str]| {
        let mut command = world.command();
        command.current_dir(&folder).args(["--db", "../small.db"]).args(arguments);
        world.unchanged(|| world.outcome(&mut command))
    };
    assert!(command(&["list"]).failure().ends_with("; `annalist list --all` works everywhere"));
    assert!(command(&["show", "latest"]).failure().ends_with("; name the session by its id"));
    assert!(command(&["import", document.to_str().unwrap()]).failure().ends_with("; import from within another folder"));
    assert_eq!(command(&["list", "--all"]).ok().lines().count(), 20);
    command(&["show", "dd1bcd"]).ok();
}
