//! Times, durations, rates and sizes, each a type of its own. Their texts have units: `"100 ms"`, `"1 Gbps"`,
//! `"64 kB"`.
//!
//! Times count picoseconds: a packet of 1000 bytes takes 8 ns at 1 Tbps, and rounding must not accumulate to a visible
//! error in a schedule of such gaps.

#[cfg(feature = "registry")]
mod schema;
#[cfg(feature = "serde")]
mod serialize;
mod text;

use core::iter::Sum;
use core::ops::{Add, AddAssign, Div, Mul, Sub, SubAssign};

/// A moment, in picoseconds since the run began. The last one is 213 days later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(pub u64);

/// A length of time, in picoseconds. The longest is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub u64);

/// A rate in bits per second. It is neither negative nor NaN, but may be infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// A size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

const PS_PER_SECOND: f64 = 1e12;

impl Time {
    /// The beginning of the run.
    pub const ZERO: Time = Time(0);
    /// The last moment, which stands for "never".
    pub const MAX: Time = Time(u64::MAX);

    /// The time since `earlier`, or zero if `earlier` is later than `self`.
    pub fn since(self, earlier: Time) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// Seconds since the run began, for output.
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / PS_PER_SECOND
    }
}

impl Duration {
    /// A length of zero.
    pub const ZERO: Duration = Duration(0);
    /// The longest duration (213 days).
    pub const MAX: Duration = Duration(u64::MAX);

    /// A number of seconds. A negative number and NaN become zero, and a number above 213 days becomes
    /// [`Duration::MAX`].
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

    /// The duration times `factor`, from zero to [`Duration::MAX`].
    pub fn scale(self, factor: f64) -> Duration {
        Duration((self.0 as f64 * factor + 0.5) as u64)
    }
}

impl Rate {
    /// Zero bits per second.
    pub const ZERO: Rate = Rate(0.0);

    /// A rate in bits per second. A negative number and NaN become zero.
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

    /// How long `size` takes at this rate. At rate zero it is [`Duration::MAX`].
    pub fn time_for(self, size: Bytes) -> Duration {
        Duration((size.0 as f64 * (8.0 * PS_PER_SECOND / self.0) + 0.5) as u64)
    }
}

impl Bytes {
    /// The rate at which this many bytes take `time`. For a `time` of zero it is zero.
    pub fn over(self, time: Duration) -> Rate {
        if time == Duration::ZERO { Rate::ZERO } else { Rate::from_bps(self.0 as f64 * 8.0 / time.as_secs()) }
    }

    /// The size in bits.
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
        /// The difference, or zero if `other` is larger.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_of_1000_bytes_at_a_terabit_per_second_takes_8_ns() {
        assert_eq!(Rate::from_gbps(1000.0).time_for(Bytes(1000)), Duration(8_000));
        assert_eq!(Rate::ZERO.time_for(Bytes(1)), Duration::MAX);
        assert_eq!(Bytes(125).over(Duration::from_micros(1)), Rate::from_gbps(1.0));
    }
}
