//! The one order in which this process learns of things: its own commits, those of others, and what is told and not stored.
//!
//! Own commits and looks at the file take turns (`turn`), so that what a look finds is what no commit of ours has passed on
//! yet. What others committed before a commit of ours is passed on before it. So every subscriber hears the events of the
//! log in the log's order, each once, whoever wrote them.

use crate::backend::{Flow, Snapshot};
use crate::bus::{Change, Mark, Notice, Passing, Popped, Slot};
use crate::error::Error;
use crate::log::{Appended, CREATED, Commit, DELETED, Listener, LogHead, LogRange, Take, Watcher};
use crate::position::Position;
use crate::query::SessionFilter;
use crate::trail::kept::Kept;
use crate::trail::{Back, Happened, Living, Step, Trail};
use annalist_schema::id;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub(crate) struct Feed {
    turn: Mutex<()>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) trail: Trail,
    /// The ids of all sessions, once somebody listened: a session can go without leaving a word.
    sessions: Option<BTreeSet<Box<str>>>,
    slots: HashMap<u64, Slot>,
    last_slot: u64,
    /// A look failed: the next one must not rely on what was noticed before.
    stale: bool,
    /// Commits of ours may have hidden a change without an event: to be looked for once it is quiet.
    doubt: bool,
    /// `trail.next()` at the end of the last look.
    seen: u64,
}

impl Feed {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the file for what others did, if there is reason to; then hands the state and the view over.
    pub(crate) fn look<T>(
        &self,
        watcher: &mut dyn Watcher,
        then: impl FnOnce(&mut State, &dyn Snapshot) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.state();
        let changed = watcher.changed();
        let mut then = Some(then);
        let mut result = None;
        let looked = changed.and_then(|changed| {
            watcher.read(&mut |view| {
                state.look(view, changed)?;
                result = then.take().map(|then| then(&mut state, view)).transpose()?;
                Ok(())
            })
        });
        state.stale |= looked.is_err();
        state.wake();
        looked?;
        result.ok_or(Error::Closed)
    }

    /// The same, where there is nothing to do but to look.
    pub(crate) fn poll(&self, watcher: &mut dyn Watcher) -> Result<(), Error> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.state();
        let looked = watcher.changed().and_then(|changed| {
            if changed || state.stale || state.doubt || !state.trail.begun() {
                watcher.read(&mut |view| state.look(view, changed))
            } else {
                Ok(())
            }
        });
        state.stale |= looked.is_err();
        state.wake();
        looked
    }

    pub(crate) fn publish(&self, passing: Passing) {
        let passing = Arc::new(passing);
        let mut state = self.state();
        for slot in state.slots.values_mut() {
            slot.passing(&passing);
            slot.wake();
        }
    }

    /// Tells every subscriber that others' writes cannot be noticed.
    pub(crate) fn trouble(&self, cause: &str) {
        let cause = Arc::from(cause);
        let mut state = self.state();
        for slot in state.slots.values_mut() {
            slot.trouble(&cause);
            slot.wake();
        }
    }

    pub(crate) fn pop(&self, slot: u64) -> Popped {
        self.state().slots.get_mut(&slot).map_or(Popped::Nothing, Slot::pop)
    }

    pub(crate) fn is_lagged(&self, slot: u64) -> bool {
        self.state().slots.get(&slot).is_some_and(Slot::is_lagged)
    }

    /// Empties what waits for a reader that has lost its place. Answers the end of the log.
    pub(crate) fn reset(&self, slot: u64) -> Option<Mark> {
        let mut state = self.state();
        if let Some(slot) = state.slots.get_mut(&slot) {
            slot.reset();
        }
        state.trail.last().map(|step| Mark { rowid: step.rowid, seq: -1, id: Arc::clone(&step.id) })
    }

    pub(crate) fn leave(&self, slot: u64) {
        self.state().slots.remove(&slot);
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.state().slots.is_empty()
    }

    pub(crate) fn back_from(&self, rowid: i64, id: &str) -> Option<Back> {
        self.state().trail.back_from_position(rowid, id)
    }

    pub(crate) fn is_notice(&self, id: &str) -> bool {
        self.state().trail.is_notice(id)
    }

    pub(crate) fn is_deleted(&self, session: &str) -> bool {
        self.state().trail.is_deleted(session)
    }

    pub(crate) fn steps(&self) -> Vec<Step> {
        self.state().trail.steps()
    }

    /// The trail for a later process, and which one it is; nothing if nothing was followed or it is the one `known`.
    pub(crate) fn kept(&self, known: Option<u64>) -> Option<(Kept, u64)> {
        let state = self.state();
        let version = state.trail.version();
        (state.trail.begun() && known != Some(version)).then(|| (state.trail.kept(), version))
    }

    /// Takes over the trail of an earlier process, if nothing was followed yet. Answers which one it is if it did.
    pub(crate) fn restore(&self, kept: Kept) -> Option<u64> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = self.state();
        if state.trail.begun() {
            return None;
        }
        state.trail = Trail::restored(kept);
        state.seen = state.trail.next();
        Some(state.trail.version())
    }
}

