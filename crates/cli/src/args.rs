//! The command line.

mod help;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use help::*;
use std::path::PathBuf;

/// Behind the options of a command itself.
const LAST: usize = 100;

/// Keeps, shows and moves the conversations of coding agents: OpenCode's sessions, in OpenCode's database file.
///
/// Reading changes nothing, and OpenCode may be running on the same file. Data goes to standard output, everything said
/// about it to standard error.
#[derive(Debug, Parser)]
#[command(name = "annalist", version, max_term_width = 100, arg_required_else_help = true, subcommand_required = true)]
#[command(after_long_help = ALL)]
pub(crate) struct Args {
    /// The database file; `annalist --help` says which one it is without this
    #[arg(long, global = true, value_name = "PATH", display_order = LAST)]
    pub(crate) db: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the sessions of this folder's project, the last changed first
    #[command(after_long_help = LIST)]
    List(ListArgs),
    /// Show a session's conversation
    #[command(after_long_help = SHOW)]
    Show(ShowArgs),
    /// Print a session as a JSON document, as `opencode export` does
    #[command(after_long_help = EXPORT)]
    Export(ExportArgs),
    /// Bring exported sessions into this folder's project
    ///
    /// All documents are checked before the first is written, and each goes in whole or not at all. A session that is in the
    /// database already keeps what it has and receives what is new. A database that is not there is made.
    #[command(after_long_help = IMPORT)]
    Import(ImportArgs),
    /// Give a session another title
    #[command(after_long_help = RENAME)]
    Rename(RenameArgs),
    /// Put a session away: lists leave it out
    #[command(after_long_help = ARCHIVE)]
    Archive(SessionArgs),
    /// Take a session back out
    #[command(after_long_help = UNARCHIVE)]
    Unarchive(SessionArgs),
    /// Copy a session, or its beginning, into a new one
    #[command(after_long_help = FORK)]
    Fork(ForkArgs),
    /// Undo the end of a conversation; `unrevert` brings it back until the next prompt
    ///
    /// The messages are marked, and stay until the next prompt in the session or until --commit. Files are not touched: those
    /// that the undone messages changed are listed.
    #[command(after_long_help = REVERT, override_usage = REVERT_USAGE)]
    Revert(RevertArgs),
    /// Take an undo back
    #[command(after_long_help = UNREVERT)]
    Unrevert(SessionArgs),
    /// Delete a session and those that it started, for good
    #[command(after_long_help = DELETE)]
    Delete(DeleteArgs),
    /// Check that the rows of the database are what its log of events says
    ///
    /// Exit status 1 says that something is not as the log has it, or that a log is damaged.
    #[command(after_long_help = VERIFY)]
    Verify(VerifyArgs),
    /// Make a new database file from the log of events
    ///
    /// The file that is there stays as it is. What no log tells of is copied.
    #[command(after_long_help = REBUILD)]
    Rebuild(RebuildArgs),
    /// Empty superseded events of the log, so that the file stops growing
    ///
    /// Works in small steps beside a running OpenCode, and may be interrupted and started again.
    #[command(after_long_help = COMPACT)]
    Compact(CompactArgs),
    /// Serve OpenCode's session API over HTTP
    #[command(after_long_help = SERVE)]
    Serve(ServeArgs),
    /// About the database file
    #[command(subcommand)]
    Db(DbCommand),
}

