//! Time, durations, rates and sizes, as types of their own, read from and printed as the field writes them: `"100 ms"`,
//! `"1 Gbps"`, `"64 kB"`.
//!
//! Time counts picoseconds: a 1000-byte packet at 1 Tbps lasts 8 ns, and rounding must not show in a schedule of such gaps.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};
use std::str::FromStr;

/// A moment, in picoseconds since the run began; the last one is 213 days later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Time(pub u64);

/// A length of time, in picoseconds; up to 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// A rate in bits per second; not negative, not NaN.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

const PS_PER_SECOND: f64 = 1e12;

impl Time {
    /// The beginning of the run.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens.
    pub const MAX: Time = Time(u64::MAX);

    /// The time since `earlier`, or zero if that is later than `self`.
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the run began, for output.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration there is (213 days).
    pub const MAX: Duration = Duration(u64::MAX);

    /// A number of seconds; negative and NaN become zero, and what is too long becomes [`Duration::MAX`].
    pub fn from_secs(seconds: f64) -> Duration {
        Duration((seconds * PS_PER_SECOND + 0.5) as u64)
    }

    /// A whole number of milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms * 1_000_000_000)
    }

    /// A whole number of microseconds.
    pub const fn from_micros(us: u64) -> Duration {
        Duration(us * 1_000_000)
    }

    /// Seconds, for arithmetic with other measured quantities and for output.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND
    }

    /// Milliseconds, for output.
    pub fn as_millis(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// This many times as long.
    pub fn scale(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Rate {
    /// Nothing moves.
    pub const ZERO: Rate = Rate(0.0);

    /// A rate in bits per second; negative and NaN become zero.
    pub const fn from_bps(bps: f64) -> Rate {
        Rate(if bps > 0.0 { bps } else { 0.0 })
    }

    /// A rate in units of 10^6 bits per second.
    pub const fn from_mbps(mbps: f64) -> Rate {
        Rate::from_bps(mbps * 1e6)
    }

    /// A rate in units of 10^9 bits per second.
    pub const fn from_gbps(gbps: f64) -> Rate {
        Rate::from_bps(gbps * 1e9)
    }

    /// Bits per second.
    pub const fn as_bps(self) -> f64 {
        self.0
    }

    /// 10^6 bits per second.
    pub const fn as_mbps(self) -> f64 {
        self.0 / 1e6
    }

    /// How long `size` takes at this rate; [`Duration::MAX`] at rate zero.
    pub fn time_for(self, size: Bytes) -> Duration {
        Duration((size.0 as f64 * (8.0 * PS_PER_SECOND / self.0) + 0.5) as u64)
    }
}

impl Bytes {
    /// The mean rate that moves this much in `time`; zero if no time passes.
    pub fn over(self, time: Duration) -> Rate {
        if time == Duration::ZERO { Rate::ZERO } else { Rate::from_bps(self.0 as f64 * 8.0 / time.as_secs()) }
    }

    /// Bits.
    pub fn as_bits(self) -> f64 {
        self.0 as f64 * 8.0
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, d: Duration) -> Time {
        Time(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Duration> for Time {
    fn add_assign(&mut self, d: Duration) {
        *self = *self + d;
    }
}

impl Sub<Duration> for Time {
    type Output = Time;
    fn sub(self, d: Duration) -> Time {
        Time(self.0.saturating_sub(d.0))
    }
}

impl Mul<f64> for Rate {
    type Output = Rate;
    fn mul(self, factor: f64) -> Rate {
        Rate::from_bps(self.0 * factor)
    }
}

impl Div<Rate> for Rate {
    type Output = f64;
    fn div(self, other: Rate) -> f64 {
        self.0 / other.0
    }
}

macro_rules! sums {
    ($($unit:ident: $add:expr, $sub:expr;)*) => {$(
        impl Add for $unit {
            type Output = $unit;
            fn add(self, other: $unit) -> $unit {
                $unit($add(self.0, other.0))
            }
        }
        impl AddAssign for $unit {
            fn add_assign(&mut self, other: $unit) {
                *self = *self + other;
            }
        }
        /// Not below zero.
        impl Sub for $unit {
            type Output = $unit;
            fn sub(self, other: $unit) -> $unit {
                $unit($sub(self.0, other.0))
            }
        }
        impl SubAssign for $unit {
            fn sub_assign(&mut self, other: $unit) {
                *self = *self - other;
            }
        }
        impl Sum for $unit {
            fn sum<I: Iterator<Item = $unit>>(all: I) -> $unit {
                all.fold($unit::default(), |a, b| a + b)
            }
        }
    )*};
}
sums! {
    Duration: u64::saturating_add, u64::saturating_sub;
    Bytes: u64::saturating_add, u64::saturating_sub;
    Rate: |a: f64, b: f64| a + b, |a: f64, b: f64| (a - b).max(0.0);
}

/// Splits `"12.5 ms"` into its number and its unit.
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

/// Reads a number with one of `units`, each a name and its factor.
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

/// Prints `value` with the largest of `units` in which it is at least 1 (the smallest for less), so that it reads back as it was.
fn show(f: &mut fmt::Formatter<'_>, value: f64, units: &[(&str, f64)]) -> fmt::Result {
    let (name, factor) =
        units.iter().filter(|(_, factor)| value >= *factor).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or(&units[0]);
    write!(f, "{} {}", value / factor, name)
}

const TIMES: &[(&str, f64)] =
    &[("ps", 1.0), ("ns", 1e3), ("us", 1e6), ("ms", 1e9), ("s", 1e12), ("min", 60e12), ("h", 3600e12)];
const RATES: &[(&str, f64)] = &[("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)];
const SIZES: &[(&str, f64)] = &[
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

/// The largest number of picoseconds or bytes that a text may ask for: 2^63, past which adding two would overflow.
const LARGEST: f64 = 9.2e18;

macro_rules! as_text {
    ($($unit:ident, $units:ident, $what:literal, $example:literal, $shown:expr, $from:expr, $to:expr;)*) => {$(
        impl FromStr for $unit {
            type Err = String;
            fn from_str(text: &str) -> Result<$unit, String> {
                let value = parse(text, $units, $what, $example)?;
                if value > LARGEST {
                    return Err(format!("`{}` is too large", text.trim()));
                }
                Ok($from(value))
            }
        }
        impl fmt::Display for $unit {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                show(f, $to(*self), &$units[..$shown])
            }
        }
        impl Serialize for $unit {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() { serializer.collect_str(self) } else { self.0.serialize(serializer) }
            }
        }
        impl<'de> Deserialize<'de> for $unit {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$unit, D::Error> {
                if !deserializer.is_human_readable() {
                    return Deserialize::deserialize(deserializer).map($unit);
                }
                deserializer.deserialize_any(Text($what, $example))?.parse().map_err(de::Error::custom)
            }
        }
        impl JsonSchema for $unit {
            fn schema_name() -> Cow<'static, str> {
                stringify!($unit).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let units: Vec<&str> = $units.iter().map(|(name, _)| *name).collect();
                json_schema!({
                    "type": "string",
                    "description": format!("{} with its unit, like \"{}\"", $what, $example),
                    "pattern": format!("^\\s*\\+?[0-9][0-9_]*(\\.[0-9]+)?([eE][+-]?[0-9]+)?\\s*({})\\s*$", units.join("|")),
                    "examples": [$example],
                })
            }
        }
    )*};
}
as_text! {
    Duration, TIMES, "a time", "100 ms", 5, |v: f64| Duration((v + 0.5) as u64), |d: Duration| d.0 as f64;
    Rate, RATES, "a rate", "1 Gbps", 5, Rate::from_bps, Rate::as_bps;
    Bytes, SIZES, "a size", "64 kB", 5, |v: f64| Bytes((v + 0.5) as u64), |b: Bytes| b.0 as f64;
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Duration(self.0).fmt(f)
    }
}

/// Accepts a text with a unit; says what to write when it gets a bare number instead.
struct Text(&'static str, &'static str);

impl<'de> de::Visitor<'de> for Text {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with its unit in quotes, like \"{}\"", self.0, self.1)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_string())
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

    #[test]
    fn a_packet_at_a_terabit_takes_8_ns() {
        assert_eq!(Rate::from_gbps(1000.0).time_for(Bytes(1000)), Duration(8_000));
        assert_eq!(Rate::ZERO.time_for(Bytes(1)), Duration::MAX);
        assert_eq!(Bytes(125).over(Duration::from_micros(1)), Rate::from_gbps(1.0));
    }
}
