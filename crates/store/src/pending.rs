//! A write under way.

use crate::backend::Settle;
use crate::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// The result of a write, known after its commit: wait for it on a thread, or await it in a task.
///
/// Dropping it does not stop the write.
#[must_use = "the write is acknowledged through this"]
pub struct Pending<T> {
    settled: oneshot::Receiver<Result<(), Error>>,
    value: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Pending<T> {
    pub(crate) fn new(value: Arc<Mutex<Option<T>>>) -> (Settle, Self) {
        let (tell, settled) = oneshot::channel();
        let settle: Settle = Box::new(move |result| {
            // Nobody waits any more: the write stands all the same.
            tell.send(result).ok();
        });
        (settle, Pending { settled, value })
    }

    /// Blocks until the commit. Not for async tasks: await the value there.
    ///
    /// # Errors
    /// Why nothing was written.
    pub fn wait(self) -> Result<T, Error> {
        let result = self.settled.blocking_recv();
        finish(result, &self.value)
    }
}

fn finish<T>(result: Result<Result<(), Error>, oneshot::error::RecvError>, value: &Mutex<Option<T>>) -> Result<T, Error> {
    // A sender dropped unused: the writer went away with the job still queued.
    result.map_err(|_| Error::Closed)??;
    value.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(Error::Closed)
}

impl<T: Send + 'static> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        Pin::new(&mut this.settled).poll(cx).map(|result| finish(result, &this.value))
    }
}
