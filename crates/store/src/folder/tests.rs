//! Which id is taken, and what is said of a folder. More tests stand in the files of the parts.

use super::room::{Outcome, Room, commit, look, run, sha1, shown};
use super::{Folder, GLOBAL, Remember, resolve};
use std::fs;
use std::path::Path;

#[test]
fn a_folder_outside_of_git_is_global() -> Outcome {
    let room = Room::new()?;
    for name in ["there", "missing/below"] {
        let path = if name == "there" { room.folder(name)? } else { room.top.join(name) };
        let directory = shown(&path);
        let want = Folder {
            project: GLOBAL.to_owned(),
            worktree: "/".to_owned(),
            path: directory.trim_start_matches('/').to_owned(),
            directory,
            git: false,
            previous: None,
        };
        assert_eq!(look(&path)?, want);
    }
    let root = look(Path::new("/"))?;
    assert_eq!((root.directory.as_str(), root.path.as_str()), ("/", ""));
    Ok(())
}

#[test]
fn before_the_first_commit_the_project_is_global_but_not_the_worktree() -> Outcome {
    let room = Room::new()?;
    let top = room.repository("new")?;
    let found = resolve(&top.join("a/b"), Remember::Yes)?;
    assert_eq!((found.project.as_str(), found.path.as_str(), found.git), (GLOBAL, "a/b", true));
    assert_eq!(found.worktree, shown(&top));
    assert!(!top.join(".git/opencode").exists());
    Ok(())
}

#[test]
fn without_a_remote_the_first_root_commit_of_head_counts() -> Outcome {
    let room = Room::new()?;
    let top = room.committed("one")?;
    let first = run(&top, "rev-parse HEAD")?;
    assert_eq!(look(&top)?.project, first);
    run(&top, "checkout -q --orphan two")?;
    let second = commit(&top, "two")?;
    assert_eq!(look(&top)?.project, second);
    run(&top, &format!("merge -q --allow-unrelated-histories -m both {first}"))?;
    assert_eq!(look(&top)?.project, first.min(second));
    Ok(())
}

#[test]
fn the_remote_comes_before_the_memo_and_the_memo_before_the_root() -> Outcome {
    let room = Room::new()?;
    let top = room.committed("repo")?;
    let memo = top.join(".git/opencode");
    fs::write(&memo, "\u{feff} kept\r\n")?;
    let found = resolve(&top, Remember::Yes)?;
    assert_eq!((found.project.as_str(), found.previous), ("kept", None));
    assert_eq!(fs::read_to_string(&memo)?, "\u{feff} kept\r\n");
    run(&top, "remote add origin ../elsewhere")?;
    assert_eq!(look(&top)?.project, "kept");
    run(&top, "remote set-url origin git@Example.com:me/repo.git")?;
    let found = resolve(&top, Remember::Yes)?;
    assert_eq!((found.project, found.previous.as_deref()), (sha1("example.com/me/repo"), Some("kept")));
    assert_eq!(fs::read_to_string(&memo)?, "\u{feff} kept\r\n");
    fs::remove_file(&memo)?;
    assert_eq!(look(&top)?.project, sha1("example.com/me/repo"));
    assert!(!memo.exists());
    assert_eq!(resolve(&top, Remember::Yes)?.previous, None);
    assert_eq!(fs::read_to_string(&memo)?, sha1("example.com/me/repo"));
    run(&top, "remote remove origin")?;
    fs::write(&memo, " \n")?;
    assert_eq!(look(&top)?.project, run(&top, "rev-parse HEAD")?);
    Ok(())
}
