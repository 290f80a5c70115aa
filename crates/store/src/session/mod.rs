//! What can be done to a session: one file an operation. Each is an event or a batch of events in one transaction, and
//! answers after its commit.

mod clear;
mod create;
mod delete;
mod fork;
mod patch;
mod prompt;
mod revert;
mod slug;
mod todo;
mod usage;

pub(crate) use clear::clears;
pub use create::{NewSession, VERSION};
pub use delete::Deleted;
pub use fork::Forked;
pub use patch::SessionPatch;
pub use prompt::{Prompt, Prompted};
pub use revert::{Boundary, Reverted};
pub use usage::Spent;

use crate::append::{Expect, NewEvent};
use crate::backend::{Snapshot, Transaction};
use crate::error::Error;
use crate::hydrate;
use crate::message::keeps;
use annalist_schema::event::SessionUpdated;
use annalist_schema::{Problem, Session};

/// A session that must be there.
pub(crate) fn expected(view: &(impl Snapshot + ?Sized), id: &str) -> Result<Session<'static>, Error> {
    let row = view.session(id)?.ok_or_else(|| Error::NotFound { what: "Session", id: id.to_owned() })?;
    Ok(hydrate::session(&row))
}

/// Reads a session, changes it and records the change, all in the caller's transaction: two changes never undo each other.
/// A change that changes nothing records nothing; a field it takes away is written as its empty value.
pub(crate) fn change(
    tx: &mut dyn Transaction,
    id: &str,
    change: impl FnOnce(&mut Session<'static>) -> Result<(), Error>,
) -> Result<Session<'static>, Error> {
    let before = expected(tx, id)?;
    let mut after = before.clone();
    change(&mut after)?;
    if after == before {
        return Ok(before);
    }
    keeps("session", before.object(), after.object(), &["id"])?;
    let (mut before, mut info) = (before.into_object(), after.into_object());
    hydrate::fold(&mut before);
    hydrate::fold(&mut info);
    clear::say(&before, &mut info)?;
    let event = SessionUpdated::new(&Session::from_object(info)).map_err(|problem| incomplete("session", &problem))?;
    tx.append(id, Expect::Any, NewEvent::of(event.into()))?;
    expected(tx, id)
}

/// A value of a caller that lacks what every event needs.
pub(crate) fn incomplete(what: &str, problem: &Problem) -> Error {
    Error::Invalid { what: what.to_owned(), problem: problem.to_string() }
}
