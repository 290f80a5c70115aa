//! Times as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `2026-11-30 22:41` in this machine's time zone; the number itself if it is no time.
pub(crate) fn local(ms: f64) -> String {
    // A float cast saturates at both ends, and what is out of range has no date.
    match Timestamp::from_millisecond(ms as i64) {
        Ok(time) => time.to_zoned_datetime(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        Err(_) => ms.to_string(),
    }
}
