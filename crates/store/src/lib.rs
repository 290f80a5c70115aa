//! The durable record: an event log and its projections, in the database file that OpenCode uses.
//!
//! [`Store`] is the way in. Reading goes through a [`Snapshot`], one consistent view; writing through a [`Transaction`] that
//! runs on the writer's thread and is acknowledged after its commit. A durable event gets the next number of its session, is
//! projected into rows and stored, all in one transaction (design G2). Rows nobody looks into are passed on as they are
//! ([`hydrate`]), and a row that cannot be read costs that row alone (G6).
//!
//! All SQL stands in [`sqlite`]; everything else is written against the traits in [`backend`].

pub mod append;
pub mod backend;
pub mod bus;
pub mod catch_up;
pub mod claim;
pub mod document;
pub mod error;
pub mod folder;
pub mod history;
pub mod hydrate;
pub mod legacy;
pub mod log;
pub mod neighbours;
pub mod query;
pub mod replay;
pub mod row;
pub mod session;
pub mod sqlite;
pub mod status;
pub mod trail;
pub mod transcript;
pub mod upkeep;

mod feed;
mod filter_compacted;
mod latest;
mod live;
mod message;
mod part;
mod pending;
mod position;
mod store;
mod tombs;

pub use append::{Expect, NewEvent, Recorded};
pub use backend::{Backend, Durability, Flow, Snapshot, Transaction};
pub use claim::{Claim, ClaimError};
mod watch;

pub use bus::{Bound, Interest, Passing};
pub use catch_up::{Delivery, Subscription};
pub use error::Error;
pub use filter_compacted::filter_compacted;
pub use folder::Folder;
pub use latest::{Latest, latest};
pub use neighbours::Neighbours;
pub use pending::Pending;
pub use position::{Position, Reset, Start};
pub use sqlite::{Create, Migrated, Options};
pub use status::Statuses;
pub use store::{Listing, Store};
pub use upkeep::Recovered;

/// Its example must compile.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
