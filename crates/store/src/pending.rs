//! A write under way.

use crate::backend::{Backend, Settle};
use crate::error::Error;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll};
use tokio::sync::oneshot::{self, error::TryRecvError};

/// The result of a write, known after its commit: wait for it on a thread, or await it in a task.
///
/// Dropping it does not stop the write.
#[must_use = "the write is acknowledged through this"]
pub struct Pending<T> {
    /// Nothing once it has told.
    settled: Option<oneshot::Receiver<Result<(), Error>>>,
    value: Arc<Mutex<Option<T>>>,
    /// Who writes. Not kept alive by those who wait.
    backend: Weak<dyn Backend>,
    /// Somebody drives the write, or was woken to do it.
    driven: bool,
}

impl<T> Pending<T> {
    fn hurry(&mut self) {
        if !std::mem::replace(&mut self.driven, true)
            && let Some(backend) = self.backend.upgrade()
        {
            backend.hurry();
        }
    }
}

/// The write goes on without anybody who waits for it.
impl<T> Drop for Pending<T> {
    fn drop(&mut self) {
        self.hurry();
    }
}

impl<T: Send + 'static> Pending<T> {
    pub(crate) fn new(value: Arc<Mutex<Option<T>>>, backend: Weak<dyn Backend>) -> (Settle, Self) {
        let (tell, settled) = oneshot::channel();
        let settle: Settle = Box::new(move |result| {
            // Nobody waits any more: the write stands all the same.
            tell.send(result).ok();
        });
        (settle, Pending { settled: Some(settled), value, backend, driven: false })
    }

    /// Blocks until the commit. Not for async tasks: await the value there.
    ///
    /// # Errors
    /// Why nothing was written.
    pub fn wait(mut self) -> Result<T, Error> {
        self.driven = true;
        let Some(mut settled) = self.settled.take() else { return Err(Error::Closed) };
        let mut told = None;
        if let Some(backend) = self.backend.upgrade() {
            backend.drive(&mut || {
                told = match settled.try_recv() {
                    Ok(result) => Some(Ok(result)),
                    Err(TryRecvError::Empty) => None,
                    // The writer went away with the job still queued.
                    Err(TryRecvError::Closed) => Some(Err(Error::Closed)),
                };
                told.is_some()
            });
        }
        let result = told.unwrap_or_else(|| settled.blocking_recv().map_err(|_| Error::Closed));
        finish(result, &self.value)
    }
}

fn finish<T>(result: Result<Result<(), Error>, Error>, value: &Mutex<Option<T>>) -> Result<T, Error> {
    result??;
    value.lock().unwrap_or_else(PoisonError::into_inner).take().ok_or(Error::Closed)
}

impl<T: Send + 'static> Future for Pending<T> {
    type Output = Result<T, Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        this.hurry();
        let Some(settled) = this.settled.as_mut() else { return Poll::Ready(Err(Error::Closed)) };
        let told = Pin::new(settled).poll(cx);
        told.map(|result| {
            this.settled = None;
            finish(result.map_err(|_| Error::Closed), &this.value)
        })
    }
}
