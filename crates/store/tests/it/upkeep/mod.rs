//! The log is the truth, and it is bounded (design G3, G4).
//!
//! `ANNALIST_LONG_TESTS=1 cargo test -p annalist-store --release --test it upkeep` runs the long form of the random histories.

mod bounded;
mod compacted;
mod history;
mod rebuilt;
mod reclaimed;
mod reference;
mod shared;
mod support;
mod verified;
