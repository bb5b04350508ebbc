//! One flow of a run: its source, its sink, and what is recorded of it.

use crate::host::{Answer, Sink, Source};
use crate::packet::{Body, Packet};
use control::{Bytes, Duration, Phase, Rate, Stamp, State, Time};
use experiment::{Acquire, FlowOutcome, FlowSeries};
use path::prefetch;
use std::collections::VecDeque;

/// A flow. What each packet touches is in the struct itself and the rest behind a pointer, so that many flows fit into
/// the caches. In this order of fields, a delivery touches one cache line of 64 bytes, and an acknowledgment three or
/// four.
#[repr(C, align(64))]
pub struct Flow {
    /// The receiving host.
    pub sink: Sink,
    /// From this time on, the next delivery is told to [`Record::acquire`].
    pub watch: Time,
    /// The sending host.
    pub source: Source,
    /// Acknowledgments that reach the source before this time may be handled ahead of it.
    pub ahead_until: Time,
    /// The time of the next look at the source.
    next_look: Time,
    /// What is recorded.
    pub record: Box<Record>,
}

/// What is recorded of a flow.
pub struct Record {
    /// When the flow starts.
    pub start: Time,
    /// When it stops sending new data, if before the end.
    pub stop: Option<Time>,
    /// Detects the time from which the flow has the spare capacity.
    acquire: Acquire,
    /// How long after its start the flow had the spare capacity, once it had.
    pub acquired: Option<Duration>,
    /// When the last byte of the flow arrived.
    pub completed: Option<Time>,
    /// The samples so far.
    samples: Vec<Sample>,
    /// The totals at the last sample.
    before: Totals,
    /// How many looks were taken at the source.
    looks: usize,
    /// Those of them whose time has not come.
    early: VecDeque<Look>,
    /// The totals at the beginning of the measured interval; once that has ended, those of the interval.
    measured: Totals,
}

/// One sample. They become a [`FlowSeries`] at the end of a run: until then, a flow's samples are in one place in
/// memory, as very many flows have few.
#[derive(Clone, Copy, Debug)]
struct Sample {
    delivered: u64,
    window: f64,
    rate: f64,
    available: f64,
    rtt: f64,
    retransmitted: u32,
    phase: Option<Phase>,
}

/// Totals of a flow since its start.
#[derive(Clone, Copy, Default)]
pub struct Totals {
    /// Bytes delivered, without duplicates.
    pub delivered: Bytes,
    /// Packets sent again.
    retransmitted: u64,
    /// Sum of the round-trip samples, in picoseconds.
    rtt_sum: u128,
    /// Number of the round-trip samples.
    rtt_samples: u64,
}

/// What there was to see of a source at some time.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    retransmitted: u64,
    rtt_sum: u128,
    rtt_samples: u64,
    /// Whether everything had been acknowledged.
    done: bool,
    state: State,
    available: Option<Rate>,
}

impl Look {
    fn at(source: &Source) -> Look {
        let counters = &source.counters;
        Look {
            retransmitted: counters.retransmitted,
            rtt_sum: counters.rtt_sum,
            rtt_samples: counters.rtt_samples,
            done: source.is_done(),
            state: source.state(),
            available: source.available(),
        }
    }
}

impl Totals {
    /// What was added since `earlier`.
    fn since(&self, earlier: &Totals) -> Totals {
        Totals {
            delivered: self.delivered - earlier.delivered,
            retransmitted: self.retransmitted - earlier.retransmitted,
            rtt_sum: self.rtt_sum - earlier.rtt_sum,
            rtt_samples: self.rtt_samples - earlier.rtt_samples,
        }
    }

    /// The mean round-trip time, in seconds; NaN without a sample.
    fn mean_rtt(&self) -> f64 {
        self.rtt_sum as f64 / 1e12 / self.rtt_samples as f64
    }
}

impl Record {
    /// Prefetches what [`Flow::check_acquired`] needs.
    pub fn prefetch(&self) {
        prefetch::lines(&self.acquire);
    }
}

impl Flow {
    /// A flow that has not started, at whose source looks are taken at these times.
    pub fn new(
        source: Source,
        sink: Sink,
        (start, stop): (Time, Option<Time>),
        acquire: Acquire,
        looks: &[Time],
    ) -> Flow {
        let record = Record {
            start,
            stop,
            acquire,
            acquired: None,
            completed: None,
            // Two of the looks are at the ends of the measured interval.
            samples: Vec::with_capacity(looks.len().saturating_sub(2)),
            before: Totals::default(),
            looks: 0,
            early: VecDeque::new(),
            measured: Default::default(),
        };
        let (watch, record) = (record.acquire.ends, Box::new(record));
        let next_look = looks.first().copied().unwrap_or(Time::MAX);
        Flow { source, sink, watch, ahead_until: Time::ZERO, next_look, record }
    }

