//! Who runs a session (design G10): at most one of our processes, and in it one caller.
//!
//! [`Store::claim`] gives a [`Claim`]: a lock of the operating system, freed by its holder's end however that comes. Whoever
//! runs a session holds one, names each assistant message before writing it ([`Claim::answering`]), writes through it
//! ([`Claim::write`]), and gives it back ([`Claim::release`]). What a dead process left open is known from that, and is closed
//! by the next claim of the session or by [`Store::recover`], whichever comes first.
//!
//! OpenCode takes no claims. While a foreign process has the file open, a session whose last assistant message is open and
//! younger than ten minutes is taken for running there, and given by [`Store::claim_by_force`] only.

mod foreign;
mod lock;

pub use lock::{Holder, Left, Lock, SessionLock, SessionLocks};

use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::pending::Pending;
use crate::store::Store;
use crate::upkeep::recover;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a session is not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClaimError {
    /// Somebody of ours runs it: another process, or another caller of this one.
    #[error("session {session} is run by {}", .by.as_ref().map_or_else(|| "another process".to_owned(), ToString::to_string))]
    Held {
        /// the session
        session: String,
        /// who; nothing in the moment in which a holder has the lock and has not said so yet
        by: Option<Holder>,
    },
    /// OpenCode may be running it: a foreign process has the file open, or may have, and the session's last answer is young
    /// and has no end.
    #[error(
        "session {session} seems to be run by OpenCode: message {message} has been open for {age_ms} ms; stop it there first, or force it"
    )]
    Foreign {
        /// the session
        session: String,
        /// the open message
        message: String,
        /// since when, in ms
        age_ms: u64,
    },
    /// The record could not be read or written, or the session is not there ([`Error::NotFound`]).
    #[error(transparent)]
    Store(#[from] Error),
}

impl ClaimError {
    /// Somebody else runs the session, or may be running it.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        matches!(self, ClaimError::Held { .. } | ClaimError::Foreign { .. })
    }
}

/// The right to run a session. It ends when this is released or dropped, with its process, or when somebody deletes its file.
///
/// Dropping it without [`Claim::release`] is how a run ends that failed: what it named as being answered stays on record as
/// left behind, and the next claim closes it.
pub struct Claim {
    store: Store,
    held: Arc<Held>,
}

struct Held {
    session: String,
    lock: Box<dyn SessionLock>,
    /// The run ended in order, or never began an answer: nothing is left to close.
    settled: AtomicBool,
}

impl Held {
    fn check(&self) -> Result<(), Error> {
        if self.lock.is_held() { Ok(()) } else { Err(Error::ClaimLost { session: self.session.clone() }) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.settled.load(Ordering::Acquire) {
            self.lock.forget();
        }
    }
}

impl Claim {
    /// The session.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.held.session
    }

    /// Whether it is still this one's: not if its file was deleted. Costs a look at the file system.
    #[must_use]
    pub fn still_held(&self) -> bool {
        self.held.lock.is_held()
    }

    /// The same as an error, for the loop that runs the session.
    ///
    /// # Errors
    /// [`Error::ClaimLost`].
    pub fn check(&self) -> Result<(), Error> {
        self.held.check()
    }

    /// Puts on record that this assistant message is about to be answered. Before the message is written, or a death in
    /// between leaves it open for ever. Waits for the disk.
    ///
    /// # Errors
    /// [`Error::ClaimLost`]; [`Error::Io`].
    pub fn answering(&self, message: &str) -> Result<(), Error> {
        self.check()?;
        self.held.settled.store(false, Ordering::Release);
        self.held.lock.note(message)
    }

    /// [`Store::write`] that writes nothing once the claim is lost. It is looked at inside the transaction; a write that is
    /// still queued keeps the claim.
    pub fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        write: impl FnOnce(&mut dyn Transaction) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        let held = Arc::clone(&self.held);
        self.store.write(durability, move |tx| {
            held.check()?;
            write(tx)
        })
    }

    /// Gives the session back after a run that left nothing open.
    pub fn release(self) {
        self.held.settled.store(true, Ordering::Release);
    }
}

impl Store {
    /// Claims a session for a run. Answers at once, or within 100 ms if it is held. What a dead process of ours left open in
    /// it is closed first. Blocks: not for async tasks.
    ///
    /// # Errors
    /// [`ClaimError`].
    pub fn claim(&self, session: &str) -> Result<Claim, ClaimError> {
        self.claim_unless(session, |store| {
            if !store.neighbours().foreign() {
                return Ok(());
            }
            match foreign::running(store, session)? {
                None => Ok(()),
                Some((message, age_ms)) => Err(ClaimError::Foreign { session: session.to_owned(), message, age_ms }),
            }
        })
    }

    /// The same, even if OpenCode seems to be running the session. A claim of ours cannot be overruled.
    ///
    /// # Errors
    /// [`ClaimError`], but never [`ClaimError::Foreign`].
    pub fn claim_by_force(&self, session: &str) -> Result<Claim, ClaimError> {
        self.claim_unless(session, |_| Ok(()))
    }

    fn claim_unless(&self, session: &str, objection: impl FnOnce(&Store) -> Result<(), ClaimError>) -> Result<Claim, ClaimError> {
        self.writable()?;
        self.session(session)?;
        let lock = match self.backend().session_locks().lock(session)? {
            Lock::Taken(lock) => lock,
            Lock::Held(by) => return Err(ClaimError::Held { session: session.to_owned(), by }),
        };
        // Should this fail, the file stays as it is, for the next one.
        recover::settle(self, &*lock)?;
        // From here on there is nothing in it to be lost.
        let held = Held { session: session.to_owned(), lock, settled: AtomicBool::new(true) };
        objection(self)?;
        held.lock.begin(&Holder::this(session))?;
        Ok(Claim { store: self.clone(), held: Arc::new(held) })
    }

    /// Who runs which session now, oldest first. For people: it may have changed by the time it is read.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn claims(&self) -> Result<Vec<Holder>, Error> {
        self.backend().session_locks().living()
    }
}
