//! Where a request to undo begins (reference-storage 6.4, steps 1 to 4), and which files were changed behind that place.

use super::Boundary;
use crate::backend::Snapshot;
use crate::error::Error;
use crate::hydrate;
use crate::query::MessageRange;
use crate::row::{MessageRow, PartRow};
use crate::transcript::Batches;
use annalist_schema::Part;

/// The boundary that a request means, and the files changed behind it; nothing if what it names is not there.
///
/// A part is a boundary only if an earlier one of its message is worth keeping (text or a tool's). Else all of the message
/// goes, and with it everything from the person's message before it on.
pub(super) fn find(
    view: &(impl Snapshot + ?Sized),
    session: &str,
    message: &str,
    part: Option<&str>,
) -> Result<Option<(Boundary, Vec<String>)>, Error> {
    let mut files = Files::default();
    // The message that was asked for, and the files from it on, while a person's message before it is looked for.
    let mut wanted: Option<(Boundary, Files)> = None;
    let mut batches = Batches::new(MessageRange::newest_first(session));
    while let Some(batch) = batches.next(view)? {
        for (row, parts) in &batch {
            if wanted.is_none() {
                let hit = match part {
                    None => (row.id == message).then_some(0),
                    Some(part) => parts.iter().position(|row| row.id == part),
                };
                if let (Some(at), Some(part)) = (hit, part)
                    && parts.iter().take(at).any(is_kept)
                {
                    files.of(parts.iter().skip(at));
                    let boundary = Boundary { message: row.id.to_string(), part: Some(part.to_owned()) };
                    return Ok(Some((boundary, files.in_order())));
                }
                files.of(parts.iter());
                if hit.is_some() {
                    wanted = Some((Boundary { message: row.id.to_string(), part: None }, files.clone()));
                }
            } else {
                files.of(parts.iter());
            }
            if wanted.is_some() && is_user(row) {
                return Ok(Some((Boundary { message: row.id.to_string(), part: None }, files.in_order())));
            }
        }
    }
    Ok(wanted.map(|(boundary, files)| (boundary, files.in_order())))
}

fn is_user(row: &MessageRow<'_>) -> bool {
    hydrate::message_object(row).text("role").as_deref() == Some("user")
}

fn is_kept(row: &PartRow<'_>) -> bool {
    matches!(Part::from_object(hydrate::part_object(row)), Part::Text(_) | Part::Tool(_))
}

/// Files that `patch` parts name, collected from the end of a session.
#[derive(Clone, Default)]
struct Files(Vec<Vec<String>>);

impl Files {
    /// Those of a message further back.
    fn of<'r>(&mut self, parts: impl Iterator<Item = &'r PartRow<'static>>) {
        let mut own = Vec::new();
        // Most parts are others, and they may be megabytes: look before splitting.
        for row in parts.filter(|row| memchr::memmem::find(&row.data, b"patch").is_some()) {
            if let Part::Patch(patch) = Part::from_object(hydrate::part_object(row)) {
                own.extend(patch.files().unwrap_or_default().into_iter().map(std::borrow::Cow::into_owned));
            }
        }
        if !own.is_empty() {
            self.0.push(own);
        }
    }

    /// In the order of the session, without repetition.
    fn in_order(self) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        self.0.into_iter().rev().flatten().filter(|file| seen.insert(file.clone())).collect()
    }
}
