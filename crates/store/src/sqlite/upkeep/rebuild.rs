//! A fresh file whose sessions, messages and parts come from the log (design G3).

use super::super::columns::Columns;
use super::super::open::{self, Create};
use super::super::{File, error, project};
use super::copy::{Copier, Shape};
use super::log::{self, LogProblem, Mentioned, Numbers, Unchecked};
use super::replay::{Replay, Skip};
use super::{Progress, compare, room};
use crate::backend::Flow;
use crate::error::Error;
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The tables that the log tells of.
const PROJECTED: &[&str] = &["session", "message", "part"];

/// Why a session's rows were copied instead of replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Copied {
    /// Its log does not tell all of it.
    Late(Unchecked),
    /// Its log is not in order, and its rows are there. Of what is told here it is the first.
    Log(LogProblem),
}

/// What a rebuild made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// sessions whose rows come from their logs
    pub replayed: u64,
    /// sessions whose rows were copied as they were, and why
    pub copied: Vec<(String, Copied)>,
    /// sessions without rows whose logs are not in order: replayed as far as they can be. What was skipped of each.
    pub partly: Vec<(String, Vec<LogProblem>)>,
    /// sessions whose counter did not name their last event; it does now
    pub counters: Vec<String>,
    /// rows that no event mentions, kept beside those that come from the log: session, messages, parts
    pub unlogged: Vec<(String, u64, u64)>,
    /// `session`, `message`, `part`: rows before and after
    pub rows: Vec<(&'static str, u64, u64)>,
    /// every other table: its rows, copied as they were
    pub tables: BTreeMap<String, u64>,
    /// virtual tables and what belongs to them: not copied
    pub left_out: Vec<String>,
    /// events of types that have no rows here, by type: kept
    pub skipped: BTreeMap<String, u64>,
    /// references to rows that are not there, in the new file
    pub dangling: u64,
    /// the caller said stop: there is no new file
    pub stopped: bool,
}

/// Makes a new file from a file's log. Logs keep their ids, numbers and owners; tables that no event writes (todo, project,
/// permission, shares, accounts, and any the reference has not) are copied as they are; so are the rows of sessions whose log
/// is missing, starts late or is damaged, and rows that no event mentions. All is read from one view of the file, which may go
/// on being used.
///
/// The new file is built under another name beside `into` and linked there when it is complete.
///
/// # Errors
/// [`Error::Io`] with `AlreadyExists` if there is anything at `into`; [`Error::ReadOnly`] if the file lacks tables or columns
/// that a log is replayed into; [`Error::Full`]; those of opening and reading the file.
pub fn rebuild(from: impl AsRef<Path>, into: &Path, tell: &mut dyn FnMut(Progress) -> Flow) -> Result<Rebuilt, Error> {
    let (file, source) = open::open(from.as_ref(), Create::Never)?;
    file.writable()?;
    for suffix in ["", "-wal", "-shm"] {
        let there = open::with_suffix(into, suffix);
        if fs::symlink_metadata(&there).is_ok() {
            return Err(Error::Io { file: there, source: io::ErrorKind::AlreadyExists.into() });
        }
    }
    source.execute_batch("BEGIN").map_err(|e| error(&file.path, &e))?;
    open::drafted(into, |draft| {
        // The draft's name means nothing to anybody: errors name the file that was asked for.
        let failed = |e: rusqlite::Error| error(into, &e);
        let target = target(&source, &file, draft, into)?;
        let columns = Columns::of(&target).map_err(failed)?;
        let columns = columns
            .ok_or_else(|| Error::NotADatabase { file: into.to_owned(), reason: "it has no table named session".to_owned() })?;
        let target_file = File { path: into.to_owned(), columns };
        let shape = Shape::of(&source).map_err(|e| error(&file.path, &e))?;
        let copier = Copier { from: &source, from_file: &file, to: &target, to_file: &target_file };
        let mut run = Run { copier: &copier, shape, tell, progress: Progress::default(), done: Rebuilt::default() };
        match run.all() {
            Ok(()) => {}
            Err(Stop::Stopped) => return Ok((Rebuilt { stopped: true, ..run.done }, false)),
            Err(Stop::Failed(error)) => return Err(error),
        }
        let done = run.done;
        // Closing would check the log in as well, but does not tell of failures.
        target
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            .and_then(|()| target.close().map_err(|(_, e)| e))
            .map_err(failed)?;
        let synced = fs::File::open(draft).and_then(|file| file.sync_all());
        synced.map_err(|source| Error::Io { file: into.to_owned(), source })?;
        Ok((done, true))
    })
}