impl Command {
    /// Whether what it prints is one thing, of which a part is of no use. Others tell of each piece of work once it is done.
    pub(crate) fn prints_a_whole(&self) -> bool {
        matches!(self, Command::List(_) | Command::Show(_) | Command::Export(_) | Command::Verify(_) | Command::Db(_))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Print which database file is used
    Path(PathArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// The sessions of all projects, with their folders
    #[arg(long)]
    pub(crate) all: bool,
    /// Only sessions whose title contains TEXT, in capitals or not
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// Only sessions that no other session started
    #[arg(long)]
    pub(crate) roots: bool,
    /// Archived sessions too
    #[arg(long)]
    pub(crate) archived: bool,
    /// At most N sessions
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: u32,
    /// As a JSON array of session objects
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ShowArgs {
    /// A session's id, or the beginning of one, with or without `ses_`; `latest` is the one last changed in this folder's
    /// project, or else in any
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Only the last N messages [default: 20, with --json all]
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) last: Option<u32>,
    /// All messages
    #[arg(long)]
    pub(crate) all: bool,
    /// As one JSON object, {"info": ..., "messages": [{"info": ..., "parts": [...]}]}, every value as it is stored
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// A session's id, or the beginning of one, with or without `ses_`; `latest` is the one last changed in this folder's
    /// project, or else in any
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Put placeholders in the place of everything a person, a model or a tool wrote
    #[arg(long)]
    pub(crate) sanitize: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// Documents written by `annalist export` or `opencode export`; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "legacy")]
    pub(crate) files: Vec<PathBuf>,
    /// Bring in the JSON files of OpenCode before 1.2: its data folder of then, or the `storage` folder in it. May be repeated:
    /// what is here already stays as it is
    #[arg(long, value_name = "FOLDER", conflicts_with = "files")]
    pub(crate) legacy: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PathArgs {
    /// As a JSON object, {"path": ..., "source": ..., "exists": ..., "siblings": [...]}; the source is `--db`, `ANNALIST_DB`,
    /// `OPENCODE_DB`, `opencode` or `annalist`
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct SessionArgs {
    /// A session's id, or the beginning of one, with or without `ses_`; or `latest`
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// The session as a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RenameArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// The new title
    #[arg(value_name = "TITLE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) title: String,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ForkArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// Only what stands before this message, given by its id
    #[arg(long, value_name = "MESSAGE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) before: Option<String>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RevertArgs {
    #[command(flatten)]
    pub(crate) session: SessionArgs,
    /// From the message of this id on (from the question that it answers, if it is an assistant's)
    #[arg(value_name = "MESSAGE", value_parser = NonEmptyStringValueParser::new(), required_unless_present = "commit")]
    pub(crate) message: Option<String>,
    /// From this part of the message on
    #[arg(long, value_name = "PART", value_parser = NonEmptyStringValueParser::new(), requires = "message")]
    pub(crate) part: Option<String>,
    /// Remove what is marked, for good
    #[arg(long)]
    pub(crate) commit: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct DeleteArgs {
    /// A session's id, or the beginning of one, with or without `ses_`; or `latest`
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: String,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
    /// First write a document of each session into this folder, as ID.json
    #[arg(long, value_name = "FOLDER")]
    pub(crate) export: Option<PathBuf>,
    /// What was deleted as a JSON object, {"sessions": [ID, ...]}, children before their parents
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct VerifyArgs {
    /// Only this session: its id, the beginning of one, or `latest`
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) id: Option<String>,
    /// What was found and the counts as a JSON object, {"findings": [{"session": ID, "problem": TEXT}, ...], "equal": N, ...}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct RebuildArgs {
    /// The new file; there must be none of that name
    #[arg(long, value_name = "FILE")]
    pub(crate) into: PathBuf,
    /// What was done as a JSON object, {"replayed": N, "copied": [{"session": ID, "why": TEXT}, ...], ...}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct CompactArgs {
    /// Only count what would be emptied
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Then give the free space back to the disk; not while another program has the file open
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) reclaim: bool,
    /// With --reclaim: also while another program has the file open, which stands still meanwhile
    #[arg(long, requires = "reclaim")]
    pub(crate) force: bool,
    /// The counts as a JSON object; with --reclaim also the file's bytes, {..., "file": {"before": N, "after": N}}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ServeArgs {
    /// The port to listen on; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 4096)]
    pub(crate) port: u16,
    /// The address to listen on. Others than loopback take a password ($OPENCODE_SERVER_PASSWORD)
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub(crate) hostname: String,
    /// A web page's origin (scheme, host, port) that may ask; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub(crate) cors: Vec<String>,
    /// How much to say on standard error
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    pub(crate) log_level: LogLevel,
}

/// A level of the log, in either case (`opencode serve` is given them in capitals).
#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "lower")]
pub(crate) enum LogLevel {
    /// What failed here
    #[value(alias = "ERROR")]
    Error,
    /// What may go wrong, too
    #[value(alias = "WARN")]
    Warn,
    /// The usual
    #[value(alias = "INFO")]
    Info,
    /// A line a request
    #[value(alias = "DEBUG")]
    Debug,
    /// Everything
    #[value(alias = "TRACE")]
    Trace,
}

impl LogLevel {
    pub(crate) fn level(self) -> tracing::Level {
        match self {
            LogLevel::Error => tracing::Level::ERROR,
            LogLevel::Warn => tracing::Level::WARN,
            LogLevel::Info => tracing::Level::INFO,
            LogLevel::Debug => tracing::Level::DEBUG,
            LogLevel::Trace => tracing::Level::TRACE,
        }
    }
}
