//! Projects: a folder with its history, usually a git work tree.

use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// A project (reference-storage 4.8).
    pub struct Project {
        /// The first commit's hash, or `global` outside of git.
        required "id" id / set_id: Cow<'_, str>,
        /// The work tree; `/` for `global`.
        required "worktree" worktree / set_worktree: Cow<'_, str>,
        /// `git`, or absent.
        optional "vcs" vcs / set_vcs: Cow<'_, str>,
        /// A name to show.
        optional "name" name / set_name: Cow<'_, str>,
        /// A picture to show.
        optional "icon" icon / set_icon: Object<'_>,
        /// Commands to run, by occasion.
        optional "commands" commands / set_commands: Object<'_>,
        /// When it was first and last seen.
        required "time" time / set_time: ProjectTime<'_>,
        /// Further work trees of it.
        required "sandboxes" sandboxes / set_sandboxes: Vec<Cow<'_, str>>,
    }
}

object! {
    /// When a project was first and last seen.
    pub struct ProjectTime {
        /// ms
        required "created" created / set_created: u64,
        /// ms
        required "updated" updated / set_updated: u64,
        /// ms
        optional "initialized" initialized / set_initialized: u64,
    }
}

object! {
    /// A project as the global list of sessions names it (reference-storage 1.1).
    pub struct ProjectRef {
        /// Its id.
        required "id" id / set_id: Cow<'_, str>,
        /// A name to show.
        optional "name" name / set_name: Cow<'_, str>,
        /// The work tree.
        required "worktree" worktree / set_worktree: Cow<'_, str>,
    }
}
