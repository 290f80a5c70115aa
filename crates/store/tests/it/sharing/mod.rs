//! Many processes on one file.

mod claims;
mod foreign;
mod held;
mod log_size;
mod many;
mod recover;
mod room;
pub mod task;