/// The new file, with the tables of the old one.
fn target(source: &Connection, file: &File, draft: &Path, into: &Path) -> Result<Connection, Error> {
    let failed = |e: rusqlite::Error| error(&file.path, &e);
    let number = |pragma: &str| source.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get::<_, i64>(0)).map_err(failed);
    let (page, pages, free) = (number("page_size")?, number("page_count")?, number("freelist_count")?);
    let folder = into.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let room = room::free(folder).map_err(|source| Error::Io { file: folder.to_owned(), source })?;
    if room.is_some_and(|room| room < ((pages - free) * page).unsigned_abs()) {
        return Err(Error::Full { file: into.to_owned(), source: None });
    }
    let db = Connection::open(draft).map_err(|e| error(into, &e))?;
    (|| {
        // Nobody sees the file before it is complete and synced.
        db.pragma_update(None, "synchronous", "OFF")?;
        for pragma in ["page_size", "auto_vacuum", "user_version"] {
            let value: i64 = source.query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))?;
            db.pragma_update(None, pragma, value)?;
        }
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "foreign_keys", false)?;
        db.pragma_update(None, "cache_size", -32_000)?;
        db.set_prepared_statement_cache_capacity(64);
        let shape = Shape::of(source)?;
        shape.tables.iter().map(|(_, sql)| sql).chain(&shape.indexes).try_for_each(|sql| db.execute_batch(sql))
    })()
    .map_err(|e| error(into, &e))?;
    Ok(db)
}

enum Stop {
    Stopped,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

struct Run<'r> {
    copier: &'r Copier<'r>,
    shape: Shape,
    tell: &'r mut dyn FnMut(Progress) -> Flow,
    progress: Progress,
    done: Rebuilt,
}

