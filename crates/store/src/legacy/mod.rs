//! The JSON files of the versions before 1.2, brought into the record (reference-storage 7.1, 7.2).
//!
//! The last version that converted such a folder did it once, for an empty database, and dropped what it could not place.
//! This can be done again at any time, into any database: what is known there emits nothing. The folder is only read.
//!
//! Ids come from the files' names. A session is `session.created`, its messages and parts as events of their own, and a
//! `session.updated` with its usage, counted from its assistant messages as the reference's own migration counts that of old
//! sessions. A part gets the time of its message: in those days the order of parts was that of their ids.
//!
//! A damaged file costs itself. If it was a session's, the session gets what can be told without it; if it was a message's
//! with parts, a stand-in that says so carries them. Both are in the list of what was skipped.
//!
//! Two kinds of file have no place in the database and stay where they are: the changed files of whole sessions
//! (`session_diff`: OpenCode keeps these as files to this day, since every list of sessions would carry them) and the
//! permissions of projects, which no later version reads.

mod batch;
mod message;
mod project;
mod read;
mod session;
mod tree;

pub use project::OldProject;

use crate::backend::Durability;
use crate::error::Error;
use crate::row::TodoRow;
use crate::store::Store;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use tree::{Found, Tree};

/// What an import of old files did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// projects that were not there before
    pub projects: u64,
    /// of these, the ids of those without a file of their own, made from what a session says
    pub projects_without_file: Vec<String>,
    /// sessions that were not there before
    pub sessions: u64,
    /// sessions that were there already
    pub sessions_known: u64,
    /// messages that were not there before
    pub messages: u64,
    /// parts that were not there before
    pub parts: u64,
    /// entries of todo lists
    pub todos: u64,
    /// shares, with the secret that ends them
    pub shares: u64,
    /// changed files of whole sessions, which stay in their files
    pub session_diffs_left: u64,
    /// permissions of projects, which stay in their files
    pub permissions_left: u64,
    /// every file that did not become what it should have
    pub skipped: Vec<Skipped>,
}

/// A file that was left out, or stood in for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// the file, below the folder given
    pub file: PathBuf,
    /// why
    pub reason: String,
}

/// How far an import is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// sessions done
    pub sessions: u64,
    /// sessions there are
    pub of: u64,
    /// messages brought in so far
    pub messages: u64,
}

/// Whether a folder is one that [`Store::import_legacy`] takes; asked before a record is made for what it holds.
///
/// # Errors
/// [`Error::Invalid`] if there are no such files; [`Error::Io`] if the folder cannot be read.
pub fn check(folder: &Path) -> Result<(), Error> {
    Tree::open(folder).map(drop)
}

/// What belongs to a session and has no event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Beside {
    /// position and entry
    pub todos: Vec<(i64, TodoRow)>,
    /// id, secret and address
    pub share: Option<[String; 3]>,
    /// the time of these rows, in ms
    pub time_ms: i64,
}

impl Store {
    /// Brings the JSON files of the versions before 1.2 into the record, a session at a time. `folder` is OpenCode's data
    /// folder of then, or the `storage` folder in it. `progress` hears of each session.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there are no such files; [`Error::Io`] if the folder cannot be read; those of the backend, after
    /// which the sessions so far are in the record and the import can be done again. A file that cannot be read or used is
    /// no error: it is in the report.
    pub fn import_legacy(&self, folder: &Path, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
        let tree = Tree::open(folder)?;
        let mut report = Report::default();
        let projects = project::all(&tree, &mut report);
        let of = u64::try_from(tree.sessions.len()).unwrap_or(u64::MAX);
        let mut known: HashSet<String> = HashSet::new();
        batch::projects(self, projects, &mut report)?;
        for (done, found) in (0..).zip(&tree.sessions) {
            progress(Progress { sessions: done, of, messages: report.messages });
            session(self, &tree, found, &mut known, &mut report)?;
        }
        tree.leftovers(&known, &mut report);
        progress(Progress { sessions: of, of, messages: report.messages });
        Ok(report)
    }
}

/// One session with all that belongs to it, in transactions of bounded size; the last one is durable.
fn session(store: &Store, tree: &Tree, found: &Found, messages: &mut HashSet<String>, report: &mut Report) -> Result<(), Error> {
    let Some(seed) = session::seed(tree, found, report) else {
        if found.messages.exists() {
            tree.leave_out(&found.messages, "its session could not be used", report);
        }
        return Ok(());
    };
    let mut batches = batch::Batches::new(store, tree, seed, report);
    for message in tree.messages(found, batches.skipped()) {
        if message::read(tree, found, &message, &mut batches)? {
            messages.insert(message.id);
        }
    }
    batches.finish(Durability::Power)
}
