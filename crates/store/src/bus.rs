//! Who listens, and what waits for them.
//!
//! A subscriber says what it wants before anything waits for it. Durable events wait as the end of a stretch of the log:
//! one entry, however many they are, and nothing is copied. What is in no log (deltas, status) waits itself, shared by all
//! who want it, up to a bound; a subscriber over it is cut off and costs nobody else.

use crate::log::unversioned;
use crate::position::Position;
use annalist_schema::event::PassingEvent;
use annalist_schema::{Object, id};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use tokio::sync::mpsc;

/// An event that is told and not stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Passing {
    /// `evt_...`
    pub id: String,
    /// the session it is of, if it is of one
    pub session: Option<String>,
    /// the folder it is of, for those who listen to a folder
    pub folder: Option<String>,
    /// the event
    pub event: PassingEvent<'static>,
}

impl Passing {
    /// An event of now. Its session is what its data names as `sessionID`.
    #[must_use]
    pub fn new(event: PassingEvent<'static>) -> Self {
        let session = event.data().text("sessionID").map(std::borrow::Cow::into_owned);
        Passing { id: id::new(id::Kind::Event), session, folder: None, event }
    }

    /// The same, of a folder.
    #[must_use]
    pub fn in_folder(mut self, folder: &str) -> Self {
        self.folder = Some(folder.to_owned());
        self
    }

    fn weight(&self) -> usize {
        let text: usize = self.event.data().entries().iter().map(|entry| entry.key().len() + entry.value().as_str().len()).sum();
        text + ENTRY
    }
}

impl From<PassingEvent<'static>> for Passing {
    fn from(event: PassingEvent<'static>) -> Self {
        Passing::new(event)
    }
}

/// A session came or went, and no event of the log says so: its log was erased, or another program wrote the rows alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// where to go on after it
    pub position: Position,
    /// The id of the event that said so, or one of our own.
    pub id: String,
    /// the session
    pub session: String,
    /// The number of the event that said so in the session's log, where it is known.
    pub seq: Option<i64>,
    /// what happened
    pub change: Change,
    /// The text of the event's data, `{sessionID, info}`. Without one (another process did it, or it is long ago) only the
    /// id is left.
    pub data: Option<Arc<str>>,
}

/// What a [`Notice`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// `session.created`
    Created,
    /// `session.deleted`
    Deleted,
}

impl Change {
    /// The type of the event that it would be, without a version.
    #[must_use]
    pub fn event_type(self) -> &'static str {
        match self {
            Change::Created => "session.created",
            Change::Deleted => "session.deleted",
        }
    }
}

/// How much that is in no log may wait for a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// bytes of text
    pub bytes: usize,
    /// events
    pub events: usize,
}

impl Default for Bound {
    fn default() -> Self {
        Bound { bytes: 8 << 20, events: 4_096 }
    }
}

/// An event, as far as an [`Interest`] can look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// the session it is of, if it is of one
    pub session: Option<&'a str>,
    /// its type without a version
    pub event_type: &'a str,
    /// the folder it was told for; nothing for durable events
    pub folder: Option<&'a str>,
}

/// A test of one's own.
pub type Also = Arc<dyn Fn(&Subject<'_>) -> bool + Send + Sync>;

/// What a subscriber wants. Nothing else ever waits for it.
#[derive(Clone, Default)]
pub struct Interest {
    /// of this session only; without one, of the whole record
    pub session: Option<String>,
    /// of these types only, named without versions
    pub types: Option<Vec<String>>,
    /// What passes this test too. It is asked while the bus is held: it must be quick and must not use the store. One that
    /// panics says no.
    pub also: Option<Also>,
    /// how far the subscriber may fall behind
    pub bound: Bound,
}

impl std::fmt::Debug for Interest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let also = self.also.is_some();
        let Interest { session, types, bound, .. } = self;
        f.debug_struct("Interest")
            .field("session", session)
            .field("types", types)
            .field("also", &also)
            .field("bound", bound)
            .finish()
    }
}

impl Interest {
    /// Everything.
    #[must_use]
    pub fn all() -> Self {
        Interest::default()
    }

    /// What is of a session.
    #[must_use]
    pub fn session(session: &str) -> Self {
        Interest { session: Some(session.to_owned()), ..Interest::default() }
    }

    /// Of these types only.
    #[must_use]
    pub fn types<'t>(mut self, types: impl IntoIterator<Item = &'t str>) -> Self {
        self.types = Some(types.into_iter().map(str::to_owned).collect());
        self
    }

    /// Whether an event is wanted.
    #[must_use]
    pub fn wants(&self, subject: &Subject<'_>) -> bool {
        self.session.as_deref().is_none_or(|session| subject.session == Some(session))
            && self.types.as_ref().is_none_or(|types| types.iter().any(|name| name == subject.event_type))
            && self.also.as_ref().is_none_or(|also| catch_unwind(AssertUnwindSafe(|| also(subject))).unwrap_or(false))
    }

    pub(crate) fn wants_logged(&self, session: &str, kind: &str) -> bool {
        self.wants(&Subject { session: Some(session), event_type: unversioned(kind), folder: None })
    }
}

