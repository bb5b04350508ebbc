//! Times, rates and sizes as texts with a unit.

use super::{Bytes, Duration, Rate, Time};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

/// Splits a text like `"12.5 ms"` into its number and its unit.
fn number_and_unit(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let is_exponent = |i: usize, c: char| {
        matches!(c, 'e' | 'E')
            && text[..i].ends_with(|c: char| c.is_ascii_digit())
            && text[i + 1..].trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
    };
    let end = text
        .char_indices()
        .find(|&(i, c)| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-' | '_') || is_exponent(i, c)))
        .map_or(text.len(), |(i, _)| i);
    let (number, unit) = text.split_at(end);
    match number.replace('_', "").parse::<f64>() {
        Ok(n) if n.is_finite() => Ok((n, unit.trim())),
        _ => Err(format!("`{text}` does not start with a number")),
    }
}

/// Reads a number followed by one of `units`, each a name and its factor. Errors say what is wrong and how to write
/// `what`, with `example`.
fn parse(text: &str, units: &[(&str, f64)], what: &str, example: &str) -> Result<f64, String> {
    let (number, unit) = number_and_unit(text).map_err(|e| format!("{e}; write {what} like \"{example}\""))?;
    let Some(&(_, factor)) = units.iter().find(|(name, _)| *name == unit) else {
        let names: Vec<_> = units.iter().map(|(name, _)| *name).collect();
        let problem = if unit.is_empty() { "needs a unit".to_string() } else { format!("has the unit `{unit}`") };
        return Err(format!("`{}` {problem}; write {what} like \"{example}\", in {}", text.trim(), names.join(", ")));
    };
    if number < 0.0 {
        return Err(format!("`{}` is negative; {what} must be zero or more, like \"{example}\"", text.trim()));
    }
    Ok(number * factor)
}

/// Prints `value` in the largest of `units` in which it is at least 1, or else in the first of them, so that reading
/// the text gives the same value.
fn show(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    let (name, factor) =
        units.iter().filter(|(_, factor)| value >= *factor).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(&units[0]);
    write!(f, "{} {}", value / factor, name)
}

pub(super) const TIMES: &[(&str, f64)] =
    &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12), ("min", 60e12), ("h", 3600e12)];
pub(super) const RATES: &[(&str, f64)] = &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)];
pub(super) const SIZES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1048576.0),
    ("GiB", 1073741824.0),
    ("TiB", 1099511627776.0),
];

/// How many units of each table are used for output: up to seconds, Tbps and TB.
const SHOWN: usize = 5;

/// The largest number of picoseconds, bits per second or bytes that a text may give, about 2^63: the sum of two larger
/// numbers would overflow a u64.
const LARGEST: f64 = 9.2e18;

macro_rules! as_text {
    ($($unit:ident, $units:ident, $what:literal, $example:literal, $from:expr, $to:expr;)*) => {$(
        impl $unit {
            /// The quantity, as error messages call it.
            pub(super) const WHAT: &str = $what;
            /// A text with a unit, for error messages.
            pub(super) const EXAMPLE: &str = $example;
        }
        impl FromStr for $unit {
            type Err = String;
            fn from_str(text: &str) -> Result<$unit, String> {
                let value = parse(text, $units, $unit::WHAT, $unit::EXAMPLE)?;
                if value > LARGEST {
                    return Err(format!("`{}` is too large", text.trim()));
                }
                Ok($from(value))
            }
        }
        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, $to(*self), &$units[..SHOWN])
            }
        }
    )*};
}
as_text! {
    Duration, TIMES, "a time", "100 ms", |v: f64| Duration((v + 0.5) as u64), |d: Duration| d.0 as f64;
    Rate, RATES, "a rate", "1 Gbps", Rate::from_bps, Rate::as_bps;
    Bytes, SIZES, "a size", "64 kB", |v: f64| Bytes((v + 0.5) as u64), |b: Bytes| b.0 as f64;
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for text in ["100 ms", "1.5 s", "250 us", "1 ps", "0 ps"] {
            assert_eq!(text.parse::<Duration>().unwrap().to_string(), text);
        }
        for text in ["1 Gbps", "2.5 Gbps", "800 Mbps", "64 kbps", "0 bps"] {
            assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
        }
        assert_eq!("10Gbps".parse::<Rate>().unwrap(), Rate::from_gbps(10.0));
        assert_eq!("1e3 Mbps".parse::<Rate>().unwrap(), Rate::from_gbps(1.0));
        assert_eq!("1 MiB".parse::<Bytes>().unwrap(), Bytes(1 << 20));
        assert_eq!("2 min".parse::<Duration>().unwrap(), Duration::from_secs(120.0));
    }

    #[test]
    fn bad_texts_say_what_to_write() {
        for (text, part) in [
            ("-1 Gbps", "negative"),
            ("1 Gb", "has the unit `Gb`"),
            ("1000", "needs a unit"),
            ("fast", "does not start with a number"),
            ("", "does not start with a number"),
            ("1e400 bps", "does not start with a number"),
            ("nan bps", "does not start with a number"),
        ] {
            let error = text.parse::<Rate>().unwrap_err();
            assert!(error.contains(part) && error.contains("1 Gbps"), "{text}: {error}");
        }
        assert!("1e30 h".parse::<Duration>().unwrap_err().contains("too large"));
    }
}
