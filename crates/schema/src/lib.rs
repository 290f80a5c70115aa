//! OpenCode's data model as Rust types: sessions, messages, the twelve parts, events and ids.
//!
//! Everything here is a *view over text*. A value decoded from a row or from the wire keeps the text it came from, so that
//! encoding it again changes nothing: unknown fields, part types, error names and tool states, the order of keys and the
//! spelling of numbers survive at every level ([`raw`]). Fields are read one by one when asked for; a field that is
//! missing or of the wrong shape gives a [`Problem`] and costs only itself. `problems()` lists all of them at once.
//!
//! ```
//! use annalist_schema::Part;
//!
//! let stored = r#"{"type":"text","text":"hello","later":1.0}"#;
//! let mut part = Part::parse(stored)?;
//! assert!(part.problems().is_empty());
//! if let Part::Text(text) = &mut part {
//!     assert_eq!(text.text()?, "hello");
//!     text.set_text("bye".into());
//! }
//! assert_eq!(part.to_text(), r#"{"type":"text","text":"bye","later":1.0}"#);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
pub mod diff;
pub mod event;
mod field;
pub mod id;
pub mod key;
pub mod message;
pub mod model;
pub mod part;
pub mod permission;
pub mod project;
pub mod session;
pub mod status;
pub mod todo;
pub mod tokens;

pub use diff::FileDiff;
pub use event::{DurableEvent, Event, PassingEvent};
pub use field::{Count, Field, Map, Millis, Path, Problem, Wrong};
pub use key::Key;
pub use message::{AssistantMessage, Message, MessageError, UserMessage};
pub use model::{ModelRef, SessionModel};
pub use part::{Part, ToolState};
pub use permission::{PermissionRequest, PermissionRule};
pub use project::Project;
pub use raw::{Json, Malformed, Number, Object};
pub use session::Session;
pub use status::SessionStatus;
pub use todo::Todo;
pub use tokens::TokenUsage;
