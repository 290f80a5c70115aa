//! A world for one test: what the command sees of the machine is made here.

use assert_cmd::Command;
use assert_cmd::cargo::{cargo_bin, cargo_bin_cmd};
use rusqlite::Connection;
use serde_json::Value;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The project that the fixture's sessions belong to.
pub const PROJECT: &str = "cbc4ea453c886e91d60bb89e630e78c20c465e52";
/// Sessions of the fixture.
pub const PLAIN: &str = "ses_dd1bcdbb1ffetNdn7aKL3JxZ5y";
pub const KILLED: &str = "ses_dd1bafc32ffecZTBvB6nv7BhzX";
pub const MANY_PARTS: &str = "ses_dd1bb2031ffe9lwzHIYxhWXBCY";
pub const TODO: &str = "ses_dd1bc3972ffeixiVRJ07MA1Tmt";

pub struct World {
    // Removed with the world.
    _folder: TempDir,
    /// Everything is below it; links are resolved.
    pub top: PathBuf,
}

/// What a run of the command gave.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl World {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let top = folder.path().canonicalize().unwrap();
        for name in ["home", "here"] {
            fs::create_dir(top.join(name)).unwrap();
        }
        World { _folder: folder, top }
    }

    /// A world with a copy of the fixture as `small.db`.
    pub fn with_fixture() -> Self {
        let world = World::new();
        world.copy("opencode-small.db", "small.db");
        world
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.top.join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// Copies a fixture.
    pub fn copy(&self, fixture: &str, name: &str) -> PathBuf {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/fixtures").join(fixture);
        self.write(name, fs::read(from).unwrap())
    }

    /// Makes the current folder a repository that remembers a project's id.
    pub fn in_project(&self, id: &str) {
        self.git("init -q");
        self.write("here/.git/opencode", id);
    }

    /// Runs git in the current folder.
    pub fn git(&self, arguments: &str) {
        let mut git = std::process::Command::new("git");
        self.dress(&mut |name, value| {
            git.env(name, value);
        });
        let git = git.args(arguments.split(' ')).current_dir(self.path("here"));
        assert!(git.status().expect("these tests need git").success(), "git {arguments}");
    }

    /// The environment of a program in this world, beside which it has none.
    pub fn dress(&self, set: &mut dyn FnMut(&str, &OsStr)) {
        set("HOME", self.path("home").as_os_str());
        set("TZ", "UTC".as_ref());
        set("LC_ALL", "C.UTF-8".as_ref());
        set("PATH", &std::env::var_os("PATH").unwrap_or_default());
        set("GIT_CONFIG_NOSYSTEM", "1".as_ref());
        // The folder for temporary files may itself be in a repository.
        set("GIT_CEILING_DIRECTORIES", self.top.as_os_str());
        for role in ["AUTHOR", "COMMITTER"] {
            set(&format!("GIT_{role}_NAME"), "A".as_ref());
            set(&format!("GIT_{role}_EMAIL"), "a@example.com".as_ref());
        }
    }

    /// The command, in the current folder.
    pub fn command(&self) -> Command {
        let mut command = cargo_bin_cmd!("annalist");
        command.env_clear().current_dir(self.path("here"));
        self.dress(&mut |name, value| {
            command.env(name, value);
        });
        command
    }

    /// The same for a test that sets up the streams itself.
    pub fn process(&self) -> std::process::Command {
        let mut command = std::process::Command::new(cargo_bin!("annalist"));
        command.env_clear().current_dir(self.path("here"));
        self.dress(&mut |name, value| {
            command.env(name, value);
        });
        command
    }

    /// Runs `annalist --db ../small.db ARGUMENTS`.
    pub fn run(&self, arguments: &[&str]) -> Run {
        self.run_on("../small.db", arguments)
    }

    /// Runs `annalist --db FILE ARGUMENTS`.
    pub fn run_on(&self, file: &str, arguments: &[&str]) -> Run {
        self.outcome(self.command().args(["--db", file]).args(arguments))
    }

    /// Runs a prepared command.
    pub fn outcome(&self, command: &mut Command) -> Run {
        self.told(&command.output().unwrap())
    }

    /// A run that ended, with this world's folder called `[TOP]`, also where the way to it leads through the current one.
    pub fn told(&self, output: &std::process::Output) -> Run {
        let top = self.top.to_str().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(top, "[TOP]").replace("[TOP]/here/../", "[TOP]/");
        let run = Run {
            code: output.status.code().expect("not killed"),
            out: text(&output.stdout),
            err: without_progress(&text(&output.stderr)),
        };
        assert!(!run.err.contains("panicked"), "{}", run.err);
        run
    }

    /// Every file and folder below the top with what is in it, to see that nothing was written.
    pub fn everything(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.top.clone()];
        while let Some(folder) = folders.pop() {
            // Closed ones are not looked into.
            for entry in fs::read_dir(&folder).into_iter().flatten() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() {
                    folders.push(entry.path());
                }
                found.insert(entry.path(), kind.is_file().then(|| fs::read(entry.path()).unwrap_or_default()));
            }
        }
        found
    }

    /// Asserts that a run changes no file and leaves none behind.
    pub fn unchanged<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = self.everything();
        let result = run();
        let after = self.everything();
        let names = |files: &BTreeMap<PathBuf, Option<Vec<u8>>>| files.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&after), names(&before));
        assert!(after == before, "a file was changed");
        result
    }

    /// Opens a database of this world for planting and looking.
    pub fn sqlite(&self, name: &str) -> Connection {
        Connection::open(self.path(name)).unwrap()
    }

    /// Opens one to plant what its own rules would not let in, and takes everything into the one file afterwards.
    pub fn plant(&self, name: &str, plant: impl FnOnce(&Connection)) {
        let db = self.sqlite(name);
        db.pragma_update(None, "foreign_keys", false).unwrap();
        plant(&db);
        db.close().unwrap();
    }
}

/// On a busy machine anything may take over a second, and then says how far it is: `copying, 1 s`, `17 of 20 sessions, 561 events`.
fn without_progress(err: &str) -> String {
    let seconds = |line: &str| {
        let count = line.strip_suffix(" s").and_then(|line| line.rsplit_once(", "));
        count.is_some_and(|(_, count)| !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let place = |line: &str| line.contains(" of ") && line.contains(" sessions, ") && line.as_bytes()[0].is_ascii_digit();
    err.split_inclusive('\n').filter(|line| !seconds(line.trim_end()) && !place(line)).collect()
}

impl Run {
    /// Standard output of a run that did its work.
    pub fn ok(&self) -> &str {
        assert_eq!(self.code, 0, "{}", self.err);
        &self.out
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(self.ok()).unwrap()
    }

    /// The one line of a run that failed.
    pub fn failure(&self) -> &str {
        assert_eq!(self.code, 1, "{}{}", self.out, self.err);
        let lines: Vec<&str> = self.err.lines().filter(|line| line.starts_with("annalist: ")).collect();
        assert_eq!(lines.len(), 1, "{}", self.err);
        lines[0]
    }

    /// Both streams, for a snapshot.
    pub fn shown(&self) -> String {
        format!("exit {}\n--- standard output\n{}--- standard error\n{}", self.code, self.out, self.err)
    }
}
