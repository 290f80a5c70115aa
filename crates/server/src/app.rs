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
    pub(crate) live: Arc<Live>,
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

    /// A write: acknowledged after its commit, which the record tells to those who listen.
    pub(crate) async fn write<T: Send + 'static>(&self, write: impl FnOnce(&Store) -> Pending<T>) -> Result<T, Problem> {
        Ok(write(&self.store).await?)
    }

    /// What has to be done before the first request: the trail of an earlier process is taken up, and what a dead one of ours
    /// left open is closed. Failing costs that and no more.
    pub(crate) async fn begin(&self) {
        self.keep_trail().await;
        let recovered = self.quietly(Store::recover).await;
        match recovered {
            Ok(closed) if closed.is_empty() => {}
            Ok(closed) => tracing::info!("closed what a process left open that is gone: {} messages", closed.len()),
            Err(problem) => tracing::warn!("what a dead process may have left open stays so: {problem}"),
        }
    }

    /// See [`Store::keep_trail`].
    pub(crate) async fn keep_trail(&self) {
        if let Err(problem) = self.quietly(Store::keep_trail).await {
            tracing::warn!("clients that come back later may have to read anew: {problem}");
        }
    }

    /// Work on the record that no request waits for; what went wrong is for the log.
    async fn quietly<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T, annalist_store::Error> + Send + 'static,
    ) -> Result<T, String> {
        let store = self.store.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(done) => done.map_err(|error| error.to_string()),
            Err(died) => Err(died.to_string()),
        }
    }
}
