//! What the ends of a flow saw, and what the simulator would have called it.

use control::{Bytes, Duration, Phase, Rate, Time};
use experiment::{Acquire, Experiment, Flow, FlowOutcome, FlowSeries, spare_capacity};
use realtime::from_std;
use std::time::Instant;

/// What comes within so short a time counts as one arrival.
const TOGETHER: std::time::Duration = std::time::Duration::from_micros(100);

/// What the receiving application got.
#[derive(Clone, Debug, Default)]
pub struct Arrivals {
    /// When, and how many bytes until then.
    log: Vec<(Instant, u64)>,
}

impl Arrivals {
    /// The application has got `bytes` more.
    pub fn add(&mut self, now: Instant, bytes: u64) {
        let before = self.log.last().map_or(0, |&(_, total)| total);
        match self.log.last_mut() {
            Some((at, total)) if now.duration_since(*at) < TOGETHER => *total += bytes,
            _ => self.log.push((now, before + bytes)),
        }
    }
}

/// The sending side at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// When.
    pub at: Time,
    /// Congestion window, packets.
    pub window: Option<f64>,
    /// Sending rate.
    pub rate: Option<Rate>,
    /// Smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// What the controller does.
    pub phase: Phase,
    /// Packets found lost, and sent again, so far.
    pub resent: u64,
    /// Loss events so far.
    pub loss_events: u64,
}

/// Both sides of a flow.
#[derive(Clone, Debug)]
pub struct Log {
    /// How its data are packed.
    pub framing: Framing,
    /// The receiver's.
    pub arrivals: Arrivals,
    /// The sender's, in the order of time.
    pub seen: Vec<Seen>,
}

/// How packets of an application's data look on the path.
#[derive(Clone, Copy, Debug)]
pub struct Framing {
    /// A full one on the path, bytes.
    pub packet: u64,
    /// Of that, the application's.
    pub payload: u64,
}

/// What a full packet of QUIC carries of the application's: all but the first byte, the connection's identifier of 8, a number of 2,
/// the tag of 16 (RFC 9001), and a STREAM frame's type, stream, offset of 4 and length of 2 (RFC 9000, section 19.8).
pub const PAYLOAD: u64 = wire::PACKET - 1 - 8 - 2 - 16 - 1 - 1 - 4 - 2;

/// What the application of `flow` has to send, if that ends: what the packets of its size would carry.
pub fn data(flow: &Flow) -> Option<u64> {
    flow.size.map(|size| (size.0 as f64 * PAYLOAD as f64 / flow.packet.0 as f64) as u64)
}

impl Framing {
    /// What `bytes` of the application's are on the path: this is how the simulator counts goodput, too.
    fn on_path(self, bytes: u64) -> Bytes {
        Bytes((bytes as f64 * self.packet as f64 / self.payload as f64) as u64)
    }
}

impl Log {
    /// The flow's results. It was sampled at `sampled`, of times since `zero`.
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
            self.arrivals.log.iter().map(|&(at, bytes)| (since(at), framing.on_path(bytes))).collect();
        let until = |time: Time| match arrived.partition_point(|&(at, _)| at <= time) {
            0 => Bytes(0),
            n => arrived[n - 1].1,
        };
        let completed = data(flow).and_then(|size| self.arrivals.log.iter().find(|(_, total)| *total >= size));
        let completed = completed.map(|&(at, _)| since(at).since(flow.start));
        let last = self.seen.last();
        let rtts = self.seen.iter().filter(|seen| measured.0 < seen.at && seen.at <= measured.1);
        let windows = rtts.clone().filter_map(|seen| seen.window);
        FlowOutcome {
            delivered: until(measured.1) - until(measured.0),
            mean_rtt: mean(rtts.filter_map(|seen| seen.rtt).map(Duration::as_secs)).unwrap_or(f64::NAN),
            retransmitted_packets: last.map_or(0, |seen| seen.resent),
            loss_events: last.map_or(0, |seen| seen.loss_events),
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
            let seen = self.seen[..self.seen.partition_point(|seen| seen.at <= at)].last().filter(|_| active);
            series.delivered.push((until(at) - until(before)).0);
            series.window.push(seen.and_then(|seen| seen.window).unwrap_or(f64::NAN));
            series.rate.push(seen.and_then(|seen| seen.rate).map_or(f64::NAN, Rate::as_bps));
            series.available.push(f64::NAN); // connections do not say
            series.rtt.push(seen.and_then(|seen| seen.rtt).map_or(f64::NAN, Duration::as_secs));
            let so_far = seen.map_or(resent, |seen| seen.resent);
            series.retransmitted.push((so_far - resent) as u32);
            series.phase.push(active.then(|| seen.map_or(Phase::SlowStart, |seen| seen.phase)));
            (before, resent) = (at, so_far);
        }
        series
    }
}

/// By the simulator's definition, and its code.
fn acquired(experiment: &Experiment, flow: &Flow, arrived: &[(Time, Bytes)]) -> Option<Duration> {
    let mut acquire = Acquire::new(flow, spare_capacity(experiment, flow));
    let mut before = Bytes(0);
    for &(at, total) in arrived {
        if at >= acquire.ends
            && let Some(time) = acquire.on_bins_end(at, before)
        {
            return Some(time);
        }
        before = total;
    }
    None
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0u64), |(sum, n), x| (sum + x, n + 1));
    (n > 0).then(|| sum / n as f64)
}
