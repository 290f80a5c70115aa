//! The record, as the other crates use it.

use crate::append::{Expect, NewEvent, Recorded};
use crate::backend::{Backend, Durability, Flow, Job, Snapshot, Transaction};
use crate::document::{self, ExportError, Exported, Imported};
use crate::error::Error;
use crate::folder::Folder;
use crate::hydrate;
use crate::live::Live;
use crate::neighbours::Neighbours;
use crate::pending::Pending;
use crate::query::{Cursor, MessageRange, SessionFilter};
use crate::row::TodoRow;
use crate::sqlite::{Create, Migrated, Options, Sqlite};
use crate::tombs::Tombs;
use crate::transcript::{self, Page, WithParts};
use crate::watch::Last;
use annalist_schema::Session;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// An open record. Cheap to clone; all clones share one writer and one pool of readers.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    tombs: Arc<Tombs>,
    pub(crate) live: Arc<Live>,
    /// Behind the others: what they hold is let go of when this is.
    _last: Arc<Last>,
}

fn put<T>(value: &Mutex<Option<T>>, written: T) {
    *value.lock().unwrap_or_else(PoisonError::into_inner) = Some(written);
}

/// Sessions, and how many there would be without the limit.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// newest change first
    pub sessions: Vec<Session<'static>>,
    /// how many pass the filter
    pub total: u64,
}

impl Store {
    /// Opens an OpenCode database, or makes one.
    ///
    /// # Errors
    /// See [`Sqlite::open`].
    pub fn open(path: &Path, create: Create) -> Result<Self, Error> {
        Store::open_with(path, create, Options::default())
    }

    /// The same, with other settings than the usual ones.
    ///
    /// # Errors
    /// See [`Sqlite::open`].
    pub fn open_with(path: &Path, create: Create, options: Options) -> Result<Self, Error> {
        Ok(Store::on(Arc::new(Sqlite::open(path, create, options)?)))
    }

    /// Opens a database to write it, bringing up one that an older version of OpenCode made; what that did is answered
    /// beside the store. Reading never does this.
    ///
    /// # Errors
    /// See [`Sqlite::open_for_writing`].
    pub fn open_for_writing(path: &Path, create: Create, options: Options) -> Result<(Self, Option<Migrated>), Error> {
        let (backend, migrated) = Sqlite::open_for_writing(path, create, options)?;
        Ok((Store::on(Arc::new(backend)), migrated))
    }

    /// A record on another backend.
    #[must_use]
    pub fn on(backend: Arc<dyn Backend>) -> Self {
        let live = Live::new(Arc::clone(&backend));
        let last = Last::of(&live);
        Store { backend, tombs: Arc::default(), live, _last: last }
    }

    pub(crate) fn tombs(&self) -> Arc<Tombs> {
        Arc::clone(&self.tombs)
    }

    /// Whether it can be written.
    ///
    /// # Errors
    /// [`Error::ReadOnly`] with what stands in the way.
    pub fn writable(&self) -> Result<(), Error> {
        self.backend.writable()
    }

    /// Who else has it open at this moment.
    #[must_use]
    pub fn neighbours(&self) -> Neighbours {
        self.backend.neighbours()
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Reads from one consistent view.
    ///
    /// # Errors
    /// Those of the backend and of `read`.
    pub fn read<T>(&self, read: impl FnOnce(&dyn Snapshot) -> Result<T, Error>) -> Result<T, Error> {
        let mut read = Some(read);
        let mut result = None;
        self.backend.read(&mut |view| {
            if let Some(read) = read.take() {
                result = Some(read(view)?);
            }
            Ok(())
        })?;
        result.ok_or(Error::Closed)
    }

    /// Reads, decides and writes in one transaction. The closure runs where the writer is driven, which is its own thread or
    /// that of somebody who waits; what it returns is handed over after the commit. If it fails or panics, nothing of it is
    /// kept.
    pub fn write<T: Send + 'static>(
        &self,
        durability: Durability,
        write: impl FnOnce(&mut dyn Transaction) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        self.queue(durability, |value| {
            Job::Once(Box::new(move |tx| {
                let written = write(tx)?;
                put(&value, written);
                Ok(())
            }))
        })
    }