impl Run<'_> {
    fn say(&mut self) -> Result<(), Stop> {
        match (self.tell)(self.progress) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Stop::Stopped),
        }
    }

    fn sql(&self, sql: &str) -> Result<(), Error> {
        self.copier.to.execute_batch(sql).map_err(self.copier.target())
    }

    fn all(&mut self) -> Result<(), Stop> {
        let sessions = log::sessions(self.copier.from).map_err(self.copier.source())?;
        self.progress.of = sessions.len() as u64;
        // Sessions hang on their projects, and a replay reads the log; all other tables hang on sessions, whose replay might
        // delete and make them again.
        for table in ["project", "event_sequence", "event"] {
            self.table(table)?;
        }
        for session in sessions {
            self.session(&session)?;
            self.progress.sessions += 1;
            self.say()?;
        }
        self.sql("PRAGMA foreign_keys = OFF")?;
        for (table, _) in std::mem::take(&mut self.shape.tables) {
            if !PROJECTED.contains(&&*table) && !self.done.tables.contains_key(&table) {
                self.table(&table)?;
            }
        }
        for sql in &self.shape.later {
            self.sql(sql)?;
        }
        for table in PROJECTED {
            let count = |db: &Connection| db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0));
            let before = count(self.copier.from).map_err(self.copier.source())?.unsigned_abs();
            let after = count(self.copier.to).map_err(self.copier.target())?.unsigned_abs();
            self.done.rows.push((table, before, after));
        }
        let dangling = self.copier.to.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get::<_, i64>(0));
        self.done.dangling = dangling.map_err(self.copier.target())?.unsigned_abs();
        self.done.left_out = std::mem::take(&mut self.shape.left_out);
        Ok(())
    }

    fn table(&mut self, table: &str) -> Result<(), Stop> {
        let mut stopped = false;
        let mut rows = 0_u64;
        let Run { copier, tell, progress, .. } = self;
        let copied = copier.table(table, &mut |size| {
            rows += 1;
            progress.bytes += size as u64;
            progress.events += u64::from(table == "event");
            // Long tables say that they go on.
            if rows.is_multiple_of(1_024) && tell(*progress) == Flow::Stop {
                stopped = true;
                return Err(Error::Closed);
            }
            Ok(())
        });
        if stopped {
            return Err(Stop::Stopped);
        }
        let rows = copied?;
        self.done.tables.insert(table.to_owned(), rows);
        Ok(())
    }

    fn session(&mut self, session: &str) -> Result<(), Stop> {
        self.sql("PRAGMA foreign_keys = ON; BEGIN")?;
        let (late, problems) = self.replay(session)?;
        let has_row = {
            let mut statement =
                self.copier.from.prepare_cached("SELECT 1 FROM session WHERE id = ?1").map_err(self.copier.source())?;
            statement.exists([session]).map_err(self.copier.source())?
        };
        let reason = match (late, problems.first()) {
            (Some(late), _) => Some(Copied::Late(late)),
            (None, Some(problem)) if has_row => Some(Copied::Log(problem.clone())),
            (None, _) => None,
        };
        let Some(reason) = reason else {
            self.unlogged(session)?;
            self.sql("COMMIT")?;
            self.done.replayed += 1;
            if !problems.is_empty() {
                self.done.partly.push((session.to_owned(), problems));
            }
            return Ok(());
        };
        // References are not looked at: what dangles in the file dangles in the copy.
        self.sql("ROLLBACK; PRAGMA foreign_keys = OFF; BEGIN")?;
        self.counter(session)?;
        for (table, condition) in [
            ("session", "id = ?1"),
            ("message", "session_id = ?1"),
            ("part", "session_id = ?1 OR message_id IN (SELECT id FROM message WHERE session_id = ?1)"),
        ] {
            self.copier.rows(table, condition, &[&session], &mut |_| Ok(()))?;
        }
        self.sql("COMMIT")?;
        self.done.copied.push((session.to_owned(), reason));
        Ok(())
    }

    /// Replays a log into the new file. Also tells what is wrong with it, and sets its counter right.
    fn replay(&mut self, session: &str) -> Result<(Option<Unchecked>, Vec<LogProblem>), Error> {
        let copier = self.copier;
        let mut replay = Replay::new(copier.to, copier.to_file, false);
        let mut numbers = Numbers::default();
        let mut problems = Vec::new();
        let (mut first, mut late) = (true, None);
        log::walk(copier.from, session, copier.source(), |event| {
            if std::mem::take(&mut first) {
                late = log::late(&event);
            }
            if !project::projected().any(|kind| kind == event.kind) {
                *self.done.skipped.entry(event.kind.clone().into_owned()).or_default() += 1;
            }
            problems.extend(numbers.see(event.seq));
            if late.is_some() {
                return Ok(Flow::Continue);
            }
            let (seq, kind) = (event.seq, event.kind.clone().into_owned());
            match replay.event(session, &event)? {
                Ok(()) => {}
                Err(Skip::Undecodable(problem)) => problems.push(LogProblem::Undecodable { seq, kind, problem }),
                Err(Skip::Refused(problem)) => problems.push(LogProblem::Refused { seq, kind, problem }),
            }
            Ok(Flow::Continue)
        })?;
        if first {
            late = Some(Unchecked::NoLog);
        } else if numbers.counter(copier.from, session).map_err(copier.source())?.is_some() {
            self.done.counters.push(session.to_owned());
            self.counter(session)?;
        }
        Ok((late, problems))
    }

    /// The counter names the last event, so that the next one gets the number behind it.
    fn counter(&self, session: &str) -> Result<(), Error> {
        self.copier
            .to
            .prepare_cached(
                "INSERT INTO event_sequence (aggregate_id, seq) SELECT ?1, seq FROM event WHERE aggregate_id = ?1
                 ORDER BY seq DESC LIMIT 1 ON CONFLICT (aggregate_id) DO UPDATE SET seq = excluded.seq",
            )
            .and_then(|mut s| s.execute([session]))
            .map(drop)
            .map_err(self.copier.target())
    }

    /// Keeps the rows that no event mentions, as an import by OpenCode leaves them: the log says nothing against them.
    fn unlogged(&mut self, session: &str) -> Result<(), Error> {
        let copier = self.copier;
        let mut kept = [0_u64; 2];
        let mut mentioned = None;
        for (table, kept) in ["message", "part"].into_iter().zip(&mut kept) {
            let extra = compare::extra_rows(copier.from, copier.to, table, session).map_err(copier.target())?;
            for id in extra {
                let mentioned = match &mut mentioned {
                    Some(mentioned) => mentioned,
                    none => none.insert(Mentioned::of(copier.from, copier.from_file, session)?),
                };
                let owner = if table == "message" { "session" } else { "message" };
                if mentioned.holds(table, &id) || !self.owner_is_there(table, owner, &id)? {
                    continue;
                }
                copier.rows(table, "id = ?1", &[&id], &mut |_| {
                    *kept += 1;
                    Ok(())
                })?;
            }
        }
        if kept != [0, 0] {
            self.done.unlogged.push((session.to_owned(), kept[0], kept[1]));
        }
        Ok(())
    }

    fn owner_is_there(&self, table: &str, owner: &str, id: &str) -> Result<bool, Error> {
        let copier = self.copier;
        let of: Option<String> = copier
            .from
            .prepare_cached(&format!("SELECT {owner}_id FROM {table} WHERE id = ?1"))
            .and_then(|mut s| s.query_row([id], |row| row.get(0)))
            .map_err(copier.source())?;
        copier
            .to
            .prepare_cached(&format!("SELECT 1 FROM {owner} WHERE id = ?1"))
            .and_then(|mut s| s.exists([of]))
            .map_err(copier.target())
    }
}
