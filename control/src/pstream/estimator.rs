//! How the available bandwidth is estimated from the packets of a stream.

use super::bunches::Bunches;
use super::onset::onset;
use super::pathchirp::pathchirp;
use super::regression;
use super::sample::{Sample, highest_arrival};
use crate::parameters::within;
use crate::roles::Conditions;
use crate::setting::Setting;
use crate::units::{Bytes, Duration};
use alloc::string::String;
use alloc::vec::Vec;

/// How an estimate is drawn from a stream's one-way delays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "registry", derive(schemars::JsonSchema))]
pub enum Estimator {
    /// RAPID's: if the last excursion of the delay is still open when the stream ends, the rate of the packet at which
    /// it starts.
    Onset,
    /// pathChirp's weighted mean over the whole stream.
    PathChirp,
    /// thalweg's: a line is fitted to the delays of all packets that queued; the estimate is the rate at which it says
    /// that congestion begins. This differs slightly from the papers' definition, but is robust against jitter and the
    /// packets of other traffic.
    Regression,
}

/// The largest error of a delay that comes from rounding times to picoseconds.
const ROUNDING: Duration = Duration(50);

/// Checks that a resolution can be used.
pub fn check_resolution(resolution: Setting<Duration>) -> Result<(), String> {
    within("resolution", resolution.or(ROUNDING).as_secs(), 0.0..=0.1)
}

/// An estimator, and what it needs to know of the receiver's host.
#[derive(Clone, Debug)]
pub struct Analysis {
    estimator: Estimator,
    /// Delays that differ by at most this many picoseconds count as equal.
    resolution: i64,
    /// So do those that differ by at most so many because of noise.
    noise: i64,
    /// Room for indices.
    points: Vec<u16>,
}

impl Analysis {
    /// An analysis of streams of up to `longest` packets.
    pub fn new(estimator: Estimator, resolution: Duration, longest: usize) -> Analysis {
        Analysis { estimator, resolution: picoseconds(resolution), noise: 0, points: Vec::with_capacity(longest) }
    }

    /// An analysis on this host of streams of up to `longest` packets. If `resolution` is left to the host, it is 50 ps
    /// or the host's timing error, whichever is larger.
    pub fn on(host: &Conditions, estimator: Estimator, resolution: Setting<Duration>, longest: usize) -> Analysis {
        Analysis::new(estimator, resolution.or(host.timing_error.max(ROUNDING)), longest)
    }

    /// From now on, delays that differ by at most `noise` count as equal, too.
    pub fn tolerate(&mut self, noise: Duration) {
        self.noise = picoseconds(noise);
    }

    /// The bandwidth available to a stream of packets (or bursts) of this size, bits per second; none if there are too
    /// few samples. A stream that arrived in bunches, or over a path that hands packets on in batches, a time of
    /// `batches` apart, can only be analysed by regression. The samples' delays may be changed.
    ///
    /// The estimate of a stream of bursts is at most twice the highest rate at which one of them arrived: if the host
    /// is interrupted within the stream, the queue drains meanwhile, and the delays of later bursts look as if the path
    /// carried their rates. The estimate of a stream that arrived in batches is at most twice the rate at which it
    /// arrived while its delay grew by more than two batches.
    pub fn estimate(
        &mut self,
        samples: &mut [Sample],
        bunches: &Bunches,
        batches: Duration,
        packet: Bytes,
    ) -> Option<f64> {
        let in_bunches = batches > Duration::ZERO || bunches.are_many(samples.len());
        // Packets waited for their batch for up to the time between two.
        let resolution = self.resolution.max(self.noise).max(picoseconds(batches));
        let are_bursts = samples.iter().any(|sample| sample.packets > 1);
        let most = if are_bursts { 2.0 * highest_arrival(samples, |_| packet) } else { f64::INFINITY };
        let most = most.min(2.0 * rate_over_batches(samples, packet, batches));
        let estimate = match self.estimator {
            Estimator::Onset if !in_bunches => onset(samples, resolution),
            Estimator::PathChirp if !in_bunches => pathchirp(samples, resolution),
            _ => regression::estimate(samples, packet, bunches.within(), resolution, &mut self.points),
        };
        estimate.map(|estimate| estimate.min(most))
    }
}

/// A duration in picoseconds, as differences of delays are.
fn picoseconds(duration: Duration) -> i64 {
    duration.0.min(i64::MAX as u64) as i64
}