    /// The same with a closure that may run more than once: what it did is undone then, and what its last run returns is
    /// handed over. Many such writes at once cost less than many of the other kind.
    pub fn write_again<T: Send + 'static>(
        &self,
        durability: Durability,
        mut write: impl FnMut(&mut dyn Transaction) -> Result<T, Error> + Send + 'static,
    ) -> Pending<T> {
        self.queue(durability, |value| {
            Job::Again(Box::new(move |tx| {
                let written = write(tx)?;
                put(&value, written);
                Ok(())
            }))
        })
    }

    fn queue<T: Send + 'static>(&self, durability: Durability, job: impl FnOnce(Arc<Mutex<Option<T>>>) -> Job) -> Pending<T> {
        let value = Arc::new(Mutex::new(None));
        let (settle, pending) = Pending::new(Arc::clone(&value), Arc::downgrade(&self.backend));
        self.backend.write(durability, job(value), settle);
        pending
    }

    /// Records events of one session: all or none. `expect` speaks of the log before the first.
    pub fn append(&self, session: &str, expect: Expect, events: Vec<NewEvent>, durability: Durability) -> Pending<Vec<Recorded>> {
        let session = session.to_owned();
        self.write_again(durability, move |tx| {
            let mut expect = expect;
            let mut recorded = Vec::with_capacity(events.len());
            for event in &events {
                recorded.push(tx.append_kept(&session, std::mem::replace(&mut expect, Expect::Any), event)?);
            }
            Ok(recorded)
        })
    }

    /// A session.
    ///
    /// # Errors
    /// [`Error::NotFound`]; those of the backend.
    pub fn session(&self, id: &str) -> Result<Session<'static>, Error> {
        let row = self.read(|view| view.session(id))?;
        row.map(|row| hydrate::session(&row)).ok_or_else(|| Error::NotFound { what: "Session", id: id.to_owned() })
    }

    /// Sessions, newest change first.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Listing, Error> {
        self.read(|view| {
            let mut sessions = Vec::new();
            view.sessions(filter, &mut |row| {
                sessions.push(hydrate::session(&row));
                Flow::Continue
            })?;
            Ok(Listing { sessions, total: view.count_sessions(filter)? })
        })
    }

    /// The sessions made from within a session, archived ones too, newest change first.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the parent is not there; those of the backend.
    pub fn children(&self, parent: &str) -> Result<Vec<Session<'static>>, Error> {
        self.session(parent)?;
        Ok(self.sessions(&SessionFilter { parent: Some(parent.to_owned()), ..SessionFilter::default() })?.sessions)
    }

    /// A message with its parts.
    ///
    /// # Errors
    /// [`Error::NotFound`]; those of the backend.
    pub fn get(&self, session: &str, message: &str) -> Result<WithParts, Error> {
        self.read(|view| transcript::message(view, session, message))
    }

    /// The newest `limit` messages older than `before`, oldest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn page(&self, session: &str, limit: Option<u32>, before: Option<Cursor>) -> Result<Page, Error> {
        self.read(|view| transcript::page(view, session, limit, before))
    }

    /// All messages newest first, a batch at a time, until `visit` stops. A session that is not there has none.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn stream(&self, session: &str, mut visit: impl FnMut(WithParts) -> Flow) -> Result<(), Error> {
        self.read(|view| {
            transcript::visit(view, &MessageRange::newest_first(session), &mut |message, parts| {
                visit(transcript::with_parts(message, parts))
            })
        })
    }

    /// The newest `limit` messages, or all, oldest first.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn messages(&self, session: &str, limit: Option<u32>) -> Result<Vec<WithParts>, Error> {
        Ok(self.page(session, limit, None)?.messages)
    }

    /// The messages that still count after compactions, in the order in which a model reads them. See
    /// [`crate::filter_compacted()`]. A session that is not there has none.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn filter_compacted(&self, session: &str) -> Result<Vec<WithParts>, Error> {
        self.read(|view| crate::filter_compacted(transcript::NewestFirst::of(view, session)))
    }

    /// The todo list of a session.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the session is not there; those of the backend.
    pub fn todo(&self, session: &str) -> Result<Vec<TodoRow>, Error> {
        self.session(session)?;
        self.read(|view| view.todos(session))
    }

    /// Writes the document that `opencode export` prints.
    ///
    /// # Errors
    /// [`ExportError`]: the record's, or those of `out`.
    pub fn export(&self, session: &str, sanitize: bool, out: &mut dyn Write) -> Result<Exported, ExportError> {
        let mut failed = None;
        let done = self.read(|view| match document::export(view, session, sanitize, out) {
            Ok(done) => Ok(Some(done)),
            Err(ExportError::Store(error)) => Err(error),
            Err(ExportError::Out(error)) => {
                failed = Some(error);
                Ok(None)
            }
        });
        match (failed, done) {
            (Some(error), _) => Err(ExportError::Out(error)),
            (None, Ok(Some(done))) => Ok(done),
            (None, Ok(None)) => Err(ExportError::Store(Error::Closed)),
            (None, Err(error)) => Err(ExportError::Store(error)),
        }
    }

    /// Brings an exported document into the project of `folder`, in one transaction. The document is checked before
    /// anything is written.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the document is none; [`Error::IdTaken`] if one of its ids belongs to another session; those of
    /// the backend.
    pub fn import(&self, document: String, folder: Folder) -> Result<Imported, Error> {
        document::check(&document)?;
        self.write(Durability::Power, move |tx| document::import(tx, &document, &folder)).wait()
    }
}
