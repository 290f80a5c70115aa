//! The newest positions of the record, in the order of their commits: the way back for a reader whose event was erased.
//!
//! While the row of a position still has its event, all that is newer has a higher row id. When it was erased (with the log
//! of a deleted session) its row id may be given out again, and the number alone says nothing. The trail then says what
//! stood before it: the newest of those that is still there is where the reader goes on. Everything between is erased, for a
//! row that is there now and was written after the living one has a higher row id than that.
//!
//! Deletions stand in the trail too, since they erase the only event that told of them.

use crate::backend::Snapshot;
use crate::error::Error;
use crate::position::Position;
use kept::Kept;
use older::Older;
use std::collections::VecDeque;
use std::sync::Arc;

/// Events remembered, and as many deletions.
pub const LENGTH: usize = 4_096;
/// Sessions whose newest forgotten event is remembered all the same.
const SESSIONS: usize = 256;

/// What happened at a place of the trail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// An event was recorded.
    Event,
    /// A session came without an event of its own.
    Created,
    /// A session went.
    Deleted,
}

/// One place of the trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// the row of the event; of what had none, the row before it
    pub rowid: i64,
    /// `evt_...`
    pub id: Arc<str>,
    /// the session
    pub session: Arc<str>,
    /// what happened
    pub what: Happened,
}

impl Step {
    pub(crate) fn position(&self) -> Position {
        Position::Record { rowid: self.rowid, id: self.id.to_string() }
    }
}

/// Where a position stands: after so many events, before which notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// events of the trail, from its beginning, that stand at or before it
    pub(crate) events: u64,
    /// notices that stand at or before it
    pub(crate) notices: u64,
}

/// Where to read on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Living {
    /// After this event, which is in the log.
    After(i64, Arc<str>),
    /// With the first event: all that stood before was erased.
    Start,
    /// Nobody knows.
    Lost,
}

#[derive(Debug)]
pub(crate) struct Trail {
    length: usize,
    events: VecDeque<Step>,
    /// The number of the first of `events`.
    first: u64,
    /// The newest forgotten event of each of the sessions forgotten last, oldest first. A log is erased from its beginning,
    /// so a session none of whose events is newer than these has nothing left once this one is gone.
    older: Older,
    /// What is no event of the log, each with the number of events before it.
    notices: VecDeque<(u64, Step)>,
    first_notice: u64,
    begun: bool,
    /// Nothing stood in the log before what is remembered.
    from_start: bool,
}

impl Default for Trail {
    fn default() -> Self {
        Trail::new(LENGTH)
    }
}

impl Trail {
    fn new(length: usize) -> Self {
        Trail {
            length,
            events: VecDeque::new(),
            first: 0,
            older: Older::default(),
            notices: VecDeque::new(),
            first_notice: 0,
            begun: false,
            from_start: false,
        }
    }

    /// Whether it leads up to the end of the log as it was last seen.
    pub(crate) fn begun(&self) -> bool {
        self.begun
    }

    /// Begins at the end of the log. The notices stay.
    pub(crate) fn begin(&mut self, end: Option<Step>) {
        self.forget();
        self.begun = true;
        self.from_start = end.is_none();
        self.events.extend(end);
    }

    /// Begins without knowing what stands before.
    pub(crate) fn begin_anywhere(&mut self) {
        self.forget();
        self.begun = true;
    }

    /// The log was not followed for a while: what comes next does not continue this.
    pub(crate) fn forget(&mut self) {
        self.first = self.next();
        self.events.clear();
        self.older.clear();
        self.begun = false;
        self.from_start = false;
    }

    /// The number of the next event.
    pub(crate) fn next(&self) -> u64 {
        self.first + self.events.len() as u64
    }

    pub(crate) fn push_event(&mut self, step: Step) {
        self.events.push_back(step);
        if self.events.len() > self.length
            && let Some(step) = self.events.pop_front()
        {
            self.first += 1;
            self.from_start &= !self.older.push(step, SESSIONS);
        }
    }

    pub(crate) fn push_notice(&mut self, step: Step) {
        self.notices.push_back((self.next(), step));
        if self.notices.len() > self.length {
            self.notices.pop_front();
            self.first_notice += 1;
        }
    }

    pub(crate) fn last(&self) -> Option<&Step> {
        self.events.back()
    }

