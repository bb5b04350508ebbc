//! The receiving party: RAPID's analysis, on streams that may have lost packets to transmission errors. An estimate
//! below the rate of its stream says that the path is overloaded, and not by how much: that follows from the growth of
//! the queue ([`Overload`]), which may also say so by itself.

use super::error_share::ErrorShare;
use super::overload::{Growth, Overload};
use super::roughness::Roughness;
use super::unexplained::Unexplained;
use crate::pstream::{Analysis, Begins, Incoming, Received, Sample, highest_arrival};
use crate::roles::{Receiver, Report, Stamp};
use crate::units::{Bytes, Duration, Time};

/// Estimates the available bandwidth from each stream that arrives.
pub struct ThalwegReceiver {
    incoming: Incoming,
    analysis: Analysis,
    overload: Overload,
    gain: f64,
    unexplained: Unexplained,
    /// Measures the noise in the delays, unless the resolution of the analysis is given.
    roughness: Option<Roughness>,
}

/// A single stream takes the rate down to this share of it at most, however much the queue has grown, unless the
/// estimate of the analysis is lower still: a host that is interrupted for some milliseconds delays all packets of a
/// stream, as a queue that grows would, but within the stream no queue grows.
const KEPT_AT_LEAST: f64 = 0.75;

/// An estimate is at most this many times the highest rate at which packets of the stream arrived. Behind a full queue
/// the delay does not grow, and the few packets of a stream that find room there do not show that the others are
/// missing if the stream's bursts have lost all packets but one.
const MOST_OVER_ARRIVAL: f64 = 2.0;

impl ThalwegReceiver {
    /// A receiver of streams of up to `longest` packets. Packets that arrive at most `smoothing` apart after a long gap
    /// were held back by a host or network card. Errors explain the loss of the share `errors` of packets. Where the
    /// path is overloaded by the share x, the estimate is 1 - `gain` x of the stream's rate; with a gain of zero, it is
    /// that of the analysis.
    pub fn new(
        analysis: Analysis,
        smoothing: Duration,
        gain: f64,
        errors: ErrorShare,
        longest: usize,
    ) -> ThalwegReceiver {
        // Without errors, a stream whose beginning was lost is analysed from what arrived, as RAPID does.
        let begins = if errors.get() == 0.0 { Begins::WithFirstArrival } else { Begins::WithFirstSent };
        let incoming = Incoming::new(longest, smoothing, begins);
        ThalwegReceiver {
            incoming,
            analysis,
            overload: Overload::default(),
            gain,
            unexplained: Unexplained::new(errors),
            roughness: None,
        }
    }

    /// The receiver, if delays that differ by no more than the path's noise are to count as equal.
    pub(super) fn measuring_noise(self, longest: usize) -> ThalwegReceiver {
        ThalwegReceiver { roughness: Some(Roughness::new(longest)), ..self }
    }
}

