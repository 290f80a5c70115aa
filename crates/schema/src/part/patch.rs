//! The part `patch`: files that a step changed.

use crate::field::Field;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// Files that changed since a snapshot (reference-storage 2.2).
    pub struct PatchPart {
        /// The work tree before the change, as a git tree's hash.
        required "hash" hash / set_hash: Cow<'_, str>,
        /// Absolute paths.
        required "files" files / set_files: Vec<Cow<'_, str>>,
    }
}

impl PatchPart<'static> {
    /// Files, by absolute path, that changed since the snapshot `hash`.
    #[must_use]
    pub fn new<F: AsRef<str>>(hash: &str, files: &[F]) -> Self {
        let mut part = PatchPart::from_object(Object::tagged("type", "patch"));
        let files: Vec<Cow<'_, str>> = files.iter().map(|file| Cow::Borrowed(file.as_ref())).collect();
        part.set_hash(hash.into()).object_mut().set("files", files.to_json());
        part
    }
}
