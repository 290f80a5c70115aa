//! The pool of reading connections.

use super::view::View;
use super::{File, error, open};
use crate::backend::Snapshot;
use crate::error::Error;
use rusqlite::Connection;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// More would not read faster on the machines this runs on, and each costs descriptors and a page cache.
const MOST: usize = 8;

struct Idle {
    connections: Vec<Connection>,
    /// Connections that exist, idle or not.
    made: usize,
}

pub(super) struct Readers {
    file: Arc<File>,
    idle: Mutex<Idle>,
    returned: Condvar,
}

impl Readers {
    pub(super) fn new(file: Arc<File>, first: Connection) -> Self {
        Readers { file, idle: Mutex::new(Idle { connections: vec![first], made: 1 }), returned: Condvar::new() }
    }

    /// One read transaction: a view that does not change while it is used.
    pub(super) fn with(&self, read: &mut dyn FnMut(&dyn Snapshot) -> Result<(), Error>) -> Result<(), Error> {
        let lease = Lease { pool: self, connection: Some(self.take()?) };
        let Some(db) = lease.connection.as_ref() else { return Err(Error::Closed) };
        let failed = |e: rusqlite::Error| error(&self.file.path, &e);
        db.execute_batch("BEGIN").map_err(failed)?;
        let result = read(&View::new(db, &self.file));
        // Nothing was written; this only ends the view.
        db.execute_batch("ROLLBACK").map_err(failed)?;
        result
    }

    fn take(&self) -> Result<Connection, Error> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(connection) = idle.connections.pop() {
                return Ok(connection);
            }
            if idle.made < MOST {
                idle.made += 1;
                drop(idle);
                return open::reader(&self.file.path).inspect_err(|_| self.gone());
            }
            idle = self.returned.wait(idle).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn gone(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).made -= 1;
        self.returned.notify_one();
    }
}

/// A connection on loan; it goes back however the borrower ends.
struct Lease<'p> {
    pool: &'p Readers,
    connection: Option<Connection>,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        match self.connection.take() {
            // A panicking reader leaves its transaction open; such a connection is not used again.
            Some(connection) if connection.is_autocommit() => {
                self.pool.idle.lock().unwrap_or_else(PoisonError::into_inner).connections.push(connection);
                self.pool.returned.notify_one();
            }
            _ => self.pool.gone(),
        }
    }
}
