//! How a window protocol regains its share where others have taken the path and its buffer.
//!
//! While a packet-scale protocol gives way, loss-based flows fill the buffer. A slow start behind a full buffer soon
//! meets a loss, and would end with a small window, from which congestion avoidance takes minutes to a fair share. So
//! the first losses do not end it: each reduces the window as any loss does, and once it is repaired, the window grows
//! as in slow start again. The losses of an overflow hit the other flows, too, and CUBIC keeps 0.7 of its window. So
//! flows that had the whole path have half of it after two overflows, and a third after three.

use crate::units::{Bytes, Duration, Rate};

/// After a loss, slow start ends at this share of the rate that the path has carried. CUBIC that was alone on a path
/// keeps 0.6 of it in the minute and a half after others have come (docs/thalweg.md). With all of the rate, flows that
/// share a path with others of their kind get less equal shares.
const SHARE: f64 = 0.7;

/// A slow start that goes on after losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct CatchUp {
    /// The rate at which it ends, if one is known.
    rate: Option<Rate>,
    /// After how many more losses it goes on.
    losses: u32,
    /// Whether a loss has ended it, from which it has not gone on yet.
    lost: bool,
}

impl CatchUp {
    /// To its share of the `rate` that the path has carried.
    pub(super) fn to(rate: Rate) -> CatchUp {
        CatchUp { rate: Some(rate * SHARE), losses: 3, lost: false }
    }

    /// For a flow whose first slow start was interrupted, so that it does not know what the path carries. Where the
    /// queue was short, others came with this flow or after it, and it is to get as much as they. Behind a queue it was
    /// the last, and the first loss ends its slow start, as it would have ended that of CUBIC.
    pub(super) fn of_first_slow_start(behind_queue: bool) -> CatchUp {
        CatchUp { rate: None, losses: u32::from(!behind_queue), lost: false }
    }

    /// Packets are lost.
    pub(super) fn on_loss(&mut self) {
        self.lost = true;
    }

    /// Slow start has ended at a window of `w` packets, and nothing is being repaired. Returns up to which window it
    /// goes on, or nothing if this was the end. If no loss has ended it, the round-trip time may have grown since its
    /// threshold was set, as others fill the queue as well.
    pub(super) fn go_on(&mut self, w: f64, rtt: Duration, packet: Bytes) -> Option<f64> {
        let ssthresh = self.rate.map_or(f64::INFINITY, |rate| rate.as_bps() * rtt.as_secs() / packet.as_bits());
        self.losses = self.losses.checked_sub(u32::from(core::mem::take(&mut self.lost)))?;
        (w < ssthresh).then_some(ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);
    const PACKET: Bytes = Bytes(1250);

    fn after_loss(catch_up: &mut CatchUp, w: f64, rtt: Duration) -> Option<f64> {
        catch_up.on_loss();
        catch_up.go_on(w, rtt, PACKET)
    }

    #[test]
    fn slow_start_goes_on_after_three_losses_up_to_a_share_of_the_rate() {
        let known = || CatchUp::to(Rate::from_mbps(200.0)); // 2000 packets per round trip
        let mut catch_up = known();
        let next = [700.0, 900.0, 1100.0, 1200.0].map(|w| after_loss(&mut catch_up, w, RTT));
        assert_eq!(next, [Some(1400.0), Some(1400.0), Some(1400.0), None]);
        assert_eq!(after_loss(&mut known(), 1400.0, RTT), None, "it has got there");
        assert_eq!(after_loss(&mut known(), 1400.0, RTT.scale(2.0)), Some(2800.0), "of a longer round trip");
        let mut longer = known();
        assert_eq!([0; 5].map(|_| longer.go_on(1000.0, RTT, PACKET)), [Some(1400.0); 5], "no loss has ended it");
    }

    #[test]
    fn a_first_slow_start_goes_on_after_one_loss_unless_others_were_there_before() {
        let mut alone = CatchUp::of_first_slow_start(false);
        assert_eq!([0; 2].map(|_| after_loss(&mut alone, 700.0, RTT)), [Some(f64::INFINITY), None]);
        assert_eq!(after_loss(&mut CatchUp::of_first_slow_start(true), 700.0, RTT), None);
    }
}
