//! Reading one file.

use annalist_schema::raw::Object;
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
    Object::parse(&compact(text)).map(Object::into_static).map_err(|e| e.to_string())
}

/// The same JSON without the blanks between its tokens: the files were written for people, rows are not.
fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut inside, mut escaped) = (false, false);
    for c in json.chars() {
        if inside {
            (inside, escaped) = (escaped || c != '"', !escaped && c == '\\');
        } else if c == '"' {
            inside = true;
        } else if matches!(c, ' ' | '\t' | '\n' | '\r') {
            continue;
        }
        out.push(c);
    }
    out
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

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn blanks_go_between_tokens_and_stay_in_strings() {
        let pretty = "{\n  \"a b\": [ 1.0 , \"c \\\" \\\\\" ],\r\n\t\"d\": \" } \"\n}";
        assert_eq!(compact(pretty), "{\"a b\":[1.0,\"c \\\" \\\\\"],\"d\":\" } \"}");
    }
}
