//! One flow of a run: its two ends, and what is measured of it.

use crate::acquire::Acquire;
use crate::host::{Sink, Source};
use crate::outcome::FlowSeries;
use control::{Bytes, Duration, Time};

/// A flow: what each packet touches, and the rest behind a pointer, so that many flows fit into the caches.
pub struct Flow {
    /// Sends.
    pub source: Source,
    /// Receives.
    pub sink: Sink,
    /// A delivery from here on is of interest to [`Record::acquire`].
    pub watch: Time,
    /// What is measured of it.
    pub record: Box<Record>,
}

/// What is measured of a flow.
pub struct Record {
    /// When it starts and when it stops sending new data.
    pub start: Time,
    /// See `start`.
    pub stop: Option<Time>,
    /// Watches for the moment from which it has the spare capacity.
    acquire: Acquire,
    /// What that watch found.
    pub acquired: Option<Duration>,
    /// When the last of its data arrived.
    pub completed: Option<Time>,
    /// Its samples so far.
    pub series: FlowSeries,
    /// The totals at the last sample.
    before: Before,
    /// Bytes delivered at the beginning and the end of the measured interval.
    pub measured: (Bytes, Bytes),
}

#[derive(Default)]
struct Before {
    delivered: u64,
    retransmitted: u64,
    rtt_sum: Duration,
    rtt_samples: u64,
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
            before: Before::default(),
            measured: (Bytes(0), Bytes(0)),
        };
        Flow { source, sink, watch: record.acquire.ends, record: Box::new(record) }
    }

    /// Something is delivered at or after `watch`.
    #[cold]
    pub fn check_acquired(&mut self, now: Time) {
        let record = &mut *self.record;
        record.acquired = record.acquire.on_bins_end(now, self.sink.delivered());
        self.watch = if record.acquired.is_some() { Time::MAX } else { record.acquire.ends };
    }

    /// A sampling interval ends.
    pub fn sample(&mut self, now: Time) {
        let record = &mut *self.record;
        let active = now >= record.start && !self.source.is_done();
        let state = active.then(|| self.source.state());
        let counters = self.source.counters;
        let samples = counters.rtt_samples - record.before.rtt_samples;
        let rtt = (counters.rtt_sum - record.before.rtt_sum).as_secs() / samples as f64;
        let delivered = self.sink.delivered().0;
        let series = &mut record.series;
        series.delivered.push(delivered - record.before.delivered);
        series.window.push(state.and_then(|s| s.window).unwrap_or(f64::NAN));
        series.rate.push(state.and_then(|s| s.rate).map_or(f64::NAN, |rate| rate.as_bps()));
        series.rtt.push(rtt); // NaN without a sample
        series.retransmitted.push((counters.retransmitted - record.before.retransmitted) as u32);
        series.phase.push(state.map(|s| s.phase));
        record.before = Before {
            delivered,
            retransmitted: counters.retransmitted,
            rtt_sum: counters.rtt_sum,
            rtt_samples: counters.rtt_samples,
        };
    }
}
