//! When a history no longer fits its model (reference-engine 5.1). All numbers are tokens.

use super::Settings;
use annalist_schema::raw::{Json, Object};

/// Tokens that a model may answer, at most, unless `OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX` says otherwise.
pub const OUTPUT_CAP: u64 = 32_000;

/// How much a model can be shown and can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    /// everything together; 0 where it is not known
    pub context: u64,
    /// what it is shown, where that has a bound of its own
    pub input: Option<u64>,
    /// what it says; 0 where it is not known
    pub output: u64,
}

/// The longest answer that is asked for.
#[must_use]
pub fn max_output(window: Window, cap: u64) -> u64 {
    match window.output.min(cap) {
        0 => cap,
        least => least,
    }
}

/// What a history may have before it is compacted.
#[must_use]
pub fn usable(window: Window, settings: &Settings, cap: u64) -> u64 {
    let answer = max_output(window, cap);
    match window.input {
        _ if window.context == 0 => 0,
        Some(input) => input.saturating_sub(settings.reserved.unwrap_or(answer.min(20_000))),
        None => window.context.saturating_sub(answer),
    }
}

/// Whether an answer with these `tokens` (of a message or of `step-finish`) says that the next request would not fit.
#[must_use]
pub fn is_overflow(tokens: &Object<'_>, window: Window, settings: &Settings) -> bool {
    if !settings.auto || window.context == 0 {
        return false;
    }
    let number = |of: &Object<'_>, key: &str| of.get(key).and_then(Json::as_number).map_or(0.0, |n| n.as_f64().max(0.0));
    let cache = tokens.get("cache").and_then(Json::as_object).unwrap_or_default();
    let total = match number(tokens, "total") {
        0.0 => number(tokens, "input") + number(tokens, "output") + number(&cache, "read") + number(&cache, "write"),
        total => total,
    };
    total >= usable(window, settings, OUTPUT_CAP) as f64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn room_for_the_answer_is_kept() {
        let settings = Settings::default();
        let window = |context, input, output| Window { context, input, output };
        assert_eq!(usable(window(0, Some(5), 5), &settings, OUTPUT_CAP), 0);
        assert_eq!(usable(window(200_000, None, 64_000), &settings, OUTPUT_CAP), 168_000);
        assert_eq!(usable(window(200_000, None, 0), &settings, OUTPUT_CAP), 168_000);
        assert_eq!(usable(window(8_000, None, 64_000), &settings, OUTPUT_CAP), 0);
        assert_eq!(usable(window(400_000, Some(272_000), 128_000), &settings, OUTPUT_CAP), 252_000);
        assert_eq!(usable(window(400_000, Some(272_000), 4_000), &settings, OUTPUT_CAP), 268_000);
        let reserved = Settings { reserved: Some(1_000), ..settings };
        assert_eq!(usable(window(400_000, Some(272_000), 4_000), &reserved, OUTPUT_CAP), 271_000);
        assert_eq!(usable(window(10_000, None, 4_000), &reserved, OUTPUT_CAP), 6_000);
    }

    #[test]
    fn the_total_counts_or_what_it_is_made_of() {
        let window = Window { context: 1_000, input: None, output: 100 };
        let over = |tokens: &str, settings: &Settings| is_overflow(&Object::parse(tokens).unwrap(), window, settings);
        let usual = Settings::default();
        assert!(over(r#"{"total":900,"input":1}"#, &usual));
        assert!(!over(r#"{"total":899,"input":2000}"#, &usual));
        assert!(over(r#"{"input":400,"output":100,"reasoning":999,"cache":{"read":300,"write":100}}"#, &usual));
        assert!(!over(r#"{"input":400,"output":100,"reasoning":999,"cache":{"read":300,"write":99}}"#, &usual));
        assert!(!over(r#"{"total":5000}"#, &Settings { auto: false, ..usual.clone() }));
        assert!(!is_overflow(&Object::parse(r#"{"total":5000}"#).unwrap(), Window::default(), &usual));
    }
}
