//! What an answer took, in every spelling.

use annalist_schema::{Json, Object, TokenUsage};
use annalist_schema::raw::Kind;

/// What a provider counted. All in tokens; every count is 0 where the provider gave none, a negative one, or no number.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// All that was read, cached or not. Nothing: the provider counted nothing at all.
    pub input: Option<u64>,
    /// All that was written, thoughts included.
    pub output: Option<u64>,
    /// Thoughts, a part of `output`.
    pub reasoning: u64,
    /// Read from a cache, a part of `input`.
    pub cache_read: u64,
    /// Written into a cache, a part of `input`.
    pub cache_write: u64,
    /// What Copilot bills, in billionths of its units; takes the place of every price.
    pub nano_aiu: Option<f64>,
}

impl Usage {
    /// Input and output together, if either is known.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        match (self.input, self.output) {
            (None, None) => None,
            (input, output) => Some(input.unwrap_or(0).saturating_add(output.unwrap_or(0))),
        }
    }

    /// As it is stored: each token in one count (reference 3.5).
    #[must_use]
    pub fn tokens(&self) -> TokenUsage<'static> {
        let input = self.input.unwrap_or(0).saturating_sub(self.cache_read).saturating_sub(self.cache_write);
        let output = self.output.unwrap_or(0).saturating_sub(self.reasoning);
        let mut tokens = TokenUsage::new(input, output, self.reasoning, self.cache_read, self.cache_write);
        tokens.set_total(self.total().map(Into::into));
        tokens
    }

    /// `usage` of OpenAI's chat completions and of everything like it.
    pub(crate) fn chat(usage: &Object<'_>) -> Self {
        let (read, written) = (member(usage, "prompt_tokens_details"), member(usage, "completion_tokens_details"));
        let mut found = Usage {
            input: Some(count(usage, "prompt_tokens").or_else(|| count(usage, "input_tokens")).unwrap_or(0)),
            output: Some(count(usage, "completion_tokens").or_else(|| count(usage, "output_tokens")).unwrap_or(0)),
            reasoning: count(&written, "reasoning_tokens").or_else(|| count(usage, "reasoning_tokens")).unwrap_or(0),
            // OpenAI; DeepSeek; Moonshot; gateways to Anthropic.
            cache_read: count(&read, "cached_tokens")
                .or_else(|| count(usage, "prompt_cache_hit_tokens"))
                .or_else(|| count(usage, "cached_tokens"))
                .or_else(|| count(usage, "cache_read_input_tokens"))
                .unwrap_or(0),
            cache_write: count(&read, "cache_write_tokens")
                .or_else(|| count(usage, "cache_creation_input_tokens"))
                .unwrap_or(0),
            nano_aiu: None,
        };
        // xAI counts thoughts beside the output; the total tells.
        let (input, output) = (found.input.unwrap_or(0), found.output.unwrap_or(0));
        let all = input.saturating_add(output).saturating_add(found.reasoning);
        if found.reasoning > 0 && count(usage, "total_tokens") == Some(all) {
            found.output = Some(output.saturating_add(found.reasoning));
        }
        found.with_cache_inside()
    }

    /// `response.usage` of OpenAI's responses.
    pub(crate) fn responses(usage: &Object<'_>) -> Self {
        let (read, written) = (member(usage, "input_tokens_details"), member(usage, "output_tokens_details"));
        Usage {
            input: Some(count(usage, "input_tokens").unwrap_or(0)),
            output: Some(count(usage, "output_tokens").unwrap_or(0)),
            reasoning: count(&written, "reasoning_tokens").unwrap_or(0),
            cache_read: count(&read, "cached_tokens").unwrap_or(0),
            cache_write: count(&read, "cache_write_tokens").unwrap_or(0),
            nano_aiu: None,
        }
        .with_cache_inside()
    }

    /// `usageMetadata` of Google's generative language.
    pub(crate) fn google(usage: &Object<'_>) -> Self {
        let reasoning = count(usage, "thoughtsTokenCount").unwrap_or(0);
        Usage {
            input: Some(count(usage, "promptTokenCount").unwrap_or(0)),
            output: Some(count(usage, "candidatesTokenCount").unwrap_or(0).saturating_add(reasoning)),
            reasoning,
            cache_read: count(usage, "cachedContentTokenCount").unwrap_or(0),
            cache_write: 0,
            nano_aiu: None,
        }
    }

    /// Servers that count what was cached beside the input say so by a sum that cannot be.
    fn with_cache_inside(mut self) -> Self {
        if let Some(input) = self.input.filter(|input| self.cache_read > *input) {
            self.input = Some(input.saturating_add(self.cache_read));
        }
        self
    }
}

/// `usage` of Anthropic's messages, whose later reports take the place of earlier ones member by member.
#[derive(Debug, Clone, Default)]
pub(crate) struct AnthropicUsage {
    known: bool,
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    /// Sums over the rounds of one answer that compacted on its way, where there were such rounds.
    rounds: Option<(u64, u64)>,
}

impl AnthropicUsage {
    pub(crate) fn report(&mut self, usage: &Object<'_>) {
        self.known = true;
        let set = |to: &mut u64, found: Option<u64>| *to = found.unwrap_or(*to);
        set(&mut self.input, count(usage, "input_tokens"));
        set(&mut self.output, count(usage, "output_tokens"));
        set(&mut self.reasoning, count(&member(usage, "output_tokens_details"), "thinking_tokens"));
        set(&mut self.cache_read, count(usage, "cache_read_input_tokens"));
        set(&mut self.cache_write, count(usage, "cache_creation_input_tokens"));
        if let Some(rounds) = usage.get("iterations").and_then(Json::as_array) {
            self.rounds = sum(&rounds);
        }
    }

    pub(crate) fn so_far(&self) -> Usage {
        if !self.known {
            return Usage::default();
        }
        let (input, output) = self.rounds.unwrap_or((self.input, self.output));
        Usage {
            input: Some(input.saturating_add(self.cache_read).saturating_add(self.cache_write)),
            output: Some(output),
            reasoning: self.reasoning,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            nano_aiu: None,
        }
    }
}

/// Input and output of all rounds; nothing if another model had to help out, whose rounds are in the totals.
fn sum(rounds: &[Json<'_>]) -> Option<(u64, u64)> {
    let rounds: Vec<_> = rounds.iter().filter_map(Json::as_object).collect();
    let is = |round: &Object<'_>, name: &str| round.text("type").is_some_and(|kind| kind == name);
    if rounds.iter().any(|round| is(round, "fallback_message")) {
        return None;
    }
    let counted = rounds.iter().filter(|round| is(round, "compaction") || is(round, "message"));
    counted.fold(None, |sum: Option<(u64, u64)>, round| {
        let (input, output) = sum.unwrap_or_default();
        let more = |name| count(round, name).unwrap_or(0);
        Some((input.saturating_add(more("input_tokens")), output.saturating_add(more("output_tokens"))))
    })
}

fn member<'j>(of: &'j Object<'_>, name: &str) -> Object<'j> {
    of.get(name).and_then(Json::as_object).unwrap_or_default()
}

/// A member that is a number, as a count.
fn count(of: &Object<'_>, name: &str) -> Option<u64> {
    let json = of.get(name).filter(|json| json.kind() == Kind::Number)?;
    // The cast clamps.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "negative ones become 0, fractions go")]
    json.as_number().map(|number| number.as_u64().unwrap_or_else(|| Some(number.as_f64()).filter(|f| f.is_finite()).unwrap_or(0.0) as u64))
}
