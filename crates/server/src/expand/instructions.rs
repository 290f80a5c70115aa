//! Instructions that lie beside a file: a model that reads it is told of them.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The names, the first that is there counting.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];

/// The reminder to be put behind a file's text: the instructions of the folders from its own up to, and without, the
/// session's, each once in a message. Empty if there are none.
pub(super) fn around(file: &Path, session: &Path, seen: &mut HashSet<PathBuf>) -> String {
    let mut found = Vec::new();
    let mut folder = file.parent();
    while let Some(here) = folder.filter(|here| here.starts_with(session) && *here != session) {
        if let Some(path) = NAMES.iter().map(|name| here.join(name)).find(|path| path.exists())
            && path != file
            && !seen.contains(&path)
            && let Ok(text) = fs::read_to_string(&path)
            && !text.is_empty()
        {
            found.push(format!("Instructions from: {}\n{text}", path.display()));
            seen.insert(path);
        }
        folder = here.parent();
    }
    if found.is_empty() {
        return String::new();
    }
    format!("\n\n<system-reminder>\n{}\n</system-reminder>", found.join("\n\n"))
}
