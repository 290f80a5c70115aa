//! Which snapshot an append supersedes, known without searching the log.
//!
//! The writer's thread remembers, for the sessions it writes, where the first and the last snapshot of each id stand. What it
//! does not know it does not empty: a session met for the first time starts with nothing, so of each id one snapshot more
//! stays than had to (`compact` finds those). All bounds below cost no more than that either.

use super::step::Carries;
use super::{NOBODY, Place, Step, empty};
use rusqlite::{Connection, OptionalExtension as _, params};
use std::collections::{HashMap, HashSet};

/// Sessions remembered. With the ids of each this is at most a few megabytes.
const SESSIONS: usize = 128;
/// Messages and parts remembered of each session: those being written now, and many more.
const IDS: usize = 256;
/// Snapshots of the session itself that nothing has covered yet.
const UPDATES: usize = 32;
/// Of another process's events at most this many, and this many bytes of them, are read while the write lock is held.
const BEHIND: i64 = 256;
const BEHIND_BYTES: i64 = 4 << 20;

/// Where the snapshots of one message or part stand.
struct Span {
    /// The number of the first one since it was last removed.
    first: i64,
    /// Where the newest one stands.
    last: Place,
    /// The message of a part.
    message: Option<String>,
    /// Nothing of it may be emptied.
    never: bool,
    used: u64,
}

struct Update {
    at: Place,
    carries: Carries,
}

/// What is known of one session's log.
struct Known {
    /// The newest event seen: its number (-1 before the first) and its id (empty if unknown).
    seq: i64,
    event: String,
    messages: HashMap<String, Span>,
    parts: HashMap<String, Span>,
    updates: Vec<Update>,
    /// A real part has the name that emptied events remove.
    blocked: bool,
    /// The state of the file in which all this was last seen to be so.
    epoch: u64,
    used: u64,
}

/// A superseded event.
struct Superseded {
    at: Place,
    kind: &'static str,
}

/// The memory of one writer. It follows the transactions: what a job that fails has taught it is forgotten.
#[derive(Default)]
pub(in crate::sqlite) struct Cache {
    sessions: HashMap<String, Known>,
    tick: u64,
    /// What SQLite calls the file's version, which any other connection's commit changes, and how often it did.
    version: Option<i64>,
    epoch: u64,
    /// Sessions written by the running job, and by the jobs before it in the open transaction.
    job: HashSet<String>,
    group: HashSet<String>,
}

impl Cache {
    /// A transaction was begun: if others have committed since the last one, what is known of each session is looked at before
    /// it is used. Numbers alone do not tell: a log may have been erased and have grown again to the same length. `version` is
    /// what SQLite calls the file's version; nothing if it could not be had.
    pub(in crate::sqlite) fn group_begun(&mut self, version: Option<i64>) {
        // A version that cannot be had is a reason to look too.
        if version.is_none() || self.version != version {
            self.epoch += 1;
            self.version = version;
        }
    }

    /// The number of the last event of a session's log, if it is known and nobody else has committed since.
    pub(in crate::sqlite) fn last(&self, session: &str) -> Option<i64> {
        let known = self.sessions.get(session).filter(|known| known.epoch == self.epoch)?;
        (known.seq >= 0).then_some(known.seq)
    }

    /// The running job erases something of a session's log.
    pub(in crate::sqlite) fn forget(&mut self, session: &str) {
        self.sessions.remove(session);
    }

    /// Before an append: takes notice of what other processes wrote since. `last` is the log's newest number.
    pub(in crate::sqlite) fn catch_up(&mut self, db: &Connection, session: &str, last: Option<i64>) -> rusqlite::Result<()> {
        let last = last.unwrap_or(-1);
        self.tick += 1;
        let mut known = self.sessions.get_mut(session);
        if let Some(known) = known.as_deref_mut().filter(|known| known.seq == last && known.epoch == self.epoch) {
            known.used = self.tick;
            return Ok(());
        }
        // What is learned now may be the job's own work.
        self.job.insert(session.to_owned());
        if let Some(known) = known
            && known.seq <= last
            && known.follow(db, session, last)?
        {
            known.used = self.tick;
            known.epoch = self.epoch;
            return Ok(());
        }
        if self.sessions.len() >= SESSIONS {
            drop_older_half(&mut self.sessions, |known| known.used);
        }
        let known = Known { used: self.tick, epoch: self.epoch, ..Known::new(db, session, last)? };
        self.sessions.insert(session.to_owned(), known);
        Ok(())
    }

    /// After an event was stored: empties what it superseded.
    pub(in crate::sqlite) fn appended(
        &mut self,
        db: &Connection,
        session: &str,
        (rowid, seq, event): (i64, i64, &str),
        step: Step,
    ) -> rusqlite::Result<()> {
        let Some(known) = self.sessions.get_mut(session) else { return Ok(()) };
        if !self.job.contains(session) {
            self.job.insert(session.to_owned());
        }
        let superseded = known.take(Place { rowid, seq, event: event.to_owned() }, step);
        if known.blocked {
            return Ok(());
        }
        for old in superseded {
            if !empty(db, session, &old.at, old.kind)? {
                // Not the log this was learned from.
                self.sessions.remove(session);
                break;
            }
        }
        Ok(())
    }

    /// The job ended; without `kept` it was undone.
    pub(in crate::sqlite) fn job_done(&mut self, kept: bool) {
        for session in self.job.drain() {
            if kept {
                self.group.insert(session);
            } else {
                self.sessions.remove(&session);
            }
        }
    }

