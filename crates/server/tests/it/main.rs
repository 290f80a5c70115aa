//! The server, asked over its socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop")]

mod auth;
mod bodies;
mod cors;
mod document;
mod errors;
mod live;
mod paging;
mod prompt;
mod resume;
mod shutdown;
mod support;
