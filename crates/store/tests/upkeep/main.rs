//! The log is the truth, and it is bounded (design G3, G4).
//!
//! `ANNALIST_LONG_TESTS=1 cargo test -p annalist-store --release --test upkeep` runs the long form of the random histories.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod bounded;
mod compacted;
mod history;
mod rebuilt;
mod reclaimed;
mod reference;
mod shared;
mod support;
mod verified;
