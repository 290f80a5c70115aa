//! Where the database is.

use crate::error::CliError;
use annalist_store::{Create, Error, Store};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The database file that a command works on.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) file: PathBuf,
    /// Other OpenCode files beside it, which somebody may be missing sessions of.
    pub(crate) siblings: Vec<PathBuf>,
}

/// `--db`, `ANNALIST_DB`, `OPENCODE_DB`, OpenCode's file at its usual place, else our own.
pub(crate) fn find(given: Option<&Path>) -> Result<Place, CliError> {
    let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(file) = given.map(Path::to_owned).or_else(|| named("ANNALIST_DB")) {
        return Ok(Place { file, siblings: Vec::new() });
    }
    let data = data_folder();
    if let Some(file) = named("OPENCODE_DB") {
        if file.as_os_str() == ":memory:" {
            return Err(CliError::InMemory);
        }
        // As the reference reads it: a relative path starts at OpenCode's data folder.
        let file = if file.is_absolute() { file } else { data?.join("opencode").join(file) };
        return Ok(Place { siblings: siblings(&file), file });
    }
    let data = data?;
    let theirs = data.join("opencode").join("opencode.db");
    let siblings = siblings(&theirs);
    let file = if theirs.exists() { theirs } else { data.join("annalist").join("annalist.db") };
    Ok(Place { file, siblings })
}

fn data_folder() -> Result<PathBuf, CliError> {
    let set = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local").join("share"))).ok_or(CliError::NoHome)
}

/// `opencode-*.db` in the same folder: OpenCode's other release channels keep files of their own.
fn siblings(file: &Path) -> Vec<PathBuf> {
    let Some(folder) = file.parent() else { return Vec::new() };
    // A folder that cannot be listed has nothing to mention.
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path != file && path.extension().is_some_and(|e| e == "db"))
        .filter(|path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with("opencode")))
        .collect();
    found.sort();
    found
}

impl Place {
    /// Opens the database for a command that reads.
    pub(crate) fn open(&self) -> Result<Store, CliError> {
        match Store::open(&self.file, Create::Never) {
            Err(Error::NoFile { file }) => Err(CliError::NoDatabase { file }),
            other => Ok(other?),
        }
    }

    /// Opens the database for a command that writes, making it if there is none.
    pub(crate) fn open_or_make(&self) -> Result<Store, CliError> {
        let store = Store::open(&self.file, Create::IfMissing)?;
        store.writable()?;
        Ok(store)
    }

    /// What a list of sessions should say of the files beside this one.
    pub(crate) fn hint(&self) -> Option<String> {
        let names: Vec<String> = self.siblings.iter().map(|path| path.display().to_string()).collect();
        (!names.is_empty()).then(|| format!("Other OpenCode databases here, to be named with --db: {}", names.join(", ")))
    }
}
