//! The log as those read it who follow it: its rows by place, stretches of it, and who hears of commits.
//!
//! An event has two places. In its session it is `seq`: 0, 1, 2 ... without gaps. In the whole record it is `rowid`, which
//! rises in the order of the commits, with one exception: when the newest events are erased (a deleted session takes its
//! log along), their row ids are given out again. So a place in the record is a row id *and* the id of the event there
//! ([`Position`](crate::Position)).

use crate::backend::Snapshot;
use crate::error::Error;
use std::borrow::Cow;
use std::sync::Arc;

/// An event of the log without its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogHead<'r> {
    /// its place in the whole record
    pub rowid: i64,
    /// `evt_...`
    pub id: Cow<'r, str>,
    /// the session (aggregate) it is of
    pub session: Cow<'r, str>,
    /// its place in the session's log
    pub seq: i64,
    /// the versioned type, such as `message.updated.1`
    pub kind: Cow<'r, str>,
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Logged {
    /// its place in the whole record
    pub rowid: i64,
    /// `evt_...`
    pub id: String,
    /// the session (aggregate) it is of
    pub session: String,
    /// its place in the session's log
    pub seq: i64,
    /// the versioned type, such as `message.updated.1`
    pub kind: String,
    /// the stored bytes, which should be a JSON object
    pub data: Vec<u8>,
}

impl LogHead<'_> {
    /// The same with texts of its own.
    #[must_use]
    pub fn into_static(self) -> LogHead<'static> {
        LogHead {
            rowid: self.rowid,
            id: Cow::Owned(self.id.into_owned()),
            session: Cow::Owned(self.session.into_owned()),
            seq: self.seq,
            kind: Cow::Owned(self.kind.into_owned()),
        }
    }

    /// The event with its data.
    #[must_use]
    pub fn with(&self, data: &[u8]) -> Logged {
        Logged {
            rowid: self.rowid,
            id: self.id.to_string(),
            session: self.session.to_string(),
            seq: self.seq,
            kind: self.kind.to_string(),
            data: data.to_owned(),
        }
    }
}

/// A stretch of the log: of one session by `seq`, or of the whole record by `rowid`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LogRange<'a> {
    /// of this session; nothing for the whole record
    pub session: Option<&'a str>,
    /// only what comes after this place
    pub after: Option<i64>,
    /// only up to this place, itself included
    pub upto: Option<i64>,
}

/// What becomes of a row whose head was seen. Data that is not wanted is not read from the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// Its data is wanted.
    Row,
    /// On to the next.
    Skip,
    /// No further; this row is not taken.
    Stop,
}

/// An event that a write recorded, on its way to those who listen.
#[derive(Debug, Clone)]
pub struct Appended {
    /// its place in the whole record
    pub rowid: i64,
    /// `evt_...`
    pub id: Arc<str>,
    /// the session it is of
    pub session: Arc<str>,
    /// its place in the session's log
    pub seq: i64,
    /// the versioned type
    pub kind: Arc<str>,
    /// Its data if it says that the session is deleted: the log that holds it is erased next.
    pub farewell: Option<Arc<str>>,
    /// Whether it is told to those who listen now; it is in the log in any case.
    pub told: bool,
}

/// The type of the event after which a log is erased.
pub const DELETED: &str = "session.deleted.1";
/// The type of the event that makes a session.
pub const CREATED: &str = "session.created.1";

/// A group of writes that is about to be committed.
pub trait Commit {
    /// Commits it. Answers whether it was.
    fn commit(&mut self) -> bool;

    /// Reads from one view, after the commit.
    ///
    /// # Errors
    /// Those of the backend and of `look`.
    fn read(&mut self, look: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error>;
}

/// Hears of each commit that records events, on the writer's thread, before any of its callers does.
pub trait Listener: Send + Sync {
    /// Runs the commit and, if it was one, passes on its events. `foreign` says that somebody else may have committed
    /// between this group and the one before it that was passed on.
    fn commit(&self, group: &mut dyn Commit, events: Vec<Appended>, foreign: bool);
}

/// A connection that tells what others commit.
pub trait Watcher: Send {
    /// Whether any other connection committed something since this was last asked. May say yes without reason.
    ///
    /// # Errors
    /// Those of the backend.
    fn changed(&mut self) -> Result<bool, Error>;

    /// Reads from one view that is opened now.
    ///
    /// # Errors
    /// Those of the backend and of `look`.
    fn read(&mut self, look: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error>;
}

/// The type without its version: `message.updated` of `message.updated.1`.
#[must_use]
pub fn unversioned(kind: &str) -> &str {
    match kind.rsplit_once('.') {
        Some((name, version)) if !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => kind,
    }
}

/// Whether an event was emptied (sharing-the-file.md): it holds a place and says nothing.
#[must_use]
pub fn is_emptied(kind: &str, data: &[u8]) -> bool {
    if kind != "message.part.removed.1" || data.len() > 512 {
        return false;
    }
    let object = std::str::from_utf8(data).ok().and_then(|text| annalist_schema::Object::parse(text).ok());
    object.is_some_and(|object| {
        object.text("messageID").as_deref() == Some("msg_") && object.text("partID").as_deref() == Some("prt_emptied")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_the_last_number() {
        assert_eq!(unversioned("message.part.updated.1"), "message.part.updated");
        assert_eq!(unversioned("session.next.step.ended.12"), "session.next.step.ended");
        assert_eq!(unversioned("message.updated"), "message.updated");
        assert_eq!(unversioned("odd."), "odd.");
        assert_eq!(unversioned(""), "");
    }

    #[test]
    fn only_the_no_op_is_emptied() {
        let no_op = br#"{"sessionID": "ses_1", "messageID": "msg_", "partID": "prt_emptied"}"#;
        assert!(is_emptied("message.part.removed.1", no_op));
        assert!(!is_emptied("message.removed.1", no_op));
        assert!(!is_emptied("message.part.removed.1", br#"{"sessionID":"ses_1","messageID":"msg_1","partID":"prt_emptied"}"#));
        assert!(!is_emptied("message.part.removed.1", br#"{"sessionID":"ses_1","messageID":"msg_","partID":"prt_1"}"#));
        assert!(!is_emptied("message.part.removed.1", b"prt_emptied"));
    }
}
