//! Tests of the schema, by topic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod events;
mod golden;
mod ids;
mod json;
mod keys;
mod lossless;
mod made;
mod older;
mod sample;
mod serde;
mod titles;
mod tolerant;
mod tool_run;
