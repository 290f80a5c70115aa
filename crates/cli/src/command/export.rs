//! `annalist export`

use super::session;
use crate::args::ExportArgs;
use crate::error::CliError;
use crate::output::{self, Out};
use crate::place::Place;

pub(crate) fn run(args: &ExportArgs, place: &Place, out: &mut Out) -> Result<(), CliError> {
    let store = place.open()?;
    let id = session::named(&store, place, &args.id)?;
    output::status(&format!("Exporting session: {id}"));
    store.export(&id, args.sanitize, out)?;
    Ok(())
}
