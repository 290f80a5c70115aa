//! The connection that notices what others commit.

use super::view::View;
use super::{File, error, open};
use crate::backend::Snapshot;
use crate::error::Error;
use crate::log::Watcher;
use rusqlite::Connection;
use std::sync::Arc;

pub(super) struct Watching {
    file: Arc<File>,
    db: Connection,
    /// What `data_version` last was. It moves with each commit of any other connection, our own writer's included; a
    /// checkpoint or VACUUM moves it too.
    version: Option<i64>,
}

impl Watching {
    pub(super) fn open(file: &Arc<File>) -> Result<Self, Error> {
        Ok(Watching { db: open::reader(&file.path)?, file: Arc::clone(file), version: None })
    }
}

/// The number that says whether others committed, as this connection sees it.
pub(super) fn data_version(db: &Connection) -> rusqlite::Result<i64> {
    db.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))
}

impl Watcher for Watching {
    fn changed(&mut self) -> Result<bool, Error> {
        let version = data_version(&self.db).map_err(|e| error(&self.file.path, &e))?;
        Ok(self.version.replace(version) != Some(version))
    }

    fn read(&mut self, look: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        one_view(&self.db, &self.file, look)
    }
}

/// A read transaction: a view that does not change while it is used. It begins with its first query.
pub(super) fn one_view(
    db: &Connection,
    file: &File,
    look: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>,
) -> Result<(), Error> {
    let failed = |e: rusqlite::Error| error(&file.path, &e);
    db.execute_batch("BEGIN").map_err(failed)?;
    let result = look(&View::new(db, file));
    // Nothing was written; this only ends the view.
    db.execute_batch("ROLLBACK").map_err(failed)?;
    result
}
