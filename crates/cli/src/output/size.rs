//! Sizes as people read them.

/// `999 bytes`, `1.2 MB`: the unit in which the number, rounded, is below a thousand.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return super::count(bytes, "byte");
    }
    let mut value = bytes as f64 / 1_000.0;
    let mut unit = 0;
    // What rounds to a thousand is one of the next.
    while value >= 999.95 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_follows_the_rounded_number() {
        for (bytes, told) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (999_949, "999.9 KB"),
            (999_950, "1.0 MB"),
            (1_000_000, "1.0 MB"),
            (999_949_999, "999.9 MB"),
            (999_950_000, "1.0 GB"),
            (2_500_000_000_000, "2.5 TB"),
            (5_000_000_000_000_000, "5000.0 TB"),
        ] {
            assert_eq!(size(bytes), told);
        }
    }
}
