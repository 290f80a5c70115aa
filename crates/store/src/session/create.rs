//! New sessions (reference-storage 1.3).

use super::{expected, incomplete, slug};
use crate::append::{Expect, NewEvent};
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::folder::Folder;
use crate::pending::Pending;
use crate::store::Store;
use annalist_schema::event::SessionCreated;
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::Object;
use annalist_schema::session::{DEFAULT_CHILD_TITLE, DEFAULT_TITLE};
use annalist_schema::{Session, id};

/// The version written into new sessions: the reference's, since its clients compare it (design G7).
pub const VERSION: &str = "1.18.33";

/// What a new session is made from. All but the folder may be left out.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// where it works
    pub folder: Folder,
    /// the session that starts this one
    pub parent: Option<String>,
    /// its title, `""` included; without one it gets the default title with the time
    pub title: Option<String>,
    /// the agent it starts with
    pub agent: Option<String>,
    /// the model it starts with
    pub model: Option<SessionModel<'static>>,
    /// anything, by program
    pub metadata: Option<Object<'static>>,
    /// rules of its own
    pub permission: Option<Vec<PermissionRule<'static>>>,
    /// the workspace it is in
    pub workspace: Option<String>,
}

impl NewSession {
    /// A session in a folder, with nothing else said.
    #[must_use]
    pub fn new(folder: Folder) -> Self {
        NewSession {
            folder,
            parent: None,
            title: None,
            agent: None,
            model: None,
            metadata: None,
            permission: None,
            workspace: None,
        }
    }
}

impl Store {
    /// Makes a session, and the row of its project in the same transaction.
    ///
    /// Fails with [`Error::NotFound`] if the parent is not there.
    pub fn create_session(&self, new: NewSession) -> Pending<Session<'static>> {
        self.write(Durability::Power, move |tx| create(tx, &new))
    }
}

/// Makes a session inside the caller's transaction.
pub(crate) fn create(tx: &mut dyn Transaction, new: &NewSession) -> Result<Session<'static>, Error> {
    if let Some(parent) = &new.parent {
        expected(tx, parent)?;
    }
    let now = id::now_ms();
    tx.ensure_project(&new.folder, now)?;
    record_created(tx, &info(new, &id::new(id::Kind::Session), now))
}

/// The info of a session that is to be made.
pub(super) fn info(new: &NewSession, id: &str, now: i64) -> Session<'static> {
    let title = new.title.clone().unwrap_or_else(|| default_title(new.parent.is_some(), now));
    let folder = &new.folder;
    let mut session = Session::new(id, &slug::new(), &folder.project, &folder.directory, &title, VERSION, now);
    session
        .set_workspace_id(new.workspace.as_deref().map(Into::into))
        .set_path(Some(folder.path.as_str().into()))
        .set_parent_id(new.parent.as_deref().map(Into::into))
        .set_agent(new.agent.as_deref().map(Into::into))
        .set_model(new.model.clone())
        .set_metadata(new.metadata.clone())
        .set_permission(new.permission.clone());
    session
}

/// Records a new session whose project is there; answers it as it is then.
pub(super) fn record_created(tx: &mut dyn Transaction, session: &Session<'_>) -> Result<Session<'static>, Error> {
    let failed = |problem| incomplete("session", &problem);
    let id = session.id().map_err(failed)?;
    let event = SessionCreated::new(session).map_err(failed)?;
    tx.append(&id, Expect::NoStream, NewEvent::of(event.into()))?;
    expected(tx, &id)
}

fn default_title(child: bool, now_ms: i64) -> String {
    format!("{}{}", if child { DEFAULT_CHILD_TITLE } else { DEFAULT_TITLE }, iso(now_ms))
}

/// `2026-01-02T03:04:05.678Z`, as JavaScript prints a date.
fn iso(ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(ms).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_title_is_known_as_one() {
        assert_eq!(default_title(false, 1_786_706_395_136), "New session - 2026-08-14T11:19:55.136Z");
        assert_eq!(default_title(true, 0), "Child session - 1970-01-01T00:00:00.000Z");
        assert!(annalist_schema::session::is_default_title(&default_title(true, 951_782_400_000)));
    }
}