/// An event of the log by its places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) rowid: i64,
    pub(crate) seq: i64,
    pub(crate) id: Arc<str>,
}

#[derive(Debug)]
pub(crate) enum Queued {
    /// Read the log up to here.
    Read(Mark),
    /// Nothing up to here is wanted.
    Skip(Mark),
    Notice(Arc<Notice>),
    Passing(Arc<Passing>),
}

/// What an entry costs besides its text.
const ENTRY: usize = 64;

/// What waits for one subscriber.
pub(crate) struct Slot {
    pub(crate) interest: Arc<Interest>,
    queue: VecDeque<(usize, Queued)>,
    bytes: usize,
    passing: usize,
    lagged: bool,
    trouble: Option<Arc<str>>,
    woken: bool,
    wake: mpsc::Sender<()>,
}

impl Slot {
    pub(crate) fn new(interest: Arc<Interest>, wake: mpsc::Sender<()>) -> Self {
        Slot { interest, queue: VecDeque::new(), bytes: 0, passing: 0, lagged: false, trouble: None, woken: false, wake }
    }

    /// An event of the log that is wanted.
    pub(crate) fn read(&mut self, mark: Mark) {
        self.woken = true;
        match self.queue.back_mut() {
            Some((_, Queued::Read(last))) => *last = mark,
            _ => self.push(0, Queued::Read(mark)),
        }
    }

    /// An event of the log that is not wanted: the reader's place moves on, so that it stays near the end of the log. One
    /// that must not be told at all ends a stretch that is waiting.
    pub(crate) fn skip(&mut self, mark: Mark, untold: bool) {
        match self.queue.back_mut() {
            Some((_, Queued::Skip(last))) => *last = mark,
            Some((_, Queued::Read(last))) if !untold => *last = mark,
            Some((_, Queued::Read(_))) => self.push(ENTRY, Queued::Skip(mark)),
            _ => self.push(0, Queued::Skip(mark)),
        }
    }

    pub(crate) fn notice(&mut self, notice: Arc<Notice>) {
        let subject = Subject { session: Some(&notice.session), event_type: notice.change.event_type(), folder: None };
        if self.interest.wants(&subject) {
            self.woken = true;
            self.push(ENTRY + notice.data.as_ref().map_or(0, |data| data.len()), Queued::Notice(notice));
        }
    }

    pub(crate) fn passing(&mut self, passing: &Arc<Passing>) {
        let subject = Subject {
            session: passing.session.as_deref(),
            event_type: passing.event.event_type(),
            folder: passing.folder.as_deref(),
        };
        if self.interest.wants(&subject) {
            self.woken = true;
            self.passing += 1;
            self.push(passing.weight(), Queued::Passing(Arc::clone(passing)));
        }
    }

    pub(crate) fn trouble(&mut self, cause: &Arc<str>) {
        self.woken = true;
        self.trouble = Some(Arc::clone(cause));
    }

    pub(crate) fn trouble_is_over(&mut self) {
        self.trouble = None;
    }

    fn push(&mut self, weight: usize, queued: Queued) {
        if self.lagged {
            return;
        }
        self.bytes += weight;
        self.queue.push_back((weight, queued));
        if self.bytes > self.interest.bound.bytes || self.passing > self.interest.bound.events {
            self.lagged = true;
            self.woken = true;
            self.queue = VecDeque::new();
        }
    }

    pub(crate) fn pop(&mut self) -> Popped {
        if self.lagged {
            return Popped::Lagged;
        }
        if let Some(cause) = self.trouble.take() {
            return Popped::Trouble(cause);
        }
        let Some((weight, queued)) = self.queue.pop_front() else { return Popped::Nothing };
        self.bytes -= weight;
        if matches!(queued, Queued::Passing(_)) {
            self.passing -= 1;
        }
        Popped::Next(queued)
    }

    pub(crate) fn is_lagged(&self) -> bool {
        self.lagged
    }

    /// The reader has lost its place: what waits is worth nothing to it, but who came and went.
    pub(crate) fn reset(&mut self) {
        self.queue.retain(|(_, queued)| matches!(queued, Queued::Notice(_)));
        self.bytes = self.queue.iter().map(|(weight, _)| weight).sum();
        self.passing = 0;
    }

    /// Wakes the reader if something came for it.
    pub(crate) fn wake(&mut self) {
        if std::mem::take(&mut self.woken) {
            // Full: it is awake already. Closed: it is about to go.
            self.wake.try_send(()).ok();
        }
    }
}

pub(crate) enum Popped {
    Next(Queued),
    Nothing,
    Lagged,
    Trouble(Arc<str>),
}

/// The data of `message.part.delta`.
pub(crate) fn delta(session: &str, message: &str, part: &str, field: &str, delta: &str) -> Passing {
    let mut data = Object::new();
    for (key, value) in [("sessionID", session), ("messageID", message), ("partID", part), ("field", field), ("delta", delta)] {
        data.set_text(key, value);
    }
    Passing::new(PassingEvent::from_type("message.part.delta", data.into_static()))
}
