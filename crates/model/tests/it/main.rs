#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop")]
//! Tests of the model view.

mod any_history;
mod bodies;
mod golden;
mod large;
mod memory;
mod reports;
mod rules;
mod support;
mod variants;