    /// Data arrives at the sink. Returns what to do then.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, packet: &Packet, stamp: &Stamp) -> Answer {
        self.before_data(now);
        let answer = self.sink.on_arrival(now, packet, stamp);
        self.after_data(now);
        answer
    }

    /// Data arrives at the sink, which answers at once. Returns the acknowledgment, which goes on at position `hop` of
    /// the topology.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Time, packet: &Packet, hop: u32) -> Packet {
        let Body::Data(stamp) = &packet.body else { return *packet };
        self.before_data(now);
        let ack = self.sink.acknowledge(now, packet, stamp, hop);
        self.after_data(now);
        ack
    }

    #[inline(always)]
    fn before_data(&mut self, now: Time) {
        if now >= self.watch {
            self.check_acquired(now);
        }
    }

    #[inline(always)]
    fn after_data(&mut self, now: Time) {
        if self.sink.is_complete() {
            self.record.completed.get_or_insert(now);
        }
    }

    /// Data is delivered at or after `watch`.
    #[cold]
    fn check_acquired(&mut self, now: Time) {
        let record = &mut *self.record;
        record.acquired = record.acquire.on_bins_end(now, self.sink.delivered());
        self.watch = if record.acquired.is_some() { Time::MAX } else { record.acquire.ends };
    }

    /// The source is about to act at `time`, ahead of it: takes the looks that come before that, at these `times` from
    /// the first one on.
    #[inline(always)]
    pub fn look_until(&mut self, time: Time, times: &[Time]) {
        while self.next_look < time {
            let look = Look::at(&self.source);
            // Most flows have one at a time, for which no more memory is taken.
            self.record.early.reserve_exact(usize::from(self.record.early.capacity() == 0));
            self.record.early.push_back(look);
            self.count_look(times);
        }
    }

    /// The look number `number` at the source, whose time, among `times`, has come.
    fn look(&mut self, number: usize, times: &[Time]) -> Look {
        if let Some(early) = self.record.early.pop_front() {
            return early;
        }
        debug_assert_eq!(self.record.looks, number, "looks are taken in their order");
        self.count_look(times);
        Look::at(&self.source)
    }

    fn count_look(&mut self, times: &[Time]) {
        self.record.looks += 1;
        self.next_look = times.get(self.record.looks).copied().unwrap_or(Time::MAX);
    }

    /// The totals at the look number `number`, whose time has come, and the look.
    fn totals(&mut self, number: usize, times: &[Time]) -> (Totals, Look) {
        let look = self.look(number, times);
        let Look { retransmitted, rtt_sum, rtt_samples, .. } = look;
        (Totals { delivered: self.sink.delivered(), retransmitted, rtt_sum, rtt_samples }, look)
    }

    /// A sampling interval ends, which is the look number `number`.
    pub fn sample(&mut self, now: Time, number: usize, times: &[Time]) {
        let (totals, look) = self.totals(number, times);
        let record = &mut *self.record;
        let shown = (now >= record.start && !look.done).then_some(look);
        let state = shown.map(|look| look.state);
        let before = std::mem::replace(&mut record.before, totals);
        let interval = totals.since(&before);
        record.samples.push(Sample {
            delivered: interval.delivered.0,
            window: state.and_then(|s| s.window).unwrap_or(f64::NAN),
            rate: state.and_then(|s| s.rate).map_or(f64::NAN, |rate| rate.as_bps()),
            available: shown.and_then(|look| look.available).map_or(f64::NAN, |rate| rate.as_bps()),
            rtt: interval.mean_rtt(),
            retransmitted: interval.retransmitted as u32,
            phase: state.map(|s| s.phase),
        });
    }

    /// The measured interval begins, or it ends, which is the look number `number`.
    pub fn measure(&mut self, begins: bool, number: usize, times: &[Time]) {
        let (totals, _) = self.totals(number, times);
        let measured = &mut self.record.measured;
        *measured = if begins { totals } else { totals.since(measured) };
    }

    /// What the run shows of the flow.
    pub fn outcome(self, mean_window: impl FnOnce(&FlowSeries) -> Option<f64>) -> FlowOutcome {
        let Flow { source, record, .. } = self;
        let counters = source.counters;
        drop(source); // its memory serves for the results
        let series = series(record.samples);
        FlowOutcome {
            delivered: record.measured.delivered,
            mean_rtt: record.measured.mean_rtt(),
            retransmitted_packets: counters.retransmitted,
            loss_events: counters.loss_events,
            timeouts: counters.timeouts,
            mean_window: mean_window(&series),
            acquired: record.acquired,
            completed: record.completed.map(|time| time.since(record.start)),
            series,
        }
    }
}

/// `samples` in columns.
fn series(samples: Vec<Sample>) -> FlowSeries {
    let mut series = FlowSeries::with_capacity(samples.len());
    for sample in samples {
        series.delivered.push(sample.delivered);
        series.window.push(sample.window);
        series.rate.push(sample.rate);
        series.available.push(sample.available);
        series.rtt.push(sample.rtt);
        series.retransmitted.push(sample.retransmitted);
        series.phase.push(sample.phase);
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_touches_one_cache_line() {
        assert_eq!(std::mem::offset_of!(Flow, source), 64);
    }

    #[test]
    fn round_trip_times_add_up_over_hours_of_many_packets() {
        let hour = 40_000_000_000 / 8000 * 3600; // packets, at 40 Gbps
        let after = |hours: u64| Totals {
            rtt_sum: u128::from(hours * hour) * 100_000_000_000,
            rtt_samples: hours * hour,
            ..Totals::default()
        };
        assert!((after(3).since(&after(2)).mean_rtt() - 0.1).abs() < 1e-12);
        assert!(after(3).since(&after(3)).mean_rtt().is_nan());
    }
}
