//! Opening and making files.

use super::columns::Columns;
use super::{File, error};
use crate::error::Error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use rustix::fs::Access;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Older versions lose commits, or corrupt the file, when a checkpoint races a writer of another connection (SQLite's
/// WAL-reset bug, 3.7.0 to 3.51.2).
pub const MINIMUM_SQLITE: i32 = 3_051_003;

/// How long a reader waits for a lock, as the reference does. In WAL mode it only meets one while another process recovers
/// the log or removes it.
pub(super) const READER_WAIT_MS: u64 = 5_000;

/// What can be set for an open file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// How long a write is ready to wait for a lock that another process holds, from the moment it was queued.
    pub patience: Duration,
    /// Whether an append empties the snapshots that it supersedes, so that the log stays bounded (design G4). Without it the
    /// log keeps everything until `upkeep::compact`, as OpenCode's own log does.
    pub empty_superseded: bool,
}

impl Default for Options {
    fn default() -> Self {
        // OpenCode's longest seen hold is well below; who waits longer wants to be told.
        Options { patience: Duration::from_secs(12), empty_superseded: true }
    }
}

/// What opening a path without a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Create {
    /// It is an error.
    Never,
    /// A new file is made, with the tables of the reference.
    IfMissing,
}

pub(super) const SCHEMA: &str = include_str!("schema.sql");

/// The migrations whose result `schema.sql` is (reference-storage 4.3): with them recorded the reference runs none.
pub(super) const MIGRATIONS: &[&str] = &[
    "20260127222353_familiar_lady_ursula",
    "20260211171708_add_project_commands",
    "20260213144116_wakeful_the_professor",
    "20260225215848_workspace",
    "20260227213759_add_session_workspace_id",
    "20260228203230_blue_harpoon",
    "20260303231226_add_workspace_fields",
    "20260309230000_move_org_to_state",
    "20260312043431_session_message_cursor",
    "20260323234822_events",
    "20260410174513_workspace-name",
    "20260413175956_chief_energizer",
    "20260423070820_add_icon_url_override",
    "20260427172553_slow_nightmare",
    "20260428004200_add_session_path",
    "20260501142318_next_venus",
    "20260504145000_add_sync_owner",
    "20260507164347_add_workspace_time",
    "20260510033149_session_usage",
    "20260511000411_data_migration_state",
    "20260511173437_session-metadata",
    "20260601010001_normalize_storage_paths",
    "20260601202201_amazing_prowler",
    "20260602002951_lowly_union_jack",
    "20260602182828_add_project_directories",
    "20260603001617_session_message_projection_indexes",
    "20260603040000_session_message_projection_order",
    "20260603141458_session_input_inbox",
    "20260603160727_jittery_ezekiel_stane",
    "20260604172448_event_sourced_session_input",
    "20260605003541_add_session_context_snapshot",
    "20260605042240_add_context_epoch_agent",
    "20260611035744_credential",
    "20260611192811_lush_chimera",
    "20260612174303_project_dir_strategy",
    "20260622142730_simplify_session_context_epoch",
    "20260622170816_reset_v2_session_state",
    "20260622202450_simplify_session_input",
];

/// Opens a file for reading, after making it if that is wanted.
pub(super) fn open(path: &Path, create: Create) -> Result<(File, Connection), Error> {
    if rusqlite::version_number() < MINIMUM_SQLITE {
        return Err(Error::OldSqlite { found: rusqlite::version().to_owned() });
    }
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => {
            return Err(Error::NotADatabase { file: path.to_owned(), reason: "it is a folder".to_owned() });
        }
        Ok(meta) if !meta.is_file() => {
            return Err(Error::NotADatabase { file: path.to_owned(), reason: "it is not a regular file".to_owned() });
        }
        Ok(meta) if meta.len() == 0 => return Err(Error::EmptyFile { file: path.to_owned() }),
        Ok(_) => {}
        Err(e) if e.kind() == io::ErrorKind::NotFound => match create {
            Create::Never => return Err(Error::NoFile { file: path.to_owned() }),
            Create::IfMissing => make(path)?,
        },
        Err(source) => return Err(Error::Io { file: path.to_owned(), source }),
    }
    let db = reader(path)?;
    let columns = Columns::of(&db).map_err(|e| error(path, &e))?;
    let columns =
        columns.ok_or_else(|| Error::NotADatabase { file: path.to_owned(), reason: "it has no table named session".to_owned() })?;
    Ok((File { path: path.to_owned(), columns }, db))
}

