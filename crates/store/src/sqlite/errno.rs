//! What the operating system said when SQLite reports no more than a failed write.

use crate::error::Error;
use rusqlite::{Connection, ErrorCode, ffi};
use std::io;

/// A failed write that was one for want of space: SQLite knows a full disk by itself, but not a quota that is used up or a file
/// that may not grow. To be asked right after the failure, of the connection that had it.
pub(super) fn explained(db: &Connection, failure: Error) -> Error {
    let Error::Sqlite { file, source } = failure else { return failure };
    if source.sqlite_error_code() == Some(ErrorCode::SystemIoFailure)
        && let Some(why) = last(db)
        && matches!(why.kind(), io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge | io::ErrorKind::StorageFull)
    {
        return Error::Full { file, source: Some(why) };
    }
    Error::Sqlite { file, source }
}

/// The system's word on a connection's last failure to read or write.
#[allow(unsafe_code, reason = "rusqlite has no safe way to this number, without which a quota is told as a broken disk")]
fn last(db: &Connection) -> Option<io::Error> {
    // SAFETY: the handle is that of an open connection for as long as it is borrowed, and the function only reads a number
    // from it.
    let code = unsafe { ffi::sqlite3_system_errno(db.handle()) };
    (code != 0).then(|| io::Error::from_raw_os_error(code))
}
