//! Which of the newest messages stay word for word (reference-engine 5.2).

use super::{OUTPUT_CAP, Settings, Window, usable};
use annalist_schema::raw::Json;
use annalist_store::transcript::WithParts;

/// Where the tail begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// Index of its first message; what stands before it is summed up.
    pub start: usize,
}

/// Picks whole turns from the newest back, as long as they fit; of the first that does not, as much of its end as does. No
/// tail if all of it fits (then all is summed up) or nothing does.
///
/// `size` estimates the tokens of some messages as they are sent.
pub fn tail(
    messages: &[WithParts],
    window: Window,
    settings: &Settings,
    mut size: impl FnMut(&[WithParts]) -> u64,
) -> Option<Tail> {
    if settings.tail_turns == Some(0) {
        return None;
    }
    let budget = settings.preserve_recent_tokens.unwrap_or_else(|| (usable(window, settings, OUTPUT_CAP) / 4).clamp(2_000, 15_000));
    let mut turns: Vec<usize> = (0..messages.len()).filter(|index| begins_turn(&messages[*index])).collect();
    if let Some(most) = settings.tail_turns {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        turns.drain(..turns.len().saturating_sub(most));
    }
    let (mut left, mut end, mut start) = (budget, messages.len(), None);
    for turn in turns.into_iter().rev() {
        let cost = size(&messages[turn..end]);
        if cost <= left {
            left -= cost;
            (start, end) = (Some(turn), turn);
            continue;
        }
        start = (turn + 1..end).find(|from| size(&messages[*from..end]) <= left).or(start);
        break;
    }
    start.filter(|start| *start > 0).map(|start| Tail { start })
}

fn begins_turn(message: &WithParts) -> bool {
    let info = message.info.as_object().unwrap_or_default();
    let compaction =
        || message.parts.iter().filter_map(Json::as_object).any(|part| part.text("type").as_deref() == Some("compaction"));
    info.text("role").as_deref() == Some("user") && !compaction()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    /// `u3` is a message of a person that costs 3, `a` one of an assistant, `c` a compaction.
    fn history(of: &[&str]) -> Vec<WithParts> {
        let json = |text: String| Json::parse(text).unwrap();
        let message = |word: &&str| {
            let role = if word.starts_with('a') { "assistant" } else { "user" };
            let kind = if word.starts_with('c') { "compaction" } else { "text" };
            WithParts {
                info: json(format!(r#"{{"role":"{role}","cost":{}}}"#, &word[1..])),
                parts: vec![json(format!(r#"{{"type":"{kind}"}}"#))],
            }
        };
        of.iter().map(message).collect()
    }

    fn start(of: &[&str], budget: u64, turns: Option<u64>) -> Option<usize> {
        let settings = Settings { preserve_recent_tokens: Some(budget), tail_turns: turns, ..Settings::default() };
        let size = |messages: &[WithParts]| {
            let cost = |m: &WithParts| m.info.as_object().unwrap().get("cost").unwrap().as_str().parse::<u64>().unwrap();
            messages.iter().map(cost).sum()
        };
        tail(&history(of), Window::default(), &settings, size).map(|tail| tail.start)
    }

    #[test]
    fn whole_turns_stay_while_they_fit_and_then_the_end_of_one() {
        let of = ["u1", "a9", "u2", "a3", "u1", "a1"];
        assert_eq!(start(&of, 2, None), Some(4));
        assert_eq!(start(&of, 4, None), Some(4), "the answer of the turn before does not fit");
        assert_eq!(start(&of, 5, None), Some(3), "an assistant's message can be the first");
        assert_eq!(start(&of, 7, None), Some(2));
        assert_eq!(start(&of, 16, None), Some(1));
        assert_eq!(start(&of, 17, None), None, "all of it fits: all of it is summed up");
        assert_eq!(start(&of, 0, None), None);
        assert_eq!(start(&of, 100, Some(1)), Some(4));
        assert_eq!(start(&of, 100, Some(0)), None);
        assert_eq!(start(&["u1", "a1", "c5", "a1"], 3, None), Some(3), "a compaction begins no turn");
    }

    #[test]
    fn the_budget_follows_the_window() {
        let size = |messages: &[WithParts]| messages.len() as u64 * 1_000;
        let many = history(&["u1"; 40]);
        let start = |context| tail(&many, Window { context, input: None, output: 32_000 }, &Settings::default(), size);
        assert_eq!(start(200_000), Some(Tail { start: 25 }), "15,000 at most");
        assert_eq!(start(72_000), Some(Tail { start: 30 }), "a quarter");
        assert_eq!(start(0), Some(Tail { start: 38 }), "2,000 at least");
    }
}
