//! Who else has the file open, told from the locks that the kernel lists.
//!
//! Every process with a connection to a WAL database holds a read lock on byte 128 of its `-shm` file until it closes or
//! dies, and `/proc/locks` names its process (sharing-the-file.md). Nothing is opened to find out: closing a second descriptor of
//! `-shm` in this process would drop the locks that SQLite holds on it.
//!
//! A process of ours also holds a lock on the file `present` ([`super::side`]); that tells it from the others.
//!
//! The answer is checked against something known: this process has the file open too, so it must be in the list. It is not
//! where `/proc` is another machine's or hidden, where the list names devices otherwise than `stat` does (btrfs, some
//! overlays), where the file is open without shared memory, and on systems without `/proc/locks`; then the answer is
//! [`Neighbours::Unknown`]. Processes of *other containers* on the same file are the one thing that cannot be seen: the
//! kernel leaves them out of a container's list.

use super::side::Side;
use crate::neighbours::Neighbours;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::Path;

/// SQLite's "dead man switch": the byte of `-shm` on which each process holds a read lock.
const OPEN_BYTE: u64 = 128;
/// How much is asked for in one read, one look after the other. The kernel gives a page at most, and goes on by counting: if locks
/// went away between two pieces of a long list, it skips others at the seam. With other sizes the seams are elsewhere.
const PIECES: [usize; 5] = [4096, 2900, 3500, 2300, 3200];

pub(super) fn look(side: &Side) -> Neighbours {
    if !cfg!(target_os = "linux") {
        return Neighbours::Unknown { reason: "this system does not list file locks" };
    }
    let Some(shm) = inode(&side.shared_memory_file()) else {
        return Neighbours::Unknown { reason: "the file is open without shared memory" };
    };
    let present = inode(&side.present_file());
    let mut open = BTreeSet::new();
    let mut ours = BTreeSet::new();
    for piece in PIECES {
        let Ok((list, pieces)) = read("/proc/locks", piece) else {
            return Neighbours::Unknown { reason: "/proc/locks cannot be read" };
        };
        for lock in list.lines().filter_map(Lock::parse) {
            if lock.inode == shm && lock.covers(OPEN_BYTE) {
                open.insert(lock.pid);
            }
            if present.as_deref() == Some(lock.inode) {
                ours.insert(lock.pid);
            }
        }
        if pieces == 1 {
            break;
        }
    }
    if !open.remove(&std::process::id()) {
        return Neighbours::Unknown { reason: "/proc/locks does not show this process's own lock on the file" };
    }
    let (ours, foreign) = open.into_iter().partition(|pid| ours.contains(pid));
    Neighbours::Known { ours, foreign }
}

/// A file, and in how many pieces it came.
fn read(path: &str, piece: usize) -> io::Result<(String, usize)> {
    let mut file = fs::File::open(path)?;
    let mut bytes = Vec::new();
    let mut buffer = vec![0; piece];
    let mut pieces = 0;
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok((String::from_utf8_lossy(&bytes).into_owned(), pieces)),
            n => bytes.extend_from_slice(&buffer[..n]),
        }
        pieces += 1;
    }
}

/// A file as the list names it: `fe:00:10010726`, the device in hexadecimal, the inode in decimal.
#[cfg(unix)]
fn inode(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    let meta = fs::metadata(path).ok()?;
    let device = meta.dev();
    // The C library's makedev(3), taken apart.
    let major = ((device >> 8) & 0xfff) | ((device >> 32) & !0xfff);
    let minor = (device & 0xff) | ((device >> 12) & !0xff);
    Some(format!("{major:02x}:{minor:02x}:{}", meta.ino()))
}

#[cfg(not(unix))]
fn inode(_: &Path) -> Option<String> {
    None
}

/// A line of the list: `3: POSIX  ADVISORY  READ 25379 fe:00:10010726 128 128`, a waiting one with `->` behind the number.
#[derive(Debug, PartialEq)]
struct Lock<'l> {
    pid: u32,
    inode: &'l str,
    first: u64,
    /// `EOF` is the end of all files.
    last: u64,
}

impl<'l> Lock<'l> {
    fn parse(line: &'l str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace().skip(1).filter(|word| *word != "->");
        let (_class, _advisory, _access) = (words.next()?, words.next()?, words.next()?);
        // A lock of an open file description has no process: -1.
        let pid = words.next()?.parse().ok()?;
        let inode = words.next()?;
        let first = words.next()?.parse().ok()?;
        let last = match words.next()? {
            "EOF" => u64::MAX,
            byte => byte.parse().ok()?,
        };
        Some(Lock { pid, inode, first, last })
    }

    fn covers(&self, byte: u64) -> bool {
        (self.first..=self.last).contains(&byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_kernels_lines() {
        let lock = |line| Lock::parse(line);
        assert_eq!(
            lock("3: POSIX  ADVISORY  READ 25379 fe:00:10010726 128 128"),
            Some(Lock { pid: 25379, inode: "fe:00:10010726", first: 128, last: 128 })
        );
        assert_eq!(
            lock("12: -> POSIX  ADVISORY  WRITE 7 08:01:5 0 EOF"),
            Some(Lock { pid: 7, inode: "08:01:5", first: 0, last: u64::MAX })
        );
        assert!(lock("2: FLOCK  ADVISORY  READ 1 fe:00:1 0 EOF").is_some_and(|lock| lock.covers(OPEN_BYTE)));
        assert!(lock("4: POSIX  ADVISORY  READ 1 fe:00:1 129 200").is_some_and(|lock| !lock.covers(OPEN_BYTE)));
        for other in ["", "5: OFDLCK ADVISORY READ -1 fe:00:1 0 EOF", "6: LEASE  ACTIVE    READ", "7: <none>"] {
            assert_eq!(lock(other), None, "{other}");
        }
    }
}
