//! Whether a failed request is made again, and when (reference-engine 2.6). Decided by the error as it would be stored.

use annalist_schema::raw::{Json, Object};

/// How often a request is made again before its error is final.
pub const RETRIES: u32 = 5;
/// The wait before the first of them, in ms; each further one doubles it.
const BASE_MS: f64 = 2_000.0;
/// The longest wait, in ms, where the provider names none.
const CAP_MS: f64 = 30_000.0;
/// The longest wait at all, in ms: what a timer of the reference holds.
const LONGEST_MS: f64 = 2_147_483_647.0;

/// What a person is told while it waits; nothing if it is not to be made again. `error` is `{name, data}`.
#[must_use]
pub fn retryable(error: &Object<'_>) -> Option<String> {
    let data = error.get("data").and_then(Json::as_object).unwrap_or_default();
    let message = data.text("message").unwrap_or_default().into_owned();
    match error.text("name").as_deref() {
        Some("ContextOverflowError" | "MessageAbortedError" | "MessageOutputLengthError" | "ProviderAuthError") => None,
        Some("APIError") => {
            let body = data.text("responseBody").unwrap_or_default();
            let flagged = data.get("isRetryable").and_then(Json::as_bool) == Some(true);
            let status = data.get("statusCode").and_then(Json::as_number).map_or(0.0, |n| n.as_f64());
            let again = flagged || status >= 500.0 || passes(&message) || passes(&body);
            again.then(|| if message.contains("Overloaded") { "Provider is overloaded".to_owned() } else { message })
        }
        _ => {
            let low = message.to_ascii_lowercase();
            if low.contains("too_many_requests") {
                Some("Too Many Requests".to_owned())
            } else if low.contains("exhausted") || low.contains("unavailable") {
                Some("Provider is overloaded".to_owned())
            } else {
                passes(&message).then_some(message)
            }
        }
    }
}

/// Words of failures that pass by themselves.
const PHRASES: &[&str] = &[
    "429",
    "500",
    "502",
    "503",
    "504",
    "524",
    "rate limit",
    "rate-limit",
    "rate_limit",
    "ratelimit",
    "too many requests",
    "overloaded",
    "service unavailable",
    "service_unavailable",
    "internal error",
    "internal_error",
    "internal server error",
    "internal_server_error",
    "server error",
    "server_error",
    "provider returned error",
    "terminated",
    "fetch failed",
    "network error",
    "connection error",
    "connection refused",
    "connection lost",
    "connection reset",
    "socket closed",
    "socket hang up",
    "reset before headers",
    "upstream connect",
    "getaddrinfo",
    "enotfound",
    "eai_again",
    "econnrefused",
    "econnreset",
    "etimedout",
    "retry your request",
    "resource exhausted",
    "resource_exhausted",
    "try again later",
    "try again in",
    "currently at capacity",
    "temporarily at capacity",
];

fn passes(text: &str) -> bool {
    let low = text.to_ascii_lowercase();
    if PHRASES.iter().any(|phrase| low.contains(phrase)) || low.trim() == "timeout" {
        return true;
    }
    ["request", "response", "connection", "network", "stream", "read"]
        .iter()
        .any(|what| ["timeout", "timed out"].iter().any(|end| low.contains(&format!("{what} {end}"))))
}

/// How long to wait before attempt `attempt` (from 1), in ms. `random` is in 0..1, `now_ms` the clock.
#[must_use]
pub fn delay_ms(error: &Object<'_>, attempt: u32, random: f64, now_ms: i64) -> u64 {
    let base = BASE_MS * 2_f64.powi(i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX).min(40));
    let base = (base * (1.0 + random.clamp(0.0, 1.0) / 4.0)).ceil();
    let data = error.get("data").and_then(Json::as_object).unwrap_or_default();
    let headers = data.get("responseHeaders").and_then(Json::as_object);
    let wait = match headers {
        None => base.min(CAP_MS),
        Some(headers) => named(&headers, now_ms).unwrap_or(base),
    };
    // In 0..=LONGEST_MS, so nothing is lost.
    wait.clamp(0.0, LONGEST_MS) as u64
}

