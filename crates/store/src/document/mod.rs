//! A session as one JSON document, `{info, messages: [{info, parts}]}`: what `opencode export` prints and `opencode import`
//! takes (reference-storage 7.3, 7.4).

mod export;
mod import;
mod sanitize;

pub use export::{ExportError, Exported, export};
pub use import::{Imported, check, import};
