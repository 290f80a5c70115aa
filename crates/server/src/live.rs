//! The live side: what routes need of it, and how its frames look on the wire.

mod broadcast;
mod stream;

pub(crate) use broadcast::Broadcast;
pub(crate) use stream::respond;

use crate::error::Problem;
use annalist_schema::PassingEvent;
use annalist_store::Store;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use tokio_stream::Stream;

/// What a subscriber wants to hear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Scope {
    /// events of this folder, as `/event` has them
    Folder(String),
    /// everything, as `/global/event` has it
    All,
}

/// A frame of an event stream.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// where a subscriber can go on from, for a durable event
    pub(crate) position: Option<Arc<str>>,
    /// one line of JSON
    pub(crate) data: Arc<str>,
}

/// The frames of one subscriber. It ends when the subscriber fell too far behind.
pub(crate) type Frames = Pin<Box<dyn Stream<Item = Frame> + Send>>;

/// A part of the work that is done later.
pub(crate) type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Who tells subscribers what happened.
///
/// `before` and `after` stand around each write to a session. They are for a teller that has to look for itself; one that hears of
/// commits from the record leaves them empty.
pub(crate) trait Live: Send + Sync {
    /// Frames from now on.
    fn subscribe(&self, scope: Scope) -> Frames;

    /// Tells an event that is not stored.
    fn passing(&self, folder: &str, project: Option<&str>, event: PassingEvent<'_>);

    /// A session is about to be written.
    fn before<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>>;

    /// A session was written, or not.
    fn after<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>>;

    /// A session was made, with all that is in its log.
    fn made<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>>;

    /// A session was deleted; `info` is what it was.
    fn deleted(&self, info: &annalist_schema::Session<'_>, seq: i64);
}