    /// The transaction ended.
    pub(in crate::sqlite) fn group_done(&mut self, committed: bool) {
        for session in self.group.drain() {
            if !committed {
                self.sessions.remove(&session);
            }
        }
    }
}

/// Makes room: drops the half that was not used for longest, so that the search for it is rare.
fn drop_older_half<T>(map: &mut HashMap<String, T>, used: impl Fn(&T) -> u64) {
    let mut ages: Vec<u64> = map.values().map(&used).collect();
    let middle = ages.len() / 2;
    let (_, median, _) = ages.select_nth_unstable(middle);
    let median = *median;
    map.retain(|_, value| used(value) >= median);
}

impl Known {
    fn new(db: &Connection, session: &str, seq: i64) -> rusqlite::Result<Self> {
        let blocked: Option<i64> = db
            .prepare_cached("SELECT 1 FROM part WHERE id = ?1 AND session_id = ?2")?
            .query_row(params![NOBODY, session], |row| row.get(0))
            .optional()?;
        Ok(Known {
            seq,
            event: event_at(db, session, seq)?.unwrap_or_default(),
            messages: HashMap::new(),
            parts: HashMap::new(),
            updates: Vec::new(),
            blocked: blocked.is_some(),
            epoch: 0,
            used: 0,
        })
    }

    /// Reads what others appended; false if this is not the log that was known, or if there is too much to read now.
    fn follow(&mut self, db: &Connection, session: &str, last: i64) -> rusqlite::Result<bool> {
        if last - self.seq > BEHIND || (self.seq >= 0 && event_at(db, session, self.seq)?.as_deref() != Some(&*self.event)) {
            return Ok(false);
        }
        let mut statement = db.prepare_cached(
            "SELECT seq, id, type, octet_length(data), data, rowid FROM event WHERE aggregate_id = ?1 AND seq > ?2 ORDER BY seq",
        )?;
        let mut rows = statement.query(params![session, self.seq])?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            bytes += row.get::<_, i64>(3)?;
            if bytes > BEHIND_BYTES {
                return Ok(false);
            }
            let (seq, event): (i64, String) = (row.get(0)?, row.get(1)?);
            let data = super::super::value::bytes(row.get_ref(4)?);
            let kind = super::super::value::text(row.get_ref(2)?);
            // What others superseded stays: theirs is `compact`'s to empty.
            let at = Place { rowid: row.get(5)?, seq, event };
            self.take(at, Step::of_bytes(session, &kind, &data).unwrap_or(Step::Unknown));
        }
        Ok(self.seq == last)
    }

    /// Takes notice of one more event; gives what it superseded.
    fn take(&mut self, at: Place, step: Step) -> Vec<Superseded> {
        self.seq = at.seq;
        at.event.clone_into(&mut self.event);
        match step {
            Step::Message { id } => snapshot(&mut self.messages, id, None, false, at, "message.updated.1"),
            Step::Part { id, message, finish } => {
                self.blocked |= id == NOBODY;
                snapshot(&mut self.parts, id, Some(message), finish, at, "message.part.updated.1")
            }
            Step::MessageRemoved { id } => {
                self.messages.remove(&id);
                self.parts.retain(|_, part| part.message.as_ref() != Some(&id));
                Vec::new()
            }
            Step::PartRemoved { id } => {
                self.parts.remove(&id);
                Vec::new()
            }
            Step::Session(carries) => self.updated(at, carries),
            Step::Boundary | Step::Unknown => {
                self.messages.clear();
                self.parts.clear();
                self.updates.clear();
                Vec::new()
            }
            Step::Nothing => Vec::new(),
        }
    }

    fn updated(&mut self, at: Place, carries: Carries) -> Vec<Superseded> {
        let (covered, mut kept): (Vec<_>, Vec<_>) = self.updates.drain(..).partition(|old| carries.covers(old.carries));
        if kept.len() >= UPDATES {
            kept.remove(0);
        }
        kept.push(Update { at, carries });
        self.updates = kept;
        covered.into_iter().map(|old| Superseded { at: old.at, kind: "session.updated.1" }).collect()
    }
}

fn event_at(db: &Connection, session: &str, seq: i64) -> rusqlite::Result<Option<String>> {
    if seq < 0 {
        return Ok(None);
    }
    let mut statement = db.prepare_cached("SELECT id FROM event WHERE aggregate_id = ?1 AND seq = ?2")?;
    statement.query_row(params![session, seq], |row| row.get(0)).optional()
}

/// One more snapshot of an id; gives the newest before it, if that stands between two that stay.
fn snapshot(
    spans: &mut HashMap<String, Span>,
    id: String,
    message: Option<String>,
    finish: bool,
    at: Place,
    kind: &'static str,
) -> Vec<Superseded> {
    // An event's number is as good a clock as any.
    let used = at.seq.unsigned_abs();
    if let Some(span) = spans.get_mut(&id) {
        // A part named under another message: the rows follow the first one, so nothing here is sure any more.
        span.never |= finish || span.message != message;
        span.used = used;
        let old = Superseded { at: std::mem::replace(&mut span.last, at), kind };
        return if old.at.seq == span.first || span.never { Vec::new() } else { vec![old] };
    }
    if spans.len() >= IDS {
        drop_older_half(spans, |span| span.used);
    }
    spans.insert(id, Span { first: at.seq, last: at, message, never: finish, used });
    Vec::new()
}