fn named(headers: &Object<'_>, now_ms: i64) -> Option<f64> {
    let header = |name: &str| {
        let entry = headers.entries().iter().find(|entry| entry.key().eq_ignore_ascii_case(name))?;
        Some(entry.value().as_text()?.trim().to_owned())
    };
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    if let Some(ms) = header("retry-after-ms").as_deref().and_then(number) {
        return Some(ms);
    }
    let after = header("retry-after")?;
    if let Some(seconds) = number(&after) {
        return Some((seconds * 1_000.0).ceil());
    }
    let at = httpdate::parse_http_date(&after).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let wait = i64::try_from(at.as_millis()).ok()?.saturating_sub(now_ms);
    (wait > 0).then_some(wait as f64)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    fn error(text: &str) -> Object<'static> {
        Object::parse(text).unwrap().into_static()
    }

    fn api(data: &str) -> Option<String> {
        retryable(&error(&format!(r#"{{"name":"APIError","data":{data}}}"#)))
    }

    #[test]
    fn what_passes_by_itself_is_tried_again() {
        assert_eq!(api(r#"{"message":"slow down","isRetryable":true,"statusCode":429}"#).as_deref(), Some("slow down"));
        assert_eq!(api(r#"{"message":"Overloaded","isRetryable":true}"#).as_deref(), Some("Provider is overloaded"));
        assert_eq!(api(r#"{"message":"bad","isRetryable":false,"statusCode":500}"#).as_deref(), Some("bad"));
        assert_eq!(api(r#"{"message":"bad","isRetryable":false,"statusCode":400}"#), None);
        assert_eq!(api(r#"{"message":"at most 5000 items","statusCode":400}"#).as_deref(), Some("at most 5000 items"));
        assert_eq!(api(r#"{"message":"no","responseBody":"please try again later"}"#).as_deref(), Some("no"));
        assert_eq!(api(r#"{"message":"Read timed out"}"#).as_deref(), Some("Read timed out"));
        assert_eq!(api(r#"{"message":"timeout of patience"}"#), None);
        let other = |text: &str| retryable(&error(&format!(r#"{{"name":"UnknownError","data":{{"message":"{text}"}}}}"#)));
        assert_eq!(other("code too_many_requests").as_deref(), Some("Too Many Requests"));
        assert_eq!(other("Quota exhausted").as_deref(), Some("Provider is overloaded"));
        assert_eq!(other("no such tool"), None);
        assert_eq!(retryable(&error(r#"{"name":"ContextOverflowError","data":{"message":"500"}}"#)), None);
        assert_eq!(retryable(&error(r#"{"name":"MessageAbortedError","data":{"message":"terminated"}}"#)), None);
    }

    #[test]
    fn the_provider_says_when_or_the_wait_doubles() {
        let plain = error(r#"{"name":"UnknownError","data":{"message":"overloaded"}}"#);
        let waits: Vec<u64> = (1..=6).map(|attempt| delay_ms(&plain, attempt, 0.0, 0)).collect();
        assert_eq!(waits, [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        assert_eq!(delay_ms(&plain, 1, 1.0, 0), 2_500);
        let with = |headers: &str| error(&format!(r#"{{"name":"APIError","data":{{"responseHeaders":{headers}}}}}"#));
        assert_eq!(delay_ms(&with("{}"), 6, 0.0, 0), 64_000, "no cap once the provider answered");
        assert_eq!(delay_ms(&with(r#"{"Retry-After-Ms":"12.7","retry-after":"9"}"#), 1, 0.0, 0), 12);
        assert_eq!(delay_ms(&with(r#"{"retry-after":"1.2345"}"#), 1, 0.0, 0), 1_235);
        let date = r#"{"retry-after":"Wed, 21 Oct 2015 07:28:00 GMT"}"#;
        assert_eq!(delay_ms(&with(date), 1, 0.0, 1_445_412_477_500), 2_500);
        assert_eq!(delay_ms(&with(date), 2, 0.0, 1_445_412_480_000), 4_000, "a time that has passed says nothing");
        assert_eq!(delay_ms(&with(r#"{"retry-after":"soon"}"#), 1, 0.0, 0), 2_000);
        assert_eq!(delay_ms(&with(r#"{"retry-after":"9999999999"}"#), 1, 0.0, 0), 2_147_483_647);
    }
}
