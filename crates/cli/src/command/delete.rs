//! `annalist delete`

use super::session::{named, title};
use crate::args::DeleteArgs;
use crate::error::{CliError, io_step};
use crate::output::{self, Out};
use crate::place::Place;
use annalist_store::{Flow, Store};
use std::fs;
use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::path::Path;

pub(crate) fn run(args: &DeleteArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open_to_change()?;
    let id = named(&store, place, &args.id)?;
    let order = store.with_children(&id)?;
    for session in &order {
        output::status(&going(&store, session)?);
    }
    if !args.yes && !agreed(order.len())? {
        return Err(CliError::NotDeleted);
    }
    let deleted = match &args.export {
        None => store.delete_session(&id)?,
        Some(folder) => {
            fs::create_dir_all(folder).map_err(|source| CliError::File { file: folder.clone(), source })?;
            store.export_and_delete(&id, |session| document(folder, session))?
        }
    };
    for session in deleted.sessions {
        writeln!(out, "Deleted: {}", output::printable(&session))?;
    }
    Ok(())
}

/// A line about a session that will be gone.
fn going(store: &Store, session: &str) -> Result<String, CliError> {
    let info = store.session(session)?;
    let messages = store.read(|view| {
        let mut count = 0_u64;
        view.messages(&annalist_store::query::MessageRange::oldest_first(session), &mut |_| {
            count += 1;
            Flow::Continue
        })?;
        Ok(count)
    })?;
    Ok(format!("{session}  {}  {}", output::count(messages, "message"), title(&info, 60)))
}

/// Asks a person; where there is none to ask, nobody agreed.
fn agreed(sessions: usize) -> Result<bool, CliError> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Ok(false);
    }
    let what = if sessions == 1 { "this session".to_owned() } else { format!("these {sessions} sessions") };
    write!(io::stderr(), "Delete {what} for good? [y/N] ")?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// A new file: a document that is there already may be all that is left of something else.
fn document(folder: &Path, session: &str) -> io::Result<io::BufWriter<fs::File>> {
    let file = folder.join(format!("{session}.json"));
    let open = fs::OpenOptions::new().write(true).create_new(true).open(&file);
    open.map(io::BufWriter::new).map_err(|e| io::Error::new(e.kind(), format!("{}: {e}{}", file.display(), io_step(&e))))
}
