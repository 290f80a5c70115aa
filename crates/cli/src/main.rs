//! The command `annalist`: see, export and import the conversations of coding agents kept in an OpenCode database.

mod args;
mod command;
mod error;
mod holder;
mod output;
mod place;

use args::{Args, Command, DbCommand};
use clap::Parser as _;
use error::CliError;
use output::Out;
use std::io::{self, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let (result, partial) = match Args::try_parse() {
        Ok(args) => {
            let mut out = Out::stdout();
            let result = run(&args, &mut out).and_then(|()| out.finish().map_err(CliError::Output));
            let partial = args.command.prints_a_whole() && out.begun();
            (result, partial)
        }
        // Help and the version are output as any other; a wrong command line is told on standard error.
        Err(told) => match told.print().and_then(|()| io::stdout().flush()) {
            Ok(()) => return ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(2)),
            Err(error) => (Err(CliError::Output(error)), false),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has what it wanted (`annalist list | head -1`).
        Err(CliError::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever keeps the output in a file has to know that it is not whole.
            let incomplete = if partial && !matches!(error, CliError::Unsound { .. }) { "; the output is incomplete" } else { "" };
            output::status(&format!("annalist: {error}{incomplete}"));
            ExitCode::from(1)
        }
    }
}

fn run(args: &Args, out: &mut Out) -> Result<(), CliError> {
    let place = || place::find(args.db.as_deref());
    match &args.command {
        Command::List(list) => command::list::run(list, &place()?, out),
        Command::Show(show) => command::show::run(show, &place()?, out),
        Command::Export(export) => command::export::run(export, &place()?, out),
        Command::Import(import) => command::import::run(import, &place()?, out),
        Command::Rename(rename) => command::change::rename(rename, &place()?, out),
        Command::Archive(session) => command::change::archive(session, &place()?, out),
        Command::Unarchive(session) => command::change::unarchive(session, &place()?, out),
        Command::Fork(fork) => command::change::fork(fork, &place()?, out),
        Command::Revert(revert) => command::revert::revert(revert, &place()?, out),
        Command::Unrevert(session) => command::revert::unrevert(session, &place()?, out),
        Command::Delete(delete) => command::delete::run(delete, &place()?, out),
        Command::Verify(verify) => command::verify::run(verify, &place()?, out),
        Command::Rebuild(rebuild) => command::rebuild::run(rebuild, &place()?, out),
        Command::Compact(compact) => command::compact::run(compact, &place()?, out),
        Command::Serve(serve) => command::serve::run(serve, &place()?, out),
        Command::Db(DbCommand::Path(path)) => command::db::path(path, &place()?, out),
    }
}
