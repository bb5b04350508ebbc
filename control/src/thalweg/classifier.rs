//! The loss classifier: it tells losses by transmission errors from those by a full buffer.
//!
//! RAPID halves its rate after any loss. If transmission errors affect one packet in a million, it does so five times
//! per second at 40 Gbps, and each time costs it 0.2 s of the link. But a sender that learns of congestion from every
//! p-stream need not infer it from losses. So `thalweg` repairs a loss without lowering its rate if no queue can have
//! overflowed: if the round-trip time at the loss was the shortest of late, or far below the longest (the spike scheme:
//! Cen, Cosman and Voelker, "End-to-End Differentiation of Congestion and Wireless Losses", IEEE/ACM Transactions on
//! Networking 11(5), 2003). A buffer can be so small that round-trip times do not show whether it is full. It loses
//! packets of every stream, which is more than errors explain, unless half of the rate does not end these losses
//! ([`super::error_share`]).

use super::error_share::ErrorShare;
use crate::least_rtt::LeastRtt;
use crate::max_filter::MaxFilter;
use crate::roles::Ack;
use crate::units::{Bytes, Duration, Rate, Time};

/// Tells transmission errors from a full buffer.
#[derive(Clone, Debug)]
pub struct LossClassifier {
    errors: ErrorShare,
    /// The last round-trip times.
    latest: [Duration; RTTS_AT_LOSS],
    /// The shortest round-trip time of the path.
    shortest: LeastRtt,
    /// The longest round-trip time of the last one or two [`WINDOW`]s, in picoseconds, by the same measure as at a
    /// loss: the least of [`RTTS_AT_LOSS`] in a row. A longer one from before need not have been due to the buffer.
    longest: f64,
    /// The longest of each window.
    of_windows: MaxFilter<2>,
}

/// The number of last round-trip times whose least counts as the round-trip time at a loss. A loss shows after three
/// later packets (RFC 6675). The least one counts, as overtaken packets took longer than the queue delays.
const RTTS_AT_LOSS: usize = 3;
/// For how long the longest round-trip time is remembered at least. A queue may be full only once in so long a time.
const WINDOW: Duration = Duration::from_millis(60_000);
/// A queue whose delay exceeds this share of the longest queueing delay seen may have been full.
const FULL_QUEUE_SHARE: f64 = 0.75;

impl LossClassifier {
    /// Errors explain the loss of up to this share of packets.
    pub fn new(errors: ErrorShare) -> LossClassifier {
        LossClassifier {
            errors,
            latest: [Duration::MAX; RTTS_AT_LOSS],
            shortest: LeastRtt::new(),
            longest: 0.0,
            of_windows: MaxFilter::new(),
        }
    }

    /// An acknowledgment arrived; full packets are of this size. What is acknowledged or lost was sent at this `rate`
    /// or less; if none is given, at the mean rate of what is in flight. Returns whether errors turned out to be more
    /// frequent than was known.
    pub fn on_ack(&mut self, now: Time, ack: &Ack, packet: Bytes, rate: Option<Rate>) -> bool {
        if self.errors.get() == 0.0 {
            return false;
        }
        if let Some(rtt) = ack.rtt {
            self.latest.rotate_left(1);
            self.latest[RTTS_AT_LOSS - 1] = rtt;
            self.shortest.on_rtt(now, rtt);
            self.longest = self.of_windows.update(now.0 / WINDOW.0, self.rtt_at_loss().0 as f64, 2);
        }
        let packets = |bytes: Bytes| bytes.0 as f64 / packet.0 as f64;
        let has_room = ack.lost == Bytes(0) || self.has_room();
        // All that was sent within the last round trip was sent at about this mean rate.
        let mean = (ack.in_flight + ack.acked).over(self.latest[RTTS_AT_LOSS - 1]);
        let (rate, sent, lost) = (rate.unwrap_or(mean), packets(ack.acked + ack.lost), packets(ack.lost));
        self.errors.on_packets(rate.as_bps(), sent, lost, has_room)
    }

