//! What all requests share.

use crate::error::Problem;
use crate::live::Live;
use crate::options::Options;
use annalist_store::{Pending, Store};
use std::sync::Arc;
use tokio::sync::watch;

/// Cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) options: Options,
    pub(crate) live: Arc<dyn Live>,
    /// Turns true once, when the server is to end: streams say so and close.
    pub(crate) ending: watch::Receiver<bool>,
    /// `/doc`, written once.
    pub(crate) document: String,
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    pub(crate) fn new(inner: Inner) -> Self {
        App(Arc::new(inner))
    }

    /// Work that blocks (the record, files, git), off the threads that serve others.
    pub(crate) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let app = self.clone();
        tokio::task::spawn_blocking(move || work(&app)).await.map_err(Problem::internal)?
    }

    /// A write to one session: acknowledged after its commit, and told to those who listen.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        session: &str,
        write: impl FnOnce(&Store) -> Pending<T>,
    ) -> Result<T, Problem> {
        self.live.before(&self.store, session).await?;
        let written = write(&self.store).await;
        self.live.after(&self.store, session).await?;
        Ok(written?)
    }
}
