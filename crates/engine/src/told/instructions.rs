//! What a project and its owner ask of every agent: `AGENTS.md` in the session's folder and those above it up to the root
//! of the work tree, the owner's own one, and the files that the configuration names.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The names of such a file; the first that exists anywhere on the way counts, and the others are left aside.
const NAMES: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "CONTEXT.md"];
/// Bytes of one file. More would push the conversation out of a model's window.
const LARGEST: u64 = 256 << 10;

/// Where to look.
#[derive(Debug, Clone, Copy)]
pub struct Instructions<'i> {
    /// the session's folder
    pub directory: &'i Path,
    /// the root of the work tree; the folder itself outside of git
    pub worktree: &'i Path,
    /// the folder of the owner's configuration
    pub config: &'i Path,
    /// the home folder, for `~/`
    pub home: &'i Path,
    /// `instructions` of the configuration: paths, relative to the session's folder; `*` in the last member
    pub named: &'i [String],
}

/// The texts, each behind a line that says where it is from, and what could not be read, in words.
#[must_use]
pub fn instructions(at: &Instructions<'_>) -> (Vec<String>, Vec<String>) {
    let mut seen = BTreeSet::new();
    let (mut texts, mut problems) = (Vec::new(), Vec::new());
    let mut files = own(at.config);
    files.extend(upward(at.directory, at.worktree));
    for name in at.named {
        match named(name, at) {
            Ok(found) => files.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    for file in files {
        if !seen.insert(file.clone()) {
            continue;
        }
        match read(&file) {
            Ok(Some(text)) => texts.push(format!("Instructions from: {}\n{}", file.display(), text.trim_end())),
            Ok(None) => {}
            Err(problem) => problems.push(format!("{}: {problem}", file.display())),
        }
    }
    (texts, problems)
}

fn own(config: &Path) -> Vec<PathBuf> {
    NAMES.iter().map(|name| config.join(name)).find(|file| file.is_file()).into_iter().collect()
}

/// From the root of the work tree down: what is nearer is read later and has the last word.
fn upward(directory: &Path, worktree: &Path) -> Vec<PathBuf> {
    let root = if directory.starts_with(worktree) { worktree } else { directory };
    for name in NAMES {
        let mut found: Vec<PathBuf> = directory
            .ancestors()
            .take_while(|folder| folder.starts_with(root))
            .map(|folder| folder.join(name))
            .filter(|file| file.is_file())
            .collect();
        if !found.is_empty() {
            found.reverse();
            return found;
        }
    }
    Vec::new()
}

fn named(name: &str, at: &Instructions<'_>) -> Result<Vec<PathBuf>, String> {
    if name.contains("://") {
        return Err(format!("instructions: {name} is an address, and only files are read"));
    }
    let path = match name.strip_prefix("~/") {
        Some(rest) => at.home.join(rest),
        None => at.directory.join(name),
    };
    let Some(last) = path.file_name().and_then(|last| last.to_str()) else {
        return Err(format!("instructions: {name} names no file"));
    };
    let Some((before, behind)) = last.split_once('*') else {
        return Ok(vec![path]);
    };
    let Some(folder) = path.parent() else { return Ok(Vec::new()) };
    let mut found: Vec<PathBuf> = match fs::read_dir(folder) {
        Ok(entries) => entries.filter_map(Result::ok).map(|entry| entry.path()).collect(),
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(format!("instructions: {}: {error}", folder.display())),
    };
    found.retain(|file| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.len() >= before.len() + behind.len() && name.starts_with(before) && name.ends_with(behind) && file.is_file()
    });
    found.sort();
    Ok(found)
}

fn read(file: &Path) -> Result<Option<String>, String> {
    let size = match fs::metadata(file) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err("there is no such file".to_owned()),
        Err(error) => return Err(error.to_string()),
    };
    if size > LARGEST {
        return Err(format!("has {size} bytes, and instructions are read up to {LARGEST}"));
    }
    let bytes = fs::read(file).map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Some(text).filter(|text| !text.trim().is_empty()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn the_owners_come_first_and_the_nearest_last() {
        let room = tempfile::tempdir().unwrap();
        let at = |name: &str| room.path().join(name);
        for folder in ["config", "tree/below/deep", "tree/docs", "home"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        fs::write(at("AGENTS.md"), "outside of the tree").unwrap();
        fs::write(at("config/AGENTS.md"), "mine\n").unwrap();
        fs::write(at("tree/AGENTS.md"), "top").unwrap();
        fs::write(at("tree/below/AGENTS.md"), "below").unwrap();
        fs::write(at("tree/below/deep/CLAUDE.md"), "another name").unwrap();
        fs::write(at("tree/docs/a.md"), "a").unwrap();
        fs::write(at("tree/docs/b.md"), "b").unwrap();
        fs::write(at("home/c.md"), " \n").unwrap();
        let (directory, worktree, config, home) = (at("tree/below/deep"), at("tree"), at("config"), at("home"));
        let named: Vec<String> = ["../../docs/*.md", "~/c.md", "none.md", "https://example.com/x"].map(str::to_owned).into();
        let look = Instructions { directory: &directory, worktree: &worktree, config: &config, home: &home, named: &named };
        let (texts, problems) = instructions(&look);
        let last: Vec<&str> = texts.iter().map(|text| text.lines().last().unwrap()).collect();
        assert_eq!(last, ["mine", "top", "below", "a", "b"]);
        assert!(texts[1].starts_with(&format!("Instructions from: {}\n", at("tree/AGENTS.md").display())));
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("https://") && problems[1].contains("none.md"), "{problems:?}");
    }
}
