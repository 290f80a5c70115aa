//! OpenCode's data model as Rust types: sessions, messages, the twelve parts, events and ids.
//!
//! Everything here is a *view over text*. A value decoded from a row or from the wire keeps the text it came from, so that
//! encoding it again changes nothing: unknown fields, part types, error names and tool states, the order of keys and the
//! spelling of numbers survive at every level ([`raw`]). Fields are read one by one when asked for; a field that is
//! missing or of the wrong shape gives a [`Problem`] and costs only itself. `problems()` lists all of them at once.
//!
//! The names are those of the wire: the part `step-finish` is [`part::StepFinishPart`] in `part/step_finish.rs`, the event
//! `message.part.updated` is [`event::MessagePartUpdated`] in `event/message.rs`.
//!
//! Units: times are milliseconds since 1970-01-01T00:00:00Z, costs are US dollars, tokens are counts.
//!
//! The shapes follow OpenCode 1.18.33; `docs/compatibility.md` says where this crate is more lenient.

pub mod raw;

#[macro_use]
mod macros;
mod field;
pub mod part;


pub use field::{Count, Field, Path, Problem, Wrong};
pub use part::Part;
pub use raw::{Json, Malformed, Number, Object};
