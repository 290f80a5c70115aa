//! Operations on sessions, messages and parts, and the order in which they are read (design G1).

mod clear;
mod compacted;
mod create;
mod delete;
mod examples;
mod fork;
mod fork_random;
mod gone;
mod latest;
mod lost_updates;
mod messages;
mod order;
mod patch;
mod revert;
mod room;
mod todo;
mod usage;
