//! Files and folders that are closed to the person who runs the command.
//!
//! To root nothing is closed: when the tests run as root, the command is run as another user through `setpriv`.

use crate::world::{PLAIN, Run, World};
use assert_cmd::cargo::cargo_bin;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const NOBODY: &str = "65534";

struct Closed {
    world: World,
    root: bool,
    shut: Vec<PathBuf>,
}

impl Closed {
    fn new() -> Self {
        let world = World::with_fixture();
        world.write("it.json", world.run(&["export", PLAIN]).ok());
        // The other user has to come as far as the things that are closed.
        for open in ["", "here", "home"] {
            mode(&world.path(open), 0o755);
        }
        let root = fs::metadata(&world.top).unwrap().uid() == 0;
        if root {
            // The folder that it was built in may be closed to others.
            fs::copy(cargo_bin!("annalist"), world.path("annalist")).unwrap();
        }
        Closed { world, root, shut: Vec::new() }
    }

    fn shut(&mut self, name: &str, bits: u32) {
        let path = self.world.path(name);
        mode(&path, bits);
        self.shut.push(path);
    }

    /// Runs the command as somebody to whom modes mean something, and who may not write what others own.
    fn run(&self, arguments: &[&str]) -> Run {
        let world = &self.world;
        let mut command = if self.root {
            let mut command = Command::new("setpriv");
            command
                .args([&format!("--reuid={NOBODY}"), &format!("--regid={NOBODY}"), "--clear-groups", "--"])
                .arg(world.path("annalist"));
            command.env_clear().current_dir(world.path("here"));
            world.dress(&mut |name, value| {
                command.env(name, value);
            });
            command
        } else {
            world.process()
        };
        let output = command.args(arguments).output().expect("as root these tests need setpriv (of util-linux)");
        world.told(&output)
    }
}

impl Drop for Closed {
    // Or the folder could not be removed.
    fn drop(&mut self) {
        self.shut.iter().for_each(|path| mode(path, 0o755));
    }
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
}

#[track_caller]
fn refused(run: &Run, name: &str) {
    let line = run.failure();
    assert!(line.starts_with(&format!("annalist: {name}: Permission denied")), "{line}");
    assert!(line.ends_with("; run this as its owner, or have its permissions changed"), "{line}");
    assert_eq!((run.out.as_str(), run.err.lines().count()), ("", 1), "{}", run.err);
}

#[test]
fn a_database_that_may_not_be_read() {
    let mut closed = Closed::new();
    closed.shut("small.db", 0o000);
    for command in [&["list"][..], &["show", PLAIN], &["export", PLAIN], &["import", "../it.json"]] {
        refused(&closed.run(&[&["--db", "../small.db"], command].concat()), "[TOP]/small.db");
    }
}

#[test]
fn a_folder_that_may_not_be_entered() {
    let mut closed = Closed::new();
    fs::create_dir(closed.world.path("folder")).unwrap();
    fs::rename(closed.world.path("small.db"), closed.world.path("folder/small.db")).unwrap();
    closed.shut("folder", 0o000);
    for command in [&["list"][..], &["show", PLAIN], &["import", "../it.json"], &["db", "path"], &["db", "path", "--json"]] {
        refused(&closed.run(&[&["--db", "../folder/small.db"], command].concat()), "[TOP]/folder/small.db");
    }
}

/// OpenCode's file that cannot be reached is an error. Our own in its place would show an empty history, and take imports.
#[test]
fn opencodes_folder_that_may_not_be_entered() {
    let mut closed = Closed::new();
    fs::create_dir_all(closed.world.path("home/.local/share/opencode")).unwrap();
    fs::rename(closed.world.path("small.db"), closed.world.path("home/.local/share/opencode/opencode.db")).unwrap();
    closed.shut("home/.local/share/opencode", 0o000);
    for command in [&["list"][..], &["import", "../it.json"], &["db", "path"]] {
        refused(&closed.run(command), "[TOP]/home/.local/share/opencode/opencode.db");
    }
    assert!(!closed.world.path("home/.local/share/annalist").exists());
}

#[test]
fn a_document_that_may_not_be_read() {
    let mut closed = Closed::new();
    closed.shut("it.json", 0o000);
    refused(&closed.run(&["--db", "../new.db", "import", "../it.json"]), "../it.json");
    assert!(!closed.world.path("new.db").exists());
}

/// Reading works in a folder where nothing can be written; writing says why it does not.
#[test]
fn a_folder_that_may_not_be_written() {
    let mut closed = Closed::new();
    fs::create_dir(closed.world.path("folder")).unwrap();
    fs::rename(closed.world.path("small.db"), closed.world.path("folder/small.db")).unwrap();
    closed.shut("folder/small.db", 0o444);
    closed.shut("folder", 0o555);
    let database = ["--db", "../folder/small.db"];
    let run = |arguments: &[&str]| closed.world.unchanged(|| closed.run(&[&database, arguments].concat()));
    assert_eq!(run(&["list", "--all"]).ok().lines().count(), 20);
    assert!(run(&["show", PLAIN]).ok().contains("very well"));
    assert!(run(&["export", PLAIN]).ok().ends_with("}\n"));
    let told = run(&["import", "../it.json"]);
    assert_eq!(
        told.failure(),
        "annalist: [TOP]/folder/small.db: opened for reading only: the file or its folder cannot be written; reading works, and \
         --db names another file to write to"
    );
    let told = closed.world.unchanged(|| closed.run(&["--db", "../folder/new.db", "import", "../it.json"]));
    let line = told.failure();
    assert!(line.starts_with("annalist: [TOP]/folder") && line.contains("Permission denied"), "{line}");
}
