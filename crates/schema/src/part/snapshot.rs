//! The part `snapshot`: a state of the work tree. Nothing makes it any more; old histories hold it.

use std::borrow::Cow;

object! {
    /// A state of the work tree (reference-storage 2.2).
    pub struct SnapshotPart {
        /// A git tree's hash.
        required "snapshot" snapshot / set_snapshot: Cow<'_, str>,
    }
}
