//! Is the file what its log says? (design G3)
//!
//! Each session's log is replayed, with the projectors that appended it, into a private database that lives in memory and
//! spills to an unnamed temporary file when it is large; then the rows are compared. JSON is compared by value. Of
//! `time_updated` of messages and parts only this is demanded: it is not earlier than its event (a minute's step of the clock
//! allowed) and not in the future, because the reference looks at its clock again when it writes the row, in a replay of its
//! own long after the event (reference-storage 4.4); what Annalist writes is the event's millisecond.

use super::super::columns::Columns;
use super::super::open::{self, Create};
use super::super::{File, error};
use super::Progress;
use super::compare::{Compare, Difference};
use super::log::{self, LogProblem, Numbers, Unchecked};
use super::replay::{self, Replay, Skip};
use crate::backend::Flow;
use crate::error::Error;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The tables that no durable event writes, so that no log can tell what should be in them.
pub const UNLOGGED: &[&str] = &["todo", "project", "project_directory", "session_share", "permission", "workspace"];

/// What a check has to say.
#[derive(Debug, Clone, PartialEq)]
pub enum News {
    /// It goes on.
    Progress(Progress),
    /// Something is worth a line.
    Finding(Finding),
}

/// Something about one session.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Finding {
    /// A row is not what the log says. Only the first of each session is told.
    Differs(Difference),
    /// The file holds rows that no event ever mentions, as an import by OpenCode into this session leaves them.
    Unlogged {
        /// the session
        session: String,
        /// how many messages
        messages: u64,
        /// how many parts
        parts: u64,
    },
    /// Its log does not tell all of it, so its rows cannot be compared.
    Unchecked {
        /// the session
        session: String,
        /// what the log lacks
        why: Unchecked,
    },
    /// The log itself is not in order.
    Log {
        /// the session
        session: String,
        /// what is wrong
        problem: LogProblem,
    },
}

/// What a check did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// sessions whose rows are what their logs say
    pub equal: u64,
    /// sessions with a difference
    pub differing: u64,
    /// sessions that cannot be checked
    pub unchecked: u64,
    /// problems of logs
    pub problems: u64,
    /// sessions with rows that no event mentions
    pub unlogged: u64,
    /// events read
    pub events: u64,
    /// events of types that have no rows here, by type: kept and skipped
    pub skipped: BTreeMap<String, u64>,
    /// the caller said stop
    pub stopped: bool,
}

impl Verified {
    /// Nothing contradicts the log.
    #[must_use]
    pub fn clean(&self) -> bool {
        self.differing == 0 && self.problems == 0
    }
}

/// Checks one session, or all.
///
/// # Errors
/// [`Error::NotFound`] if the one session has neither a row nor a log; those of opening and reading the file.
pub fn verify(place: impl AsRef<Path>, only: Option<&str>, tell: &mut dyn FnMut(News) -> Flow) -> Result<Verified, Error> {
    let (file, live) = open::open(place.as_ref(), Create::Never)?;
    let scratch = scratch()?;
    let columns = Columns::of(&scratch).map_err(|e| error(&file.path, &e))?;
    let columns = columns.ok_or_else(|| Error::NotADatabase { file: file.path.clone(), reason: "no scratch tables".to_owned() })?;
    // Named after the file, since failures of the replay's own database are told of it.
    let scratch_file = File { path: PathBuf::from("(replay)"), columns };
    let sessions = if file.columns.has_log { log::sessions(&live) } else { rows_only(&live) };
    let mut sessions = sessions.map_err(|e| error(&file.path, &e))?;
    if let Some(only) = only {
        sessions.retain(|session| session == only);
        if sessions.is_empty() {
            return Err(Error::NotFound { what: "Session", id: only.to_owned() });
        }
    }
    let progress = Progress { of: sessions.len() as u64, ..Progress::default() };
    let compare = Compare::new(&live, &file, &scratch)?;
    let mut run = Run {
        live: &live,
        file: &file,
        scratch: &scratch,
        scratch_file: &scratch_file,
        compare,
        tell,
        progress,
        done: Verified::default(),
    };
    for session in sessions {
        // One view a session: its log and its rows belong together, and none is held for long.
        let flow = within(&live, &file, || within(&scratch, &scratch_file, || run.session(&session)))?;
        run.progress.sessions += 1;
        if flow == Flow::Stop || run.say(News::Progress(run.progress)) == Flow::Stop {
            run.done.stopped = true;
            break;
        }
    }
    run.done.events = run.progress.events;
    Ok(run.done)
}

