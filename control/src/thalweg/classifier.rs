//! The loss classifier: it tells losses by transmission errors from those by a full buffer.
//!
//! RAPID halves its rate after any loss. If transmission errors affect one packet in a million, it does so five times
//! per second at 40 Gbps, and each time costs it 0.2 s of the link. But a sender that learns of congestion from every
//! p-stream need not infer it from losses. So `thalweg` repairs a loss without lowering its rate if no queue can have
//! overflowed: if the round-trip time at the loss was the shortest ever seen, or far below the longest (the spike
//! scheme: Cen, Cosman and Voelker, "End-to-End Differentiation of Congestion and Wireless Losses", IEEE/ACM
//! Transactions on Networking 11(5), 2003). A buffer can be so small that round-trip times do not show whether it is
//! full. It loses packets of every stream, which is more than errors explain.

use crate::roles::Ack;
use crate::units::{Bytes, Duration};

/// Tells transmission errors from a full buffer.
#[derive(Clone, Debug)]
pub struct LossClassifier {
    /// The share of packets that is expected to be lost to errors at most; 0: no loss is an error.
    errors: f64,
    /// The largest measured share of lost packets that errors may cause by chance.
    chance: f64,
    /// The share of packets that is lost, a moving average over about [`MEMORY`] of them.
    share: f64,
    /// The last round-trip times.
    latest: [Duration; RTTS_AT_LOSS],
    /// The shortest round-trip time ever seen.
    shortest: Duration,
    /// The longest round-trip time ever seen, by the same measure as at a loss: the least of [`RTTS_AT_LOSS`] in a row.
    longest: Duration,
}

/// The number of last round-trip times whose least counts as the round-trip time at a loss. A loss shows after three
/// later packets (RFC 6675). The least one counts, as overtaken packets took longer than the queue delays.
const RTTS_AT_LOSS: usize = 3;
/// The number of packets that the share of losses is averaged over: fifteen streams of 60.
const MEMORY: f64 = 900.0;
/// A queue whose delay exceeds this share of the longest queueing delay seen may have been full.
const FULL_QUEUE_SHARE: f64 = 0.75;
/// Errors do not explain the losses if the share of lost packets exceeds that of errors by more than this many standard
/// deviations. The shares are compared upon every packet, so that three would be exceeded by chance every minute at 100
/// Mbps.
const DEVIATIONS: f64 = 4.0;

impl LossClassifier {
    /// Errors explain the loss of up to this share of packets; 0: of none.
    pub fn new(errors: f64) -> LossClassifier {
        LossClassifier {
            errors,
            // An exponentially weighted mean over n packets varies as a plain one over 2n does.
            chance: errors + DEVIATIONS * libm::sqrt(errors * (1.0 - errors) / (2.0 * MEMORY)),
            share: 0.0,
            latest: [Duration::MAX; RTTS_AT_LOSS],
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
            self.latest[RTTS_AT_LOSS - 1] = rtt;
            self.shortest = self.shortest.min(rtt);
            self.longest = self.longest.max(self.rtt_at_loss());
        }
        let (acked, lost) = (ack.acked.0 as f64, ack.lost.0 as f64);
        if acked + lost > 0.0 {
            let weight = ((acked + lost) / (packet.0 as f64 * MEMORY)).min(1.0);
            self.share += weight * (lost / (acked + lost) - self.share);
        }
    }

    /// All that was sent in a round trip has arrived, so earlier losses no longer matter: the measured share of lost
    /// packets is lowered to that of errors.
    pub fn forget(&mut self) {
        self.share = self.share.min(self.errors);
    }

    /// Whether the share of lost packets exceeds that of errors. This may happen by chance.
    pub fn exceeds_error_share(&self) -> bool {
        self.share > self.errors
    }

    /// Whether the share of lost packets exceeds that of errors by more than chance explains.
    pub fn exceeds_chance(&self) -> bool {
        self.share > self.chance
    }

    /// Whether a loss that is detected now is a transmission error.
    pub fn finds_error(&self) -> bool {
        let empty = self.rtt_at_loss() == self.shortest && self.shortest < Duration::MAX;
        self.errors > 0.0
            && !self.exceeds_chance()
            && (empty || self.queue(self.rtt_at_loss()) < FULL_QUEUE_SHARE * self.queue(self.longest))
    }

    /// The part of this round-trip time that packets spent in queues, picoseconds.
    fn queue(&self, rtt: Duration) -> f64 {
        rtt.0.saturating_sub(self.shortest.0) as f64
    }

    /// The round-trip time at this moment: the least of the last [`RTTS_AT_LOSS`] ones.
    fn rtt_at_loss(&self) -> Duration {
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
    fn a_loss_at_a_short_queue_is_an_error_and_at_a_long_one_is_not() {
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
