//! Starting the git program.

use super::FolderError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What git prints when run in `folder`; `None` where it has no answer, which is no error.
pub(super) fn text(folder: &Path, arguments: &[&str]) -> Result<Option<String>, FolderError> {
    Ok(output(folder, arguments)?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The same for a path, which git may give relative to where it runs.
pub(super) fn path(folder: &Path, arguments: &[&str]) -> Result<Option<PathBuf>, FolderError> {
    let Some(bytes) = output(folder, arguments)? else {
        return Ok(None);
    };
    let line = String::from_utf8(bytes).map_err(|_| FolderError::NotUtf8 { path: folder.to_owned() })?;
    Ok(Some(folder.join(line.trim_end_matches(['\r', '\n']))))
}

fn output(folder: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, FolderError> {
    // A missing working folder would look like a missing program.
    if !folder.is_dir() {
        return Ok(None);
    }
    let source = match Command::new("git").args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).output() {
        Ok(output) if output.status.success() => return Ok(Some(output.stdout)),
        Ok(output) if output.status.code().is_some() => return Ok(None),
        // Killed: taking that for "no repository" would file the folder under the wrong project.
        Ok(output) => io::Error::other(format!("git stopped: {}", output.status)),
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            return Err(FolderError::GitMissing { folder: folder.to_owned(), source });
        }
        Err(source) => source,
    };
    Err(FolderError::GitFailed { folder: folder.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::super::GLOBAL;
    use super::super::room::{Outcome, Room, look};
    use super::*;
    use std::{env, fs};

    #[test]
    fn a_missing_git_program_matters_only_where_git_is_needed() -> Outcome {
        let flag = "FOLDER_TEST_WITHOUT_GIT";
        let Some(place) = env::var_os(flag) else {
            let room = Room::new()?;
            fs::write(room.committed("known")?.join(".git/opencode"), "known")?;
            room.committed("unknown")?;
            // The search path belongs to the whole process, so this test runs again in one of its own.
            let module = module_path!().split_once("::").map_or("", |(_, module)| module);
            let name = format!("{module}::a_missing_git_program_matters_only_where_git_is_needed");
            let output = Command::new(env::current_exe()?)
                .args(["--exact", &name])
                .env("PATH", room.top.join("nothing"))
                .env(flag, &room.top)
                .output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            return Ok(());
        };
        let place = PathBuf::from(place);
        assert_eq!(look(&place.join("known"))?.project, "known");
        assert_eq!(look(&place)?.project, GLOBAL);
        assert!(matches!(look(&place.join("unknown")), Err(FolderError::GitMissing { .. })));
        Ok(())
    }
}
