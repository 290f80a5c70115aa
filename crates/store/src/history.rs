//! The log as another copy asks for it (reference-storage 3.3, `POST /sync/history`): what it does not have yet, all
//! sessions interleaved by number, a bounded piece at a time.

use crate::backend::{Flow, Snapshot};
use crate::error::Error;
use crate::log::{LogHead, LogRange, Logged, Take};
use crate::store::Store;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Bytes of data after which a page takes no further event.
const BYTES: usize = 4 << 20;

/// Where a history goes on: after the event with this number in this row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryCursor {
    /// the number in its session
    pub seq: i64,
    /// the row
    pub rowid: i64,
}

/// A piece of a history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPage<C> {
    /// the events, in order
    pub events: Vec<Logged>,
    /// where the next piece begins; nothing if this is the last
    pub next: Option<C>,
}

/// Visits what a copy does not have: of each session in `known` the events after that number, of every other session all.
/// In the order of their numbers, equal ones in the order in which they were recorded. With `after`, what comes after that
/// place.
///
/// Memory grows with the number of sessions and not with the log: nothing is sorted, each session is read in its own order.
///
/// # Errors
/// Those of the backend.
pub fn visit(
    view: &dyn Snapshot,
    known: &HashMap<String, i64>,
    after: Option<HistoryCursor>,
    visit: &mut dyn FnMut(&LogHead<'_>, &[u8]) -> Flow,
) -> Result<(), Error> {
    let mut sessions = Vec::new();
    view.logs(&mut |session| sessions.push(session.to_owned()))?;
    let mut next = BinaryHeap::with_capacity(sessions.len());
    for (index, session) in sessions.iter().enumerate() {
        let had = known.get(session).copied().unwrap_or(-1);
        let from = after.map_or(had, |after| had.max(after.seq.saturating_sub(1)));
        let mut first = head_after(view, session, from)?;
        if let (Some(at), Some(after)) = (first, after)
            && at <= after
        {
            first = head_after(view, session, at.seq)?;
        }
        next.extend(first.map(|at| Reverse((at, index))));
    }
    while let Some(Reverse((at, index))) = next.pop() {
        let session = &sessions[index];
        let mut flow = Flow::Continue;
        let range = LogRange { session: Some(session), after: Some(at.seq - 1), upto: Some(at.seq) };
        view.log(&range, &mut |_| Take::Row, &mut |head, data| {
            flow = visit(head, data);
            flow
        })?;
        if flow == Flow::Stop {
            return Ok(());
        }
        next.extend(head_after(view, session, at.seq)?.map(|at| Reverse((at, index))));
    }
    Ok(())
}

fn head_after(view: &dyn Snapshot, session: &str, after: i64) -> Result<Option<HistoryCursor>, Error> {
    let mut found = None;
    let range = LogRange { session: Some(session), after: Some(after), upto: None };
    let mut first = |head: &LogHead<'_>| {
        found = Some(HistoryCursor { seq: head.seq, rowid: head.rowid });
        Take::Stop
    };
    view.log(&range, &mut first, &mut |_, _| Flow::Stop)?;
    Ok(found)
}

impl Store {
    /// Visits, from one view, what a copy with these last numbers does not have. See [`visit`].
    ///
    /// # Errors
    /// Those of the backend.
    pub fn history(&self, known: &HashMap<String, i64>, mut each: impl FnMut(&LogHead<'_>, &[u8]) -> Flow) -> Result<(), Error> {
        self.read(|view| visit(view, known, None, &mut each))
    }

    /// The same in pieces of at most `limit` events and about 4 MB, each from a view of its own.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn history_page(
        &self,
        known: &HashMap<String, i64>,
        after: Option<HistoryCursor>,
        limit: usize,
    ) -> Result<HistoryPage<HistoryCursor>, Error> {
        let mut piece = Piece::new(limit);
        self.read(|view| visit(view, known, after, &mut |head, data| piece.take(head, data)))?;
        Ok(piece.page(|last| HistoryCursor { seq: last.seq, rowid: last.rowid }))
    }

    /// The events of one session after a number (-1: all), in pieces of at most `limit` events and about 4 MB. The next piece
    /// begins after the number in `next`.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn session_history(&self, session: &str, after: i64, limit: usize) -> Result<HistoryPage<i64>, Error> {
        let mut piece = Piece::new(limit);
        let range = LogRange { session: Some(session), after: Some(after), upto: None };
        self.read(|view| view.log(&range, &mut |_| Take::Row, &mut |head, data| piece.take(head, data)))?;
        Ok(piece.page(|last| last.seq))
    }
}

struct Piece {
    limit: usize,
    bytes: usize,
    events: Vec<Logged>,
    more: bool,
}

impl Piece {
    fn new(limit: usize) -> Self {
        // A piece of nothing would never end.
        Piece { limit: limit.max(1), bytes: 0, events: Vec::new(), more: false }
    }

    fn take(&mut self, head: &LogHead<'_>, data: &[u8]) -> Flow {
        if self.events.len() >= self.limit || self.bytes >= BYTES {
            self.more = true;
            return Flow::Stop;
        }
        self.bytes += data.len();
        self.events.push(head.with(data));
        Flow::Continue
    }

    fn page<C>(self, cursor: impl FnOnce(&Logged) -> C) -> HistoryPage<C> {
        let next = self.events.last().filter(|_| self.more).map(cursor);
        HistoryPage { events: self.events, next }
    }
}
