//! Sizes as Docker reads them: `16g`, `1.5GiB`, `1024`.

use crate::error::Error;

/// The units of Docker, each 1024 times the one before.
const UNITS: [&str; 5] = ["", "k", "m", "g", "t"];

/// The bytes that a text stands for.
fn bytes(text: &str) -> Option<u64> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = &text[..text.len() - unit.len()];
    let number = number.parse::<f64>().ok().filter(|_| number.starts_with(|c: char| c.is_ascii_digit()))?;
    let unit = unit.to_ascii_lowercase();
    let unit = unit.strip_suffix('b').unwrap_or(&unit);
    let unit = unit.strip_suffix('i').unwrap_or(unit);
    let power = UNITS.iter().position(|known| *known == unit)?;
    let bytes = number * 1024_f64.powi(i32::try_from(power).ok()?);
    // Docker takes 0 for its own 64 MB, and no size above what a signed number holds.
    ((1.0..9e18).contains(&bytes)).then_some(bytes as u64)
}

/// A size in one spelling, whichever was given: `16g` for `16384M`.
pub(crate) fn canonical(text: &str) -> Result<String, Error> {
    let mut number = bytes(text).ok_or_else(|| Error::BadSize { size: text.to_owned() })?;
    let mut unit = 0;
    while number.is_multiple_of(1024) && unit + 1 < UNITS.len() {
        number /= 1024;
        unit += 1;
    }
    Ok(format!("{number}{}", UNITS[unit]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_has_one_spelling() {
        for (given, expected) in [
            ("16g", "16g"),
            ("16G", "16g"),
            ("16384M", "16g"),
            ("1.5gb", "1536m"),
            ("1GiB", "1g"),
            ("1024", "1k"),
            ("1000", "1000"),
            ("2048t", "2048t"),
        ] {
            assert_eq!(canonical(given).unwrap(), expected, "{given}");
        }
        for bad in ["", "g", "-1g", "lots", "16 apples", "1.2.3g", "16x", "0", "0g", "99999999999999999999g"] {
            assert!(canonical(bad).is_err(), "{bad}");
        }
    }
}
