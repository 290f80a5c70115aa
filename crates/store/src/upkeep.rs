//! Keeping a record in order: [`verify`], [`rebuild`], [`compact`], [`reclaim`]. What they do to an SQLite file stands in
//! `sqlite/upkeep`.

pub use crate::sqlite::upkeep::*;
