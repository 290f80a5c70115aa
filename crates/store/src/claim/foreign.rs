//! Whether a session looks as if OpenCode were running it. It takes no claims; all there is to see is its last answer.

use crate::backend::Flow;
use crate::error::Error;
use crate::hydrate;
use crate::query::MessageRange;
use crate::store::Store;
use annalist_schema::{AssistantMessage, id};

/// An answer that has been open for longer is taken for abandoned.
const YOUNG_MS: i64 = 10 * 60 * 1000;

/// The session's last assistant message if it has no end and is younger than ten minutes, and its age in ms.
pub(super) fn running(store: &Store, session: &str) -> Result<Option<(String, u64)>, Error> {
    let now = id::now_ms();
    let mut open = None;
    store.read(|view| {
        view.messages(&MessageRange::newest_first(session), &mut |row| {
            let age = now.saturating_sub(row.created.ms());
            if age >= YOUNG_MS {
                return Flow::Stop;
            }
            let info = hydrate::message(&row);
            let Some(info) = info.as_object().filter(|info| info.text("role").as_deref() == Some("assistant")) else {
                return Flow::Continue;
            };
            if AssistantMessage::from_object(info).is_open() {
                // A clock that runs ahead of ours makes it younger than nothing.
                open = Some((row.id.to_string(), age.max(0).unsigned_abs()));
            }
            Flow::Stop
        })
    })?;
    Ok(open)
}
