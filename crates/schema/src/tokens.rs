//! Token counts.

use crate::field::Count;

object! {
    /// Tokens of one step or of a sum of steps. Each kind counts what no other counts: `input` is the part of the input
    /// that came from no cache, `output` is without `reasoning`.
    ///
    /// The reference takes any finite number and real files hold negative and fractional ones; those read, are reported by
    /// `problems()`, and clamp in sums ([`Count::clamped`]).
    pub struct TokenUsage {
        /// The provider's own sum, which may differ from the sum of the others; absent where it gave none.
        optional "total" total / set_total: Count<'_>,
        /// Uncached input.
        required "input" input / set_input: Count<'_>,
        /// Output without reasoning.
        required "output" output / set_output: Count<'_>,
        /// Reasoning.
        required "reasoning" reasoning / set_reasoning: Count<'_>,
        /// Cached input.
        required "cache" cache / set_cache: CacheTokens<'_>,
    }
}

object! {
    /// Tokens read from and written to the provider's cache.
    pub struct CacheTokens {
        /// Read.
        required "read" read / set_read: Count<'_>,
        /// Written.
        required "write" write / set_write: Count<'_>,
    }
}

impl TokenUsage<'static> {
    /// Counts without a total.
    #[must_use]
    pub fn new(input: u64, output: u64, reasoning: u64, cache_read: u64, cache_write: u64) -> Self {
        let mut cache = CacheTokens::default();
        cache.set_read(cache_read.into()).set_write(cache_write.into());
        let mut tokens = TokenUsage::default();
        tokens.set_input(input.into()).set_output(output.into()).set_reasoning(reasoning.into()).set_cache(cache);
        tokens
    }

    /// Nothing used yet.
    #[must_use]
    pub fn zero() -> Self {
        Self::new(0, 0, 0, 0, 0)
    }
}
