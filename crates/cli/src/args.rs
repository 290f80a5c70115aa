//! The command line.

use clap::builder::NonEmptyStringValueParser;
use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Behind the options of a command itself.
const LAST: usize = 100;

/// Keeps, shows and moves the conversations of coding agents: OpenCode's sessions, in OpenCode's database file.
///
/// Reading changes nothing, and OpenCode may be running on the same file. Data goes to standard output, everything said
/// about it to standard error.
#[derive(Debug, Parser)]
#[command(name = "annalist", version, max_term_width = 100, arg_required_else_help = true, subcommand_required = true)]
#[command(after_long_help = "\
Exit status: 0 done, 1 it failed and standard error says why, 2 the command line is wrong.

Examples:
  annalist list                      what was talked about in this folder's project
  annalist show latest               the end of the conversation last changed
  annalist export latest > it.json   all of it, as a document
  annalist import it.json            the document, into this folder's project
  annalist db path                   which database all this is about")]
pub(crate) struct Args {
    /// The database file
    ///
    /// Without it, the first of these: the file named by ANNALIST_DB; the one named by OPENCODE_DB (a relative path starts in
    /// OpenCode's data folder); OpenCode's own, opencode/opencode.db in the data folder; Annalist's own,
    /// annalist/annalist.db there. The data folder is $XDG_DATA_HOME or ~/.local/share.
    #[arg(long, global = true, value_name = "PATH", display_order = LAST)]
    pub(crate) db: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the sessions of this folder's project, the last changed first
    #[command(after_long_help = LIST_EXAMPLES)]
    List(ListArgs),
    /// Show a session's conversation
    #[command(after_long_help = SHOW_EXAMPLES)]
    Show(ShowArgs),
    /// Print a session as a JSON document, as `opencode export` does
    #[command(after_long_help = EXPORT_EXAMPLES)]
    Export(ExportArgs),
    /// Bring exported sessions into this folder's project
    ///
    /// All documents are checked before the first is written, and each goes in whole or not at all. A session that is in the
    /// database already keeps what it has and receives what is new. A database that is not there is made.
    #[command(after_long_help = IMPORT_EXAMPLES)]
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

const LIST_EXAMPLES: &str = "\
A folder belongs to the project of its git repository. All folders outside of git, and those of repositories without a \
commit, share one project.

Examples:
  annalist list --all --search parser
  annalist list --json | jq -r '.[].id'";

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

const SHOW_EXAMPLES: &str = "\
What was said stands as it is. Signs before a line:
  *  a tool, and how it ended      >  a subtask
  ~  thoughts                      #  changed files
  @  a file or an agent            =  a summary
  +  added for the model           !  a problem, ? an unknown part

Examples:
  annalist show latest
  annalist show ses_dd1bb4 --last 100
  annalist show dd1bb4 --json | jq '.messages[].parts[]'";

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

const EXPORT_EXAMPLES: &str = "\
Examples:
  annalist export latest > session.json
  annalist export dd1bb4 --sanitize > to-show-others.json
  annalist export dd1bb4 | annalist --db other.db import -";

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

const IMPORT_EXAMPLES: &str = "\
Examples:
  annalist import session.json another.json
  opencode export ses_dd1bb4 | annalist --db archive.db import -";

#[derive(Debug, ClapArgs)]
pub(crate) struct ImportArgs {
    /// Documents written by `annalist export` or `opencode export`; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, ClapArgs)]
pub(crate) struct PathArgs {
    /// As a JSON object, {"path": ..., "source": ..., "exists": ..., "siblings": [...]}; the source is `--db`, `ANNALIST_DB`,
    /// `OPENCODE_DB`, `opencode` or `annalist`
    #[arg(long)]
    pub(crate) json: bool,
}
