//! Files of every age and in every state: older versions', newer ones', the JSON tree, full disks, damage.
#![allow(clippy::print_stdout, reason = "a child tells its parent what it did")]

mod bring_up;
mod common;
mod damage;
mod disk;
mod legacy;
mod processes;
mod reading;
mod shapes;
