//! The model view: any stored history becomes a request that its provider accepts. No I/O.
//!
//! ```text
//! stored texts -> neutral messages -> transform (the reference's) -> repair (ours) -> wire -> bytes
//!                                                                      rules ........... say whether it holds
//! ```

pub mod cost;
pub mod describe;
pub mod error;
mod image;
mod json;
pub mod neutral;
pub mod repair;
mod request;
pub mod rules;
pub mod stream;
mod text;
pub mod transform;
pub mod usage;
pub mod wire;

pub use request::Request;
pub use text::Text;