impl Listener for Feed {
    fn commit(&self, group: &mut dyn Commit, events: Vec<Appended>, foreign: bool) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if !group.commit() {
            return;
        }
        let mut state = self.state();
        if foreign || !state.trail.begun() {
            // Whatever others wrote stands below all of ours: row ids rise in a transaction above what it found.
            let below = events.iter().map(|event| event.rowid).min();
            if group.read(&mut |view| state.advance(view, below)).is_err() {
                // The commit stands. Ours are told now, the others' at the next look that succeeds.
                state.trail.begin_anywhere();
                state.stale = true;
            }
        }
        for event in &events {
            state.event(event);
        }
        state.wake();
    }
}

impl State {
    pub(crate) fn join(&mut self, slot: Slot) -> u64 {
        self.last_slot += 1;
        self.slots.insert(self.last_slot, slot);
        self.last_slot
    }

    fn wake(&mut self) {
        self.slots.values_mut().for_each(Slot::wake);
    }

    /// Brings everything up to date with a view.
    fn look(&mut self, view: &dyn Snapshot, changed: bool) -> Result<(), Error> {
        self.advance(view, None)?;
        if std::mem::take(&mut self.stale) {
            self.refresh(view).inspect_err(|_| self.stale = true)?;
        }
        self.slots.values_mut().for_each(Slot::trouble_is_over);
        let explained = self.trail.next() != self.seen;
        self.seen = self.trail.next();
        self.compare(view, changed, explained)
    }

    /// Passes on what the log has after what was passed on last, and `below` a place.
    fn advance(&mut self, view: &dyn Snapshot, below: Option<i64>) -> Result<(), Error> {
        if !self.trail.begun() {
            self.trail.begin(view.log_end(None, below)?.map(|head| step(&head)));
            return Ok(());
        }
        let from = match self.trail.back_from(self.trail.next()).map_or(Ok(Living::Lost), |back| back.walk(view))? {
            Living::After(rowid, _) => Some(rowid),
            Living::Start => None,
            Living::Lost => {
                self.trail.begin(view.log_end(None, below)?.map(|head| step(&head)));
                return self.refresh(view);
            }
        };
        let range = LogRange { session: None, after: from, upto: below.map(|below| below - 1) };
        let this = std::cell::RefCell::new(self);
        view.log(
            &range,
            &mut |head| {
                if head.kind == DELETED {
                    return Take::Row;
                }
                this.borrow_mut().event(&appended(head, None));
                Take::Skip
            },
            &mut |head, data| {
                this.borrow_mut().event(&appended(head, std::str::from_utf8(data).ok()));
                Flow::Continue
            },
        )
    }

    /// Sends every reader to the end of the log: what was noticed does not say what it missed.
    fn refresh(&mut self, view: &dyn Snapshot) -> Result<(), Error> {
        for slot in self.slots.values_mut() {
            if let Some(end) = view.log_end(slot.interest.session.as_deref(), None)? {
                slot.read(mark(&end));
            }
        }
        Ok(())
    }

    /// One event of the log, to all who want it.
    fn event(&mut self, event: &Appended) {
        let step =
            Step { rowid: event.rowid, id: Arc::clone(&event.id), session: Arc::clone(&event.session), what: Happened::Event };
        let at = Mark { rowid: event.rowid, seq: event.seq, id: Arc::clone(&event.id) };
        self.trail.push_event(step.clone());
        let farewell = &*event.kind == DELETED;
        for slot in self.slots.values_mut() {
            let interest = &slot.interest;
            if interest.session.as_deref().is_some_and(|session| session != &*event.session) {
                continue;
            }
            if !farewell && event.told && interest.wants_logged(&event.session, &event.kind) {
                slot.read(at.clone());
            } else {
                slot.skip(at.clone(), !event.told);
            }
        }
        if farewell {
            let said = (event.farewell.clone(), Some(event.seq));
            self.notice(Step { what: Happened::Deleted, ..step }, said, event.told);
        } else if &*event.kind == CREATED
            && let Some(sessions) = &mut self.sessions
        {
            sessions.insert(Box::from(&*event.session));
        }
    }