/// An empty database with the tables of the reference, gone with its connection.
fn scratch() -> Result<Connection, Error> {
    let path = Path::new("(replay)");
    let db = Connection::open("").map_err(|e| error(path, &e))?;
    open::scratch(&db).map_err(|e| error(path, &e))?;
    Ok(db)
}

fn rows_only(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare("SELECT id FROM session ORDER BY rowid")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

/// Runs something in a transaction that is undone.
fn within<T>(db: &Connection, file: &File, run: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let failed = |e: rusqlite::Error| error(&file.path, &e);
    db.execute_batch("BEGIN").map_err(failed)?;
    let result = run();
    db.execute_batch("ROLLBACK").map_err(failed)?;
    result
}

struct Run<'r> {
    live: &'r Connection,
    file: &'r File,
    scratch: &'r Connection,
    scratch_file: &'r File,
    compare: Compare<'r>,
    tell: &'r mut dyn FnMut(News) -> Flow,
    progress: Progress,
    done: Verified,
}

impl Run<'_> {
    fn say(&mut self, news: News) -> Flow {
        (self.tell)(news)
    }

    fn find(&mut self, finding: Finding) -> Flow {
        match &finding {
            Finding::Differs(_) => self.done.differing += 1,
            Finding::Unlogged { .. } => self.done.unlogged += 1,
            Finding::Unchecked { .. } => self.done.unchecked += 1,
            Finding::Log { .. } => self.done.problems += 1,
        }
        self.say(News::Finding(finding))
    }

    fn session(&mut self, session: &str) -> Result<Flow, Error> {
        let (late, flow) = if self.file.columns.has_log { self.replay(session)? } else { (Some(Unchecked::NoLog), Flow::Continue) };
        if flow == Flow::Stop {
            return Ok(flow);
        }
        if let Some(why) = late {
            return Ok(self.find(Finding::Unchecked { session: session.to_owned(), why }));
        }
        let (difference, unmentioned) = self.compare.session(session)?;
        let (messages, parts) = (unmentioned.messages, unmentioned.parts);
        if messages + parts > 0 && self.find(Finding::Unlogged { session: session.to_owned(), messages, parts }) == Flow::Stop {
            return Ok(Flow::Stop);
        }
        match difference {
            Some(difference) => Ok(self.find(Finding::Differs(difference))),
            None => {
                self.done.equal += 1;
                Ok(Flow::Continue)
            }
        }
    }

    /// Replays a log as far as it tells of the whole session; what else is wrong with it is told either way.
    fn replay(&mut self, session: &str) -> Result<(Option<Unchecked>, Flow), Error> {
        let (live, file) = (self.live, self.file);
        let failed = |e: rusqlite::Error| error(&file.path, &e);
        let mut replay = Replay::new(self.scratch, self.scratch_file, true);
        let mut numbers = Numbers::default();
        let mut first = true;
        let mut late = None;
        let mut flow = Flow::Continue;
        log::walk(live, session, failed, |event| {
            if std::mem::take(&mut first) {
                late = log::late(&event);
            }
            self.progress.events += 1;
            self.progress.bytes += event.data.len() as u64;
            let mut problems = Vec::from_iter(numbers.see(event.seq));
            let (seq, kind) = (event.seq, || event.kind.clone().into_owned());
            if !super::super::project::projected().any(|known| known == event.kind) {
                *self.done.skipped.entry(kind()).or_default() += 1;
            } else if late.is_none() {
                match replay.event(session, &event)? {
                    Ok(()) => {}
                    Err(Skip::Undecodable(problem)) => problems.push(LogProblem::Undecodable { seq, kind: kind(), problem }),
                    Err(Skip::Refused(problem)) => problems.push(LogProblem::Refused { seq, kind: kind(), problem }),
                }
            } else if let Err(problem) = replay::decodable(&event.data) {
                problems.push(LogProblem::Undecodable { seq, kind: kind(), problem });
            }
            for problem in problems {
                flow = self.find(Finding::Log { session: session.to_owned(), problem });
                if flow == Flow::Stop {
                    return Ok(flow);
                }
            }
            // Long sessions say that they go on.
            if self.progress.events.is_multiple_of(1_024) {
                flow = self.say(News::Progress(self.progress));
            }
            Ok(flow)
        })?;
        if flow == Flow::Stop {
            return Ok((late, flow));
        }
        if let Some(problem) = numbers.counter(live, session).map_err(failed)? {
            flow = self.find(Finding::Log { session: session.to_owned(), problem });
        }
        Ok((if first { Some(Unchecked::NoLog) } else { late }, flow))
    }
}
