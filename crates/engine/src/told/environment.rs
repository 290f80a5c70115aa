//! Where the model works.

/// What the environment block says.
#[derive(Debug, Clone)]
pub struct Environment<'e> {
    /// the model, as `provider/model`
    pub model: &'e str,
    /// the session's folder
    pub directory: &'e str,
    /// the root of the work tree
    pub worktree: &'e str,
    /// whether that is a git repository
    pub git: bool,
    /// today, as `2026-11-30 (Monday)`
    pub date: &'e str,
}

/// The block.
#[must_use]
pub fn environment(of: &Environment<'_>) -> String {
    let Environment { model, directory, worktree, git, date } = of;
    let git = if *git { "yes" } else { "no" };
    let platform = std::env::consts::OS;
    format!(
        "You are run with the model {model}.\n<env>\nworking directory: {directory}\nroot of the work tree: {worktree}\ngit \
         repository: {git}\nplatform: {platform}\ntoday: {date}\n</env>"
    )
}
