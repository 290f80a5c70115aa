//! Where the database is.

use crate::error::CliError;
use crate::output::{self, Progress};
use annalist_store::{Create, Error, Migrated, Options, Store};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};

/// The database file that a command works on.
#[derive(Debug)]
pub(crate) struct Place {
    /// Absolute, so that it means the same to every program that it is handed to, and so that SQLite takes no name for one of
    /// its own (`:memory:`, `file:...`).
    pub(crate) file: PathBuf,
    pub(crate) source: Source,
    /// Other OpenCode files beside it, which somebody may be missing sessions of.
    pub(crate) siblings: Vec<PathBuf>,
}

/// Who said which file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Option,
    OurVariable,
    TheirVariable,
    /// OpenCode's file is at its usual place.
    Theirs,
    /// It is not.
    Ours,
}

impl Source {
    /// The word for it in JSON and in messages.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Source::Option => "--db",
            Source::OurVariable => "ANNALIST_DB",
            Source::TheirVariable => "OPENCODE_DB",
            Source::Theirs => "opencode",
            Source::Ours => "annalist",
        }
    }
}

/// `--db`, `ANNALIST_DB`, `OPENCODE_DB`, OpenCode's file at its usual place, else our own.
pub(crate) fn find(given: Option<&Path>) -> Result<Place, CliError> {
    let variable =
        |source: Source| env::var_os(source.word()).filter(|value| !value.is_empty()).map(|value| (source, value.into()));
    let named = given.map(|file| (Source::Option, file.to_owned()));
    let named = named.or_else(|| variable(Source::OurVariable)).or_else(|| variable(Source::TheirVariable));
    if let Some((source, file)) = named {
        return named_file(source, file);
    }
    let data = data_folder()?;
    let theirs = data.join("opencode").join("opencode.db");
    let siblings = siblings(&theirs);
    match fs::symlink_metadata(&theirs) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Place { file: data.join("annalist").join("annalist.db"), source: Source::Ours, siblings })
        }
        // Also where it cannot be looked at, or is a link to a disk that is not there: taking another file instead would show
        // an empty history and take imports to the wrong place.
        _ => Ok(Place { file: theirs, source: Source::Theirs, siblings }),
    }
}

fn named_file(source: Source, file: PathBuf) -> Result<Place, CliError> {
    if file.as_os_str() == ":memory:" {
        return Err(CliError::InMemory { source_word: source.word() });
    }
    if source != Source::TheirVariable {
        // Without a current folder there is nothing to add; the path fails on its own then.
        return Ok(Place { file: path::absolute(&file).unwrap_or(file), source, siblings: Vec::new() });
    }
    // As the reference reads it: a relative path starts at OpenCode's data folder.
    let file = if file.is_absolute() { file } else { data_folder()?.join("opencode").join(file) };
    Ok(Place { siblings: siblings(&file), file, source })
}

fn data_folder() -> Result<PathBuf, CliError> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local").join("share"))).ok_or(CliError::NoHome)
}

/// `opencode.db` and `opencode-*.db` in the same folder: OpenCode's release channels keep files of their own.
fn siblings(file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    // A folder that cannot be listed has nothing to mention.
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let theirs = |name: &OsStr| {
        let name = name.to_string_lossy();
        name == "opencode.db" || name.starts_with("opencode-") && name.ends_with(".db")
    };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path != file && path.file_name().is_some_and(theirs))
        .collect();
    found.sort();
    found
}

impl Place {
    /// Whether there is a file, or anything else of that name.
    pub(crate) fn exists(&self) -> Result<bool, CliError> {
        self.file.try_exists().map_err(|source| Error::Io { file: self.file.clone(), source }.into())
    }

    /// Opens the database for a command that reads.
    pub(crate) fn open(&self) -> Result<Store, CliError> {
        self.must_be_a_file()?;
        match Store::open(&self.file, Create::Never) {
            Err(Error::NoFile { file }) => Err(CliError::NoDatabase { file, next: self.instead() }),
            other => Ok(other?),
        }
    }

    /// Opens the database for a command that writes, making it if there is none and bringing it up if it is old.
    pub(crate) fn open_or_make(&self) -> Result<Store, CliError> {
        self.open_to_write(Create::IfMissing)
    }

    /// The same for a command that changes what is there.
    pub(crate) fn open_to_change(&self) -> Result<Store, CliError> {
        self.open_to_write(Create::Never)
    }

    fn open_to_write(&self, create: Create) -> Result<Store, CliError> {
        self.must_be_a_file()?;
        // An older file is copied and completed.
        let opened = Progress::during("opening the database", || Store::open_for_writing(&self.file, create, Options::default()));
        let (store, migrated) = match opened {
            // A link to nowhere: it is not filled, because nobody can know what it should lead to.
            Err(Error::NoFile { file }) => return Err(CliError::NoDatabase { file, next: self.instead() }),
            other => other?,
        };
        if let Some(migrated) = migrated {
            output::status(&told(&self.file, &migrated));
        }
        Ok(store)
    }

    /// Opens the database for a server. One that can only be read is served too; writing then fails with the reason.
    pub(crate) fn open_or_make_to_serve(&self) -> Result<Store, CliError> {
        let store = Store::open(&self.file, Create::IfMissing)?;
        if let Err(reason) = store.writable() {
            crate::output::status(&format!("annalist: {reason}"));
        }
        Ok(store)
    }

    /// A device or a pipe has no length, and whoever takes it for an empty file would be told to remove it.
    fn must_be_a_file(&self) -> Result<(), CliError> {
        match fs::metadata(&self.file) {
            Ok(meta) if !meta.is_file() && !meta.is_dir() => Err(CliError::NotAFile { file: self.file.clone() }),
            _ => Ok(()),
        }
    }

    /// What to do where there is no file.
    fn instead(&self) -> String {
        let next = match self.source {
            Source::Option => "check the path given with --db".to_owned(),
            Source::OurVariable | Source::TheirVariable => {
                format!("check {}, which names it, or name another with --db", self.source.word())
            }
            Source::Theirs => "the link leads nowhere; mend it, or name the file with --db".to_owned(),
            Source::Ours => {
                "OpenCode has none at its usual place either; name one with --db, or import a session to make one".to_owned()
            }
        };
        match self.hint() {
            Some(hint) => format!("{next}. {hint}"),
            None => next,
        }
    }

    /// What to say of the files beside this one.
    pub(crate) fn hint(&self) -> Option<String> {
        let names: Vec<String> = self.siblings.iter().map(|path| path.display().to_string()).collect();
        (!names.is_empty()).then(|| format!("Other OpenCode databases here, to be named with --db: {}", names.join(", ")))
    }
}

/// What bringing a file up did, for a person.
fn told(file: &Path, migrated: &Migrated) -> String {
    let mut told = format!(
        "{} was made by an older OpenCode; its tables were completed. The file as it was: {}",
        file.display(),
        migrated.backup.display()
    );
    if !migrated.logs_dropped.is_empty() {
        let (dropped, kept) = (migrated.logs_dropped.len(), migrated.logs_kept);
        told.push_str(&format!(
            "\n{dropped} old event logs did not agree with their sessions and were dropped, {kept} stay; no message is touched by that."
        ));
    }
    let lost: u64 = migrated.rebuilt.iter().map(|(_, lost)| lost).sum();
    if lost > 0 {
        let tables: Vec<&str> = migrated.rebuilt.iter().filter(|(_, lost)| *lost > 0).map(|(table, _)| table.as_str()).collect();
        told.push_str(&format!("\n{lost} rows of {} did not fit into the new tables; they are in that copy.", tables.join(", ")));
    }
    told
}
