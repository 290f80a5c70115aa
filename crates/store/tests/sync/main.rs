//! Tests of sync and live delivery, by topic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod deliver;
mod erased;
mod flaky;
mod foreign;
mod history;
mod model;
mod replay;
mod resume;
mod support;
