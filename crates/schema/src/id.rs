//! Ids: making them, checking them, and what their digits say about time.
//!
//! An id is `<prefix>_`, twelve hexadecimal digits and fourteen random letters (reference-storage 5.1). The digits are the
//! low 48 bits of `ms x 4096 + counter`, so they start again every 2^36 ms (795.36 days). They did on
//! 2026-08-14T11:19:55.136Z (1786706395136 ms) and will on 2028-10-17T20:04:31.872Z. An id made after a wrap sorts *below*
//! every id made shortly before it, and an id given by a caller (`msg_custom`) has no digits at all. **Ids are therefore
//! labels and never an order**: messages are ordered by their time first.

use crate::field::Wrong;
use rand::Rng;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds after which the digits of an id start again.
const PERIOD: i64 = 1 << 36;
/// The bits of `ms x 4096 + counter` that an id shows.
const MASK: u64 = (1 << 48) - 1;
/// Ids a millisecond has room for.
const PER_MS: u64 = 4096;
const HEX: usize = 12;
const LETTERS: usize = 14;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Which way the ids of a kind sort, between two wraps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Newer ids sort above older ones.
    Ascending,
    /// Newer ids sort below older ones: the digits are inverted.
    Descending,
}

macro_rules! kinds {
    ($( $(#[$doc:meta])* $kind:ident: $prefix:literal, $direction:ident, checked by $start:literal; )*) => {
        /// What an id is of.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Kind {
            $( $(#[$doc])* $kind, )*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind),*];

            /// What stands before the underscore.
            #[must_use]
            pub fn prefix(self) -> &'static str {
                match self { $( Kind::$kind => $prefix, )* }
            }

            /// Which way new ids of this kind sort.
            #[must_use]
            pub fn direction(self) -> Direction {
                match self { $( Kind::$kind => Direction::$direction, )* }
            }

            /// What a given id must start with to be taken.
            fn start(self) -> &'static str {
                match self { $( Kind::$kind => $start, )* }
            }
        }
    };
}

// reference-storage 5.2.
kinds! {
    /// A session.
    Session: "ses", Descending, checked by "ses";
    /// A message.
    Message: "msg", Ascending, checked by "msg";
    /// A part of a message.
    Part: "prt", Ascending, checked by "prt";
    /// An event.
    Event: "evt", Ascending, checked by "evt_";
    /// A question for permission.
    Permission: "per", Ascending, checked by "per";
    /// A question of a tool.
    Question: "que", Ascending, checked by "que";
    /// A workspace.
    Workspace: "wrk", Ascending, checked by "wrk";
    /// A terminal.
    Pty: "pty", Ascending, checked by "pty";
    /// A tool's output that was put aside.
    Tool: "tool", Ascending, checked by "tool";
    /// A background job.
    Job: "job", Ascending, checked by "job";
    /// A stored credential.
    Credential: "cred", Ascending, checked by "cred";
    /// An attempt to connect an integration.
    Connection: "con", Ascending, checked by "con";
    /// A permission that was saved.
    SavedPermission: "psv", Ascending, checked by "psv";
}

/// Makes ids that differ and, until the digits wrap, rise (descending kinds: fall) in the order of the calls.
///
/// It holds while the clock stands still, steps back, or gives more than 4,095 ids in one millisecond: the counter then
/// runs into the milliseconds to come.
#[derive(Debug, Default)]
pub struct Generator {
    /// The last `ms x 4096 + counter`, all of its bits.
    last: AtomicU64,
}

impl Generator {
    /// A generator that has made nothing yet.
    #[must_use]
    pub const fn new() -> Self {
        Generator { last: AtomicU64::new(0) }
    }

    /// A new id, at a time in ms since 1970.
    pub fn next_at(&self, kind: Kind, now_ms: i64) -> String {
        // Within bounds that leave room for the counter; real times are far below.
        let now = now_ms.clamp(0, 1 << 50).unsigned_abs() * PER_MS + 1;
        let step = |last: u64| now.max(last + 1);
        // The closure always gives a value, so this cannot fail; both arms are the value before.
        let (Ok(last) | Err(last)) = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(step(last)));
        let value = match kind.direction() {
            Direction::Ascending => step(last),
            Direction::Descending => !step(last),
        };
        format!("{}_{:0HEX$x}{}", kind.prefix(), value & MASK, letters())
    }
}

/// Fourteen letters, each of the 62 equally likely.
fn letters() -> String {
    // 248 is the largest multiple of 62 that a byte can hold; what is above would favour the first letters.
    const FAIR: u8 = 248;
    let mut out = String::with_capacity(LETTERS);
    let mut random = rand::rng();
    while out.len() < LETTERS {
        let mut bytes = [0; LETTERS + 2];
        random.fill_bytes(&mut bytes);
        let fair = bytes.iter().filter(|byte| **byte < FAIR);
        out.extend(fair.take(LETTERS - out.len()).map(|byte| char::from(ALPHABET[usize::from(byte % 62)])));
    }
    out
}

/// A new id from the generator that the whole process shares.
#[must_use]
pub fn new(kind: Kind) -> String {
    static SHARED: Generator = Generator::new();
    SHARED.next_at(kind, now_ms())
}

/// Milliseconds since 1970-01-01T00:00:00Z; 0 while the clock is set to a time before it.
#[must_use]
pub fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// A time as the fields of the model have it: none is before 1970.
pub(crate) fn unsigned_ms(ms: i64) -> u64 {
    ms.max(0).unsigned_abs()
}

/// Whether a given id may stand for the kind: only its first letters are looked at (reference-storage 5.2), so that ids
/// made by others (`msg_custom`) pass.
///
/// # Errors
/// [`Wrong::Prefix`].
pub fn check(kind: Kind, given: &str) -> Result<(), Wrong> {
    let wanted = kind.start();
    if given.starts_with(wanted) { Ok(()) } else { Err(Wrong::Prefix { wanted, found: given.to_owned() }) }
}

/// The time in ms that an id was made at, if it was made within 397 days of `reference_ms`.
///
/// An id tells its time only up to a multiple of 2^36 ms; of the possible ones this is the nearest to the reference, which
/// should be a time from elsewhere (the row's `time_created`). Nothing if no twelve hexadecimal digits follow the prefix.
/// The digits of a caller's own id look like a time and mean nothing.
#[must_use]
pub fn time_near(id: &str, reference_ms: i64) -> Option<i64> {
    let (prefix, rest) = id.split_once('_')?;
    let digits = rest.get(..HEX)?;
    if !digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let shown = u64::from_str_radix(digits, 16).ok()?;
    let descending = Kind::ALL.iter().any(|kind| kind.prefix() == prefix && kind.direction() == Direction::Descending);
    let value = if descending { !shown & MASK } else { shown };
    let ahead = (i64::try_from(value / PER_MS).ok()? - reference_ms.rem_euclid(PERIOD)).rem_euclid(PERIOD);
    reference_ms.checked_add(if ahead > PERIOD / 2 { ahead - PERIOD } else { ahead })
}
