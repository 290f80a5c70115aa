//! How much space a disk has left, and where SQLite puts its temporary files.

use std::io;
use std::path::{Path, PathBuf};

/// Bytes that may still be written to the disk of a folder; nothing if this system does not say.
pub(super) fn free(folder: &Path) -> io::Result<Option<u64>> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder)?;
        Ok(Some(disk.f_bavail.saturating_mul(disk.f_frsize)))
    }
    #[cfg(not(unix))]
    {
        let _ = folder;
        Ok(None)
    }
}

/// Whether two folders are on one disk.
pub(super) fn same_disk(a: &Path, b: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        Ok(std::fs::metadata(a)?.dev() == std::fs::metadata(b)?.dev())
    }
    #[cfg(not(unix))]
    {
        Ok(a == b)
    }
}

/// The folder that SQLite would build a temporary copy in: the first of its list that is there.
pub(super) fn temporary() -> PathBuf {
    let named = ["SQLITE_TMPDIR", "TMPDIR"].iter().filter_map(std::env::var_os).map(PathBuf::from);
    let usual = ["/var/tmp", "/usr/tmp", "/tmp"].iter().map(PathBuf::from);
    let mut folders = named.chain(usual).filter(|folder| folder.is_dir());
    folders.next().unwrap_or_else(|| PathBuf::from("."))
}