/// The rate at which packets of this size arrived behind the last one that met no queue, bits per second; infinite if
/// the delay grew by no more than two `batches` from there on, or if there are none. An analysis that takes delays a
/// batch apart as equal does not see a queue that grows by one batch after the other.
fn rate_over_batches(samples: &[Sample], packet: Bytes, batches: Duration) -> f64 {
    let Some(last) = samples.last().filter(|_| batches > Duration::ZERO) else { return f64::INFINITY };
    let batch = batches.0.min(i64::MAX as u64 / 2) as i64;
    let least = samples.iter().map(|sample| sample.delay).min().unwrap_or(last.delay);
    if last.delay.saturating_sub(least) <= 2 * batch {
        return f64::INFINITY;
    }
    let met_none = |sample: &Sample| sample.delay.saturating_sub(least) <= batch;
    let first = samples.iter().rposition(met_none).unwrap_or(0);
    let arrived = (samples.len() - 1 - first) as f64;
    arrived * packet.as_bits() / (last.arrival.wrapping_sub(samples[first].arrival).max(1) as f64 * 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first stream of slow start, 20 packets, over a link in Mbps that hands packets on every so many ms. Each
    /// batch is delayed by no more than a batch longer than the one before; by the line alone, the links have 131, 4.1
    /// and 66 Gbps.
    #[test]
    fn a_queue_that_grows_from_batch_to_batch_is_seen() {
        for (mbps, ms) in [(8.0, 5.0), (8.0, 9.0), (2.0, 12.0)] {
            let (mut sent, mut free, mut samples) = (0.0, 0.0, Vec::new());
            let batch = ms * 1e-3;
            for index in 0..20 {
                let rate = 500e3 * f64::from(1 << index);
                sent += 12_000.0 / rate;
                free = sent.max(free) + 12_000.0 / (mbps * 1e6);
                let arrival = libm::ceil(free / batch) * batch + 0.05;
                let ps = |seconds: f64| (seconds * 1e12) as i64;
                samples.push(Sample { index, rate, delay: ps(arrival - sent), arrival: ps(arrival), packets: 1 });
            }
            let mut analysis = Analysis::new(Estimator::Regression, ROUNDING, 90);
            let batches = Duration::from_secs(batch);
            let estimate = analysis.estimate(&mut samples, &Bunches::default(), batches, Bytes(1500)).unwrap() / 1e6;
            assert!((mbps / 2.0..mbps * 2.001).contains(&estimate), "{estimate} of {mbps} Mbps"); // twice, but for rounding
        }
    }

    /// Ten bursts of 80 packets whose rates double from 16 Mbps on, over a link of 300 Mbps; before the last three, the
    /// host is interrupted until the queue is empty.
    #[test]
    fn bursts_after_an_interruption_do_not_show_more_than_arrives() {
        let burst = Bytes(80 * 1000);
        let (mut sent, mut free, mut samples) = (0.0, 0.0, Vec::new());
        for index in 0..10 {
            let rate = 16e6 * f64::from(1 << index);
            sent += burst.as_bits() / rate + if index == 7 { 0.02 } else { 0.0 };
            let arrival = sent.max(free) + 0.05;
            free = sent.max(free) + burst.as_bits() / 300e6;
            let ps = |seconds: f64| (seconds * 1e12) as i64;
            samples.push(Sample { index, rate, delay: ps(arrival - sent), arrival: ps(arrival), packets: 80 });
        }
        let mut analysis = Analysis::new(Estimator::Regression, Duration::from_micros(200), 90);
        let estimate = analysis.estimate(&mut samples, &Bunches::default(), Duration::ZERO, burst).unwrap();
        assert!((150e6..=601e6).contains(&estimate), "{estimate}");
    }

    #[test]
    fn a_resolution_that_is_left_to_the_host_suits_it_and_one_that_is_given_counts() {
        let chosen = |timing, resolution| {
            let host = Conditions { timing_error: Duration(timing), ..Conditions::exact(Bytes(1000)) };
            Analysis::on(&host, Estimator::Regression, resolution, 90).resolution
        };
        assert_eq!([0, 7_000].map(|timing| chosen(timing, Setting::Auto)), [50, 7_000]);
        assert_eq!([0, 7_000].map(|timing| chosen(timing, Setting::Given(Duration(3)))), [3, 3]);
    }
}
