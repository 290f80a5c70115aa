//! The list of a folder.

use super::collate;
use std::fs;
use std::path::Path;

/// What a folder is called where media types stand.
pub(super) const MIME: &str = "application/x-directory";

/// Entries given at a time.
const ENTRIES: usize = 2_000;

/// The entries of a folder in the order of a person's language; folders, and links to them, with a slash.
pub(super) fn list(folder: &Path, shown: &str) -> Result<String, String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        // Follows links; a broken one is no folder.
        if fs::metadata(entry.path()).is_ok_and(|found| found.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_by_cached_key(|name| collate::key(name));
    let count = names.len();
    names.truncate(ENTRIES);
    let end = if count > ENTRIES {
        format!("(Showing {ENTRIES} of {count} entries. Use 'offset' parameter to read beyond entry {})", ENTRIES + 1)
    } else {
        format!("({count} entries)")
    };
    Ok(format!("<path>{shown}</path>\n<type>directory</type>\n<entries>\n{}\n\n{end}\n</entries>", names.join("\n")))
}
