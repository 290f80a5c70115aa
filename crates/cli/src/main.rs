//! The command `annalist`: see, export and import the conversations of coding agents kept in an OpenCode database.

mod args;
mod command;
mod error;
mod output;
mod place;

use args::{Args, Command, DbCommand};
use clap::Parser as _;
use error::CliError;
use output::Out;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Out::stdout();
    let result = run(&args, &mut out).and_then(|()| out.finish().map_err(CliError::Output));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The reader has what it wanted (`annalist list | head -1`).
        Err(CliError::Output(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            output::status(&format!("annalist: {error}"));
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
        Command::Db(DbCommand::Path(path)) => command::db::path(path, &place()?, out),
    }
}
