//! Numbers that keep their spelling.

use std::borrow::Cow;
use std::fmt;

/// A JSON number as it was spelled. `1`, `1.0` and `1e0` are three different texts of one value.
///
/// Equality is equality of the spelling; compare values with [`Number::as_f64`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Number<'a>(Cow<'a, str>);

impl<'a> Number<'a> {
    pub(crate) fn trusted(text: impl Into<Cow<'a, str>>) -> Self {
        Number(text.into())
    }

    /// The spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value as JavaScript sees it; infinite for a number like `1e999`.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// The value if it is a whole number that fits, however it is spelled (`3`, `3.0`, `3e0`).
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        if let Ok(whole) = self.0.parse() {
            return Some(whole);
        }
        let value = self.as_f64();
        // Up to 2^53 each whole number has a float of its own; beyond, the spelling decides and was tried above.
        (value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0).then_some(value as i64)
    }

    /// The same for whole numbers of zero and more.
    #[must_use]
    pub fn as_u64(&self) -> Option<u64> {
        self.0.parse().ok().or_else(|| self.as_i64().and_then(|value| u64::try_from(value).ok()))
    }

    /// A number of its own text.
    #[must_use]
    pub fn into_static(self) -> Number<'static> {
        Number(Cow::Owned(self.0.into_owned()))
    }

    /// Spelled as JavaScript prints it: shortest digits that read back the same, an exponent from 1e21 on and below 1e-6.
    /// What JSON cannot say (NaN, infinities) is written as `JSON.stringify` does elsewhere, as 0: callers check first.
    #[must_use]
    pub fn from_f64(value: f64) -> Number<'static> {
        Number(Cow::Owned(javascript(value)))
    }
}

impl From<i64> for Number<'static> {
    fn from(value: i64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl From<u64> for Number<'static> {
    fn from(value: u64) -> Self {
        Number(Cow::Owned(value.to_string()))
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn javascript(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    // Rust's shortest form, taken apart: "-1.2345e-7" into sign, digits and exponent.
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let point = exponent.parse::<i32>().unwrap_or(0) + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let body = if (count..=21).contains(&point) {
        digits.clone() + &"0".repeat((point - count).unsigned_abs() as usize)
    } else if (1..=21).contains(&point) {
        let (whole, fraction) = digits.split_at(point.unsigned_abs() as usize);
        format!("{whole}.{fraction}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", "0".repeat(point.unsigned_abs() as usize))
    } else {
        let (first, rest) = digits.split_at(1);
        let exponent = point - 1;
        let sign = if exponent < 0 { '-' } else { '+' };
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{sign}{}", exponent.abs())
    };
    if value < 0.0 { format!("-{body}") } else { body }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_spelled_as_javascript_prints_them() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.5, "-1.5"),
            (0.1 + 0.2, "0.30000000000000004"),
            (123_456_789.0, "123456789"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.25e25, "1.25e+25"),
            (0.000_001, "0.000001"),
            (0.000_000_1, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (0.017_25, "0.01725"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
        ] {
            assert_eq!(javascript(value), text);
        }
    }

    #[test]
    fn whole_numbers_are_recognised_in_every_spelling() {
        for (text, value) in
            [("3", Some(3)), ("3.0", Some(3)), ("3e2", Some(300)), ("3.5", None), ("-7", Some(-7)), ("1e999", None)]
        {
            assert_eq!(Number::trusted(text).as_i64(), value, "{text}");
        }
        assert_eq!(Number::trusted("12345678901234567890").as_i64(), None);
        assert_eq!(Number::trusted("12345678901234567890").as_u64(), Some(12_345_678_901_234_567_890));
        assert_eq!(Number::trusted("-1").as_u64(), None);
    }
}
