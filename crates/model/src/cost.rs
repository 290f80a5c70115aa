//! What an answer costs, in US dollars.

use crate::usage::Usage;
use annalist_schema::raw::Kind;
use annalist_schema::{Json, Object};
use bigdecimal::BigDecimal;
use bigdecimal::rounding::RoundingMode;
use std::num::NonZeroU64;
use std::str::FromStr as _;

/// US dollars for a million tokens. What is not known costs nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Rates {
    /// Input that came from no cache.
    pub input: f64,
    /// Output, thoughts included.
    pub output: f64,
    /// Input from a cache.
    pub cache_read: f64,
    /// Input into a cache.
    pub cache_write: f64,
}

/// Rates of requests whose whole input is larger than a number of tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tier {
    /// Beyond this.
    pub over: f64,
    /// These.
    pub rates: Rates,
}

/// What a model costs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices {
    /// The usual rates.
    pub base: Rates,
    /// Those of large requests; the largest that is exceeded counts.
    pub tiers: Vec<Tier>,
    /// Those of more than 200,000 tokens of input, where no tier is exceeded.
    pub over_200k: Option<Rates>,
}

impl Prices {
    /// Reads `cost` of a model as models.dev and `opencode.json` have it: `input`, `output`, `cache_read`, `cache_write`,
    /// `tiers` and `context_over_200k`. What is missing or no number is 0.
    #[must_use]
    pub fn parse(cost: &Object<'_>) -> Self {
        let tier = |json: &Json<'_>| {
            let object = json.as_object()?;
            let tier = object.get("tier")?.as_object()?;
            let by_context = tier.text("type").is_none_or(|kind| kind == "context");
            by_context.then(|| Tier { over: number(&tier, "size"), rates: Rates::parse(&object) })
        };
        Prices {
            base: Rates::parse(cost),
            tiers: cost.get("tiers").and_then(Json::as_array).unwrap_or_default().iter().filter_map(tier).collect(),
            over_200k: cost.get("context_over_200k").and_then(Json::as_object).map(|object| Rates::parse(&object)),
        }
    }

    /// The rates of an answer (reference 3.5).
    #[must_use]
    pub fn rates(&self, usage: &Usage) -> &Rates {
        #[expect(clippy::cast_precision_loss, reason = "as the reference compares them")]
        let input = usage.input.unwrap_or(0) as f64;
        let tier = self.tiers.iter().filter(|tier| input > tier.over).max_by(|one, other| one.over.total_cmp(&other.over));
        match (tier, &self.over_200k) {
            (Some(tier), _) => &tier.rates,
            (None, Some(rates)) if input > 200_000.0 => rates,
            _ => &self.base,
        }
    }

    /// What an answer costs: the number that the reference stores, to the last bit. Never negative.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> f64 {
        if let Some(units) = usage.nano_aiu {
            // A hundred billionths of Copilot's units are one dollar.
            return plain(&rounded(scaled(decimal(units), 11)));
        }
        let rates = self.rates(usage);
        let output = usage.output.unwrap_or(0).saturating_sub(usage.reasoning);
        let input = usage.input.unwrap_or(0).saturating_sub(usage.cache_read).saturating_sub(usage.cache_write);
        // Thoughts are last because the order of a sum with rounding counts.
        let parts = [
            (input, rates.input),
            (output, rates.output),
            (usage.cache_read, rates.cache_read),
            (usage.cache_write, rates.cache_write),
            (usage.reasoning, rates.output),
        ];
        let sum = parts.into_iter().fold(BigDecimal::default(), |sum, (tokens, rate)| {
            rounded(sum + rounded(scaled(rounded(BigDecimal::from(tokens) * decimal(rate)), 6)))
        });
        plain(&sum).max(0.0)
    }
}

impl Rates {
    fn parse(of: &Object<'_>) -> Self {
        Rates {
            input: number(of, "input"),
            output: number(of, "output"),
            cache_read: number(of, "cache_read"),
            cache_write: number(of, "cache_write"),
        }
    }
}

fn number(of: &Object<'_>, name: &str) -> f64 {
    let json = of.get(name).filter(|json| json.kind() == Kind::Number);
    json.and_then(|json| json.as_number().map(|number| number.as_f64())).filter(|number| number.is_finite()).unwrap_or(0.0)
}

/// The decimal number that is written the shortest of those that are this binary one, as JavaScript would print it.
fn decimal(number: f64) -> BigDecimal {
    // `{:e}` of a finite number is always a decimal; anything else costs nothing.
    BigDecimal::from_str(&format!("{number:e}")).unwrap_or_default()
}

/// Divided by a power of ten.
fn scaled(number: BigDecimal, digits: i64) -> BigDecimal {
    let (int, scale) = number.into_bigint_and_scale();
    BigDecimal::new(int, scale.saturating_add(digits))
}

/// The reference's decimals have 20 significant digits, halves rounded away from zero.
fn rounded(number: BigDecimal) -> BigDecimal {
    const DIGITS: NonZeroU64 = NonZeroU64::MIN.saturating_add(19);
    number.with_precision_round(DIGITS, RoundingMode::HalfUp)
}

/// The nearest binary number.
fn plain(number: &BigDecimal) -> f64 {
    let (int, scale) = number.as_bigint_and_scale();
    format!("{int}e{}", scale.saturating_neg()).parse().unwrap_or(0.0)
}
