//! One page of the log: a view of its own, bounded in rows and bytes.

use super::{Delivery, Subscription};
use crate::backend::{Flow, Snapshot};
use crate::bus::Mark;
use crate::error::Error;
use crate::feed::{Feed, mark};
use crate::log::{DELETED, LogRange, Take, is_emptied};
use crate::position::Reset;
use crate::trail::{Living, is_living};
use std::sync::Arc;

/// Events in a page.
const ROWS: usize = 256;
/// Bytes after which a page takes no further event.
const BYTES: usize = 1 << 20;
/// Events that may be passed over in one view: a view that stays open keeps the write-ahead log from shrinking.
const SCANNED: usize = 16_384;

/// What a stretch comes to, seen from a view.
enum Stretch {
    /// Read between these places; at the end of it the reader is there.
    Between { after: Option<i64>, upto: i64, end: Mark },
    /// Nothing of it is left: the reader is there.
    Nothing(Option<Mark>),
    /// It cannot be told what of it the reader has.
    Lost,
}

/// Reads up to `target`. Answers whether there is more.
pub(super) fn page(own: &mut Subscription, target: &Mark) -> Result<bool, Error> {
    let live = Arc::clone(&own.live);
    let mut more = false;
    let mut lost = false;
    let mut read = None;
    let mut at = None;
    live.backend.read(&mut |view| {
        let session = own.interest.session.as_deref();
        let stretch = match session {
            None => in_record(own, view, target)?,
            Some(session) => in_session(own, view, session, target)?,
        };
        match stretch {
            Stretch::Between { after, upto, end } => {
                let (events, last) = rows(own, view, &LogRange { session, after, upto: Some(upto) })?;
                more = last.is_some();
                read = Some((events, last.unwrap_or(end)));
            }
            Stretch::Nothing(mark) => at = mark,
            Stretch::Lost => lost = true,
        }
        Ok(())
    })?;
    // Only now: what fails is read again, and must not be there twice.
    if lost {
        return lose(own).map(|()| false);
    }
    if let Some((events, passed)) = read {
        own.page.extend(events);
        own.pass_to(passed);
    }
    own.cursor = at.or_else(|| own.cursor.take());
    Ok(more)
}

/// A page of events, and the last event seen if it had to stop before the end.
fn rows(own: &Subscription, view: &dyn Snapshot, range: &LogRange<'_>) -> Result<(Vec<Delivery>, Option<Mark>), Error> {
    let (feed, interest) = (&own.live.feed, &own.interest);
    let page = std::cell::RefCell::new((Vec::new(), 0_usize));
    let mut scanned = 0;
    let mut last: Option<Mark> = None;
    let mut stopped = false;
    view.log(
        range,
        &mut |head| {
            let (events, bytes) = &*page.borrow();
            if events.len() >= ROWS || *bytes >= BYTES || scanned >= SCANNED {
                stopped = true;
                return Take::Stop;
            }
            scanned += 1;
            last = Some(mark(head));
            // A deletion that is still in the log waits as a notice too, for its log may be erased any moment.
            let told = head.kind == DELETED && feed.is_notice(&head.id);
            if !told && interest.wants_logged(&head.session, &head.kind) { Take::Row } else { Take::Skip }
        },
        &mut |head, data| {
            if !is_emptied(&head.kind, data) {
                let (events, bytes) = &mut *page.borrow_mut();
                *bytes += data.len();
                events.push(Delivery::Event(head.with(data)));
            }
            Flow::Continue
        },
    )?;
    Ok((page.into_inner().0, last.filter(|_| stopped)))
}

fn in_record(own: &Subscription, view: &dyn Snapshot, target: &Mark) -> Result<Stretch, Error> {
    let feed = &own.live.feed;
    let after = match &own.cursor {
        None => Living::Start,
        Some(cursor) => living(feed, view, cursor)?,
    };
    let (upto, id) = match living(feed, view, target)? {
        Living::After(rowid, id) => (rowid, id),
        Living::Start => return Ok(Stretch::Nothing(None)),
        Living::Lost => return Ok(Stretch::Lost),
    };
    let end = Mark { rowid: upto, seq: -1, id };
    Ok(match after {
        Living::After(rowid, id) if rowid >= upto => Stretch::Nothing(Some(Mark { rowid, seq: -1, id })),
        Living::After(rowid, _) => Stretch::Between { after: Some(rowid), upto, end },
        Living::Start => Stretch::Between { after: None, upto, end },
        Living::Lost => Stretch::Lost,
    })
}

/// The event itself, or the newest before it that was not erased.
fn living(feed: &Feed, view: &dyn Snapshot, mark: &Mark) -> Result<Living, Error> {
    if is_living(view, mark.rowid, &mark.id)? {
        return Ok(Living::After(mark.rowid, Arc::clone(&mark.id)));
    }
    feed.back_from(mark.rowid, &mark.id).map_or(Ok(Living::Lost), |back| back.walk(view))
}

fn in_session(own: &Subscription, view: &dyn Snapshot, session: &str, target: &Mark) -> Result<Stretch, Error> {
    let is_there = |mark: &Mark| Ok::<_, Error>(view.log_head(Some(session), mark.seq)?.is_some_and(|head| *head.id == *mark.id));
    if !is_there(target)? {
        // Erased with its log. Who erased it says so next.
        return Ok(Stretch::Nothing(None));
    }
    let after = match &own.cursor {
        None => None,
        Some(cursor) if is_there(cursor)? => Some(cursor.seq),
        // The log of a session that came again.
        Some(_) if own.deleted => None,
        // Its log is being erased, from its beginning.
        Some(_) if own.live.feed.is_deleted(session) => return Ok(Stretch::Nothing(None)),
        Some(_) => return Ok(Stretch::Lost),
    };
    if after.is_some_and(|after| after >= target.seq) {
        return Ok(Stretch::Nothing(None));
    }
    Ok(Stretch::Between { after, upto: target.seq, end: target.clone() })
}

/// The reader begins anew at the end of the log, and says so.
fn lose(own: &mut Subscription) -> Result<(), Error> {
    // First what waits, then the end: what comes between is read anew by the subscriber.
    let end = own.live.feed.reset(own.slot);
    own.cursor = match &own.interest.session {
        None => end,
        Some(session) => {
            let mut end = None;
            own.live.backend.read(&mut |view| {
                end = view.log_end(Some(session), None)?.map(|head| mark(&head));
                Ok(())
            })?;
            end
        }
    };
    own.page.push_back(Delivery::Reset(Reset::Unknown));
    Ok(())
}
