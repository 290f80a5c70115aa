//! Which project a folder belongs to.
//!
//! The id has to come out exactly as OpenCode 1.18.33 computes it, since it decides which sessions two programs on one
//! database show for a folder. It is made of the address of the remote `origin` where there is a usable one; else it is what
//! the repository remembers, or the hash of its first root commit.
//!
//! Git is the authority on repositories, but starting it costs milliseconds; so plain repositories are read from their files
//! and git is asked about everything that is not plain.

mod git;
mod memo;
mod path;
mod plain;
mod remote;
mod repository;
mod url;

#[cfg(test)]
mod room;
#[cfg(test)]
mod tests;

use repository::Repository;
use std::io;
use std::path::{Path, PathBuf};

/// The project of folders that have no id of their own.
pub const GLOBAL: &str = "global";

/// What a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The project's id, or [`GLOBAL`].
    pub project: String,
    /// Absolute: the top of this working tree, `/` outside of git.
    pub worktree: String,
    /// Absolute, symbolic links resolved, no trailing slash.
    pub directory: String,
    /// `directory` relative to `worktree`, with `/` between names; empty at the top.
    pub path: String,
    /// Whether the folder is in a git working tree. Before the first commit it is, though its project is [`GLOBAL`].
    pub git: bool,
    /// The id this repository was known by before, where that is another. Sessions are still filed under it until OpenCode
    /// runs here and moves them.
    pub previous: Option<String>,
}

/// Whether a new id may be written into the repository's git folder, where OpenCode looks for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// It may: the next look is faster, and the id outlives changes of history.
    Yes,
    /// Nothing is written.
    No,
}

/// Why it cannot be told what a folder belongs to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A relative path was given, and the current folder is gone or hidden.
    #[error("cannot tell the current folder: {source}")]
    CurrentFolder {
        /// why
        source: io::Error,
    },
    /// The path leads through a file, in a circle, or through a folder that is closed to us.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// the path asked for
        path: PathBuf,
        /// why
        source: io::Error,
    },
    /// There is something else of that name.
    #[error("{}: not a folder", .path.display())]
    NotAFolder {
        /// the path with its links resolved
        path: PathBuf,
    },
    /// The record holds paths as text.
    #[error("{}: the path is not UTF-8, so it cannot be stored", .path.display())]
    NotUtf8 {
        /// the path
        path: PathBuf,
    },
    /// Only git could tell, and it is not installed.
    #[error("{}: telling its project takes the git program, which was not found ({source})", .folder.display())]
    GitMissing {
        /// where git was to run
        folder: PathBuf,
        /// why
        source: io::Error,
    },
    /// Git could not be started, or was killed.
    #[error("{}: cannot run git here: {source}", .folder.display())]
    GitFailed {
        /// where git was to run
        folder: PathBuf,
        /// why
        source: io::Error,
    },
}

/// Finds what `folder` belongs to. It need not exist, and may be relative to the current folder.
pub fn resolve(folder: &Path, remember: Remember) -> Result<Folder, FolderError> {
    let directory = path::real(folder)?;
    // Before the relative one, so that an error names the whole path.
    let absolute = path::text(&directory)?.to_owned();
    let repository = Repository::around(&directory)?;
    let (project, previous) = match &repository {
        Some(repository) => identify(repository, remember)?,
        None => (GLOBAL.to_owned(), None),
    };
    let worktree = repository.as_ref().map_or(Path::new("/"), |repository| &repository.worktree);
    Ok(Folder {
        project,
        worktree: path::text(worktree)?.to_owned(),
        path: path::slashes(&path::relative(worktree, &directory))?,
        directory: absolute,
        git: repository.is_some(),
        previous,
    })
}

/// The repository's id, and the one it was known by before.
fn identify(repository: &Repository, remember: Remember) -> Result<(String, Option<String>), FolderError> {
    let remembered = memo::read(&repository.common);
    let id = match repository.remote_id()?.or_else(|| remembered.clone()) {
        Some(id) => Some(id),
        None => repository.root_commit()?,
    };
    // Never over another id: from that one OpenCode learns which sessions to move, and would leave them behind.
    if let (Remember::Yes, Some(id), None) = (remember, &id, &remembered) {
        memo::write(&repository.common, id);
    }
    let project = id.unwrap_or_else(|| GLOBAL.to_owned());
    let previous = remembered.filter(|id| *id != project);
    Ok((project, previous))
}

/// Takes off what JavaScript's `trim` does, which OpenCode uses: a byte order mark too, but not U+0085.
fn trim(s: &str) -> &str {
    s.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace() && c != '\u{85}')
}
