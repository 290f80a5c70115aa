//! Tests of many processes on one file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod claims;
mod foreign;
mod held;
mod log_size;
mod many;
mod recover;
mod room;
mod worker;
