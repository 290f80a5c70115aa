//! The command as people and scripts meet it, one module a topic.
//!
//! Every test has a [`world::World`] of its own: a home, a current folder and copies of the fixtures. Nothing outside of the
//! repository is read, and no fixture is opened where it lies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test is meant to panic")]
#![allow(unreachable_pub, reason = "nobody uses the modules of a test from outside")]

mod bad_input;
mod change;
mod damage;
mod delete;
mod export;
mod help;
mod import;
mod legacy;
mod list;
mod names;
#[cfg(unix)]
mod permission;
#[cfg(unix)]
mod pipes;
mod place;
mod poison;
mod progress;
mod revert;
mod show;
#[cfg(unix)]
mod terminal;
mod upkeep;
mod world;
