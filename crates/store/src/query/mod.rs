//! What can be asked of the record, in words no backend owns.

mod cursor;
mod message;
mod session;

pub use cursor::Cursor;
pub use message::{Direction, MessageRange};
pub use session::{Archived, SessionFilter};
