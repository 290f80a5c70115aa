//! Reading one file.

use annalist_schema::raw::{Object, compact};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What a folder holds, in the order of names.
pub(super) fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut list = fs::read_dir(folder)?.map(|entry| entry.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    list.sort();
    Ok(list)
}

/// The JSON object in a file, or what is wrong with it.
pub(super) fn object(file: &Path) -> Result<Object<'static>, String> {
    let bytes = fs::read(file).map_err(|e| e.to_string())?;
    if bytes.is_empty() {
        return Err("the file is empty".to_owned());
    }
    let text = std::str::from_utf8(&bytes).map_err(|e| format!("not UTF-8 at byte {}", e.valid_up_to()))?;
    Object::parse(text).map_err(|e| format!("not a JSON object: {e}"))?;
    // The files were written for people, with blanks between the tokens; rows are not.
    Object::parse(&compact(text)).map(Object::into_static).map_err(|e| e.to_string())
}

/// The time a file was last written, in ms; 0 if nobody knows.
pub(super) fn written_ms(file: &Path) -> i64 {
    let modified = fs::metadata(file).and_then(|meta| meta.modified()).ok();
    let since = modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    since.and_then(|since| i64::try_from(since.as_millis()).ok()).unwrap_or(0)
}

pub(super) fn relative(top: &Path, file: &Path) -> PathBuf {
    file.strip_prefix(top).unwrap_or(file).to_owned()
}
