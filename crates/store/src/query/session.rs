//! Which sessions a list shows.

/// Whether archived sessions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Archived {
    /// archived or not, as `GET /session` does
    #[default]
    Include,
    /// only what is not archived
    Exclude,
    /// only what is archived
    Only,
}

/// The filters of reference-storage 1.4. All of them apply before `limit`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// of this project
    pub project: Option<String>,
    /// of this workspace
    pub workspace: Option<String>,
    /// made in exactly this folder
    pub directory: Option<String>,
    /// at or below this path of the work tree. With `directory`, rows without a path pass if the folder is that one.
    pub path: Option<String>,
    /// with this parent
    pub parent: Option<String>,
    /// without a parent
    pub roots: bool,
    /// changed at or after this time, in ms
    pub updated_since: Option<i64>,
    /// changed before this time, in ms: the cursor of the global list
    pub updated_before: Option<i64>,
    /// whose title contains this, ASCII letters in either case. `%` and `_` are wildcards, as in the reference.
    pub search: Option<String>,
    /// archived ones
    pub archived: Archived,
    /// at most so many
    pub limit: Option<u32>,
}
