//! The part of a history that still counts (reference-storage 4.6): what a finished compaction summarised is left out.

use crate::latest::truthy;
use crate::transcript::WithParts;
use annalist_schema::Json;
use annalist_schema::raw::Object;
use std::collections::HashSet;

/// Reads messages newest first, stops at the boundary, and gives what counts, oldest first.
///
/// A boundary is a user message with a compaction part whose summary (an assistant message with `summary`, `finish` and no
/// `error`, answering it) has been met. Without a tail the history begins there; with one it goes on down to the tail's first
/// message, and the compaction and its summary are moved before the tail. A tail that is not found keeps everything.
///
/// Nothing is read beyond the boundary. The first error ends the reading and is passed on.
///
/// # Errors
/// That of `newest_first`.
pub fn filter_compacted<E>(newest_first: impl IntoIterator<Item = Result<WithParts, E>>) -> Result<Vec<WithParts>, E> {
    let mut kept: Vec<WithParts> = Vec::new();
    let mut summarised: HashSet<String> = HashSet::new();
    let mut tail: Option<String> = None;
    for message in newest_first {
        let message = message?;
        let info = message.info.as_object().unwrap_or_default();
        let id = info.text("id").unwrap_or_default().into_owned();
        let over = match (&tail, info.text("role").as_deref()) {
            (Some(tail), _) => *tail == id,
            (None, Some("user")) if summarised.contains(&id) => match compaction(&message) {
                None => false,
                Some(None) => true,
                Some(Some(start)) => {
                    let here = start == id;
                    tail = Some(start);
                    here
                }
            },
            (None, Some("assistant")) => {
                if truthy(&info, "summary") && truthy(&info, "finish") && !truthy(&info, "error") {
                    summarised.extend(info.text("parentID").map(std::borrow::Cow::into_owned));
                }
                false
            }
            _ => false,
        };
        kept.push(message);
        if over {
            break;
        }
    }
    kept.reverse();
    reorder(&mut kept);
    Ok(kept)
}

/// The tail of a message's first compaction part: nothing without such a part, `Some(None)` for a compaction without a tail.
fn compaction(message: &WithParts) -> Option<Option<String>> {
    let mut parts = message.parts.iter().filter_map(Json::as_object);
    let part = parts.find(|part| part.text("type").as_deref() == Some("compaction"))?;
    // Its text, whatever it looks like: messages of real files have ids of all kinds.
    Some(part.text("tail_start_id").map(std::borrow::Cow::into_owned))
}

/// Puts the last compaction with a tail, and its summary, before that tail: the model reads what was summarised first.
fn reorder(kept: &mut [WithParts]) {
    let infos: Vec<Object<'_>> = kept.iter().map(|message| message.info.as_object().unwrap_or_default()).collect();
    let id = |index: usize| infos.get(index).and_then(|info| info.text("id")).unwrap_or_default().into_owned();
    let is = |index: usize, role: &str| infos.get(index).is_some_and(|info| info.text("role").as_deref() == Some(role));
    let found = (0..kept.len()).rev().filter(|index| is(*index, "user")).find_map(|index| {
        let tail = kept.get(index).and_then(compaction).flatten()?;
        Some((index, tail))
    });
    let Some((compaction, tail)) = found else { return };
    let asked = id(compaction);
    let summary = (compaction + 1..kept.len()).find(|index| {
        is(*index, "assistant")
            && infos.get(*index).is_some_and(|info| truthy(info, "summary") && info.text("parentID").as_deref() == Some(&asked))
    });
    let tail = (0..kept.len()).find(|index| id(*index) == tail);
    let (Some(summary), Some(tail)) = (summary, tail) else { return };
    if tail < compaction {
        let length = summary + 1 - compaction;
        if let Some(stretch) = kept.get_mut(tail..=summary) {
            stretch.rotate_right(length);
        }
    }
}
