//! Sessions in motion. What stands still is `annalist-store`'s; what a provider is told and answers is `annalist-model`'s.

pub mod compaction;
pub mod permission;
pub mod retry;
pub mod snapshot;
pub mod told;
pub mod tool;
