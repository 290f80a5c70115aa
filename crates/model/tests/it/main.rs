#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test should stop")]
//! Tests of the model view.

mod decoded;
mod golden;
mod recorded_streams;
mod support;
