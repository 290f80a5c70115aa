//! When a provider wants to be asked again.

use std::time::{Duration, SystemTime};

/// What the headers of an answer say of the time to wait: `retry-after-ms` in milliseconds, else `retry-after` in seconds
/// or as a date that is still to come (reference 2.6). Header names in any case; nothing if there is no such header or
/// nobody can read it.
#[must_use]
pub fn retry_after<'h>(headers: impl IntoIterator<Item = (&'h str, &'h str)>, now: SystemTime) -> Option<Duration> {
    let (mut in_ms, mut told) = (None, None);
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("retry-after-ms") {
            in_ms = in_ms.or(number(value));
        } else if name.eq_ignore_ascii_case("retry-after") {
            told = told.or(Some(value.trim()));
        }
    }
    if let Some(ms) = in_ms {
        return Some(whole(ms));
    }
    let told = told?;
    match number(told) {
        Some(seconds) => Some(whole((seconds * 1000.0).ceil())),
        None => httpdate::parse_http_date(told).ok()?.duration_since(now).ok().filter(|wait| !wait.is_zero()),
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0)
}

/// Milliseconds, at most those of a timer in JavaScript (24 days).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 2^31")]
fn whole(ms: f64) -> Duration {
    Duration::from_millis(ms.min(f64::from(i32::MAX)) as u64)
}
