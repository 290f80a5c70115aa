//! Claims as files with a lock of the operating system on them (design G10).
//!
//! A claim is an exclusive lock (`flock`) on a file of its own. It goes with its holder, however that ends, and no clock is in
//! it. The file says who holds it, for people, and which messages are being answered, for recovery:
//!
//! ```text
//! {"session":"ses_1","pid":25379,"host":"desk","since":1790000000000,"version":"0.1.0"}
//! {"message":"msg_1"}
//! ```
//! A file that nobody has locked and that is not empty was left by a process that died.
//!
//! Files are deleted while locked, so whoever gets a lock looks whether the path still leads to the file it has. The same
//! look tells a holder whose file somebody deleted that the claim is gone.

use super::open::private_file;
use super::side::{Side, TRIES, is_at, unstable};
use crate::claim::{Holder, Left, Lock, SessionLock, SessionLocks};
use crate::error::Error;
use annalist_schema::Object;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A lock may be held for the moment of a look ([`SessionLocks::living`]), or of a recovery that finds nothing to do. Only one
/// that lasts longer is somebody's claim.
const LOOK: Duration = Duration::from_millis(100);

/// The lock of one session.
struct ClaimFile {
    path: PathBuf,
    file: File,
    left: Option<Left>,
}

impl SessionLocks for Side {
    fn lock(&self, session: &str) -> Result<Lock, Error> {
        self.announce()?;
        let folder = self.claims_folder();
        let path = folder.join(file_name(session));
        let failed = |source| Error::Io { file: path.clone(), source };
        let begun = Instant::now();
        let mut tries = 0;
        while tries < TRIES {
            self.make(&folder)?;
            let file = match private_file(&path, OpenOptions::new().read(true).append(true).create(true)) {
                Ok(file) => file,
                // The folder was deleted just now.
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    tries += 1;
                    continue;
                }
                Err(e) => return Err(failed(e)),
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(Lock::Taken(Box::new(ClaimFile::new(path, file)?))),
                Ok(()) => tries += 1,
                Err(TryLockError::WouldBlock) if begun.elapsed() > LOOK => {
                    return Ok(Lock::Held(Left::read(&path).and_then(|left| left.holder)));
                }
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(Duration::from_micros(u64::from(rand::random_range(500..1_500_u16))))
                }
                Err(TryLockError::Error(e)) => return Err(failed(e)),
            }
        }
        Err(unstable(&path))
    }

    fn living(&self) -> Result<Vec<Holder>, Error> {
        let mut holders = Vec::new();
        for path in self.claim_files()? {
            let Ok(file) = File::open(&path) else { continue };
            if matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
                holders.extend(Left::read(&path).and_then(|left| left.holder));
            }
        }
        holders.sort_by(|a, b| (a.since_ms, &a.session).cmp(&(b.since_ms, &b.session)));
        Ok(holders)
    }

    fn abandoned(&self, visit: &mut dyn FnMut(&dyn SessionLock) -> Result<(), Error>) -> Result<(), Error> {
        for path in self.claim_files()? {
            let file = match OpenOptions::new().read(true).append(true).open(&path) {
                Ok(file) => file,
                Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(source) => return Err(Error::Io { file: path, source }),
            };
            // Locked: it is alive. Elsewhere: somebody else has dealt with it.
            if file.try_lock().is_ok() && is_at(&file, &path) {
                visit(&ClaimFile::new(path, file)?)?;
            }
        }
        Ok(())
    }
}

impl Side {
    fn claim_files(&self) -> Result<Vec<PathBuf>, Error> {
        let folder = self.claims_folder();
        let failed = |source| Error::Io { file: folder.clone(), source };
        match fs::read_dir(&folder) {
            Ok(entries) => entries.map(|entry| entry.map(|e| e.path()).map_err(failed)).collect(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(e) => Err(failed(e)),
        }
    }
}

impl ClaimFile {
    fn new(path: PathBuf, file: File) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        match (&file).read_to_end(&mut bytes) {
            Ok(0) => Ok(ClaimFile { path, file, left: None }),
            Ok(_) => Ok(ClaimFile { path, file, left: Some(Left::parse(&String::from_utf8_lossy(&bytes))) }),
            Err(source) => Err(Error::Io { file: path, source }),
        }
    }

    fn failed(&self) -> impl Fn(io::Error) -> Error + '_ {
        |source| Error::Io { file: self.path.clone(), source }
    }

    fn line(&self, object: &Object<'_>) -> Result<(), Error> {
        // One write a line: a death in between leaves a last line that is no JSON and counts for nothing.
        (&self.file).write_all((object.to_text() + "\n").as_bytes()).map_err(self.failed())
    }
}

impl SessionLock for ClaimFile {
    fn left(&self) -> Option<&Left> {
        self.left.as_ref()
    }

    fn begin(&self, holder: &Holder) -> Result<(), Error> {
        self.file.set_len(0).map_err(self.failed())?;
        self.line(&holder.to_object())
    }

    fn note(&self, message: &str) -> Result<(), Error> {
        self.line(&Object::tagged("message", message))?;
        // Before the message itself: work that nobody knows of is never closed, not after a loss of power either.
        self.file.sync_data().map_err(self.failed())
    }

    fn is_held(&self) -> bool {
        is_at(&self.file, &self.path)
    }

    fn forget(&self) {
        if self.is_held() {
            // What stays behind is unlocked, and recovery finds nothing open in it.
            fs::remove_file(&self.path).ok();
        }
    }
}

impl Left {
    fn read(path: &Path) -> Option<Self> {
        fs::read(path).ok().map(|bytes| Left::parse(&String::from_utf8_lossy(&bytes)))
    }

    /// Lines that are no objects are left out.
    fn parse(text: &str) -> Self {
        let mut left = Left::default();
        for object in text.lines().filter_map(|line| Object::parse(line).ok()) {
            match object.text("message") {
                Some(message) => left.messages.push(message.into_owned()),
                None => left.holder = Holder::of(&object),
            }
        }
        left
    }
}

/// Ids of sessions come from callers and may hold anything; a file system may not tell upper from lower case. The hash tells
/// sessions apart, what stands before it is for people.
fn file_name(session: &str) -> String {
    let plain: String = session.chars().filter(char::is_ascii_alphanumeric).take(40).collect();
    format!("{plain}-{}", sha1_smol::Sha1::from(session).digest())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_stay_in_the_folder_and_differ() {
        let names: Vec<String> =
            ["ses_a", "ses_A", "ses/../../a", "", &"x".repeat(5_000), "..", "ses_\0"].iter().map(|id| file_name(id)).collect();
        for (at, name) in names.iter().enumerate() {
            assert!(name.len() < 100 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'), "{name}");
            let lower = name.to_lowercase();
            assert!(!names[..at].iter().any(|other| other.to_lowercase() == lower), "{name} twice");
        }
    }

    #[test]
    fn a_torn_line_counts_for_nothing() {
        let left = Left::parse(
            "{\"session\":\"ses_1\",\"pid\":7,\"host\":\"h\",\"since\":5,\"version\":\"v\"}\n{\"message\":\"msg_1\"}\n{\"mess",
        );
        assert_eq!(left.holder.map(|holder| (holder.session, holder.pid)), Some(("ses_1".to_owned(), 7)));
        assert_eq!(left.messages, ["msg_1"]);
        assert_eq!(Left::parse("{\"sess").holder, None);
    }
}
