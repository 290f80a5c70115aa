//! The model view: any stored history becomes a request that its provider accepts. No I/O.

pub mod describe;
pub mod neutral;
pub mod repair;
pub mod rules;
pub mod wire;
