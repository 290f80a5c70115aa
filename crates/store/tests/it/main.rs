//! Tests of the store, by topic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod busy;
mod child;
mod crash;
mod documents;
mod files;
mod generated;
mod group;
mod lists;
mod log;
mod older;
mod operations;
mod order;
mod poison;
mod projections;
mod replay;
mod sanitized;
mod sharing;
mod support;
mod sync;
mod upkeep;
mod usage;
mod vintages;