    /// The event with this number.
    pub(crate) fn event(&self, number: u64) -> Option<&Step> {
        self.events.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The notices that come after a place, each with the number of events before it.
    pub(crate) fn notices_after(&self, place: Place) -> impl Iterator<Item = &(u64, Step)> {
        let known = place.notices.saturating_sub(self.first_notice);
        self.notices.iter().skip(usize::try_from(known).unwrap_or(usize::MAX))
    }

    /// Whether this event was told as a notice.
    pub(crate) fn is_notice(&self, id: &str) -> bool {
        self.notices.iter().rev().any(|(_, step)| &*step.id == id)
    }

    /// Whether the session was deleted, as far as is remembered, and did not come again.
    pub(crate) fn is_deleted(&self, session: &str) -> bool {
        let last = self.notices.iter().rev().find(|(_, step)| &*step.session == session);
        last.is_some_and(|(events, step)| {
            step.what == Happened::Deleted && {
                let since = usize::try_from(events.saturating_sub(self.first)).unwrap_or(usize::MAX);
                !self.events.iter().skip(since).any(|event| &*event.session == session)
            }
        })
    }

    /// The last notice of a session.
    pub(crate) fn last_notice(&self, session: &str) -> Option<&Step> {
        self.notices.iter().rev().map(|(_, step)| step).find(|step| &*step.session == session)
    }

    /// Where a position stands, if it is remembered.
    pub(crate) fn place(&self, rowid: i64, id: &str) -> Option<Place> {
        let same = |step: &Step| step.rowid == rowid && &*step.id == id;
        // A deletion that has an event stands there twice; the notice is the later one.
        if let Some(at) = self.notices.iter().rposition(|(_, step)| same(step)) {
            return Some(Place { events: self.notices[at].0, notices: self.first_notice + at as u64 + 1 });
        }
        let at = self.events.iter().rposition(same)?;
        let events = self.first + at as u64 + 1;
        let notices = self.notices.iter().take_while(|(before, _)| *before < events).count();
        Some(Place { events, notices: self.first_notice + notices as u64 })
    }

    /// Before everything that is remembered.
    pub(crate) fn start(&self) -> Place {
        Place { events: self.first, notices: self.first_notice }
    }

    /// Where a living event stands that is older than everything remembered. A notice counts as later, unless the event's
    /// row was given out after it.
    pub(crate) fn place_of_older(&self, rowid: i64) -> Place {
        let earlier = self.notices.iter().take_while(|(_, step)| step.rowid < rowid).count();
        Place { events: self.first, notices: self.first_notice + earlier as u64 }
    }

    /// The events at or before a place, newest first; nothing if the trail does not reach back so far.
    pub(crate) fn back_from(&self, events: u64) -> Option<Back> {
        let count = usize::try_from(events.checked_sub(self.first)?).ok()?;
        let ring = self.events.iter().take(count).rev();
        let steps = ring.chain(self.older.steps().rev()).map(|step| (step.rowid, Arc::clone(&step.id))).collect();
        Some(Back { steps, from_start: self.from_start })
    }

    /// The same, from a position.
    pub(crate) fn back_from_position(&self, rowid: i64, id: &str) -> Option<Back> {
        self.place(rowid, id).and_then(|place| self.back_from(place.events))
    }

    /// Everything that is remembered, in order.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut notices = self.notices.iter().peekable();
        let mut steps = Vec::with_capacity(self.events.len() + self.notices.len());
        for (number, event) in (self.first..).zip(&self.events) {
            while let Some((_, notice)) = notices.next_if(|(before, _)| *before <= number) {
                steps.push(notice.clone());
            }
            steps.push(event.clone());
        }
        steps.extend(notices.map(|(_, notice)| notice.clone()));
        steps
    }

    /// All of it for a later process.
    pub(crate) fn kept(&self) -> Kept {
        // Of what is forgotten nothing is handed on but that it was there.
        Kept { steps: self.steps(), from_start: self.from_start && self.older.is_empty() }
    }

    /// A number that is another one after each change.
    pub(crate) fn version(&self) -> u64 {
        self.next() + self.first_notice + self.notices.len() as u64
    }

    /// The trail of an earlier process.
    pub(crate) fn restored(kept: Kept) -> Self {
        let Kept { steps, from_start } = kept;
        let mut trail = Trail { from_start, ..Trail::default() };
        for step in steps {
            match step.what {
                Happened::Event => trail.push_event(step),
                Happened::Created | Happened::Deleted => trail.push_notice(step),
            }
        }
        // Without an event there is nothing to go on from.
        trail.begun = !trail.events.is_empty();
        trail
    }

    /// The sessions of which something is remembered, and that are not known to be deleted.
    pub(crate) fn sessions(&self) -> Vec<Arc<str>> {
        let mut sessions: Vec<_> = self.events.iter().chain(self.older.steps()).map(|step| Arc::clone(&step.session)).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions.retain(|session| !self.is_deleted(session));
        sessions
    }

    /// The sessions known to be deleted.
    pub(crate) fn deleted(&self) -> Vec<Arc<str>> {
        let mut sessions: Vec<_> = self.notices.iter().map(|(_, step)| Arc::clone(&step.session)).collect();
        sessions.sort_unstable();
        sessions.dedup();
        sessions.retain(|session| self.is_deleted(session));
        sessions
    }
}

/// A way back, to be walked without holding anything.
pub(crate) struct Back {
    steps: Vec<(i64, Arc<str>)>,
    from_start: bool,
}

impl Back {
    /// The newest event on the way that is still in the log.
    pub(crate) fn walk(self, view: &dyn Snapshot) -> Result<Living, Error> {
        for (rowid, id) in self.steps {
            if is_living(view, rowid, &id)? {
                return Ok(Living::After(rowid, id));
            }
        }
        Ok(if self.from_start { Living::Start } else { Living::Lost })
    }
}

/// Whether the row still has this event.
pub(crate) fn is_living(view: &dyn Snapshot, rowid: i64, id: &str) -> Result<bool, Error> {
    Ok(view.log_head(None, rowid)?.is_some_and(|head| head.id == id))
}

pub(crate) mod kept;
mod older;

#[cfg(test)]
mod tests;
