//! How a window protocol regains its share where others have taken the path and its buffer.
//!
//! While a packet-scale protocol gives way, loss-based flows fill the buffer. A slow start behind a full buffer soon
//! meets a loss, and would end with a small window, from which congestion avoidance takes minutes to a fair share. So
//! the first losses do not end it: each reduces the window as any loss does, and then the window grows as in slow start
//! again. The losses of an overflow hit the other flows, too, and CUBIC keeps 0.7 of its window. So flows that had the
//! whole path have half of it after two losses, and a third after three.

use crate::units::{Bytes, Duration, Rate};

/// Slow start ends at this share of the rate that the path has carried. CUBIC that was alone on a path keeps 0.6 of it
/// in the minute and a half after another flow has come (`bench/competition`). With all of the rate, flows that share
/// a path with others of their kind get less equal shares.
const SHARE: f64 = 0.7;

/// A slow start that goes on after losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct CatchUp {
    /// The rate at which it ends, if one is known.
    rate: Option<Rate>,
    /// After how many more losses it goes on.
    losses: u32,
}

impl CatchUp {
    /// To its share of the `rate` that the path has carried.
    pub(super) fn to(rate: Rate) -> CatchUp {
        CatchUp { rate: Some(rate * SHARE), losses: 3 }
    }

    /// For a flow whose first slow start was interrupted, so that it does not know what the path carries. Where the
    /// queue was short, nobody was there before this flow, and it is to get as much as those that came with it. Behind a
    /// queue it was the last, and the first loss ends its slow start, as it would have ended that of CUBIC.
    pub(super) fn of_first_slow_start(behind_queue: bool) -> CatchUp {
        CatchUp { rate: None, losses: u32::from(!behind_queue) }
    }

    /// A loss has ended slow start at a window of `w` packets, and is repaired. Returns up to which window slow start
    /// goes on, or nothing if this was the end.
    pub(super) fn after_loss(&mut self, w: f64, rtt: Duration, packet: Bytes) -> Option<f64> {
        let ssthresh = self.rate.map_or(f64::INFINITY, |rate| rate.as_bps() * rtt.as_secs() / packet.as_bits());
        self.losses = self.losses.checked_sub(1)?;
        (w < ssthresh).then_some(ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);
    const PACKET: Bytes = Bytes(1250);

    #[test]
    fn slow_start_goes_on_up_to_the_rate_that_the_path_carried() {
        let mut catch_up = CatchUp::to(Rate::from_mbps(200.0)); // 2000 packets per round trip
        let next = [700.0, 900.0, 1100.0, 1200.0].map(|w| catch_up.after_loss(w, RTT, PACKET));
        assert_eq!(next, [Some(1400.0), Some(1400.0), Some(1400.0), None], "after three losses, and not after four");
        assert_eq!(CatchUp::to(Rate::from_mbps(200.0)).after_loss(1400.0, RTT, PACKET), None, "it has got there");
        let longer = CatchUp::to(Rate::from_mbps(200.0)).after_loss(1400.0, RTT.scale(2.0), PACKET);
        assert_eq!(longer, Some(2800.0), "of a longer round trip");
    }

    #[test]
    fn a_first_slow_start_goes_on_after_one_loss_unless_others_were_there_before() {
        let mut alone = CatchUp::of_first_slow_start(false);
        assert_eq!([0; 2].map(|_| alone.after_loss(700.0, RTT, PACKET)), [Some(f64::INFINITY), None]);
        assert_eq!(CatchUp::of_first_slow_start(true).after_loss(700.0, RTT, PACKET), None);
    }
}
