//! The packets of a stream that did not arrive, and whether transmission errors explain them.

use super::error_share::{DEVIATIONS, ErrorShare};
use super::overload::mean_rate;
use crate::pstream::{Hole, Holes, Received};

/// A stream met a full queue if it lost more than this share of its packets beyond the share that errors explain.
const FULL_QUEUE_LOSS_SHARE: f64 = 0.25;

/// Tells which of a stream's losses transmission errors do not explain.
#[derive(Clone, Debug)]
pub struct Unexplained {
    errors: ErrorShare,
}

impl Unexplained {
    /// Errors explain the loss of this share of packets.
    pub fn new(errors: ErrorShare) -> Unexplained {
        Unexplained { errors }
    }

    /// A stream has ended, from which it may be learned what errors explain.
    pub fn on_stream(&mut self, received: &Received) {
        let Received { samples, holes, next, burst, .. } = received;
        let (sent, lost) = sent_and_lost(holes, *next, *burst);
        let (Some(first), Some(last)) = (samples.first(), samples.last()) else { return };
        let bursts = |packets: f64| packets / f64::from(*burst);
        // All losses count: a receiver does not know round-trip times, which tell the sender how long the queue was.
        self.errors.on_packets(mean_rate(first.rate, last.rate), bursts(sent), bursts(lost), 0.0);
    }

    /// Whether more than a quarter of the packets with indices below `next` is missing beyond the share that errors
    /// explain, where `burst` packets have the same index. Never true if errors explain no losses.
    pub fn met_full_queue(&self, holes: &Holes, next: u16, burst: u16) -> bool {
        let (sent, lost) = sent_and_lost(holes, next, burst);
        self.errors.get() > 0.0 && lost > (self.errors.get() + FULL_QUEUE_LOSS_SHARE) * sent
    }

    /// How many indices had arrived before the first loss from which on, up to index `next` - 1, more packets were lost
    /// than errors explain, where `burst` packets have the same index. If there are several such losses, the one with
    /// the largest excess counts. None if errors explain all losses.
    pub fn arrived_before_excess(&self, holes: &Holes, next: u16, burst: u16) -> Option<usize> {
        let (mut lost, mut most, mut found) = (0.0, 0.0, None);
        for &Hole { index, missing, arrived, .. } in holes.all().iter().rev() {
            lost += f64::from(missing);
            let expected = self.errors.get() * f64::from(next.saturating_sub(index)) * f64::from(burst);
            let excess = lost - expected;
            if missing > 0 && excess > most && excess > DEVIATIONS * libm::sqrt(expected) {
                (most, found) = (excess, Some(arrived as usize));
            }
        }
        found
    }
}

/// How many packets of a stream were sent and how many were lost, if they have indices below `next` and `burst` packets
/// have the same index.
fn sent_and_lost(holes: &Holes, next: u16, burst: u16) -> (f64, f64) {
    let lost = holes.all().iter().map(|hole| f64::from(hole.missing)).sum();
    (f64::from(next) * f64::from(burst), lost)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 90 packets, these are missing.
    fn arrived_before_excess(errors: f64, missing: &[u16]) -> Option<usize> {
        let mut holes = Holes::new(90);
        (0..).zip(missing).for_each(|(before, &index)| holes.on_hole(index, index + 1, (index - before) as usize));
        Unexplained::new(ErrorShare::new(errors, 0.0)).arrived_before_excess(&holes, 90, 1)
    }

    #[test]
    fn without_errors_the_first_hole_counts() {
        assert_eq!(
            (
                arrived_before_excess(0.0, &[]),
                arrived_before_excess(0.0, &[40]),
                arrived_before_excess(0.0, &[40, 41, 80])
            ),
            (None, Some(40), Some(40))
        );
    }

    #[test]
    fn errors_are_few_and_scattered() {
        assert_eq!(arrived_before_excess(0.02, &[3, 20, 41, 60]), None);
        assert_eq!(
            arrived_before_excess(0.02, &[3, 60, 64, 68, 72, 76, 80, 84]),
            Some(59),
            "the first one was an error"
        );
        assert_eq!(arrived_before_excess(0.02, &[3, 89]), Some(88), "near the end, one is enough");
    }

    #[test]
    fn a_stream_that_lost_a_quarter_beyond_errors_met_a_full_queue() {
        let met_full_queue = |errors, missing: u16| {
            let mut holes = Holes::new(90);
            holes.on_hole(10, 10 + missing, 10);
            Unexplained::new(ErrorShare::new(errors, 0.0)).met_full_queue(&holes, 90, 1)
        };
        assert!(!met_full_queue(0.02, 24) && met_full_queue(0.02, 25) && !met_full_queue(0.0, 60));
    }
}
