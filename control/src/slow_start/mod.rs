//! What ends slow start before the queue overflows.
//!
//! | [`SlowStart`] | where | what ends slow start |
//! |---|---|---|
//! | `standard` | RFC 5681 | a loss or a mark |
//! | `hystart` | [`linux`] | also a longer round trip, or half a round trip of acknowledgments back to back |
//! | `hystart++` | [`plus_plus`] | also a longer round trip, after five rounds of slower growth that did not deny it |
//! | `search` | [`search`] | also that less is delivered than was sent a round trip before |

mod linux;
mod plus_plus;
mod round;
mod search;

use crate::roles::Ack;
use crate::units::{Bytes, Duration, Time};
use alloc::boxed::Box;
use linux::Linux;
use plus_plus::PlusPlus;
use search::Search;

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
    /// SEARCH (draft-chung-ccwg-search).
    #[cfg_attr(feature = "serde", serde(rename = "search"))]
    Search,
}

/// What watches a slow start.
#[derive(Clone, Debug)]
pub(crate) enum Watch {
    /// Nothing.
    Off,
    /// HyStart as in Linux.
    Linux(Linux),
    /// HyStart++.
    PlusPlus(PlusPlus),
    /// SEARCH, which remembers hundreds of bytes.
    Search(Box<Search>),
}

impl Watch {
    /// Before the first slow start.
    ///
    /// The host is `paced` if it spaces packets.
    pub(crate) fn new(kind: SlowStart, paced: bool) -> Watch {
        match kind {
            SlowStart::Standard => Watch::Off,
            SlowStart::HyStart => Watch::Linux(Linux::new(paced)),
            SlowStart::HyStartPlusPlus => Watch::PlusPlus(PlusPlus::new(paced)),
            SlowStart::Search => Watch::Search(Box::default()),
        }
    }

    /// After a timeout or an idle period, before another slow start.
    pub(crate) fn restart(&mut self) {
        match self {
            Watch::Linux(linux) => linux.restart(), // Linux, bictcp_reset
            // RFC 9406, section 4.3: only the initial slow start. Later ones have a threshold to stop at.
            Watch::Off | Watch::PlusPlus(_) => *self = Watch::Off,
            Watch::Search(search) => **search = Search::default(),
        };
    }

    /// A reduction was undone, so that slow start goes on. SEARCH begins to count anew, because it has not been told of
    /// what arrived meanwhile.
    pub(crate) fn go_on(&mut self) {
        if let Watch::Search(search) = self {
            **search = Search::default();
        }
    }

    /// Whether there were signs of a queue, which slow down slow start before it ends.
    pub(crate) fn has_seen_queue(&self) -> bool {
        matches!(self, Watch::PlusPlus(plus_plus) if plus_plus.is_conservative())
    }

    /// An acknowledgment arrives in slow start after a round-trip time of `rtt`, at a window of `w` packets, which have
    /// `packet` bytes. Returns by how many packets per acknowledged packet the window may grow, 0 to 1; none ends slow
    /// start.
    pub(crate) fn on_ack(&mut self, now: Time, rtt: Duration, ack: &Ack, w: f64, packet: Bytes) -> Option<f64> {
        match self {
            Watch::Off => Some(1.0),
            // The round-trip times of a flow that does not use its window do not tell when the path is full, and those
            // of packets that another protocol sent in a hybrid neither. SEARCH has to know of all that arrives.
            Watch::Linux(_) | Watch::PlusPlus(_) if ack.app_limited => Some(1.0),
            Watch::Linux(linux) => (!linux.finds_end(now, rtt, w)).then_some(1.0),
            Watch::PlusPlus(plus_plus) => plus_plus.on_ack(now, rtt, ack.acked.0 as f64 / packet.0 as f64),
            Watch::Search(search) => (!search.finds_end(now, rtt, ack)).then_some(1.0),
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
    fn after_an_undone_reduction_search_counts_anew_and_hystart_plus_plus_goes_on() {
        let rtt = Duration::from_millis(100);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let ack = Ack { acked: Bytes(1000), in_flight: Bytes(100_000), ..Ack::default() };
        // Deliveries that do not grow while more and more is in flight end slow start.
        let end = |undone: Option<u64>| {
            let mut watch = Watch::new(SlowStart::Search, false);
            (0..3000u64).find(|&ms| {
                if undone == Some(ms) {
                    watch.go_on();
                }
                let ack = Ack { in_flight: Bytes(1000 * (100 + 2 * ms)), ..ack };
                watch.on_ack(at(ms), rtt, &ack, 10.0, Bytes(1000)).is_none()
            })
        };
        let first = end(None).expect("slow start ends");
        assert!(end(Some(first - 1)).is_none_or(|later| later > first + 300), "a window has to pass first");

        let mut watch = Watch::new(SlowStart::HyStartPlusPlus, false);
        watch.go_on();
        assert!(matches!(watch, Watch::PlusPlus(_)), "and not off, as after a timeout");
    }

    /// HyStart's rounds and trains are those of a flow that uses its window.
    #[test]
    fn acknowledgments_of_a_flow_that_does_not_use_its_window_end_no_slow_start() {
        let end = |kind, app_limited| {
            let mut watch = Watch::new(kind, false);
            (0..10_000u64).find(|&ms| {
                let (now, rtt) = (Time::ZERO + Duration::from_millis(ms), Duration::from_millis(100 + ms / 4));
                let ack = Ack { acked: Bytes(1000), app_limited, ..Ack::default() };
                watch.on_ack(now, rtt, &ack, 100.0, Bytes(1000)).is_none()
            })
        };
        for kind in [SlowStart::HyStart, SlowStart::HyStartPlusPlus] {
            assert!(end(kind, false).is_some(), "{kind:?}: the round-trip time rises");
            assert_eq!(end(kind, true), None, "{kind:?}");
        }
    }

    #[test]
    fn the_threshold_is_an_eighth_within_4_to_16_ms() {
        for (least, expected) in [(10, 4), (32, 4), (64, 8), (100, 12), (128, 16), (400, 16)] {
            let rounded = threshold(Duration::from_millis(least)).as_millis().floor();
            assert_eq!(rounded, f64::from(expected), "{least} ms");
        }
    }
}
