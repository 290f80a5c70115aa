//! What a store of the record must be able to do. Everything above this file is written against these traits, and all
//! SQL stands below them, in the folder of its backend.

use crate::append::{Expect, NewEvent, Recorded};
use crate::claim::SessionLocks;
use crate::error::Error;
use crate::log::{Listener, LogHead, LogRange, Take, Watcher};
use crate::neighbours::Neighbours;
use crate::query::{MessageRange, SessionFilter};
use crate::row::{EventRow, MessageRow, PartRow, ProjectRow, SessionRow, TodoRow};
use crate::session::Spent;
use std::sync::Arc;

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

    /// The ids of all parts of a session's messages, in the order of reading.
    ///
    /// # Errors
    /// Those of the backend.
    fn part_ids(&self, session: &str, visit: &mut dyn FnMut(&str)) -> Result<(), Error>;

    /// A part of a message.
    ///
    /// # Errors
    /// Those of the backend.
    fn part(&self, message: &str, id: &str, visit: &mut dyn FnMut(PartRow<'_>)) -> Result<(), Error>;

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

    /// All projects with all their fields, or only the one with this id.
    ///
    /// # Errors
    /// Those of the backend.
    fn projects(&self, id: Option<&str>, visit: &mut dyn FnMut(annalist_schema::Project<'static>)) -> Result<(), Error>;

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

    /// A stretch of the log in its order: the head of each row is shown to `wanted`, and those it wants are handed to `take`
    /// with their data.
    ///
    /// # Errors
    /// Those of the backend.
    fn log(
        &self,
        range: &LogRange<'_>,
        wanted: &mut dyn FnMut(&LogHead<'_>) -> Take,
        take: &mut dyn FnMut(&LogHead<'_>, &[u8]) -> Flow,
    ) -> Result<(), Error>;

    /// What stands at a place of the log: a `seq` of the session, or without one a `rowid`.
    ///
    /// # Errors
    /// Those of the backend.
    fn log_head(&self, session: Option<&str>, at: i64) -> Result<Option<LogHead<'static>>, Error>;

    /// The last event of a session's log, or of the whole record; with `below` the last before that place.
    ///
    /// # Errors
    /// Those of the backend.
    fn log_end(&self, session: Option<&str>, below: Option<i64>) -> Result<Option<LogHead<'static>>, Error>;

    /// The sessions that have a log, in no particular order.
    ///
    /// # Errors
    /// Those of the backend.
    fn logs(&self, visit: &mut dyn FnMut(&str)) -> Result<(), Error>;

    /// Who owns a session's log: the only one whose events a strict replay takes (reference-storage 3.3).
    ///
    /// # Errors
    /// Those of the backend.
    fn log_owner(&self, session: &str) -> Result<Option<String>, Error>;

    /// The ids of all sessions, in the order of their bytes.
    ///
    /// # Errors
    /// Those of the backend.
    fn each_session_id(&self, visit: &mut dyn FnMut(&str)) -> Result<(), Error>;
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
    fn append(&mut self, session: &str, expect: Expect, event: NewEvent) -> Result<Recorded, Error> {
        self.append_kept(session, expect, &event)
    }

    /// The same, of an event that the caller keeps.
    ///
    /// # Errors
    /// As above.
    fn append_kept(&mut self, session: &str, expect: Expect, event: &NewEvent) -> Result<Recorded, Error>;

    /// Whether another process removed this part, or an earlier one did not long ago. What is older is not known.
    ///
    /// # Errors
    /// Those of the backend.
    fn was_part_removed(&self, part: &str) -> Result<bool, Error>;

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
    /// Whether what is appended from here on is told to those who listen now. It is, unless this says otherwise; and it is
    /// in the log in any case.
    fn tell(&mut self, told: bool);

    /// Sets the owner of a session's log, or only if it has none. Answers whether it did.
    ///
    fn own_log(&mut self, session: &str, owner: &str, only_free: bool) -> Result<bool, Error>;

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

/// Code that runs once inside the writer's transaction.
pub type Once = Box<dyn FnOnce(&mut dyn Transaction) -> Result<(), Error> + Send>;

/// Code that may run several times, each in a transaction of its own.
pub type Again = Box<dyn FnMut(&mut dyn Transaction) -> Result<(), Error> + Send>;

/// One caller's code, run inside the writer's transaction.
pub enum Job {
    /// Runs once.
    Once(Once),
    /// May be run again after it has succeeded: what it did is undone then, and the record may be another one meanwhile. Only
    /// its last run counts. Such jobs cost a group less.
    Again(Again),
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Job::Once(_) => "Job::Once",
            Job::Again(_) => "Job::Again",
        })
    }
}

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

    /// Does queued jobs on the calling thread until `done`, if nobody else is doing them. Answers whether it is done. For a
    /// caller that waits; it may return at any time.
    fn drive(&self, done: &mut dyn FnMut() -> bool) -> bool {
        done()
    }

    /// Somebody waits who does not drive.
    fn hurry(&self) {}

    /// Who hears of the commits from now on; there is one.
    fn listen(&self, listener: Arc<dyn Listener>);

    /// A connection that notices what others commit.
    ///
    /// # Errors
    /// Those of the backend.
    fn watcher(&self) -> Result<Box<dyn Watcher>, Error>;

    /// Whether the record can be written, and if not, why.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] with the reason.
    fn writable(&self) -> Result<(), Error>;

    /// Who else has the record open.
    fn neighbours(&self) -> Neighbours;

    /// Keeps a few bytes beside the record for a later process, in the place of those of that name before. They are a hint:
    /// they may be gone or damaged when they are asked for. A backend without a place for them keeps none.
    ///
    /// # Errors
    /// [`Error::Io`] if they cannot be kept.
    fn keep_hint(&self, _name: &'static str, _bytes: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    /// Bytes that were kept, unless there are more than `most`.
    ///
    /// # Errors
    /// [`Error::Io`] if they are there and cannot be read.
    fn hint(&self, _name: &'static str, _most: usize) -> Result<Option<Vec<u8>>, Error> {
        Ok(None)
    }

    /// The locks of those who run sessions.
    fn session_locks(&self) -> &dyn SessionLocks;
}
