//! Keeping a record in order, beside its daily use: [`verify`], [`rebuild`], [`compact`], [`reclaim`], and [`recover`] for what
//! a dead process left open. What they do to an SQLite file stands in `sqlite/upkeep`.

pub mod recover;

pub use crate::sqlite::upkeep::*;
pub use recover::Recovered;
