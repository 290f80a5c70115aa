//! Changes of a file.

use crate::raw::Number;
use std::borrow::Cow;

object! {
    /// What happened to one file (reference-storage 1.1). Older histories have the whole file as `before` and `after`
    /// instead of a `patch`; both stay where they are.
    pub struct FileDiff {
        /// Its path, relative to the work tree.
        optional "file" file / set_file: Cow<'_, str>,
        /// A unified diff.
        optional "patch" patch / set_patch: Cow<'_, str>,
        /// Lines added.
        required "additions" additions / set_additions: Number<'_>,
        /// Lines removed.
        required "deletions" deletions / set_deletions: Number<'_>,
        /// What became of the file.
        optional "status" status / set_status: DiffStatus<'_>,
    }
}

words! {
    /// What became of a file.
    pub enum DiffStatus, "diff status" {
        /// It is new.
        "added" => Added,
        /// It is gone.
        "deleted" => Deleted,
        /// It was changed.
        "modified" => Modified,
    }
}
