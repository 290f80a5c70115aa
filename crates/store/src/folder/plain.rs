//! Plain repositories, read from their files to save starting git.
//!
//! Everything here may give up, as git is asked then; what it must not do is find something else than git would.

use super::repository::Repository;
use std::path::Path;
use std::{env, fs};

/// Settings from the environment that change what git finds.
const GIT_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

/// The repository whose `.git` is in `holder`; `None` unless git would certainly find the same.
pub(super) fn read(holder: &Path) -> Option<Repository> {
    if GIT_VARIABLES.iter().any(|name| env::var_os(name).is_some()) {
        return None;
    }
    let worktree = fs::canonicalize(holder).ok()?;
    let entry = worktree.join(".git");
    let git_folder = match fs::symlink_metadata(&entry).ok()?.file_type() {
        kind if kind.is_dir() => entry.clone(),
        kind if kind.is_file() => fs::canonicalize(worktree.join(one_line(&entry)?.strip_prefix("gitdir: ")?)).ok()?,
        _ => return None,
    };
    // Git refuses repositories of other users, unless told otherwise.
    if !are_ours([&worktree, &entry, &git_folder]) {
        return None;
    }
    let common_file = git_folder.join("commondir");
    let common =
        if common_file.exists() { fs::canonicalize(git_folder.join(one_line(&common_file)?)).ok()? } else { git_folder.clone() };
    if !is_head(&one_line(&git_folder.join("HEAD"))?) || !common.join("objects").is_dir() || !common.join("refs").is_dir() {
        return None;
    }
    let remotes = may_have_remotes(&fs::read_to_string(common.join("config")).ok()?)?;
    // Old ways to keep a remote, which git still reads.
    let old = ["remotes", "branches"].iter().any(|folder| common.join(folder).join("origin").exists());
    Some(Repository { worktree, common, may_have_origin: remotes || old })
}

#[cfg(unix)]
fn are_ours(paths: [&Path; 3]) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|m| m.uid()).ok();
    // The standard library does not tell the user's number. Where there is no /proc, git is asked.
    let me = owner(Path::new("/proc/self"));
    me.is_some() && paths.into_iter().all(|path| owner(path) == me)
}

#[cfg(not(unix))]
fn are_ours(_: [&Path; 3]) -> bool {
    false
}

fn one_line(file: &Path) -> Option<String> {
    let content = fs::read_to_string(file).ok()?;
    let line = content.trim_end_matches(['\r', '\n']);
    (!line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}

fn is_head(line: &str) -> bool {
    line.starts_with("ref: refs/") || (line.len() == 40 && line.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// Reads a repository's settings. Understands only what `git init`, `git clone` and `git config` write; `None` for anything
/// that moves the working tree, changes the format or is written in another way.
fn may_have_remotes(config: &str) -> Option<bool> {
    let (mut section, mut remotes, mut has_tree) = (String::new(), false, false);
    for line in config.lines().map(str::trim) {
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // The value goes on in the next line.
        if line.ends_with('\\') {
            return None;
        }
        if let Some(header) = line.strip_prefix('[') {
            section = harmless_section(header.strip_suffix(']')?)?;
            remotes |= section == "remote";
        } else if section == "core" {
            let (key, value) = line.split_once('=')?;
            match (key.trim().to_ascii_lowercase().as_str(), value.trim()) {
                ("bare", "false") => has_tree = true,
                ("repositoryformatversion", "0") => {}
                ("bare" | "repositoryformatversion" | "worktree", _) => return None,
                _ => {}
            }
        }
    }
    has_tree.then_some(remotes)
}

/// The section that a header without its brackets names.
fn harmless_section(header: &str) -> Option<String> {
    let name = header.split([' ', '\t', '.', '"']).next()?.to_ascii_lowercase();
    let harmless = match name.as_str() {
        "" | "extensions" | "include" | "includeif" => false,
        // What is set in a part of it has other names.
        "core" => header.len() == name.len(),
        // The bracket at the end may then belong to a value.
        _ => !header.contains(']'),
    };
    harmless.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::super::room::{Outcome, Room, run};
    use super::*;

    #[test]
    fn git_is_started_only_for_what_is_not_plain() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        run(&top, "worktree add -q ../linked -b other")?;
        for folder in [&top, &room.top.join("linked")] {
            let known = read(folder).ok_or("a plain repository was not understood")?;
            assert!(!known.may_have_origin);
        }
        run(&top, "remote add upstream https://host/x")?;
        assert!(read(&top).is_some_and(|known| known.may_have_origin));
        let config = fs::read_to_string(top.join(".git/config"))?;
        let odd = [
            "[core]\nworktree = ..\n",
            "[include]\npath = x\n",
            "[core] bare = true\n",
            "[extensions]\nx = y\n",
            "[a \"]\"]\n",
            "[a]\nb = c\\\nd\n",
        ];
        for extra in odd {
            fs::write(top.join(".git/config"), format!("{config}{extra}"))?;
            assert!(read(&top).is_none(), "{extra:?}");
        }
        Ok(())
    }
}
