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
//!
//! **Short buffers.** A buffer that an overload fills long before anyone hears of it loses packets without a queue that
//! estimates could show, and so does a policer. Losses beyond those that errors explain are the only signal there. They
//! need no recovery, unless they are many: the average rate follows their share ([`super::rate_rule`]).

use super::error_share::{ErrorShare, FULL_QUEUE_SHARE};
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
    /// How long feedback takes.
    feedback: Duration,
    /// Behind a short buffer, losses need no recovery up to this share of packets beyond what errors explain.
    most_excess: f64,
}

/// The number of last round-trip times whose least counts as the round-trip time at a loss. A loss shows after three
/// later packets (RFC 6675). The least one counts, as overtaken packets took longer than the queue delays.
const RTTS_AT_LOSS: usize = 3;
/// For how long the longest round-trip time is remembered at least. A queue may be full only once in so long a time.
const WINDOW: Duration = Duration::from_millis(60_000);
/// A buffer is short if its longest queueing delay is at most this share of the time that feedback takes.
const SHORT: f64 = 0.02;
/// Where the average rate follows losses, these need recovery from this share of packets on, beyond what errors
/// explain.
const MOST_EXCESS: f64 = 0.1;

impl LossClassifier {
    /// Errors explain the loss of up to this share of packets.
    pub fn new(errors: ErrorShare) -> LossClassifier {
        LossClassifier {
            errors,
            latest: [Duration::MAX; RTTS_AT_LOSS],
            shortest: LeastRtt::new(),
            longest: 0.0,
            of_windows: MaxFilter::new(),
            feedback: Duration::ZERO,
            most_excess: 0.0,
        }
    }

    /// The classifier of a flow whose average rate follows the losses of a short buffer.
    pub fn with_short_buffers(self) -> LossClassifier {
        LossClassifier { most_excess: MOST_EXCESS, ..self }
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
        // All that was sent within the last round trip was sent at about this mean rate.
        let mean = (ack.in_flight + ack.acked).over(self.latest[RTTS_AT_LOSS - 1]);
        let (rate, sent, lost) = (rate.unwrap_or(mean), packets(ack.acked + ack.lost), packets(ack.lost));
        self.errors.on_packets(rate.as_bps(), sent, lost, self.queue())
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

    /// Whether a loss that is detected now is repaired while probing goes on: it is a transmission error, or the
    /// average rate follows the losses of a short buffer.
    pub fn needs_no_recovery(&self) -> bool {
        self.errors.get() > 0.0 && !self.exceeds_by_far() && self.has_room()
    }

    /// Whether more is lost than errors and chance explain; behind a short buffer, whether far more is.
    pub fn exceeds_by_far(&self) -> bool {
        self.errors.exceeds_chance_by(if self.is_short() { self.most_excess } else { 0.0 })
    }

    /// A stream begins, and feedback takes this long; with zero, no buffer is short. If the average rate is to follow
    /// losses: by how much the share that was lost since the last stream exceeds that of errors; negative if less was
    /// lost.
    pub fn excess(&mut self, feedback: Duration) -> Option<f64> {
        self.feedback = feedback;
        self.errors.excess().filter(|_| self.most_excess > 0.0 && self.is_short())
    }

    /// Whether the buffer is short, as far as its longest queue shows.
    fn is_short(&self) -> bool {
        let most = SHORT * self.feedback.0 as f64;
        most > 0.0 && self.longest - self.shortest.get().0 as f64 <= most
    }

    /// Whether no queue can have overflowed.
    fn has_room(&self) -> bool {
        self.queue() < FULL_QUEUE_SHARE
    }

    /// The present queueing delay as a share of the longest one; 1 as long as nothing is known.
    fn queue(&self) -> f64 {
        let (rtt, shortest) = (self.rtt_at_loss(), self.shortest.get());
        if shortest == Duration::MAX {
            return 1.0;
        }
        match rtt.0.saturating_sub(shortest.0) as f64 {
            0.0 => 0.0,
            queue => queue / (self.longest - shortest.0 as f64).max(queue),
        }
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

    #[test]
    fn losses_of_a_short_buffer_need_no_recovery_until_they_are_many() {
        // A tenth of the packets is lost, then three tenths, from a buffer of 40 ms.
        let needs_none = |classifier: LossClassifier, feedback: u64| {
            let mut classifier = classifier;
            let mut lose = |nth: u64| {
                (0..5000).for_each(|i| {
                    hear(&mut classifier, [100, 105, 110][i % 3], u64::from((i as u64).is_multiple_of(nth)))
                });
                let excess = classifier.excess(Duration::from_millis(feedback));
                (excess.map(|excess| (excess * 100.0).round()), classifier.needs_no_recovery())
            };
            lose(1000);
            [lose(10), lose(3)]
        };
        let short = || classifier(0.02).with_short_buffers();
        assert_eq!(needs_none(short(), 2000), [(Some(7.0), true), (Some(23.0), false)], "a fiftieth of two seconds");
        assert_eq!(needs_none(short(), 1900), [(None, false), (None, false)], "not as short");
        assert_eq!(needs_none(classifier(0.02), 2000), [(None, false), (None, false)], "losses are not followed");
    }
}
