//! What a store of the record must be able to do. Everything above this file is written against these traits, and all
//! SQL stands below them, in the folder of its backend.

use crate::append::{Expect, NewEvent, Recorded};
use crate::error::Error;
use crate::query::{MessageRange, SessionFilter};
use crate::row::{EventRow, MessageRow, PartRow, ProjectRow, SessionRow, TodoRow};
use crate::session::Spent;

/// How much a write must outlive before it is acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// The death of this process. For checkpoints of text that is still streaming.
    Process,
    /// The loss of power. For everything that answers a request or completes a message.
    Power,
}

/// A consistent view of the record: nothing committed later shows in it.
///
/// Rows are visited while the view is open and borrow from it, so that what is only passed on is never copied. A visitor
/// that answers [`Flow::Stop`] ends the visit.
pub trait Snapshot {
    /// The session with this id.
    ///
    /// # Errors
    /// Those of the backend.
    fn session(&self, id: &str) -> Result<Option<SessionRow>, Error>;

    /// Ids of sessions that start with `prefix`, at most `limit`, in no particular order.
    ///
    /// # Errors
    /// Those of the backend.
    fn session_ids(&self, prefix: &str, limit: usize) -> Result<Vec<String>, Error>;

    /// The sessions that pass the filter, newest change first (then the greater id).
    ///
    /// # Errors
    /// Those of the backend.
    fn sessions(&self, filter: &SessionFilter, visit: &mut dyn FnMut(SessionRow) -> Flow) -> Result<(), Error>;

    /// How many sessions pass the filter, its limit left aside.
    ///
    /// # Errors
    /// Those of the backend.
    fn count_sessions(&self, filter: &SessionFilter) -> Result<u64, Error>;

    /// A message of a session.
    ///
    /// # Errors
    /// Those of the backend.
    fn message(&self, session: &str, id: &str, visit: &mut dyn FnMut(MessageRow<'_>)) -> Result<(), Error>;

    /// Which session a message belongs to.
    ///
    /// # Errors
    /// Those of the backend.
    fn message_owner(&self, id: &str) -> Result<Option<String>, Error>;

    /// Which session and message a part belongs to.
    ///
    /// # Errors
    /// Those of the backend.
    fn part_owner(&self, id: &str) -> Result<Option<(String, String)>, Error>;

    /// Messages of a session in the order and within the bounds of `range`.
    ///
    /// # Errors
    /// Those of the backend.
    fn messages(&self, range: &MessageRange<'_>, visit: &mut dyn FnMut(MessageRow<'_>) -> Flow) -> Result<(), Error>;

    /// All parts of some messages, message by message and in no particular order within one. Sort them by
    /// [`PartRow::order`].
    ///
    /// # Errors
    /// Those of the backend.
    fn parts(&self, messages: &[&str], visit: &mut dyn FnMut(PartRow<'_>)) -> Result<(), Error>;

    /// The todo list of a session, in its order.
    ///
    /// # Errors
    /// Those of the backend.
    fn todos(&self, session: &str) -> Result<Vec<TodoRow>, Error>;

    /// A project.
    ///
    /// # Errors
    /// Those of the backend.
    fn project(&self, id: &str) -> Result<Option<ProjectRow>, Error>;

    /// What a session's steps cost, those of messages made before the session apart.
    ///
    /// # Errors
    /// Those of the backend.
    fn spent(&self, session: &str) -> Result<Spent, Error>;

    /// Whether the log says that a message was removed.
    ///
    /// # Errors
    /// Those of the backend.
    fn was_removed(&self, session: &str, message: &str) -> Result<bool, Error>;

    /// The number of the last event of a session's log; nothing without a log (imported by OpenCode, or wiped).
    ///
    /// # Errors
    /// Those of the backend.
    fn sequence(&self, session: &str) -> Result<Option<i64>, Error>;

    /// Events of a session's log with a number above `after`, in order.
    ///
    /// # Errors
    /// Those of the backend.
    fn events(&self, session: &str, after: i64, visit: &mut dyn FnMut(EventRow<'_>) -> Flow) -> Result<(), Error>;
}

/// Whether a visit goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// to the next row
    Continue,
    /// no further
    Stop,
}

/// A view that can be written to: one caller's part of a transaction. It is kept or undone as a whole.
pub trait Transaction: Snapshot {
    /// Gives an event its number, projects it and stores it. `expect` is where the caller believes the log to be.
    ///
    /// # Errors
    /// [`Error::Conflict`] if the log is elsewhere; [`Error::IdTaken`] and [`Error::Invalid`] from the projector; those of
    /// the backend.
    fn append(&mut self, session: &str, expect: Expect, event: NewEvent) -> Result<Recorded, Error>;

    /// Erases a log from its beginning, at most about `bytes` of it. Answers whether there is more.
    ///
    /// # Errors
    /// Those of the backend.
    fn erase_log(&mut self, session: &str, bytes: u64) -> Result<bool, Error>;

    /// Replaces a session's todo list.
    ///
    /// # Errors
    /// Those of the backend.
    fn replace_todos(&mut self, session: &str, todos: &[TodoRow], now_ms: i64) -> Result<(), Error>;

    /// Makes the row of a project, or adds a further work tree to it (reference-storage 4.8).
    ///
    /// # Errors
    /// Those of the backend.
    fn ensure_project(&mut self, folder: &crate::folder::Folder, now_ms: i64) -> Result<(), Error>;

    /// Makes the row of a project as an old file says it, unless there is one. Answers whether there was none.
    ///
    /// # Errors
    /// Those of the backend.
    fn put_project(&mut self, project: &crate::legacy::OldProject) -> Result<bool, Error>;

    /// Writes what an old session has beside its messages, as far as the session has none of it. Answers how many todo
    /// entries were written, and whether a share was.
    ///
    /// # Errors
    /// Those of the backend.
    fn put_beside(&mut self, session: &str, beside: &crate::legacy::Beside) -> Result<(u64, bool), Error>;
}

/// One caller's code, run inside the writer's transaction.
pub type Job = Box<dyn FnOnce(&mut dyn Transaction) -> Result<(), Error> + Send>;

/// Called once with the fate of a job, after the commit.
pub type Settle = Box<dyn FnOnce(Result<(), Error>) + Send>;

/// A store of the record.
pub trait Backend: Send + Sync {
    /// Opens a view and hands it to `read`.
    ///
    /// # Errors
    /// Those of the backend and of `read`.
    fn read(&self, read: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error>;

    /// Queues a job. `settle` hears of it after its commit, or at once if it cannot be queued.
    fn write(&self, durability: Durability, job: Job, settle: Settle);

    /// Whether the record can be written, and if not, why.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] with the reason.
    fn writable(&self) -> Result<(), Error>;
}
