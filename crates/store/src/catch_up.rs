//! History first, then live: one subscriber's way through the log.

mod begin;
mod read;

use crate::bus::{Change, Interest, Mark, Notice, Passing, Popped, Queued};
use crate::error::Error;
use crate::live::Live;
use crate::log::Logged;
use crate::position::{Position, Reset, Start};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a subscriber is given.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delivery {
    /// An event of the log.
    Event(Logged),
    /// A session came or went, and no event of the log says so (any more).
    Notice(Arc<Notice>),
    /// An event that is not stored.
    Passing(Arc<Passing>),
    /// It cannot be told what was missed. What the subscriber shows has to be read anew; what follows is new.
    Reset(Reset),
    /// The subscriber fell too far behind, and this is the end: every further call gives it again. The log can be read on
    /// from [`Subscription::position`].
    Lagged,
}

/// A subscription: its own place in the log, and what waits for it on the bus. Dropping it ends it.
pub struct Subscription {
    live: Arc<Live>,
    slot: u64,
    interest: Arc<Interest>,
    woken: mpsc::Receiver<()>,
    /// The last event read or passed over; nothing before the first.
    cursor: Option<Mark>,
    /// Where the stretch being read ends.
    target: Option<Mark>,
    page: VecDeque<Delivery>,
    position: Option<Position>,
    /// The position once the page is used up.
    reached: Option<Position>,
    /// The session was deleted: a log of it that is found is a new one.
    deleted: bool,
}

impl Subscription {
    pub(crate) fn open(live: &Arc<Live>, interest: Interest, start: Start) -> Result<Self, Error> {
        let subscription = begin::begin(live, Arc::new(interest), start)?;
        live.watch.start(live)?;
        Ok(subscription)
    }

    /// What is next, if anything is. Reads a page of the log if the last one is used up (some milliseconds).
    ///
    /// # Errors
    /// Those of the backend; the next call tries again. [`Error::Watching`] once, when other processes' writes cannot be
    /// noticed for a while.
    pub fn try_next(&mut self) -> Result<Option<Delivery>, Error> {
        loop {
            if self.live.feed.is_lagged(self.slot) {
                return Ok(Some(Delivery::Lagged));
            }
            if let Some(delivery) = self.page.pop_front() {
                self.note(&delivery);
                return Ok(Some(delivery));
            }
            if let Some(reached) = self.reached.take() {
                self.position = Some(reached);
            }
            if let Some(target) = self.target.take() {
                let more = read::page(self, &target).inspect_err(|_| self.target = Some(target.clone()))?;
                self.target = more.then_some(target);
                continue;
            }
            match self.live.feed.pop(self.slot) {
                Popped::Nothing => return Ok(None),
                Popped::Lagged => return Ok(Some(Delivery::Lagged)),
                Popped::Trouble(cause) => return Err(Error::Watching { cause: cause.to_string() }),
                Popped::Next(Queued::Read(target)) => self.target = Some(target),
                Popped::Next(Queued::Skip(mark)) => self.pass_to(mark),
                Popped::Next(Queued::Passing(passing)) => return Ok(Some(Delivery::Passing(passing))),
                Popped::Next(Queued::Notice(notice)) => {
                    let delivery = Delivery::Notice(notice);
                    self.note(&delivery);
                    return Ok(Some(delivery));
                }
            }
        }
    }

    /// Waits on this thread for what is next. Not for async tasks: use [`Subscription::next`] there.
    ///
    /// # Errors
    /// As [`Subscription::try_next`].
    pub fn wait(&mut self) -> Result<Delivery, Error> {
        loop {
            if let Some(delivery) = self.try_next()? {
                return Ok(delivery);
            }
            // The bus holds the other end for as long as this lives.
            self.woken.blocking_recv().ok_or(Error::Closed)?;
        }
    }

    /// What is next. Nothing is lost when the future is dropped. It reads the log in the task, some milliseconds at a time;
    /// who cannot have that awaits [`Subscription::ready`] and calls [`Subscription::try_next`] elsewhere.
    ///
    /// # Errors
    /// As [`Subscription::try_next`].
    pub async fn next(&mut self) -> Result<Delivery, Error> {
        loop {
            if let Some(delivery) = self.try_next()? {
                return Ok(delivery);
            }
            self.woken.recv().await.ok_or(Error::Closed)?;
        }
    }

    /// Waits until something came after [`Subscription::try_next`] had nothing. It may wake for nothing.
    ///
    /// # Errors
    /// [`Error::Closed`] if the store's bus is gone.
    pub async fn ready(&mut self) -> Result<(), Error> {
        self.woken.recv().await.ok_or(Error::Closed)
    }

    /// Whether it fell too far behind: [`Delivery::Lagged`] is all that comes.
    #[must_use]
    pub fn is_lagged(&self) -> bool {
        self.live.feed.is_lagged(self.slot)
    }

    /// Where to go on: everything up to here was delivered, or is not wanted. Nothing if the log was empty.
    #[must_use]
    pub fn position(&self) -> Option<&Position> {
        self.position.as_ref()
    }

    fn note(&mut self, delivery: &Delivery) {
        match delivery {
            Delivery::Event(event) => {
                self.deleted = false;
                self.position = Some(self.position_at(event.rowid, event.seq, &event.id));
            }
            Delivery::Notice(notice) => {
                self.deleted = notice.change == Change::Deleted;
                if self.interest.session.is_none() {
                    self.position = Some(notice.position.clone());
                } else if self.deleted {
                    self.position = Some(Position::Session(-1));
                }
            }
            Delivery::Reset(_) => {
                self.position = self.cursor.as_ref().map(|cursor| self.position_at(cursor.rowid, cursor.seq, &cursor.id));
            }
            Delivery::Passing(_) | Delivery::Lagged => {}
        }
    }

    fn position_at(&self, rowid: i64, seq: i64, id: &str) -> Position {
        match self.interest.session {
            None => Position::Record { rowid, id: id.to_owned() },
            Some(_) => Position::Session(seq),
        }
    }

    /// Nothing up to this event is left to deliver.
    fn pass_to(&mut self, mark: Mark) {
        self.reached = Some(self.position_at(mark.rowid, mark.seq, &mark.id));
        self.cursor = Some(mark);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        self.live.feed.leave(self.slot);
    }
}
