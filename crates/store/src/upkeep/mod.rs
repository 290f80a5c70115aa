//! What keeps the record in order, beside its daily use.

pub mod recover;

pub use recover::Recovered;
