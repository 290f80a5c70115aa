//! Paths as OpenCode makes them, since the record is searched by their exact text.

use super::FolderError;
use std::path::{Component, Path, PathBuf};
use std::{env, fs, io};

/// The folder's absolute path. `..` is taken off before links are followed, as OpenCode does; a path that does not exist
/// keeps its links.
pub(super) fn real(folder: &Path) -> Result<PathBuf, FolderError> {
    // The current folder may be gone, which is no matter to an absolute path.
    let absolute = if folder.is_absolute() {
        tidy(folder)
    } else {
        let current = env::current_dir().map_err(|source| FolderError::CurrentFolder { source })?;
        tidy(&current.join(folder))
    };
    match fs::canonicalize(&absolute) {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(path) => Err(FolderError::NotAFolder { path }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(absolute),
        Err(source) => Err(FolderError::Unreadable { path: absolute, source }),
    }
}

/// The path without `.`, `..` and doubled or trailing slashes, not looking at the disk.
fn tidy(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// The way from one absolute path to another. It leads up where a folder that does not exist was named through a link into
/// the working tree, as OpenCode has it.
pub(super) fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

pub(super) fn text(path: &Path) -> Result<&str, FolderError> {
    path.to_str().ok_or_else(|| FolderError::NotUtf8 { path: path.to_owned() })
}

/// OpenCode does this on every system, so `\` in a Unix name becomes `/` too.
pub(super) fn slashes(path: &Path) -> Result<String, FolderError> {
    Ok(text(path)?.replace('\\', "/"))
}

#[cfg(test)]
mod tests {
    use super::super::room::{Outcome, look};
    use super::*;

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_in_folders_that_exist() -> Outcome {
        use super::super::room::{Room, shown};
        use std::os::unix::fs::symlink;
        let room = Room::new()?;
        let top = room.committed("repo")?;
        let sub = room.folder("repo/a\\b/c")?;
        symlink(&top, room.top.join("link"))?;
        symlink(&sub, room.top.join("deep"))?;
        assert_eq!(look(&room.top.join("link"))?.directory, shown(&top));
        assert_eq!(look(&room.top.join("deep/"))?.path, "a/b/c");
        assert_eq!(look(&room.top.join("deep/.."))?.directory, shown(&room.top));
        let missing = look(&room.top.join("link/none"))?;
        assert_eq!((missing.worktree, missing.path.as_str()), (shown(&top), "../link/none"));
        assert_eq!(missing.directory, shown(&room.top.join("link/none")));
        symlink(room.top.join("loop"), room.top.join("loop"))?;
        assert!(matches!(look(&room.top.join("loop")), Err(FolderError::Unreadable { .. })));
        fs::write(top.join("file"), "")?;
        assert!(matches!(look(&top.join("file")), Err(FolderError::NotAFolder { .. })));
        Ok(())
    }

    #[test]
    fn a_relative_folder_starts_at_the_current_one() -> Outcome {
        let current = look(&env::current_dir()?)?;
        for name in ["", ".", "none/.."] {
            assert_eq!(look(Path::new(name))?, current, "{name:?}");
        }
        Ok(())
    }
}
