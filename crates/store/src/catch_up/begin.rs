//! Where a subscription begins, and what waits for it from the beginning.

use super::{Delivery, Subscription};
use crate::backend::Snapshot;
use crate::bus::{Change, Interest, Mark, Slot};
use crate::error::Error;
use crate::feed::{State, mark, notice_of};
use crate::live::Live;
use crate::position::{Position, Reset, Start};
use crate::trail::{Happened, Living, Place, Step, is_living};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::mpsc;

/// What a start comes to, in one view of the log.
struct Begun {
    /// the last event that is not wanted
    cursor: Option<Mark>,
    /// where the subscriber may go on if nothing comes
    position: Option<Position>,
    /// it cannot go on from where it was
    reset: Option<Reset>,
}

/// While nothing else is passed on: what is committed until now is history, what comes after it is live.
pub(super) fn begin(live: &Arc<Live>, interest: Arc<Interest>, start: Start) -> Result<Subscription, Error> {
    let (wake, woken) = mpsc::channel(1);
    let mut slot = Slot::new(Arc::clone(&interest), wake);
    let (begun, slot) = live.with_watcher(|watcher| {
        live.feed.look(watcher, |state, view| {
            let begun = match &interest.session {
                None => record(state, view, &mut slot, start)?,
                Some(session) => one_session(state, view, &mut slot, session, start)?,
            };
            Ok((begun, state.join(slot)))
        })
    })?;
    let page: VecDeque<_> = begun.reset.map(Delivery::Reset).into_iter().collect();
    Ok(Subscription {
        live: Arc::clone(live),
        slot,
        interest,
        woken,
        cursor: begun.cursor,
        target: None,
        page,
        position: begun.position,
        reached: None,
        deleted: false,
    })
}

fn record(state: &State, view: &dyn Snapshot, slot: &mut Slot, start: Start) -> Result<Begun, Error> {
    let end = view.log_end(None, None)?.map(|head| mark(&head));
    let position = end.as_ref().map(|end| Position::Record { rowid: end.rowid, id: end.id.to_string() });
    let reset = |reset: Option<Reset>| Ok(Begun { cursor: end.clone(), position: position.clone(), reset });
    let (rowid, id) = match start {
        Start::Now => return reset(None),
        Start::Reset(reason) => return reset(Some(reason)),
        Start::After(Position::Session(_)) => return reset(Some(Reset::Malformed)),
        Start::Beginning => {
            // A log that is being erased tells of sessions that are gone; its end waits as a notice.
            missed(state, state.trail.start(), slot, |session| Ok(view.log_end(Some(session), None)?.is_some()))?;
            end.into_iter().for_each(|end| slot.read(end));
            return Ok(Begun { cursor: None, position: None, reset: None });
        }
        Start::After(Position::Record { rowid, id }) => (rowid, id),
    };
    let (place, living) = match state.trail.place(rowid, &id) {
        Some(place) => (place, state.trail.back_from(place.events).map_or(Ok(Living::Lost), |back| back.walk(view))?),
        None if is_living(view, rowid, &id)? => (state.trail.place_of_older(rowid), Living::After(rowid, Arc::from(&*id))),
        None if end.as_ref().is_none_or(|end| end.rowid < rowid) => return reset(Some(Reset::Ahead)),
        None => return reset(Some(Reset::Unknown)),
    };
    let cursor = match living {
        Living::After(rowid, id) => Some(Mark { rowid, seq: -1, id }),
        Living::Start => None,
        Living::Lost => return reset(Some(Reset::Unknown)),
    };
    missed(state, place, slot, |_| Ok(true))?;
    if let Some(end) = end.filter(|end| cursor.as_ref().is_none_or(|cursor| cursor.rowid < end.rowid)) {
        slot.read(end);
    }
    Ok(Begun { cursor, position: Some(Position::Record { rowid, id }), reset: None })
}

/// The notices after a place, each behind the events that came before it.
fn missed(state: &State, place: Place, slot: &mut Slot, mut of: impl FnMut(&str) -> Result<bool, Error>) -> Result<(), Error> {
    let mut at = place.events;
    for (before, step) in state.trail.notices_after(place) {
        if !of(&step.session)? {
            continue;
        }
        if *before > at
            && let Some(event) = before.checked_sub(1).and_then(|number| state.trail.event(number))
        {
            slot.read(Mark { rowid: event.rowid, seq: -1, id: Arc::clone(&event.id) });
            at = *before;
        }
        slot.notice(Arc::new(notice_of(step, change(step))));
    }
    Ok(())
}

fn change(step: &Step) -> Change {
    match step.what {
        Happened::Created => Change::Created,
        Happened::Deleted | Happened::Event => Change::Deleted,
    }
}

fn one_session(state: &State, view: &dyn Snapshot, slot: &mut Slot, session: &str, start: Start) -> Result<Begun, Error> {
    let end = view.log_end(Some(session), None)?.map(|head| mark(&head));
    let position = Some(Position::Session(end.as_ref().map_or(-1, |end| end.seq)));
    let reset = |reset: Option<Reset>| Ok(Begun { cursor: end.clone(), position: position.clone(), reset });
    let seq = match start {
        Start::Now => return reset(None),
        Start::Reset(reason) => return reset(Some(reason)),
        Start::After(Position::Record { .. }) => return reset(Some(Reset::Malformed)),
        Start::Beginning => -1,
        Start::After(Position::Session(seq)) => seq,
    };
    if let Some(step) = state.trail.last_notice(session).filter(|_| state.trail.is_deleted(session)) {
        // What is left of its log is being erased. Who had some of it has missed the end of the session; -1 is where one
        // is after that.
        if seq >= 0 {
            slot.notice(Arc::new(notice_of(step, Change::Deleted)));
        }
        return Ok(Begun { cursor: end, position: Some(Position::Session(seq)), reset: None });
    }
    let cursor = match view.log_head(Some(session), seq)? {
        Some(head) => Some(mark(&head)),
        None if seq == -1 => None,
        None if end.as_ref().is_some_and(|end| end.seq < seq) => return reset(Some(Reset::Ahead)),
        None => return reset(Some(Reset::Unknown)),
    };
    end.into_iter().for_each(|end| slot.read(end));
    Ok(Begun { cursor, position: Some(Position::Session(seq)), reset: None })
}
