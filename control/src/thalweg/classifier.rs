//! The loss classifier: it tells losses by transmission errors from those by a full buffer.
//!
//! RAPID halves its rate after any loss. With transmission errors of one packet in a million, that is five times per
//! second at 40 Gbps, and each costs it 0.2 s of the link. But a sender that hears of congestion in every p-stream need
//! not infer it from losses. So `thalweg` repairs a loss and goes on if no queue could have overflowed: if the
//! round-trip time beside the loss was the shortest ever seen, or far from the longest (the spike scheme: Cen, Cosman
//! and Voelker, "End-to-End Differentiation of Congestion and Wireless Losses", IEEE/ACM Transactions on Networking
//! 11(5), 2003). A buffer so small that its delay does not show loses packets in every stream, which is more than
//! errors do.

use crate::roles::Ack;
use crate::units::{Bytes, Duration};

/// Tells transmission errors from a full buffer.
#[derive(Clone, Debug)]
pub struct LossClassifier {
    /// The largest share of packets whose loss errors explain; 0: no loss is an error.
    errors: f64,
    /// The largest share of packets that is lost to errors by chance.
    too_many: f64,
    /// The share of packets that is lost, a moving average over about [`MEMORY`] of them.
    share: f64,
    /// The last round-trip times.
    latest: [Duration; BESIDE],
    /// The shortest round-trip time ever seen.
    shortest: Duration,
    /// The longest time that was the least of [`BESIDE`] round-trip times in a row.
    longest: Duration,
}

/// How many round-trip times lie beside a loss: it takes three later packets to show it (RFC 6675). The least of them
/// counts, as packets that were overtaken took longer than the queue did.
const BESIDE: usize = 3;
/// The number of packets that the share of losses is averaged over: fifteen streams of 60.
const MEMORY: f64 = 900.0;
/// A queue longer than this share of the longest one seen may have been full.
const FULL: f64 = 0.75;
/// More is lost than errors explain when the share of losses is by this many standard deviations above theirs. Three
/// are exceeded by chance every minute at 100 Mbps, as the share is compared upon every packet.
const DEVIATIONS: f64 = 4.0;

impl LossClassifier {
    /// Errors explain the loss of up to this share of packets; 0: of none.
    pub fn new(errors: f64) -> LossClassifier {
        LossClassifier {
            errors,
            // An exponentially weighted mean over n packets varies as a plain one over 2n does.
            too_many: errors + DEVIATIONS * libm::sqrt(errors * (1.0 - errors) / (2.0 * MEMORY)),
            share: 0.0,
            latest: [Duration::MAX; BESIDE],
            shortest: Duration::MAX,
            longest: Duration::ZERO,
        }
    }

    /// An acknowledgment arrived; full packets are of this size.
    pub fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        if self.errors == 0.0 {
            return;
        }
        if let Some(rtt) = ack.rtt {
            self.latest.rotate_left(1);
            self.latest[BESIDE - 1] = rtt;
            self.shortest = self.shortest.min(rtt);
            self.longest = self.longest.max(self.beside());
        }
        let (acked, lost) = (ack.acked.0 as f64, ack.lost.0 as f64);
        if acked + lost > 0.0 {
            let weight = ((acked + lost) / (packet.0 as f64 * MEMORY)).min(1.0);
            self.share += weight * (lost / (acked + lost) - self.share);
        }
    }

    /// All that was sent in a round trip has arrived: earlier losses say nothing of later ones, and count no more than
    /// errors would.
    pub fn forget(&mut self) {
        self.share = self.share.min(self.errors);
    }

    /// Whether more is lost than errors are to explain, which may happen by chance.
    pub fn finds_many(&self) -> bool {
        self.share > self.errors
    }

    /// Whether more is lost than errors can explain.
    pub fn finds_too_many(&self) -> bool {
        self.share > self.too_many
    }

    /// Whether a loss that is found now is an error.
    pub fn finds_error(&self) -> bool {
        let empty = self.beside() == self.shortest && self.shortest < Duration::MAX;
        self.errors > 0.0
            && !self.finds_too_many()
            && (empty || self.queue(self.beside()) < FULL * self.queue(self.longest))
    }

    /// The part of this round-trip time that is spent in queues, picoseconds.
    fn queue(&self, rtt: Duration) -> f64 {
        rtt.0.saturating_sub(self.shortest.0) as f64
    }

    /// The least of the last round-trip times.
    fn beside(&self) -> Duration {
        self.latest.into_iter().fold(Duration::MAX, Duration::min)
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
    fn classifier(errors: f64) -> LossClassifier {
        let mut classifier = LossClassifier::new(errors);
        (0..15).for_each(|i| classifier.on_ack(&ack([100, 120, 140, 120, 100][i / 3], 0), PACKET));
        classifier
    }

    #[test]
    fn a_loss_beside_a_short_queue_is_an_error_and_beside_a_long_one_is_not() {
        let is_error = |errors, rtts: [u64; 3]| {
            let mut classifier = classifier(errors);
            rtts.into_iter().for_each(|ms| classifier.on_ack(&ack(ms, 0), PACKET));
            classifier.finds_error()
        };
        assert!(is_error(0.002, [100; 3]) && is_error(0.002, [125; 3]));
        assert!(!is_error(0.002, [135; 3]) && !is_error(0.002, [140; 3]));
        assert!(is_error(0.002, [140, 100, 140]), "two packets were overtaken");
        assert!(!is_error(0.0, [100; 3]), "no loss is put down to errors");
    }

    #[test]
    fn a_loss_on_a_path_that_never_had_a_queue_is_an_error() {
        let mut classifier = LossClassifier::new(0.002);
        (0..1000).for_each(|_| classifier.on_ack(&ack(100, 0), PACKET));
        assert!(classifier.finds_error());
    }

    #[test]
    fn losses_in_every_stream_are_not_errors() {
        let after = |every: u64| {
            let mut classifier = classifier(0.002);
            (0..10_000).for_each(|i| classifier.on_ack(&ack(100, (i % every == 0) as u64), PACKET));
            classifier.finds_error()
        };
        assert!(after(10_000) && after(2_000) && !after(90));
    }
}