/// A connection that reads.
pub(super) fn reader(path: &Path) -> Result<Connection, Error> {
    let pending = fs::metadata(with_suffix(path, "-wal")).is_ok_and(|meta| meta.len() > 0);
    let used = pending || with_suffix(path, "-shm").exists();
    // Somebody else's file that nobody has open: without a log to mind, the bare file is the whole truth. The usual way would
    // leave a -shm there that is ours, and that its owner cannot write.
    if !used && may(path, Access::WRITE_OK).is_err() {
        return frozen(path);
    }
    match connect(path, pending) {
        // The file could be written, its folder cannot.
        Err(Error::Io { .. } | Error::ReadOnly { .. }) if !used && may(path, Access::READ_OK).is_ok() => frozen(path),
        other => other,
    }
}

/// Whether this process may read or write a file. Asked, not tried: closing a second descriptor of the database would drop the
/// locks that SQLite holds on it in this process.
pub(super) fn may(path: &Path, what: Access) -> io::Result<()> {
    Ok(rustix::fs::access(path, what)?)
}

/// A connection to a file that takes no locks and makes no files.
fn frozen(path: &Path) -> Result<Connection, Error> {
    let uri = format!("file:{}?immutable=1", percent(path));
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(uri, flags).map_err(|e| error(path, &e))?;
    for_reading(&db).map_err(|e| error(path, &e))?;
    Ok(db)
}

fn connect(path: &Path, pending: bool) -> Result<Connection, Error> {
    // Reading and writing, although nothing is written: a WAL file needs its shared-memory index, and the last connection
    // to close has to be able to remove what the first one made.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| error(path, &e))?;
    (|| {
        if pending {
            // Reading leaves the three files as they were: a log that others left is theirs to check in.
            db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        }
        for_reading(&db)
    })()
    .map_err(|e| error(path, &e))?;
    Ok(db)
}

fn for_reading(db: &Connection) -> rusqlite::Result<()> {
    db.busy_timeout(Duration::from_millis(READER_WAIT_MS))?;
    // No bug above may write through a reader.
    db.pragma_update(None, "query_only", true)?;
    common(db)
}

/// A connection that writes, for the writer's thread.
pub(super) fn writer(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| error(path, &e))?;
    // SQLite falls back to reading, and even begins an "immediate" transaction then; only the first change would fail.
    if db.is_readonly("main").map_err(|e| error(path, &e))? {
        return Err(Error::ReadOnly { file: path.to_owned(), reason: "the file or its folder cannot be written".to_owned() });
    }
    (|| {
        // The mode is the file's; the reference sets it at each start, so a file in another mode is only a file that no
        // OpenCode opened yet (a restored backup). Setting what is set takes no lock.
        db.busy_timeout(Duration::from_millis(READER_WAIT_MS))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        // SQLite waits in steps of up to 100 ms and has no queue; the writer waits by itself, in small steps.
        db.busy_timeout(Duration::ZERO)?;
        // Deleting a session must take its messages and parts along.
        db.pragma_update(None, "foreign_keys", true)?;
        // What a savepoint may need is kept in memory; else a job that changes more than 64 KB of pages writes them to a file.
        db.pragma_update(None, "temp_store", "MEMORY")?;
        // The log is moved beside the commits, not inside them (see `checkpoint.rs`).
        db.pragma_update(None, "wal_autocheckpoint", 0)?;
        common(&db)
    })()
    .map_err(|e| error(path, &e))?;
    Ok(db)
}

