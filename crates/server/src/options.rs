//! How a server is set up.

use annalist_engine::config::Places;
use annalist_store::Bound;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// How a server is set up.
#[derive(Clone)]
pub struct Options {
    /// The address to listen on. Anything but loopback takes a password.
    pub address: IpAddr,
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The name in the line that says where the server listens; the address if there is none.
    pub hostname: Option<String>,
    /// Who may ask; nobody is turned away without one.
    pub login: Option<Login>,
    /// Origins beside the ones that the reference allows, such as `https://example.com`.
    pub cors: Vec<String>,
    /// Bytes of a request's body, at most. 64 MB.
    pub body_limit: u64,
    /// The time between two signs of life on an event stream. 10 s, as the reference.
    pub heartbeat: Duration,
    /// What may wait for a client that reads events too slowly, beyond which its stream ends. 8 MB or 4,096.
    pub bound: Bound,
    /// Requests that name no folder are about this one.
    pub directory: PathBuf,
    /// Where configuration is read from, and what `/path` answers.
    pub places: Places,
}

/// A user and a password.
#[derive(Clone)]
pub struct Login {
    /// the user; `opencode` where none is given
    pub username: String,
    /// the password
    pub password: String,
}

/// Never shows the password.
impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("username", &self.username).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Options { address, port, login, cors, directory, .. } = self;
        f.debug_struct("Options")
            .field("address", address)
            .field("port", port)
            .field("login", login)
            .field("cors", cors)
            .field("directory", directory)
            .finish_non_exhaustive()
    }
}

impl Options {
    /// A server on loopback for one folder, with everything else as usual.
    #[must_use]
    pub fn new(directory: PathBuf, places: Places) -> Self {
        Options {
            address: IpAddr::from([127, 0, 0, 1]),
            port: 4096,
            hostname: None,
            login: None,
            cors: Vec::new(),
            body_limit: 64 << 20,
            heartbeat: Duration::from_secs(10),
            bound: Bound::default(),
            directory,
            places,
        }
    }
}