impl Receiver for ThalwegReceiver {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let ThalwegReceiver { incoming, analysis, overload, gain, unexplained, roughness } = self;
        incoming.on_arrival(now, stamp, |received| {
            let Received { bunches, .. } = received;
            // Where packets are lost, the queue may be too short to delay a packet by the time between two batches.
            let lost = received.holes.arrived_before_first().is_some();
            let batches = if lost { Duration::ZERO } else { received.batches };
            let burst = received.size_of_burst(size);
            if let Some(roughness) = roughness {
                analysis.tolerate(roughness.on_stream(received.samples));
            }
            // The analysis may change the delays.
            let growth = overload.of(&received, size).filter(|_| *gain > 0.0);
            let estimate = analysis.estimate(received.samples, bunches, batches, burst);
            let rate = estimate.map(|estimate| match growth {
                Some(Growth { average, overload, is_plain }) if is_plain || estimate < average => {
                    let kept = average * (1.0 - *gain * overload).max(0.0);
                    kept.max(estimate.min(average * KEPT_AT_LEAST))
                }
                _ => estimate,
            });
            let arrived = |sample: &Sample| Bytes(size.0 * u64::from(sample.packets));
            let most = MOST_OVER_ARRIVAL * highest_arrival(received.samples, arrived);
            let known = rate.and_then(|rate| known_to_pass(rate.min(most), &received, unexplained, size));
            unexplained.on_stream(&received);
            known
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
    // Where nothing queues, the estimate is the rate of the last packet, or, by a line, that of the last but one.
    let shows_no_congestion = samples.iter().rev().nth(1).is_some_and(|last_but_one| rate >= last_but_one.rate);
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
        found_by(Estimator::Onset, delays)
    }

    fn found_by(estimator: Estimator, delays: &[(u16, u64)]) -> Option<f64> {
        let analysis = Analysis::new(estimator, Duration::ZERO, 90);
        let mut receiver = ThalwegReceiver::new(analysis, Duration::ZERO, 30.0, ErrorShare::new(0.02, 0.0), 90);
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

    /// A policer delays nothing, and drops what is beyond its rate.
    #[test]
    fn losses_without_a_queue_limit_the_estimate_to_the_rate_before_them() {
        let arrived: Vec<_> = (0..20).filter(|index| !(8..12).contains(index)).map(|index| (index, 800)).collect();
        for estimator in [Estimator::Onset, Estimator::PathChirp, Estimator::Regression] {
            assert_eq!(found_by(estimator, &arrived), Some(128.0), "{estimator:?}");
        }
    }

    /// Six bursts of some 200 packets whose rates double from 358 Mbps on. Behind a full queue, each has room for one
    /// packet, so that they look like a stream of packets.
    #[test]
    fn the_rates_of_bursts_that_lost_all_but_a_packet_are_not_what_arrives() {
        let analysis = Analysis::new(Estimator::Regression, Duration::from_micros(15), 90);
        let mut receiver = ThalwegReceiver::new(analysis, Duration::ZERO, 30.0, ErrorShare::new(0.02, 0.0), 90);
        let (mut sent, mut reports) = (0.0, Vec::new());
        for index in 0..7u16 {
            let (rate, stream) = (358e6 * f64::from(1 << index), u32::from(index == 6));
            sent += 200.0 * 12_000.0 / rate;
            let sent = Time(libm::round(sent * 1e12) as u64);
            let stamp = Stamp::Probe { stream, index: index % 6, len: 6, rate: rate as f32, sent };
            reports.extend(receiver.on_arrival(sent + Duration::from_millis(2160), &stamp, Bytes(1500)));
        }
        let Some(Report::Available { rate, .. }) = reports.first() else { panic!("{reports:?}") };
        // The last two arrive 0.21 ms apart.
        assert!((*rate / (2.0 * 12_000.0 / 209.5e-6) - 1.0).abs() < 0.01, "{rate}");
    }

    /// The reports, in Mbps, on p-streams of 20 packets around 10 Mbps, one each 16 ms. Each delays its packets by
    /// `growth` us more than the one before. From the sixth packet on, a stream's own queue grows, so that the analysis
    /// finds less than 10 Mbps.
    fn overloaded(growth: u64, gain: f64) -> Vec<f64> {
        overloaded_in_bursts(1, growth, gain)
    }

    /// The reports, in Mbps, on such streams of 3.1 Mbps, one each 60 ms, whose least delays are these, us.
    fn with_delays(least: impl IntoIterator<Item = u64>) -> Vec<f64> {
        with_packets(least.into_iter().map(|least| move |_| Some(least)))
    }

    /// The same, where each packet is delayed by so many us more, by its place in a stream; none: it is lost.
    fn with_packets<P: Fn(u16) -> Option<u64>>(streams: impl IntoIterator<Item = P>) -> Vec<f64> {
        let analysis = Analysis::new(Estimator::Onset, Duration::ZERO, 90);
        let mut receiver = ThalwegReceiver::new(analysis, Duration::ZERO, 25.0, ErrorShare::new(0.1, 0.0), 90);
        let mut rates = Vec::new();
        for (stream, packets) in (0..).zip(streams) {
            let mut sent = u64::from(stream) * 60_000 * 1_000_000;
            for index in 0..20u16 {
                let rate = 2.8e6 * 1.01f64.powi(i32::from(index));
                sent += (8e15 / rate) as u64;
                let Some(more) = packets(index) else { continue };
                let delay = 1000 + more + u64::from(index.saturating_sub(5)) * 20;
                let stamp = Stamp::Probe { stream, index, len: 20, rate: rate as f32, sent: Time(sent) };
                let report = receiver.on_arrival(Time(sent + delay * 1_000_000), &stamp, Bytes(1000));
                if let Some(Report::Available { rate, .. }) = report {
                    rates.push(f64::from(rate) / 1e6);
                }
            }
        }
        rates
    }

    #[test]
    fn a_delay_that_wanders_is_no_overload_until_the_queue_is_longer_than_it_wanders() {
        // Changes of 0.2 ms in 60 ms are an overload of 0.33 %, which takes a twelfth of the rate.
        let wanders = with_delays((0..60).map(|stream| stream % 2 * 200));
        let low = |rates: &[f64]| rates.iter().filter(|&&mbps| mbps < 2.9).count();
        assert!(low(&wanders[..16]) >= 6, "nothing is known of the path yet: {wanders:?}");
        assert_eq!(low(&wanders[18..]), 0, "{wanders:?}");
        // From the 40th stream on, a queue grows by 8 ms with each.
        let grows = with_delays((0..70).map(|stream: u64| stream % 2 * 200 + 8000 * stream.saturating_sub(40)));
        assert_eq!(low(&grows[18..40]), 0, "{grows:?}");
        assert_eq!(low(&grows[46..]), grows.len() - 46, "from 30 ms of queue on: {grows:?}");
    }

    /// The queue would have grown by 0.2 ms in 60 ms where the least delay is compared with that of another packet.
    #[test]
    fn a_packet_that_waited_for_less_is_no_overload_in_the_next_stream() {
        let low = |rates: &[f64]| rates.iter().filter(|&&mbps| mbps < 2.9).count();
        let waits = |less: u64| move |index: u16| Some(if index == 2 { 200 - less } else { 200 });
        let now_and_then = with_packets((0..20).map(|stream| waits(stream % 3 / 2 * 200)));
        assert_eq!((now_and_then.len(), low(&now_and_then[1..])), (20, 0), "{now_and_then:?}");
        // The least delay of a stream that lost packets is not compared with the low delay of one that did not.
        let loses =
            with_packets((0..20).map(|stream| move |index| waits(200)(index).filter(|_| index != stream % 2 * 9)));
        assert_eq!((loses.len(), low(&loses[1..])), (20, 0), "{loses:?}");
        let grows =
            with_packets((0..20).map(|stream| move |index| waits(200)(index).map(|delay| delay + 200 * stream)));
        assert!(low(&grows) >= 18, "{grows:?}");
    }

    /// A path hands packets on 2 ms after the first that waits. A stream of slow start shows it: its last packets wait
    /// for less. Those of the p-streams after it, which are 2.7 ms apart and more, wait for 2 ms each.
    #[test]
    fn the_wait_for_a_batch_is_no_overload() {
        let analysis = Analysis::new(Estimator::Regression, Duration::ZERO, 90);
        let smoothing = Duration::from_micros(1);
        let mut receiver = ThalwegReceiver::new(analysis, smoothing, 25.0, ErrorShare::new(0.02, 0.0), 90);
        let (mut sent, mut leaves, mut shares, mut intervals) = (0.0f64, 0.0f64, Vec::new(), Vec::new());
        for stream in 0..6 {
            let (first, spread) = if stream == 0 { (1e6, 2.0) } else { (1.5e6, 1.08) };
            for index in 0..10u16 {
                let rate = first * f64::powi(spread, i32::from(index));
                sent += 8000.0 / rate;
                leaves = if leaves < sent { sent + 2e-3 } else { leaves };
                let [sent, leaves] = [sent, leaves].map(|seconds| Time((seconds * 1e12) as u64));
                let stamp = Stamp::Probe { stream, index, len: 10, rate: rate as f32, sent };
                if let Some(Report::Available { rate, interval, .. }) = receiver.on_arrival(leaves, &stamp, Bytes(1000))
                {
                    shares.push(f64::from(rate) / first);
                    intervals.push(interval);
                }
            }
        }
        // The second stream has two packets that are 2.67 ms apart.
        assert_eq!(intervals, [3000, 2668, 0, 0, 0, 0]);
        assert!(shares[1..].iter().all(|&share| share > 1.8), "the highest rate but one is free: {shares:?}");
    }

    /// The same with so many packets in place of each, and so many times the growth and the time.
    fn overloaded_in_bursts(burst: u64, growth: u64, gain: f64) -> Vec<f64> {
        let analysis = Analysis::new(Estimator::Onset, Duration::ZERO, 90);
        let mut receiver = ThalwegReceiver::new(analysis, Duration::ZERO, gain, ErrorShare::new(0.0, 0.0), 90);
        let us = 1_000_000;
        let mut rates = Vec::new();
        for stream in 0..4 {
            let mut sent = u64::from(stream) * burst * 16_000 * us;
            for index in 0..20u16 {
                let rate = 9.1e6 * 1.01f64.powi(i32::from(index));
                sent += (burst as f64 * 8e15 / rate) as u64;
                let delay = 1000 + burst * (u64::from(stream) * growth + u64::from(index.saturating_sub(5)) * 20);
                let stamp = Stamp::Probe { stream, index, len: 20, rate: rate as f32, sent: Time(sent) };
                for _ in 0..burst {
                    if let Some(Report::Available { rate, .. }) =
                        receiver.on_arrival(Time(sent + delay * us), &stamp, Bytes(1000))
                    {
                        rates.push(f64::from(rate) / 1e6);
                    }
                }
            }
        }
        rates
    }

    #[test]
    fn a_decrease_goes_by_how_much_the_queue_grew() {
        let is = |found: &[f64], expected: f64| {
            assert!(found.iter().all(|mbps| (mbps / expected - 1.0).abs() < 0.01), "{found:?}, not {expected}");
        };
        // The mean rate of the 19 gaps is 10.04 Mbps; the estimate of the analysis is the rate of the sixth packet.
        let [none, some, much] = [0, 160, 1600].map(|growth| overloaded(growth, 3.0));
        is(&none[..1], 9.56); // The first stream has none to be compared with.
        is(&none[1..], 10.04);
        is(&some[1..], 10.04 * (1.0 - 3.0 * 0.01)); // 160 us in 16 ms
        is(&much[1..], 10.04 * KEPT_AT_LEAST); // The analysis has more: 9.56 Mbps.
        is(&overloaded(800, 3.0)[1..], 10.04 * (1.0 - 3.0 * 0.05));
        is(&overloaded_in_bursts(4, 160, 3.0)[1..], 10.04 * (1.0 - 3.0 * 0.01));
        is(&overloaded(160, 0.0), 9.56);
        is(&overloaded(160, 1000.0)[1..], 10.04 * KEPT_AT_LEAST);
    }

    #[test]
    fn an_error_is_no_congestion() {
        let without: Vec<_> = (0..20).filter(|&index| index != 7).map(|index| (index, 0)).collect();
        assert_eq!(found(&without), Some(524_288.0), "the highest rate");
    }
}
