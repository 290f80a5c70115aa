//! Sync and live delivery.

mod deliver;
mod erased;
mod flaky;
mod foreign;
mod history;
mod kept;
mod model;
mod replay;
mod resume;
mod support;
