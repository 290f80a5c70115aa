//! Files of every age and in every state: older versions', newer ones', the JSON tree, full disks, damage.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    missing_docs,
    reason = "a test fails by panicking, and its own code is no interface"
)]

mod bring_up;
mod common;
mod damage;
mod disk;
mod legacy;
mod processes;
mod reading;
mod shapes;
