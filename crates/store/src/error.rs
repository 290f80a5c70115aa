//! What can go wrong between a caller and the record.

use std::io;
use std::path::PathBuf;

/// A failed read or write of the record. The predicates ([`Error::is_not_found`], [`Error::is_conflict`],
/// [`Error::is_busy`]) are stable; texts name the thing and, where there is one, the next step. Stored values never stand in
/// a text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no file.
    #[error("{}: no such file", .file.display())]
    NoFile {
        /// the path asked for
        file: PathBuf,
    },
    /// The file has no bytes at all. It is never filled: whatever should be there can still be restored.
    #[error("{}: the file is empty (0 bytes); restore it from a backup, or remove it to start afresh", .file.display())]
    EmptyFile {
        /// the path asked for
        file: PathBuf,
    },
    /// The bytes are no SQLite database, or one without OpenCode's tables.
    #[error("{}: not an OpenCode database ({reason})", .file.display())]
    NotADatabase {
        /// the path asked for
        file: PathBuf,
        /// what it lacks
        reason: String,
    },
    /// SQLite found pages that contradict each other.
    #[error("{}: the database is damaged ({detail}); copy it with its -wal and -shm files before anything else, and restore a backup or use `sqlite3 FILE .recover`", .file.display())]
    Damaged {
        /// the database
        file: PathBuf,
        /// SQLite's own words
        detail: String,
    },
    /// The operating system refused.
    #[error("{}: {source}", .file.display())]
    Io {
        /// the file or folder
        file: PathBuf,
        /// why
        source: io::Error,
    },
    /// The file cannot be written in the form it has; reading works.
    #[error("{}: opened for reading only: {reason}", .file.display())]
    ReadOnly {
        /// the database
        file: PathBuf,
        /// which table or column stands in the way
        reason: String,
    },
    /// Another process held the write lock for the whole time we were ready to wait.
    #[error("{}: locked by another process for over {waited_ms} ms; try again, or close the program that holds it", .file.display())]
    Busy {
        /// the database
        file: PathBuf,
        /// how long this call waited
        waited_ms: u64,
    },
    /// No space left, or a quota reached. What was committed before is safe.
    #[error("{}: no space left for the write{}; free some and try again", .file.display(), .source.as_ref().map(|e| format!(" ({e})")).unwrap_or_default())]
    Full {
        /// the database
        file: PathBuf,
        /// the system's words, where it is not the disk that is full
        source: Option<io::Error>,
    },
    /// The disk has not the room that the work asks for; nothing was begun.
    #[error("{}: {needed} bytes must be free for this, and {free} are; free some and try again", .folder.display())]
    NoRoom {
        /// the folder whose disk it is
        folder: PathBuf,
        /// bytes that must be free
        needed: u64,
        /// bytes that are
        free: u64,
    },
    /// The linked SQLite can lose commits when checkpoints race (fixed in 3.51.3).
    #[error("SQLite {found} is linked, which can lose commits in WAL mode; 3.51.3 or newer is needed")]
    OldSqlite {
        /// the version linked
        found: String,
    },
    /// A session, message, part or project that is not there.
    #[error("{what} not found: {id}")]
    NotFound {
        /// "Session", "Message", ...
        what: &'static str,
        /// the id asked for
        id: String,
    },
    /// A late write to something that was deleted; nothing is brought back.
    #[error("{what} {id} is gone: it was deleted")]
    Gone {
        /// "session", "message" or "part"
        what: &'static str,
        /// the id
        id: String,
    },
    /// The stream is not where the caller expected it.
    #[error("session {session} is at event {found:?}, expected {expected}")]
    Conflict {
        /// the aggregate
        session: String,
        /// what the caller expected
        expected: String,
        /// the last sequence number, if there is a log
        found: Option<i64>,
    },
    /// An id that exists already, where a new one is needed or with another owner.
    #[error("{what} {id} exists already{}", .owner.as_ref().map(|o| format!(" and belongs to {o}")).unwrap_or_default())]
    IdTaken {
        /// "session", "message", "part", "event"
        what: &'static str,
        /// the id
        id: String,
        /// whose it is
        owner: Option<String>,
    },
    /// Data that cannot become an event or a row.
    #[error("{what}: {problem}")]
    Invalid {
        /// what was to be written
        what: String,
        /// the field and what is wrong with it
        problem: String,
    },
    /// A cursor that no page of ours handed out.
    #[error("not a page cursor: {reason}")]
    BadCursor {
        /// what is wrong with it
        reason: &'static str,
    },
    /// The caller's closure panicked; its part of the transaction was rolled back, others were not touched.
    #[error("a write was abandoned because its code panicked: {message}")]
    Panicked {
        /// the panic's text
        message: String,
    },
    /// The transaction was lost as a whole through a neighbour's failure; nothing of this write was kept.
    #[error("the write was rolled back together with a failing one: {cause}")]
    RolledBack {
        /// the neighbour's error
        cause: String,
    },
    /// The right to run the session is gone: its file was deleted, and somebody else may have it now. Stop the run.
    #[error("session {session}: the claim on it was taken away; nothing more is written by this run")]
    ClaimLost {
        /// the session
        session: String,
    },
    /// An event of another copy does not fit the log.
    #[error(transparent)]
    Replay(#[from] crate::replay::ReplayError),
    /// What other processes write cannot be noticed at the moment; it is tried further.
    #[error("what other processes write cannot be noticed at the moment: {cause}")]
    Watching {
        /// why
        cause: String,
    },
    /// The store was closed before the write was taken up.
    #[error("the store is closed")]
    Closed,
    /// Any other failure of SQLite.
    #[error("{}: {source}", .file.display())]
    Sqlite {
        /// the database
        file: PathBuf,
        /// SQLite's error, without bound values
        source: rusqlite::Error,
    },
}

impl Error {
    /// The thing asked for is not there.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        matches!(self, Error::NotFound { .. } | Error::NoFile { .. })
    }

    /// Somebody else was first: another id's owner, or a stream that moved on.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        matches!(self, Error::Conflict { .. } | Error::IdTaken { .. } | Error::Replay(_))
    }

    /// It was there, and was deleted.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        matches!(self, Error::Gone { .. })
    }

    /// Worth trying again later.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, Error::Busy { .. })
    }
}
