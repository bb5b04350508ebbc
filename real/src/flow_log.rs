//! What the two ends of a flow saw, and the flow's results by the simulator's definitions.

use control::{Bytes, Duration, Phase, Rate, Time};
use experiment::{Acquire, Experiment, Flow, FlowOutcome, FlowSeries, spare_capacity};
use realtime::from_std;
use std::time::Instant;

/// Data that the application gets within this time of an earlier delivery count as part of that delivery.
const TOGETHER: std::time::Duration = std::time::Duration::from_micros(100);

/// What the receiving application got.
#[derive(Clone, Debug, Default)]
pub struct Deliveries {
    /// The time of each delivery, and the bytes delivered until then.
    totals: Vec<(Instant, u64)>,
}

impl Deliveries {
    /// The application has got `bytes` more, now.
    pub fn add(&mut self, now: Instant, bytes: u64) {
        let before = self.totals.last().map_or(0, |&(_, total)| total);
        match self.totals.last_mut() {
            Some((at, total)) if now.duration_since(*at) < TOGETHER => *total += bytes,
            _ => self.totals.push((now, before + bytes)),
        }
    }
}

/// What a sender does at a moment.
#[derive(Clone, Copy, Debug)]
pub struct SenderSample {
    /// The moment, in the experiment's time.
    pub at: Time,
    /// Congestion window, packets; none if unknown, or if the controller has none.
    pub window: Option<f64>,
    /// Sending rate; none if unknown, or if the controller has none.
    pub rate: Option<Rate>,
    /// Smoothed round-trip time; none if unknown.
    pub rtt: Option<Duration>,
    /// What the controller does.
    pub phase: Phase,
    /// Packets declared lost so far, whose data were sent again.
    pub resent: u64,
    /// Loss events so far.
    pub loss_events: u64,
}

/// What both ends of a flow saw.
#[derive(Clone, Debug)]
pub struct FlowLog {
    /// The layout of the flow's packets.
    pub framing: Framing,
    /// The receiver's side.
    pub deliveries: Deliveries,
    /// The sender's side, in the order of time.
    pub samples: Vec<SenderSample>,
}

/// How much of a packet is the application's data.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    /// Size of a full packet on the path, bytes.
    pub packet: u64,
    /// The application's part of it, bytes.
    pub payload: u64,
}

/// The application's data in a full packet of QUIC, bytes: all but the first byte, the connection identifier of 8
/// bytes, a packet number of 2, the tag of 16 (RFC 9001), and a STREAM frame's type, stream, offset of 4 and length of
/// 2 (RFC 9000, section 19.8).
pub const PAYLOAD: u64 = wire::PACKET - 1 - 8 - 2 - 16 - 1 - 1 - 4 - 2;

/// How many bytes the application of `flow` sends, if the flow has a size: the data in as many packets of QUIC as have
/// that size.
pub fn data(flow: &Flow) -> Option<u64> {
    flow.size.map(|size| (size.0 as f64 * PAYLOAD as f64 / flow.packet.0 as f64) as u64)
}

impl Framing {
    /// The size on the path of the packets that carry `bytes` of the application's data. The simulator counts goodput
    /// so.
    fn on_path(self, bytes: u64) -> Bytes {
        Bytes((bytes as f64 * self.packet as f64 / self.payload as f64) as u64)
    }
}

impl FlowLog {
    /// The results of `flow`, whose time series have an entry for each time in `sampled`. The experiment's time began
    /// at `zero`, and totals are over the interval `measured`.
    pub fn outcome(
        &self,
        experiment: &Experiment,
        flow: &Flow,
        zero: Instant,
        sampled: &[Time],
        measured: (Time, Time),
    ) -> FlowOutcome {
        let framing = self.framing;
        let since = |at: Instant| Time::ZERO + from_std(at.saturating_duration_since(zero));
        let arrived: Vec<(Time, Bytes)> =
            self.deliveries.totals.iter().map(|&(at, bytes)| (since(at), framing.on_path(bytes))).collect();
        let until = |time: Time| match arrived.partition_point(|&(at, _)| at <= time) {
            0 => Bytes(0),
            n => arrived[n - 1].1,
        };
        let completed = data(flow).and_then(|size| self.deliveries.totals.iter().find(|(_, total)| *total >= size));
        let completed = completed.map(|&(at, _)| since(at).since(flow.start));
        let last = self.samples.last();
        let within = self.samples.iter().filter(|sample| measured.0 < sample.at && sample.at <= measured.1);
        let windows = within.clone().filter_map(|sample| sample.window);
        FlowOutcome {
            delivered: until(measured.1) - until(measured.0),
            mean_rtt: mean(within.filter_map(|sample| sample.rtt).map(Duration::as_secs)).unwrap_or(f64::NAN),
            retransmitted_packets: last.map_or(0, |sample| sample.resent),
            loss_events: last.map_or(0, |sample| sample.loss_events),
            timeouts: 0,
            mean_window: mean(windows),
            acquired: acquired(experiment, flow, &arrived),
            completed,
            series: self.series(flow, completed, sampled, until),
        }
    }

    fn series(
        &self,
        flow: &Flow,
        completed: Option<Duration>,
        sampled: &[Time],
        until: impl Fn(Time) -> Bytes,
    ) -> FlowSeries {
        let end = completed.map(|time| flow.start + time).or(flow.stop).unwrap_or(Time::MAX);
        let mut series = FlowSeries::default();
        let (mut before, mut resent) = (Time::ZERO, 0);
        for &at in sampled {
            let active = flow.start <= at && at <= end;
            let newest =
                self.samples[..self.samples.partition_point(|sample| sample.at <= at)].last().filter(|_| active);
            series.delivered.push((until(at) - until(before)).0);
            series.window.push(newest.and_then(|sample| sample.window).unwrap_or(f64::NAN));
            series.rate.push(newest.and_then(|sample| sample.rate).map_or(f64::NAN, Rate::as_bps));
            series.available.push(f64::NAN); // No connection tells it.
            series.rtt.push(newest.and_then(|sample| sample.rtt).map_or(f64::NAN, Duration::as_secs));
            let so_far = newest.map_or(resent, |sample| sample.resent);
            series.retransmitted.push((so_far - resent) as u32);
            series.phase.push(active.then(|| newest.map_or(Phase::SlowStart, |sample| sample.phase)));
            (before, resent) = (at, so_far);
        }
        series
    }
}

/// How long after its start the flow had acquired the spare capacity, by the definition of all runners.
fn acquired(experiment: &Experiment, flow: &Flow, arrived: &[(Time, Bytes)]) -> Option<Duration> {
    let mut acquire = Acquire::new(flow, spare_capacity(experiment, flow));
    let mut before = Bytes(0);
    for &(at, total) in arrived {
        if at >= acquire.ends {
            acquire.on_bins_end(at, before);
        }
        before = total;
    }
    acquire.acquired()
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / n as f64)
}
