//! One flow of a run: its source, its sink, and what is recorded of it.

use crate::host::{Sink, Source};
use control::{Bytes, Duration, Time};
use experiment::Acquire;
use experiment::FlowSeries;
use path::prefetch;

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
    pub series: FlowSeries,
    /// The totals at the last sample.
    before: Totals,
    /// The totals at the beginning and the end of the measured interval.
    pub measured: (Totals, Totals),
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

impl Totals {
    /// The mean round-trip time since `earlier`, in seconds; NaN without a sample.
    pub fn mean_rtt_since(&self, earlier: &Totals) -> f64 {
        (self.rtt_sum - earlier.rtt_sum) as f64 / 1e12 / (self.rtt_samples - earlier.rtt_samples) as f64
    }
}

impl Record {
    /// Prefetches what [`Flow::check_acquired`] needs.
    pub fn prefetch(&self) {
        prefetch::lines(&self.acquire);
    }
}

impl Flow {
    /// A flow that has not started.
    pub fn new(source: Source, sink: Sink, start: Time, stop: Option<Time>, acquire: Acquire) -> Flow {
        let record = Record {
            start,
            stop,
            acquire,
            acquired: None,
            completed: None,
            series: FlowSeries::default(),
            before: Totals::default(),
            measured: Default::default(),
        };
        Flow { source, sink, watch: record.acquire.ends, record: Box::new(record) }
    }

    /// Data is delivered at or after `watch`.
    #[cold]
    pub fn check_acquired(&mut self, now: Time) {
        let record = &mut *self.record;
        record.acquired = record.acquire.on_bins_end(now, self.sink.delivered());
        self.watch = if record.acquired.is_some() { Time::MAX } else { record.acquire.ends };
    }

    /// The totals now.
    pub fn totals(&self) -> Totals {
        let counters = &self.source.counters;
        Totals {
            delivered: self.sink.delivered(),
            retransmitted: counters.retransmitted,
            rtt_sum: counters.rtt_sum,
            rtt_samples: counters.rtt_samples,
        }
    }

    /// A sampling interval ends.
    pub fn sample(&mut self, now: Time) {
        let totals = self.totals();
        let record = &mut *self.record;
        let active = now >= record.start && !self.source.is_done();
        let state = active.then(|| self.source.state());
        let before = std::mem::replace(&mut record.before, totals);
        let series = &mut record.series;
        series.delivered.push((totals.delivered - before.delivered).0);
        series.window.push(state.and_then(|s| s.window).unwrap_or(f64::NAN));
        series.rate.push(state.and_then(|s| s.rate).map_or(f64::NAN, |rate| rate.as_bps()));
        let available = active.then(|| self.source.available()).flatten();
        series.available.push(available.map_or(f64::NAN, |rate| rate.as_bps()));
        series.rtt.push(totals.mean_rtt_since(&before));
        series.retransmitted.push((totals.retransmitted - before.retransmitted) as u32);
        series.phase.push(state.map(|s| s.phase));
    }
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
        assert!((after(3).mean_rtt_since(&after(2)) - 0.1).abs() < 1e-12);
        assert!(after(3).mean_rtt_since(&after(3)).is_nan());
    }
}
