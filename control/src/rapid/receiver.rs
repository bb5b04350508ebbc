//! The receiving party: estimates the available bandwidth from each stream (PACKET-SCALE-2017, section IV-B).

use crate::pstream::{Analysis, Begins, Incoming, Received};
use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Duration, Time};

/// Estimates the available bandwidth from each stream that arrives.
pub struct RapidReceiver {
    incoming: Incoming,
    analysis: Analysis,
}

impl RapidReceiver {
    /// A receiver of streams of up to `longest` packets. Packets that arrive at most `smoothing` apart after a
    /// long gap were held back by a host or network card.
    pub fn new(analysis: Analysis, smoothing: Duration, longest: usize) -> RapidReceiver {
        RapidReceiver { incoming: Incoming::new(longest, smoothing, Begins::WithFirstArrival), analysis }
    }
}

impl Receiver for RapidReceiver {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let RapidReceiver { incoming, analysis } = self;
        incoming.on_arrival(now, stamp, |received| {
            let rate =
                analysis.estimate(received.samples, received.bunches, Duration::ZERO, received.size_of_burst(size))?;
            Some(known_to_pass(rate, &received))
        })
    }
}

/// An estimate, limited to the rates that the path is known to have carried; bits per second. **Decided**, where the
/// papers are silent on lost packets: a stream is analysed from the packets that arrived. If packets were lost but the
/// delay shows no congestion, the queue was full (its delay cannot grow). The estimate is then the rate of the last
/// packet before the first loss.
fn known_to_pass(rate: f64, received: &Received) -> f64 {
    let Received { samples, holes, .. } = received;
    let shows_no_congestion = samples.last().is_some_and(|last| rate >= last.rate);
    match holes.arrived_before_first() {
        Some(arrived) if shows_no_congestion => samples[arrived.saturating_sub(1)].rate,
        _ => rate,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pstream::Estimator;

    fn receiver() -> RapidReceiver {
        RapidReceiver::new(Analysis::new(Estimator::Onset, Duration::ZERO, 90), Duration::ZERO, 90)
    }

    /// The report on a stream of ten packets with rates 1, 2, ..., sent 1000 ps apart; those with a delay (in ps)
    /// arrive.
    fn found(delays: [Option<u64>; 10]) -> Option<Report> {
        let mut receiver = receiver();
        let arrivals = (0..).zip(delays).filter_map(|(index, delay)| Some((index, delay?)));
        let reports = arrivals.map(|(index, delay)| {
            let sent = Time(1_000 * u64::from(index));
            let stamp = Stamp::Probe { stream: 1, index, len: 10, rate: f32::from(index + 1), sent };
            receiver.on_arrival(sent + Duration(delay), &stamp, Bytes(1000))
        });
        reports.last().unwrap()
    }

    fn available(rate: f32) -> Option<Report> {
        Some(Report::Available { stream: 1, rate, interval: 0 })
    }

    #[test]
    fn a_lost_packet_hides_no_congestion() {
        let arrived = [0, 0, 0, 0, 0, 1, 3, 6, 10, 15].map(Some);
        let without = |lost: usize| {
            let mut delays = arrived;
            delays[lost] = None;
            delays
        };
        assert_eq!([found(arrived), found(without(1)), found(without(7))], [available(5.0); 3]);
    }

    #[test]
    fn a_loss_without_congestion_means_a_full_queue() {
        let mut full = [Some(20); 10];
        full[6] = None;
        assert_eq!(found(full), available(6.0), "the rate before the loss");
    }

    /// RAPID-2009's first packet goes at the mean rate, which is above that of the next ones.
    #[test]
    fn a_first_packet_that_follows_a_loss_has_the_rate_of_the_second() {
        let mut receiver = receiver();
        let mut arrive = |stream, index, rate| {
            let sent = Time(1_000 * u64::from(index));
            receiver.on_arrival(sent, &Stamp::Probe { stream, index, len: 10, rate, sent }, Bytes(1000))
        };
        let reports = [(0, 100.0), (2, 47.0), (3, 51.0), (4, 54.0)].map(|(index, rate)| arrive(1, index, rate));
        assert_eq!(reports, [None; 4]);
        assert_eq!(
            arrive(2, 0, 100.0),
            available(100.0),
            "the first packet arrived, and the rate before the loss is its own"
        );
    }
}
