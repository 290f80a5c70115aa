//! One file a verb.

pub(crate) mod change;
pub(crate) mod compact;
pub(crate) mod db;
pub(crate) mod delete;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod list;
pub(crate) mod rebuild;
pub(crate) mod revert;
pub(crate) mod serve;
pub(crate) mod show;
pub(crate) mod verify;

mod legacy;

mod problem;
mod session;

use crate::error::CliError;
use annalist_store::Folder;
use annalist_store::folder::{self, Remember};
use std::path::Path;

/// What the current folder belongs to, for a command that reads; `next` is what works where that cannot be told.
fn here(next: &'static str) -> Result<Folder, CliError> {
    folder::resolve(Path::new("."), Remember::No).map_err(|source| CliError::Folder { source, next })
}

/// A count for JSON.
fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
