//! The id a repository remembers, in a file that OpenCode reads and writes as well.

use super::trim;
use std::fs;
use std::path::Path;

/// In the git folder that all linked working trees share.
const FILE: &str = "opencode";

/// The remembered id. A memo that cannot be read counts as none.
pub(super) fn read(common: &Path) -> Option<String> {
    let bytes = fs::read(common.join(FILE)).ok()?;
    let content = String::from_utf8_lossy(&bytes);
    let id = trim(&content);
    (!id.is_empty()).then(|| id.to_owned())
}

pub(super) fn write(common: &Path, id: &str) {
    #[expect(clippy::let_underscore_must_use, reason = "in a read-only repository the id is just worked out again")]
    let _ = fs::write(common.join(FILE), id);
}

#[cfg(test)]
mod tests {
    use super::super::room::{Outcome, Room, look, run, shown};
    use super::super::{Remember, resolve};
    use super::*;

    #[test]
    fn a_memo_that_cannot_be_written_is_no_error() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        fs::create_dir(top.join(".git/opencode"))?;
        assert_eq!(resolve(&top, Remember::Yes)?.project, run(&top, "rev-parse HEAD")?);
        Ok(())
    }

    #[test]
    fn linked_working_trees_share_the_memo() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("main")?;
        run(&top, "worktree add -q ../linked -b other")?;
        let linked = room.top.join("linked");
        let found = resolve(&room.folder("linked/sub")?, Remember::Yes)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&linked), "sub"));
        assert_eq!(fs::read_to_string(top.join(".git/opencode"))?, found.project);
        fs::write(top.join(".git/opencode"), "shared")?;
        assert_eq!(look(&linked)?.project, "shared");
        Ok(())
    }
}