/// A connection that checkpoints.
pub(super) fn checkpointer(path: &Path) -> Result<Connection, Error> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags).map_err(|e| error(path, &e))?;
    db.busy_timeout(Duration::ZERO).map_err(|e| error(path, &e))?;
    Ok(db)
}

fn common(db: &Connection) -> rusqlite::Result<()> {
    // 2 MB a connection instead of the reference's 64: the operating system caches the file for all processes at once.
    db.pragma_update(None, "cache_size", -2_000)?;
    // Above the number of statements there are, so that none is ever parsed twice.
    db.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Makes a new file.
fn make(path: &Path) -> Result<(), Error> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_folder(folder).map_err(|source| Error::Io { file: folder.to_owned(), source })?;
    let made = drafted(path, |draft| {
        let mut db = Connection::open(draft).map_err(|e| error(path, &e))?;
        fill(&mut db).map_err(|e| error(path, &e))?;
        db.close().map_err(|(_, e)| error(path, &e))?;
        Ok(((), true))
    });
    match made {
        // Of several processes that do this at the same moment one wins and the others find its file.
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Makes a file so that it is never seen half made: built by `build` under another name, then, if that says so, linked into
/// place. [`Error::Io`] with `AlreadyExists` if there is one by then.
pub(super) fn drafted<T>(path: &Path, build: impl FnOnce(&Path) -> Result<(T, bool), Error>) -> Result<T, Error> {
    let io_error = |file: &Path| {
        let file = file.to_owned();
        move |source| Error::Io { file, source }
    };
    // Threads of one process make files in the same millisecond too.
    let draft = with_suffix(path, &format!("-new-{}-{:016x}", std::process::id(), rand::random::<u64>()));
    let made = (|| {
        // The draft's name means nothing to anybody: errors name the file that was asked for.
        private_file(&draft, fs::OpenOptions::new().write(true).create_new(true)).map_err(io_error(path))?;
        let (built, wanted) = build(&draft)?;
        if !wanted {
            return Ok(built);
        }
        match fs::hard_link(&draft, path) {
            // A file system without links: rename, which cannot be told from a winner's file in between, is the next best.
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists && !path.exists() => {
                fs::rename(&draft, path).map_err(io_error(path))?
            }
            other => other.map_err(io_error(path))?,
        }
        Ok(built)
    })();
    for suffix in ["", "-wal", "-shm"] {
        // What is not there any more is what is wanted.
        fs::remove_file(with_suffix(&draft, suffix)).ok();
    }
    made
}

fn fill(db: &mut Connection) -> rusqlite::Result<()> {
    // With a rollback journal, so that the commit itself says whether the disk took it; a write-ahead log would be checked in
    // on closing, where a failure is not told.
    let now = annalist_schema::id::now_ms();
    let tx = db.transaction()?;
    tx.execute_batch(SCHEMA)?;
    for id in MIGRATIONS {
        tx.execute("INSERT INTO migration (id, time_completed) VALUES (?1, ?2)", (id, now))?;
    }
    tx.commit()?;
    db.pragma_update(None, "journal_mode", "WAL")
}

/// Gives a private database the tables, for replaying a log into it.
pub(super) fn scratch(db: &Connection) -> rusqlite::Result<()> {
    db.pragma_update(None, "journal_mode", "MEMORY")?;
    db.pragma_update(None, "synchronous", "OFF")?;
    db.pragma_update(None, "foreign_keys", true)?;
    // Above this it goes on in an unnamed temporary file.
    db.pragma_update(None, "cache_size", -32_000)?;
    db.set_prepared_statement_cache_capacity(64);
    db.execute_batch(SCHEMA)
}

/// Transcripts and credentials are nobody else's business (design G7); SQLite gives -wal and -shm the file's own mode.
pub(super) fn private_file(path: &Path, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

pub(super) fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A path as SQLite's URI takes it.
fn percent(path: &Path) -> String {
    path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23")
}
