//! What the tests of this module share: folders and repositories to look at.

use super::{Folder, FolderError, Remember, resolve};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) type Outcome = Result<(), Box<dyn Error>>;

/// A temporary folder with links resolved, as `/tmp` itself is one on some systems.
pub(super) struct Room {
    pub(super) top: PathBuf,
    _guard: tempfile::TempDir,
}

impl Room {
    pub(super) fn new() -> Result<Self, Box<dyn Error>> {
        let guard = tempfile::tempdir()?;
        Ok(Self { top: fs::canonicalize(guard.path())?, _guard: guard })
    }

    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let path = self.top.join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    }

    pub(super) fn repository(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let path = self.folder(name)?;
        run(&path, "init -q")?;
        Ok(path)
    }

    pub(super) fn committed(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
        let path = self.repository(name)?;
        commit(&path, name)?;
        Ok(path)
    }
}

pub(super) fn run(folder: &Path, command: &str) -> Result<String, Box<dyn Error>> {
    let settings = ["user.name=a", "user.email=a@example.com", "protocol.file.allow=always"];
    let output = Command::new("git")
        .args(settings.iter().flat_map(|setting| ["-c", setting]))
        .args(command.split(' '))
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()?;
    if !output.status.success() {
        return Err(format!("git {command}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

pub(super) fn commit(folder: &Path, message: &str) -> Result<String, Box<dyn Error>> {
    run(folder, &format!("commit -q --allow-empty -m {message}"))?;
    run(folder, "rev-parse HEAD")
}

pub(super) fn look(folder: &Path) -> Result<Folder, FolderError> {
    resolve(folder, Remember::No)
}

pub(super) fn sha1(name: &str) -> String {
    sha1_smol::Sha1::from(format!("git-remote:{name}")).digest().to_string()
}

pub(super) fn shown(path: &Path) -> String {
    path.display().to_string()
}
