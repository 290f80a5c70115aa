//! What a backend does for claims.

use crate::error::Error;
use annalist_schema::{Number, Object, id};
use std::fmt;

/// Who holds a claim, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// the session
    pub session: String,
    /// its process
    pub pid: u32,
    /// the machine of it; empty if it has no name
    pub host: String,
    /// since when, in ms since 1970
    pub since_ms: i64,
    /// this program's version there
    pub version: String,
}

/// What a holder wrote down that is no more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Left {
    /// who it was; nothing if it died before it could say so
    pub holder: Option<Holder>,
    /// the assistant messages it was answering, oldest first
    pub messages: Vec<String>,
}

/// What came of asking for a lock.
pub enum Lock {
    /// It is the caller's.
    Taken(Box<dyn SessionLock>),
    /// It is somebody else's.
    Held(Option<Holder>),
}

/// The lock of one session, held. Dropping it, or the end of the process, frees it.
pub trait SessionLock: Send + Sync {
    /// What a holder before this one left behind.
    fn left(&self) -> Option<&Left>;

    /// Writes down who holds it, in place of what was left.
    ///
    /// # Errors
    /// Those of the backend.
    fn begin(&self, holder: &Holder) -> Result<(), Error>;

    /// Writes down, durably, a message that is being answered.
    ///
    /// # Errors
    /// Those of the backend.
    fn note(&self, message: &str) -> Result<(), Error>;

    /// Whether it is still the holder's.
    fn is_held(&self) -> bool;

    /// Removes what was written down: nothing is left to close.
    fn forget(&self);
}

/// The locks of all sessions.
pub trait SessionLocks: Send + Sync {
    /// Asks for a session's lock, and does not wait for whoever holds it.
    ///
    /// # Errors
    /// Those of the backend.
    fn lock(&self, session: &str) -> Result<Lock, Error>;

    /// The holders that are alive.
    ///
    /// # Errors
    /// Those of the backend.
    fn living(&self) -> Result<Vec<Holder>, Error>;

    /// Visits the locks whose holders are gone and left something behind, one by one, each held during the visit. Of two
    /// processes that do this at once one gets each.
    ///
    /// # Errors
    /// Those of the backend and of `visit`.
    fn abandoned(&self, visit: &mut dyn FnMut(&dyn SessionLock) -> Result<(), Error>) -> Result<(), Error>;
}

impl Holder {
    /// This process, from now on.
    pub(super) fn this(session: &str) -> Self {
        Holder {
            session: session.to_owned(),
            pid: std::process::id(),
            host: host(),
            since_ms: id::now_ms(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    pub(crate) fn to_object(&self) -> Object<'static> {
        let mut object = Object::tagged("session", &self.session);
        object.set("pid", i64::from(self.pid));
        object.set_text("host", &self.host);
        object.set("since", self.since_ms);
        object.set_text("version", &self.version);
        object
    }

    /// Nothing if the object is not what [`Holder::to_object`] makes.
    pub(crate) fn of(object: &Object<'_>) -> Option<Self> {
        let number = |name| object.get(name)?.as_number().as_ref().and_then(Number::as_i64);
        Some(Holder {
            session: object.text("session")?.into_owned(),
            pid: number("pid").and_then(|pid| u32::try_from(pid).ok())?,
            host: object.text("host")?.into_owned(),
            since_ms: number("since")?,
            version: object.text("version")?.into_owned(),
        })
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if !self.host.is_empty() {
            write!(f, " on {}", self.host)?;
        }
        write!(f, " (annalist {})", self.version)
    }
}

fn host() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .or_else(|| std::env::var("HOSTNAME").ok())
        .or_else(|| std::env::var("COMPUTERNAME").ok())
        .map(|name| name.trim().to_owned())
        .unwrap_or_default()
}
