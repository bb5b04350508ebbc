//! Losses that no queue explains.
//!
//! RAPID halves its rate after any loss. With transmission errors of one packet in a million, that is five times per second at 40 Gbps,
//! and each costs it 0.2 s of the link. But who hears of congestion in every p-stream need not infer it from errors. So `thalweg`
//! repairs a loss and goes on if there was no queue that could have overflowed: if the round-trip time beside the loss was the shortest
//! ever seen, or far from the longest (the spike scheme: Cen, Cosman and Voelker, "End-to-End Differentiation of Congestion and Wireless
//! Losses", IEEE/ACM Transactions on Networking 11(5), 2003). A buffer so small that its delay does not show loses packets in every
//! stream: too many to be errors.

use crate::roles::Ack;
use crate::units::{Bytes, Duration};

/// Tells transmission errors from a full buffer.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The largest share of packets whose loss errors explain.
    most: f64,
    /// Share of the packets that is lost, over about [`MEMORY`] of them.
    share: f64,
    /// The last round-trip times.
    latest: [Duration; BESIDE],
    shortest: Duration,
    longest: Duration,
}

/// So many round-trip times lie beside a loss: it takes three later packets to show it (RFC 6675). The least of them counts, as packets
/// that were overtaken took longer than the queue did.
const BESIDE: usize = 3;
/// Packets that the share of losses is a mean over: fifteen streams of 60.
const MEMORY: f64 = 900.0;
/// A queue of more than this share of the longest one seen may have been full.
const FULL: f64 = 0.75;

impl Errors {
    /// Up to this share of packets; 0: none.
    pub fn up_to(most: f64) -> Errors {
        Errors { most, share: 0.0, latest: [Duration::MAX; BESIDE], shortest: Duration::MAX, longest: Duration::ZERO }
    }

    /// An acknowledgment came, on a path of packets of this size.
    pub(super) fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        if self.most == 0.0 {
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

    /// What was lost before says nothing of what is to come: in a round trip, what was sent arrived.
    pub(super) fn forget(&mut self) {
        self.share = self.share.min(self.most);
    }

    /// Whether more is lost than errors explain, if it is by chance.
    pub(super) fn are_many(&self) -> bool {
        self.share > self.most
    }

    /// Whether more is lost than errors explain: by four standard deviations of a mean over so many packets. Three are exceeded by chance every minute
    /// at 100 Mbps, as every packet asks.
    pub(super) fn are_too_many(&self) -> bool {
        self.share > self.most + 4.0 * libm::sqrt(self.most * (1.0 - self.most) / (2.0 * MEMORY))
    }

    /// Whether a loss that shows now is one.
    pub(super) fn explain(&self) -> bool {
        let empty = self.beside() == self.shortest && self.shortest < Duration::MAX;
        self.most > 0.0
            && !self.are_too_many()
            && (empty || self.queue(self.beside()) < FULL * self.queue(self.longest))
    }

    /// The part of this round-trip time that is spent in queues, picoseconds.
    fn queue(&self, rtt: Duration) -> f64 {
        rtt.0.saturating_sub(self.shortest.0) as f64
    }

    fn beside(&self) -> Duration {
        self.latest.into_iter().fold(Duration::MAX, Duration::min)
    }
}

/// The window that transmission errors leave to a protocol that takes them for congestion.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Packets between errors, a mean over about eight, if there was one.
    between: Option<f64>,
    /// Packets since the last one.
    since: f64,
    /// How often it was found to be too little.
    doubled: i32,
}

impl Kept {
    pub(super) fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        self.since += ack.acked.0 as f64 / packet.0 as f64;
    }

    /// Packets were lost to an error.
    pub(super) fn on_error(&mut self) {
        let between = self.between.map_or(self.since, |between| between + 0.125 * (self.since - between));
        (self.between, self.since) = (Some(between), 0.0);
    }

    /// From now on, it is twice as much.
    pub(super) fn double(&mut self) {
        self.doubled += 1;
    }

    /// In packets: Reno's, sqrt(3/(2p)) (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997), as the present gap between errors counts once it
    /// is long (RFC 5348, section 5.4).
    pub(super) fn window(&self) -> f64 {
        let between = self.between.map_or(f64::INFINITY, |between| between.max(self.since));
        libm::sqrt(1.5 * between) * libm::ldexp(1.0, self.doubled)
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
        (0..15).for_each(|i| errors.on_ack(&ack([100, 120, 140, 120, 100][i / 3], 0), PACKET));
        errors
    }

    #[test]
    fn a_loss_beside_a_short_queue_is_an_error_and_beside_a_long_one_is_not() {
        let explains = |most, rtts: [u64; 3]| {
            let mut errors = errors(most);
            rtts.into_iter().for_each(|ms| errors.on_ack(&ack(ms, 0), PACKET));
            errors.explain()
        };
        assert!(explains(0.002, [100; 3]) && explains(0.002, [125; 3]));
        assert!(!explains(0.002, [135; 3]) && !explains(0.002, [140; 3]));
        assert!(explains(0.002, [140, 100, 140]), "two were overtaken");
        assert!(!explains(0.0, [100; 3]), "the published versions know no errors");
    }

    #[test]
    fn a_loss_on_a_path_that_never_had_a_queue_is_an_error() {
        let mut errors = Errors::up_to(0.002);
        (0..1000).for_each(|_| errors.on_ack(&ack(100, 0), PACKET));
        assert!(errors.explain());
    }

    #[test]
    fn losses_in_every_stream_are_not_errors() {
        let after = |every: u64| {
            let mut errors = errors(0.002);
            (0..10_000).for_each(|i| errors.on_ack(&ack(100, (i % every == 0) as u64), PACKET));
            errors.explain()
        };
        assert!(after(10_000) && after(2_000) && !after(90));
    }
}
