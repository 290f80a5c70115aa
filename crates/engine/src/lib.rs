//! Sessions in motion. What stands still is `annalist-store`'s.
//!
//! So far what is decided without a network and without processes: what a model is told beside the conversation ([`told`]),
//! when a history is compacted and what of it stays ([`compaction`]), when a failed request is made again ([`retry`]); and what is configured ([`config`]).

pub mod compaction;
pub mod config;
pub mod retry;
pub mod told;
