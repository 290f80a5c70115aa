//! The command line.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Keeps, shows and moves the conversations of coding agents: OpenCode's sessions, in OpenCode's database file.
#[derive(Debug, Parser)]
#[command(name = "annalist", version, max_term_width = 100, arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Args {
    /// The database file. Without it: $ANNALIST_DB, $OPENCODE_DB, OpenCode's own file if there is one, else Annalist's own.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) db: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the sessions of this folder's project, the last changed first
    List(ListArgs),
    /// Show a session's conversation
    Show(ShowArgs),
    /// Print a session as a JSON document, as `opencode export` does
    Export(ExportArgs),
    /// Bring exported sessions into this folder's project
    Import(ImportArgs),
    /// About the database file
    #[command(subcommand)]
    Db(DbCommand),
}

#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Print which database file is used
    Path(PathArgs),
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ListArgs {
    /// The sessions of all projects
    #[arg(long)]
    pub(crate) all: bool,
    /// Only sessions whose title contains TEXT
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
    /// A session's id, the beginning of one, or `latest`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Only the last N messages
    #[arg(long, value_name = "N", conflicts_with = "all")]
    pub(crate) last: Option<u32>,
    /// All messages (without --json: instead of the last 20)
    #[arg(long)]
    pub(crate) all: bool,
    /// As one JSON object: {"info", "messages": [{"info", "parts"}]}
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ExportArgs {
    /// A session's id, the beginning of one, or `latest`
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Put placeholders in the place of everything a person, a model or a tool wrote
    #[arg(long)]
    pub(crate) sanitize: bool,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// Documents written by `annalist export` or `opencode export`; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PathArgs {
    /// As a JSON object: {"path", "exists", "siblings"}
    #[arg(long)]
    pub(crate) json: bool,
}
