//! Where a reader of the log is, and where it wants to go on.

use std::fmt;
use std::str::FromStr;

/// A place in the log that outlives the connection and the process: what a client sends as `Last-Event-ID`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Position {
    /// In the whole record, written `<rowid>.<event id>`. The id tells whether the row is still the one that was meant: row
    /// ids are given out again after the newest session was deleted.
    Record {
        /// the row of the event
        rowid: i64,
        /// `evt_...`
        id: String,
    },
    /// In one session, written as its `seq`; -1 is before the first event.
    Session(i64),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Position::Record { rowid, id } => write!(f, "{rowid}.{id}"),
            Position::Session(seq) => write!(f, "{seq}"),
        }
    }
}

impl FromStr for Position {
    type Err = Reset;

    fn from_str(text: &str) -> Result<Self, Reset> {
        let number = |text: &str| {
            // `parse` alone would take a sign, and "+7" is no position of ours.
            let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| text.parse::<i64>().ok()).flatten().ok_or(Reset::Malformed)
        };
        match text.split_once('.') {
            Some((rowid, id)) if !id.is_empty() => Ok(Position::Record { rowid: number(rowid)?, id: id.to_owned() }),
            Some(_) => Err(Reset::Malformed),
            None if text == "-1" => Ok(Position::Session(-1)),
            None => Ok(Position::Session(number(text)?)),
        }
    }
}

/// Why a reader cannot go on from where it was. It has to read anew what it shows; what follows is delivered from here on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Reset {
    /// It is no position, or one of the other kind: of a session where the record is read, or the reverse.
    #[error("not a position of this stream")]
    Malformed,
    /// Nothing is known of it: another database's, or its event was erased too long ago.
    #[error("the position is not known here any more")]
    Unknown,
    /// The log has not come so far.
    #[error("the position is ahead of the log")]
    Ahead,
}

/// Where a subscription begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// With the first event of the log.
    Beginning,
    /// With what comes next.
    Now,
    /// With the event after this one.
    After(Position),
    /// With word that the position given was none, then with what comes next.
    Reset(Reset),
}

impl Start {
    /// From a position as a client sends it. One that cannot be read is answered with a [`Reset`], never with silence.
    #[must_use]
    pub fn resume(position: &str) -> Self {
        position.parse().map_or_else(Start::Reset, Start::After)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_read_as_they_are_written() {
        for position in [
            Position::Record { rowid: 123, id: "evt_00ab".to_owned() },
            Position::Record { rowid: 0, id: "evt_a.b".to_owned() },
            Position::Session(0),
            Position::Session(-1),
            Position::Session(i64::MAX),
        ] {
            assert_eq!(position.to_string().parse(), Ok(position));
        }
    }

    #[test]
    fn what_is_no_position_is_malformed() {
        for text in ["", "bad", "-2", "+7", "1.", ".evt_1", "-5.evt_1", "1,5", " 1", "99999999999999999999", "1e3", "x.evt_1"] {
            assert_eq!(text.parse::<Position>(), Err(Reset::Malformed), "{text:?}");
        }
    }
}
