//! The repository around a folder, and the ids it gives.

use super::{FolderError, git, plain, remote};
use std::path::{Path, PathBuf};

pub(super) struct Repository {
    pub(super) worktree: PathBuf,
    /// The git folder that all linked working trees share.
    pub(super) common: PathBuf,
    /// False only if the files alone show that there is no remote `origin`.
    pub(super) may_have_origin: bool,
}

impl Repository {
    /// The repository that git finds from the nearest folder, from `directory` upwards, with something called `.git` in it;
    /// `directory` itself may not exist.
    pub(super) fn around(directory: &Path) -> Result<Option<Self>, FolderError> {
        let Some(holder) = directory.ancestors().find(|folder| folder.join(".git").exists()) else {
            return Ok(None);
        };
        if let Some(known) = plain::read(holder) {
            return Ok(Some(known));
        }
        let Some(common) = git::path(holder, &["rev-parse", "--git-common-dir"])? else {
            return Ok(None);
        };
        // The top is missing where `.git` points to a bare repository: then it is the folder that holds `.git`.
        let worktree = git::path(holder, &["rev-parse", "--show-toplevel"])?.unwrap_or_else(|| holder.to_owned());
        Ok(Some(Self { worktree, common, may_have_origin: true }))
    }

    /// The id made of the address of the remote `origin`, if that names a host.
    pub(super) fn remote_id(&self) -> Result<Option<String>, FolderError> {
        if !self.may_have_origin {
            return Ok(None);
        }
        // Only git knows the address: files may be included and beginnings replaced from the user's own settings.
        let address = git::text(&self.worktree, &["remote", "get-url", "origin"])?;
        Ok(address.and_then(|address| remote::id(&address)))
    }

    /// The first in sorted order, so that all clones agree; `None` before the first commit.
    pub(super) fn root_commit(&self) -> Result<Option<String>, FolderError> {
        let commits = git::text(&self.worktree, &["rev-list", "--max-parents=0", "HEAD"])?;
        Ok(commits.and_then(|commits| commits.lines().min().map(str::to_owned)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::room::{Outcome, Room, commit, look, run, sha1, shown};
    use super::super::{Remember, resolve};
    use std::fs;

    #[test]
    fn a_remote_in_an_included_file_counts() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        fs::write(top.join(".git/more"), "[remote \"origin\"]\n\turl = https://host/x/y\n")?;
        run(&top, "config include.path more")?;
        assert_eq!(look(&top)?.project, sha1("host/x/y"));
        Ok(())
    }

    #[test]
    fn submodules_nested_and_separate_repositories_are_their_own() -> Outcome {
        let room = Room::new()?;
        let inner = room.committed("inner")?;
        let outer = room.committed("outer")?;
        run(&outer, "submodule add -q ../inner sub")?;
        let found = resolve(&outer.join("sub"), Remember::Yes)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&outer.join("sub")), ""));
        assert_eq!(found.project, run(&inner, "rev-parse HEAD")?);
        assert!(outer.join(".git/modules/sub/opencode").exists());
        let nested = room.committed("outer/in/nested")?;
        assert_eq!(look(&nested)?.worktree, shown(&nested));
        assert_eq!(look(&outer.join("in"))?.path, "in");
        run(&room.top, "init -q --separate-git-dir kept apart")?;
        commit(&room.top.join("apart"), "x")?;
        resolve(&room.top.join("apart"), Remember::Yes)?;
        assert!(room.top.join("kept/opencode").exists());
        Ok(())
    }

    #[test]
    fn a_bare_repository_is_global_unless_a_git_file_points_to_it() -> Outcome {
        let room = Room::new()?;
        let source = room.committed("source")?;
        let hub = room.folder("hub")?;
        run(&hub, "clone -q --bare ../source .bare")?;
        assert!(!look(&hub.join(".bare"))?.git);
        fs::write(hub.join(".git"), "gitdir: ./.bare\n")?;
        let found = look(&room.folder("hub/deep")?)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&hub), "deep"));
        assert_eq!(found.project, run(&source, "rev-parse HEAD")?);
        Ok(())
    }

    #[test]
    fn rubbish_named_git_is_no_repository() -> Outcome {
        let room = Room::new()?;
        let outer = room.committed("outer")?;
        room.folder("outer/empty/.git")?;
        assert_eq!(look(&outer.join("empty"))?.path, "empty");
        for (name, content) in [("words", "rubbish"), ("nowhere", "gitdir: /nowhere/at/all\n")] {
            let folder = room.folder(name)?;
            fs::write(folder.join(".git"), content)?;
            assert!(!look(&folder)?.git, "{name}");
        }
        Ok(())
    }
}