    /// All that was sent in a round trip has arrived, so earlier losses no longer matter: the measured share of lost
    /// packets is lowered to that of errors.
    pub fn forget(&mut self) {
        self.errors.forget();
    }

    /// Whether the share of lost packets exceeds that of errors. This may happen by chance.
    pub fn exceeds_error_share(&self) -> bool {
        self.errors.exceeds()
    }

    /// Whether the share of lost packets exceeds that of errors by more than chance explains.
    pub fn exceeds_chance(&self) -> bool {
        self.errors.exceeds_chance()
    }

    /// Whether a loss that is detected now is a transmission error.
    pub fn finds_error(&self) -> bool {
        self.errors.get() > 0.0 && !self.exceeds_chance() && self.has_room()
    }

    /// Whether no queue can have overflowed.
    fn has_room(&self) -> bool {
        let (rtt, shortest) = (self.rtt_at_loss(), self.shortest.get());
        let queue = |rtt: f64| rtt - shortest.0 as f64;
        let is_empty = rtt == shortest && shortest < Duration::MAX;
        is_empty || queue(rtt.0 as f64) < FULL_QUEUE_SHARE * queue(self.longest)
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

    fn hear(classifier: &mut LossClassifier, ms: u64, lost: u64) {
        classifier.on_ack(Time::ZERO, &ack(ms, lost), PACKET, None);
    }

    /// On a path of 100 ms with a buffer of 40 ms.
    fn classifier(errors: f64) -> LossClassifier {
        let mut classifier = LossClassifier::new(ErrorShare::new(errors, 0.0));
        (0..15).for_each(|i| hear(&mut classifier, [100, 120, 140, 120, 100][i / 3], 0));
        classifier
    }

    #[test]
    fn a_loss_at_a_short_queue_is_an_error_and_at_a_long_one_is_not() {
        let is_error = |errors, rtts: [u64; 3]| {
            let mut classifier = classifier(errors);
            rtts.into_iter().for_each(|ms| hear(&mut classifier, ms, 0));
            classifier.finds_error()
        };
        assert!(is_error(0.002, [100; 3]) && is_error(0.002, [125; 3]));
        assert!(!is_error(0.002, [135; 3]) && !is_error(0.002, [140; 3]));
        assert!(is_error(0.002, [140, 100, 140]), "two packets were overtaken");
        assert!(!is_error(0.0, [100; 3]), "no loss is put down to errors");
    }

    #[test]
    fn a_loss_on_a_path_that_never_had_a_queue_is_an_error() {
        let mut classifier = LossClassifier::new(ErrorShare::new(0.002, 0.0));
        (0..1000).for_each(|_| hear(&mut classifier, 100, 0));
        assert!(classifier.finds_error());
    }

    #[test]
    fn a_longer_route_and_a_delay_that_is_over_are_forgotten() {
        let at = |second| Time::ZERO + Duration::from_millis(1000 * second);
        // Round-trip times in milliseconds, from each of these seconds on; a loss comes at the last ones.
        let is_error = |rtts: &[(u64, u64)]| {
            let mut classifier = classifier(0.002);
            for &(second, ms) in rtts {
                for _ in 0..3 {
                    classifier.on_ack(at(second), &ack(ms, 0), PACKET, None);
                }
            }
            classifier.finds_error()
        };
        assert!(!is_error(&[(5, 150)]), "a longer queue than ever");
        assert!(is_error(&[(5, 150), (15, 150), (25, 150)]), "a longer route without a queue");
        assert!(is_error(&[(5, 1100), (6, 140)]) && is_error(&[(5, 1100), (50, 100), (55, 140)]));
        assert!(!is_error(&[(5, 1100), (50, 100), (70, 140), (125, 100), (130, 140)]), "the queue is full");
    }

    #[test]
    fn losses_in_every_stream_are_not_errors() {
        let after = |every: u64| {
            let mut classifier = classifier(0.002);
            (0..10_000).for_each(|i| hear(&mut classifier, 100, (i % every == 0) as u64));
            classifier.finds_error()
        };
        assert!(after(10_000) && after(2_000) && !after(90));
    }
}
