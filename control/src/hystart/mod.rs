//! HyStart: slow start that ends when the round-trip time rises, so before the queue overflows.
//!
//! | [`SlowStart`] | where | what ends slow start |
//! |---|---|---|
//! | `standard` | RFC 5681 | a loss or a mark |
//! | `hystart` | [`linux`] | also a longer round trip, or half a round trip of acknowledgments back to back |
//! | `hystart++` | [`plus_plus`] | also a longer round trip, after five rounds of slower growth that did not deny it |

mod linux;
mod plus_plus;
mod round;

use crate::units::{Duration, Time};
use linux::Linux;
use plus_plus::PlusPlus;

/// How slow start ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
pub enum SlowStart {
    /// With a loss or a mark (RFC 5681).
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "standard"))]
    Standard,
    /// HyStart as in Linux.
    #[cfg_attr(feature = "serde", serde(rename = "hystart"))]
    HyStart,
    /// HyStart++ (RFC 9406).
    #[cfg_attr(feature = "serde", serde(rename = "hystart++"))]
    HyStartPlusPlus,
}

/// What watches a slow start.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HyStart {
    /// Nothing.
    Off,
    /// HyStart as in Linux.
    Linux(Linux),
    /// HyStart++.
    PlusPlus(PlusPlus),
}

impl HyStart {
    /// Before the first slow start.
    pub(crate) fn new(kind: SlowStart) -> HyStart {
        match kind {
            SlowStart::Standard => HyStart::Off,
            SlowStart::HyStart => HyStart::Linux(Linux::default()),
            SlowStart::HyStartPlusPlus => HyStart::PlusPlus(PlusPlus::default()),
        }
    }

    /// After a timeout or an idle period, before another slow start.
    pub(crate) fn restart(&mut self) {
        *self = match self {
            HyStart::Linux(_) => HyStart::Linux(Linux::default()), // Linux, bictcp_reset
            // RFC 9406, section 4.3: only the initial slow start. Later ones have a threshold to stop at.
            HyStart::Off | HyStart::PlusPlus(_) => HyStart::Off,
        };
    }

    /// An acknowledgment of `acked` packets arrives in slow start, at a window of `w` packets, after a round-trip time
    /// of `rtt`. Returns by how many packets per acknowledged packet the window may grow, 0 to 1; none ends slow start.
    pub(crate) fn on_ack(&mut self, now: Time, rtt: Duration, acked: f64, w: f64) -> Option<f64> {
        match self {
            HyStart::Off => Some(1.0),
            HyStart::Linux(linux) => (!linux.finds_end(now, rtt, w)).then_some(1.0),
            HyStart::PlusPlus(plus_plus) => plus_plus.on_ack(now, rtt, acked),
        }
    }
}

/// By how much the round-trip time has to rise above `least` before slow start ends: an eighth, but at least 4 ms and
/// at most 16 ms. (Linux: `HYSTART_DELAY_THRESH`; RFC 9406: `RttThresh`.)
fn threshold(least: Duration) -> Duration {
    Duration(least.0 / 8).clamp(Duration::from_millis(4), Duration::from_millis(16))
}

/// How many round-trip times of a round have to be known before their minimum is compared. (Linux:
/// `HYSTART_MIN_SAMPLES`; RFC 9406: `N_RTT_SAMPLE`.)
const SAMPLES: u32 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_an_eighth_within_4_to_16_ms() {
        for (least, expected) in [(10, 4), (32, 4), (64, 8), (100, 12), (128, 16), (400, 16)] {
            let rounded = threshold(Duration::from_millis(least)).as_millis().floor();
            assert_eq!(rounded, f64::from(expected), "{least} ms");
        }
    }
}
