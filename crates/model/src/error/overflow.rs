//! How providers say that a request is longer than the model can read.

use regex_lite::Regex;
use std::sync::LazyLock;

/// Said of limits per minute, in words that are otherwise those of an overflow.
const NEVER: &str = r"(?i)^(?:throttling error|service unavailable):|rate limit|too many requests";

/// Whoever it comes from (reference 2.5).
const PHRASES: &[&str] = &[
    r"prompt is too long",
    r"request_too_large",
    r"input is too long for requested model",
    r"exceeds the context window",
    r"exceeds (?:the )?(?:model'?s )?maximum context length(?: of [0-9,]+ tokens?|\s*\([0-9,]+\))",
    r"input token count.*exceeds the maximum",
    r"tokens in request more than max tokens allowed",
    r"maximum prompt length is [0-9]+",
    r"reduce the length of the messages",
    r"maximum context length is [0-9]+ tokens",
    r"exceeds (?:the )?maximum allowed input length of [0-9,]+ tokens?",
    r"input \([0-9]+ tokens\) is longer than the model'?s context length \([0-9]+ tokens\)",
    r"exceeds the limit of [0-9]+",
    r"exceeds the available context size",
    r"greater than the context length",
    r"context window exceeds limit",
    r"exceeded model token limit",
    r"context[_ ]length[_ ]exceeded",
    r"request entity too large",
    r"context length is only [0-9]+ tokens",
    r"input length.*exceeds.*context length",
    r"prompt too long; exceeded (?:max )?context length",
    r"too large for model with [0-9]+ maximum context length",
    r"prompt has [0-9,]+ tokens?, but the configured context size is [0-9,]+ tokens?",
    r"model_context_window_exceeded",
    r"too many tokens",
    r"token limit exceeded",
    r"^4(?:00|13)\s*(?:status code)?\s*\(no body\)",
];

/// Whether a provider's message says that the request is too long for the model.
#[must_use]
pub fn is_overflow(message: &str) -> bool {
    // Both are constants that the tests have seen; without them nothing is an overflow.
    static RULES: LazyLock<Option<(Regex, Regex)>> = LazyLock::new(|| {
        let any = PHRASES.join("|");
        Some((Regex::new(NEVER).ok()?, Regex::new(&format!("(?i){any}")).ok()?))
    });
    RULES.as_ref().is_some_and(|(never, phrases)| !never.is_match(message) && phrases.is_match(message))
}
