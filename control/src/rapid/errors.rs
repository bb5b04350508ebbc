//! Losses that no queue explains.
//!
//! RAPID halves its rate after any loss. With transmission errors of one packet in a million, that is five times per second at 40 Gbps,
//! and each costs it 0.2 s of the link. But who hears of congestion in every p-stream need not infer it from errors. So `thalweg`
//! repairs a loss and goes on if there was no queue that could have overflowed: if the round-trip time beside the loss was far from the
//! longest ever seen (the spike scheme: Cen, Cosman and Voelker, "End-to-End Differentiation of Congestion and Wireless Losses",
//! IEEE/ACM Transactions on Networking 11(5), 2003). A buffer so small that its delay does not show loses packets in every stream: too
//! many to be errors.

use crate::roles::Ack;
use crate::units::{Bytes, Duration};

/// Tells transmission errors from a full buffer.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The largest share of packets whose loss errors explain.
    most: f64,
    /// Share of the packets that is lost, over about [`MEMORY`] of them.
    share: f64,
    shortest: Duration,
    longest: Duration,
}

/// Packets that the share of losses is a mean over: ten streams of 90.
const MEMORY: f64 = 900.0;
/// A queue of more than this share of the longest one seen may have been full.
const FULL: f64 = 0.75;

impl Errors {
    /// Up to this share of packets; 0: none.
    pub fn up_to(most: f64) -> Errors {
        Errors { most, share: 0.0, shortest: Duration::MAX, longest: Duration::ZERO }
    }

    /// An acknowledgment came, on a path of packets of this size.
    pub(super) fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        if self.most == 0.0 {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.shortest = self.shortest.min(rtt);
            self.longest = self.longest.max(rtt);
        }
        let (acked, lost) = (ack.acked.0 as f64, ack.lost.0 as f64);
        if acked + lost > 0.0 {
            let weight = ((acked + lost) / (packet.0 as f64 * MEMORY)).min(1.0);
            self.share += weight * (lost / (acked + lost) - self.share);
        }
    }

    /// Whether more is lost than errors explain.
    pub(super) fn are_too_many(&self) -> bool {
        self.share > self.most
    }

    /// Whether a loss beside a packet of this round-trip time is one.
    pub(super) fn explain(&self, rtt: Duration) -> bool {
        let queue = |rtt: Duration| rtt.0.saturating_sub(self.shortest.0) as f64;
        self.most > 0.0 && !self.are_too_many() && queue(rtt) < FULL * queue(self.longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);

    fn ack(ms: u64, lost: u64) -> Ack {
        Ack { acked: PACKET, lost: Bytes(lost * PACKET.0), rtt: Some(Duration::from_millis(ms)), ..Ack::default() }
    }

    /// On a path of 100 ms with a buffer of 40 ms.
    fn errors(most: f64) -> Errors {
        let mut errors = Errors::up_to(most);
        [100, 120, 140, 120, 100].into_iter().for_each(|ms| errors.on_ack(&ack(ms, 0), PACKET));
        errors
    }

    #[test]
    fn a_loss_beside_a_short_queue_is_an_error_and_beside_a_long_one_is_not() {
        let explains = |most, ms| errors(most).explain(Duration::from_millis(ms));
        assert!(explains(0.002, 100) && explains(0.002, 125));
        assert!(!explains(0.002, 135) && !explains(0.002, 140));
        assert!(!explains(0.0, 100), "the published versions know no errors");
    }

    #[test]
    fn losses_in_every_stream_are_not_errors() {
        let after = |every: u64| {
            let mut errors = errors(0.002);
            (0..10_000).for_each(|i| errors.on_ack(&ack(100, (i % every == 0) as u64), PACKET));
            errors.explain(Duration::from_millis(100))
        };
        assert!(after(10_000) && after(2_000) && !after(90));
    }
}
