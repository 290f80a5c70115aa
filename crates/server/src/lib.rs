//! OpenCode's session API over HTTP and server-sent events, on Annalist's record.
//!
//! [`Server::bind`] takes a [`annalist_store::Store`] and [`Options`], [`Server::run`] serves until it is told to end. Routes are a table
//! (`routes`) from which the router and the OpenAPI document are made; what a client is told when something fails stands in
//! one file (`error.rs`). The record is only touched off the threads that serve others, and rows that nobody looks into go
//! from the file to the wire as text.
//!
//! The shapes are those of OpenCode 1.18.33; `docs/compatibility.md` says where answers differ on purpose.

mod app;
mod error;
mod expand;
mod folder;
mod guard;
mod live;
mod openapi;
mod options;
mod query;
mod repeat;
mod request;
mod routes;
mod server;
mod shape;
mod shapes;

pub use annalist_engine::config::Places;
pub use options::{Login, Options};
pub use server::{Server, StartError};