    /// `said` is the data and the number of the event that said so.
    fn notice(&mut self, step: Step, (data, seq): (Option<Arc<str>>, Option<i64>), told: bool) {
        let change = match step.what {
            Happened::Created => Change::Created,
            Happened::Deleted | Happened::Event => Change::Deleted,
        };
        if let Some(sessions) = &mut self.sessions {
            match change {
                Change::Created => sessions.insert(Box::from(&*step.session)),
                Change::Deleted => sessions.remove(&*step.session),
            };
        }
        if told {
            let notice = Arc::new(Notice { data, seq, ..notice_of(&step, change) });
            for slot in self.slots.values_mut() {
                slot.notice(Arc::clone(&notice));
            }
        }
        self.trail.push_notice(step);
    }

    /// Compares the sessions with those known, if the events noticed do not explain what changed.
    fn compare(&mut self, view: &dyn Snapshot, changed: bool, explained: bool) -> Result<(), Error> {
        let Some(known) = &self.sessions else {
            let mut ids = BTreeSet::new();
            view.each_session_id(&mut |id| {
                ids.insert(Box::from(id));
            })?;
            // A trail of an earlier process may name sessions that went meanwhile.
            let gone: Vec<_> = self.trail.sessions().into_iter().filter(|session| !ids.contains(&**session)).collect();
            // And others that came again, with a log that begins anew or with none.
            let back: Vec<_> = self.trail.deleted().into_iter().filter(|session| ids.contains(&**session)).collect();
            self.sessions = Some(ids);
            for session in back {
                self.unlogged(&session, Happened::Created);
            }
            for session in gone {
                if view.log_end(Some(&session), None)?.is_none() {
                    self.unlogged(&session, Happened::Deleted);
                }
            }
            return Ok(());
        };
        let count = view.count_sessions(&SessionFilter::default())?;
        let quiet = !changed && !explained;
        if count == known.len() as u64 && (explained || (quiet && !self.doubt)) {
            self.doubt |= explained;
            return Ok(());
        }
        let (mut gone, mut new) = (Vec::new(), Vec::new());
        let mut old = known.iter().peekable();
        view.each_session_id(&mut |id| {
            loop {
                match old.peek().map_or(Ordering::Greater, |old| (***old).cmp(id)) {
                    Ordering::Less => gone.extend(old.next().cloned()),
                    Ordering::Equal => {
                        old.next();
                        return;
                    }
                    Ordering::Greater => {
                        new.push(Box::<str>::from(id));
                        return;
                    }
                }
            }
        })?;
        gone.extend(old.cloned());
        self.doubt = false;
        for session in gone {
            self.unlogged(&session, Happened::Deleted);
        }
        for session in new {
            self.unlogged(&session, Happened::Created);
        }
        Ok(())
    }

    /// A change that no event told of gets an id of its own and stands behind the last event.
    fn unlogged(&mut self, session: &str, what: Happened) {
        let rowid = self.trail.last().map_or(0, |last| last.rowid);
        let step = Step { rowid, id: Arc::from(id::new(id::Kind::Event)), session: Arc::from(session), what };
        self.notice(step, (None, None), true);
    }
}

pub(crate) fn notice_of(step: &Step, change: Change) -> Notice {
    let position: Position = step.position();
    Notice { position, id: step.id.to_string(), session: step.session.to_string(), seq: None, change, data: None }
}

pub(crate) fn mark(head: &LogHead<'_>) -> Mark {
    Mark { rowid: head.rowid, seq: head.seq, id: Arc::from(&*head.id) }
}

fn step(head: &LogHead<'_>) -> Step {
    Step { rowid: head.rowid, id: Arc::from(&*head.id), session: Arc::from(&*head.session), what: Happened::Event }
}

fn appended(head: &LogHead<'_>, farewell: Option<&str>) -> Appended {
    Appended {
        rowid: head.rowid,
        id: Arc::from(&*head.id),
        session: Arc::from(&*head.session),
        seq: head.seq,
        kind: Arc::from(&*head.kind),
        farewell: farewell.map(Arc::from),
        told: true,
    }
}

#[cfg(test)]
mod tests;
