//! The receiving party: RAPID's analysis, on streams that may have lost packets to transmission errors.

use super::unexplained::Unexplained;
use crate::pstream::{Analysis, Begins, Incoming, Received};
use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Duration, Time};

/// Estimates the available bandwidth from each stream that arrives.
pub struct ThalwegReceiver {
    incoming: Incoming,
    analysis: Analysis,
    unexplained: Unexplained,
}

impl ThalwegReceiver {
    /// A receiver of streams of up to `longest` packets. Packets that arrive at most `smoothing` apart after a
    /// long gap were held back by a host or network card. Errors explain the loss of the share `errors` of packets.
    pub fn new(analysis: Analysis, smoothing: Duration, errors: f64, longest: usize) -> ThalwegReceiver {
        // Without errors, a stream whose beginning was lost is analysed from what arrived, as RAPID does.
        let begins = if errors == 0.0 { Begins::WithFirstArrival } else { Begins::WithFirstSent };
        let incoming = Incoming::new(longest, smoothing, begins);
        ThalwegReceiver { incoming, analysis, unexplained: Unexplained::new(errors) }
    }
}

impl Receiver for ThalwegReceiver {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let ThalwegReceiver { incoming, analysis, unexplained } = self;
        incoming.on_arrival(now, stamp, |received| {
            let Received { bunches, .. } = received;
            // Where packets are lost, the queue may be too short to delay a packet by the time between two batches.
            let lost = received.holes.arrived_before_first().is_some();
            let batches = if lost { Duration::ZERO } else { received.batches };
            let burst = received.size_of_burst(size);
            let rate = analysis.estimate(received.samples, bunches, batches, burst)?;
            known_to_pass(rate, &received, unexplained, size)
        })
    }
}

/// An estimate, limited to the rates that the path is known to have carried; bits per second. Losses that errors
/// explain do not limit it. The delay behind a full queue does not grow. So a stream that lost packets at rates below
/// the one at which congestion seems to begin may have met a full queue, and the highest rate that the path is known to
/// have carried is that of the last packet before the loss.
fn known_to_pass(rate: f64, received: &Received, unexplained: &Unexplained, packet: Bytes) -> Option<f64> {
    let Received { samples, holes, next, burst, .. } = received;
    let Some(arrived_before) = unexplained.arrived_before_excess(holes, *next, *burst) else { return Some(rate) };
    let carried = arrived_before.checked_sub(1).map(|last| samples[last].rate);
    if unexplained.met_full_queue(holes, *next, *burst) && carried.is_none_or(|carried| rate > carried) {
        // The queue was full before the stream came: only the rate at which packets arrived is known.
        return Some(carried?.min(arrival_rate(received, packet)));
    }
    let shows_no_congestion = samples.last().is_some_and(|last| rate >= last.rate);
    Some(if shows_no_congestion { carried.unwrap_or(samples[0].rate) } else { rate })
}

/// The mean rate at which these packets arrived, bits per second.
fn arrival_rate(received: &Received, packet: Bytes) -> f64 {
    let (Some(first), Some((last, before))) = (received.samples.first(), received.samples.split_last()) else {
        return 0.0;
    };
    let span = Duration(last.arrival.wrapping_sub(first.arrival).max(1) as u64);
    let arrived = match received.burst {
        1 => before.len() as u64, // without duplicates
        _ => before.iter().map(|sample| u64::from(sample.packets)).sum(),
    };
    Bytes(packet.0 * arrived).over(span).as_bps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pstream::Estimator;

    /// The estimate in Mbps of a stream of 20 packets whose rates double from 1 Mbps on; those with a delay (in us)
    /// arrive.
    fn found(delays: &[(u16, u64)]) -> Option<f64> {
        let analysis = Analysis::new(Estimator::Onset, Duration::ZERO, 90);
        let mut receiver = ThalwegReceiver::new(analysis, Duration::ZERO, 0.02, 90);
        let (us, mut sent, mut reports) = (1_000_000, 0, Vec::new());
        for index in 0..20 {
            let rate = 1e6 * 2f64.powi(i32::from(index));
            sent += (8e15 / rate) as u64;
            let Some((_, delay)) = delays.iter().find(|(arrived, _)| *arrived == index) else { continue };
            let stamp = Stamp::Probe { stream: 1, index, len: 20, rate: rate as f32, sent: Time(sent) };
            reports.extend(receiver.on_arrival(Time(sent + delay * us), &stamp, Bytes(1000)));
        }
        // The next stream ends it.
        let stamp = Stamp::Probe { stream: 2, index: 0, len: 20, rate: 1e6, sent: Time(sent) };
        reports.extend(receiver.on_arrival(Time(sent + 9_000 * us), &stamp, Bytes(1000)));
        reports.first().map(|report| match report {
            Report::Available { rate, .. } => (f64::from(*rate) / 1e5).round() / 10.0,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn behind_a_full_queue_no_more_is_available_than_arrives() {
        // A packet more or less in a full queue reads as congestion that begins at 256 Mbps.
        assert_eq!(found(&[(0, 800), (1, 800), (8, 800), (12, 808)]), Some(2.0), "the rate before the loss");
        let late = [(0, 800), (1, 800), (2, 800), (3, 800), (4, 800), (10, 800), (12, 808)];
        assert_eq!(found(&late), Some(6.0), "six more in 8 ms, not the 16 Mbps before the loss");
        assert_eq!(found(&[(3, 800), (8, 800), (12, 808)]), None, "not even the first packets arrived");
        let queued = |index: u16| if index < 6 { 0 } else { 80 * (u64::from(index) - 5) };
        let overflow: Vec<_> =
            (0..20).filter(|index| !(12..19).contains(index)).map(|index| (index, queued(index))).collect();
        assert_eq!(found(&overflow), Some(32.0), "a short queue that the stream itself filled");
    }

    #[test]
    fn an_error_is_no_congestion() {
        let without: Vec<_> = (0..20).filter(|&index| index != 7).map(|index| (index, 0)).collect();
        assert_eq!(found(&without), Some(524_288.0), "the highest rate");
    }
}
