//! Starting, serving and ending.

use crate::app::{App, Inner};
use crate::guard;
use crate::live::Live;
use crate::options::Options;
use crate::routes;
use annalist_store::Store;
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse as _, Response};
use std::any::Any;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;

/// How long requests under way may take when the server ends. Writes that were taken up are finished in any case.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often the trail of the log is written down.
const KEEP_TRAIL: Duration = Duration::from_secs(10);

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address is open to others, and nobody would be asked who they are.
    #[error("{address} can be reached by others: set OPENCODE_SERVER_PASSWORD, or listen on 127.0.0.1")]
    NoPassword {
        /// the address
        address: std::net::IpAddr,
    },
    /// The port cannot be had.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// where
        address: SocketAddr,
        /// why
        source: io::Error,
    },
}

impl StartError {
    /// The port that somebody else has.
    #[must_use]
    pub fn taken_port(&self) -> Option<u16> {
        match self {
            StartError::Listen { address, source } if source.kind() == io::ErrorKind::AddrInUse => Some(address.port()),
            _ => None,
        }
    }
}

/// A server that listens and does not answer yet.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    end: watch::Sender<bool>,
}

impl Server {
    /// Listens. Connections are taken by the system from here on and answered by [`Server::run`].
    ///
    /// # Errors
    /// [`StartError`].
    pub async fn bind(store: Store, options: Options) -> Result<Self, StartError> {
        if !options.address.is_loopback() && options.login.is_none() {
            return Err(StartError::NoPassword { address: options.address });
        }
        let wanted = SocketAddr::new(options.address, options.port);
        let failed = |source| StartError::Listen { address: wanted, source };
        let listener = TcpListener::bind(wanted).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (end, ending) = watch::channel(false);
        let document = routes::document();
        let live = Arc::new(Live::new(store.clone(), options.bound));
        let app = App::new(Inner { store, options, live, ending, document });
        app.begin().await;
        Ok(Server { listener, address, app, end })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `ended`. Streams are told and closed then, other requests are finished.
    ///
    /// # Errors
    /// When connections can no longer be taken.
    pub async fn run(self, ended: impl Future<Output = ()> + Send + 'static) -> io::Result<()> {
        let router = routes::router(&self.app)
            .layer(CatchPanicLayer::custom(panicked))
            .layer(from_fn_with_state(self.app.clone(), guard::guard));
        let end = self.end.clone();
        let ending = async move {
            ended.await;
            end.send_replace(true);
        };
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(ending);
        let mut over = self.end.subscribe();
        let keeping = tokio::spawn(keep_trail(self.app.clone()));
        let served = tokio::select! {
            done = serving => done,
            // A client that never finishes its request does not keep the server.
            () = async move {
                // The sender lives in this server.
                over.wait_for(|over| *over).await.ok();
                tokio::time::sleep(PATIENCE).await;
            } => Ok(()),
        };
        keeping.abort();
        self.app.keep_trail().await;
        served
    }
}

/// Keeps the places of the log known to the next process, should this one be killed.
async fn keep_trail(app: App) {
    let mut every = tokio::time::interval(KEEP_TRAIL);
    // The first comes at once, and at the start it was done.
    every.tick().await;
    loop {
        every.tick().await;
        app.keep_trail().await;
    }
}

/// One request that panics costs that request.
fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    let error = io::Error::other(format!("a request panicked: {}", text.unwrap_or("no text")));
    crate::error::Problem::internal(error).into_response()
}
