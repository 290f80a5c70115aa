//! The trail as it is kept beside the record, for the next process.
//!
//! One JSON array a line, `[row, event, session, what]`, in order; above them what this is, below them a digest of all that
//! stands before. What cannot be read, or is not whole, is no trail: it is a hint, and the record does without.

use super::{Happened, LENGTH, Step};
use annalist_schema::Json;
use sha1_smol::Sha1;
use std::sync::Arc;

/// The name that a backend keeps it under.
pub(crate) const NAME: &str = "trail";
/// Bytes that it has at most: 8,192 steps have about 700 KB. Ids that callers chose may be long; then less is kept.
pub(crate) const MOST: usize = 2 << 20;

const HEAD: &str = "[\"annalist trail\",1,";

/// What a process leaves to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Kept {
    /// in order
    pub(crate) steps: Vec<Step>,
    /// nothing stood in the log before the first of them
    pub(crate) from_start: bool,
}

impl Kept {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let lines: Vec<String> = self.steps.iter().map(line).collect();
        // The newest are worth most. The head and the digest take less than a line of reserve.
        let mut room = MOST - 256;
        let kept = lines.iter().rev().take_while(|line| {
            room = room.saturating_sub(line.len());
            room > 0
        });
        let first = lines.len() - kept.count();
        let whole = self.from_start && first == 0;
        let mut text = format!("{HEAD}{whole}]\n{}", lines[first..].concat());
        let digest = Sha1::from(&text).digest().to_string();
        text.push_str(&format!("\"{digest}\"\n"));
        text.into_bytes()
    }

    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix("\"\n")?;
        let (text, digest) = text.rsplit_once('"')?;
        if Sha1::from(text).digest().to_string() != digest {
            return None;
        }
        let mut lines = text.lines();
        let from_start = match lines.next()?.strip_prefix(HEAD)? {
            "true]" => true,
            "false]" => false,
            _ => return None,
        };
        let steps: Vec<Step> = lines.map(step).collect::<Option<_>>()?;
        (steps.len() <= 2 * LENGTH).then_some(Kept { steps, from_start })
    }
}

fn line(step: &Step) -> String {
    let what = match step.what {
        Happened::Event => "event",
        Happened::Created => "created",
        Happened::Deleted => "deleted",
    };
    format!("[{},{},{},\"{what}\"]\n", step.rowid, Json::text(&step.id).as_str(), Json::text(&step.session).as_str())
}

fn step(line: &str) -> Option<Step> {
    let fields = Json::parse(line).ok()?.as_array()?.into_iter().map(Json::into_static).collect::<Vec<_>>();
    let [rowid, id, session, what] = &fields[..] else { return None };
    let what = match &*what.as_text()? {
        "event" => Happened::Event,
        "created" => Happened::Created,
        "deleted" => Happened::Deleted,
        _ => return None,
    };
    let text = |json: &Json<'_>| json.as_text().map(|text| Arc::<str>::from(&*text));
    Some(Step { rowid: rowid.as_number()?.as_i64()?, id: text(id)?, session: text(session)?, what })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn kept(count: usize, id: &str) -> Kept {
        let what = [Happened::Event, Happened::Created, Happened::Deleted];
        let step =
            |n: usize| Step { rowid: n as i64, id: format!("evt_{n}{id}").into(), session: "ses_\n\"é".into(), what: what[n % 3] };
        Kept { steps: (0..count).map(step).collect(), from_start: true }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        for count in [0, 1, 7, 2 * LENGTH] {
            let kept = kept(count, "");
            let bytes = kept.to_bytes();
            assert_eq!(Kept::from_bytes(&bytes), Some(kept));
            assert!(bytes.len() <= MOST);
        }
    }

    #[test]
    fn it_never_grows_over_its_bound() {
        let kept = kept(100, &"x".repeat(100_000));
        let bytes = kept.to_bytes();
        assert!(bytes.len() <= MOST && bytes.len() > MOST / 2, "{}", bytes.len());
        let read = Kept::from_bytes(&bytes).unwrap();
        assert!(!read.from_start, "the beginning is not in it");
        assert!(kept.steps.ends_with(&read.steps) && !read.steps.is_empty());
    }

    #[test]
    fn what_is_not_whole_is_none() {
        let bytes = kept(3, "").to_bytes();
        for length in 0..bytes.len() {
            assert_eq!(Kept::from_bytes(&bytes[..length]), None);
            let mut changed = bytes.clone();
            changed[length] ^= 1;
            assert_eq!(Kept::from_bytes(&changed), None, "byte {length}");
        }
        assert_eq!(Kept::from_bytes(&[&bytes[..], &bytes[..]].concat()), None);
    }
}
