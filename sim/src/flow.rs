//! One flow of a run: its source, its sink, and what is recorded of it.

use crate::host::round_trips::RoundTrips;
use crate::host::{Answer, Sink, Source};
use crate::looks::{Look, Looks};
use crate::packet::{Body, Packet};
use control::{Bytes, Duration, Stamp, Time};
use experiment::{Acquire, FlowOutcome, FlowSeries};
use path::prefetch;

/// A flow. What each packet touches is in the struct itself and the rest behind a pointer, so that many flows fit into
/// the caches. In this order of fields, a delivery touches one cache line of 64 bytes, and an acknowledgment three or
/// four.
#[repr(C, align(64))]
pub struct Flow {
    /// The receiving host.
    pub sink: Sink,
    /// From this time on, the next delivery is told to [`Record::acquire`], or comes after a look at the sink.
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

/// What is recorded of a flow, beside its [`Samples`](crate::samples::Samples).
pub struct Record {
    /// When the flow starts.
    start: Time,
    /// Detects the time from which the flow has the spare capacity.
    acquire: Acquire,
    /// When the last byte of the flow arrived; [`Time::MAX`] until then.
    completed: Time,
    /// How many looks were taken at the source.
    looks: u32,
    /// How many looks were taken at the sink.
    sink_looks: u32,
    /// A look at the sink is taken before the first arrival after its time, as deliveries are known late, or at the
    /// end.
    waits: bool,
    /// At the last sample.
    before: Totals,
    /// Packets sent again until the last sample, modulo 2^32.
    retransmitted: u32,
    /// At the beginning of the measured interval; once that has ended, within the interval.
    measured: Totals,
}

/// Totals of a flow since its start.
#[derive(Clone, Copy, Default)]
struct Totals {
    /// Bytes delivered, without duplicates.
    delivered: Bytes,
    round_trips: RoundTrips,
}

impl Record {
    /// Prefetches what [`Flow::check_watch`] needs.
    pub fn prefetch(&self) {
        prefetch::lines(self);
    }
}

impl Flow {
    /// A flow that has not started, at whose source looks are taken as `looks` says.
    pub fn new(source: Source, sink: Sink, start: Time, acquire: Acquire, looks: &Looks) -> Flow {
        let record = Record {
            start,
            acquire,
            completed: Time::MAX,
            looks: 0,
            sink_looks: 0,
            waits: false,
            before: Totals::default(),
            retransmitted: 0,
            measured: Totals::default(),
        };
        let (watch, record) = (record.acquire.ends, Box::new(record));
        Flow { source, sink, watch, ahead_until: Time::ZERO, next_look: looks.time(0), record }
    }

    /// Data arrives at the sink. Returns what to do then.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, packet: &Packet, stamp: &Stamp, looks: &mut Looks) -> Answer {
        self.before_data(now, looks);
        let answer = self.sink.on_arrival(now, packet, stamp);
        self.after_data(now);
        answer
    }

    /// Data arrives at the sink, which answers at once. Returns the acknowledgment, which goes on at position `hop` of
    /// the topology.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Time, packet: &Packet, hop: u32, looks: &mut Looks) -> Packet {
        let Body::Data(stamp) = &packet.body else { return *packet };
        self.before_data(now, looks);
        let ack = self.sink.acknowledge(now, packet, stamp, hop);
        self.after_data(now);
        ack
    }

    #[inline(always)]
    fn before_data(&mut self, now: Time, looks: &mut Looks) {
        if now >= self.watch {
            self.check_watch(now, looks);
        }
    }

    #[inline(always)]
    fn after_data(&mut self, now: Time) {
        if self.sink.cumulative() == self.source.size() {
            self.record.completed = self.record.completed.min(now);
        }
    }

    /// Data is delivered at or after `watch`.
    #[cold]
    fn check_watch(&mut self, now: Time, looks: &mut Looks) {
        while self.record.waits && looks.time(self.record.sink_looks as usize) < now {
            self.look_at_sink(looks);
        }
        let acquire = &mut self.record.acquire;
        if now >= acquire.ends {
            acquire.on_bins_end(now, self.sink.delivered());
        }
        self.watch_sink(looks);
    }

    /// Sets the time of [`Flow::watch`].
    fn watch_sink(&mut self, looks: &Looks) {
        let Record { acquire, sink_looks, waits, .. } = &*self.record;
        let after = if *waits { looks.time(*sink_looks as usize) + Duration(1) } else { Time::MAX };
        self.watch = acquire.ends.min(after);
    }

    /// From before the first arrival on, arrivals are told of after looks whose times are later.
    pub fn wait_for_arrivals(&mut self, looks: &Looks) {
        self.record.waits = true;
        self.watch_sink(looks);
    }

    /// All arrivals have been told of: takes the looks at the sink that are left.
    pub fn end_looks(&mut self, looks: &mut Looks) {
        while self.record.waits && (self.record.sink_looks as usize) < looks.all.len() {
            self.look_at_sink(looks);
        }
    }

    /// Takes the next look at the sink.
    fn look_at_sink(&mut self, looks: &mut Looks) {
        let (record, delivered) = (&mut *self.record, self.sink.delivered());
        match looks.all.get(record.sink_looks as usize) {
            Some((_, Look::Begin)) => record.measured.delivered = delivered,
            Some((_, Look::End)) => record.measured.delivered = delivered - record.measured.delivered,
            Some(&(_, Look::Sample(number))) => {
                let before = std::mem::replace(&mut record.before.delivered, delivered);
                looks.samples.deliver(self.source.flow(), number, (delivered - before).0);
            }
            None => {}
        }
        record.sink_looks += 1;
    }

    /// The source is about to act at `time`, ahead of it: takes the looks that come before that.
    #[inline(always)]
    pub fn look_until(&mut self, time: Time, looks: &mut Looks) {
        while self.next_look < time {
            self.look(looks);
        }
    }

    /// Takes the next look at the source.
    #[cold]
    fn look(&mut self, looks: &mut Looks) {
        let (source, record) = (&self.source, &mut *self.record);
        let Some(&(time, look)) = looks.all.get(record.looks as usize) else { return };
        let (retransmitted, round_trips) = (source.counters.retransmitted as u32, source.counters.round_trips);
        match look {
            Look::Begin => record.measured.round_trips = round_trips,
            Look::End => record.measured.round_trips = round_trips.since(&record.measured.round_trips),
            Look::Sample(number) => {
                let is_active = time >= record.start && !source.is_done();
                let mean_rtt = round_trips.since(&record.before.round_trips).mean();
                let again = retransmitted.wrapping_sub(record.retransmitted);
                looks.samples.see(source.flow(), number, source, is_active, mean_rtt, again);
                (record.retransmitted, record.before.round_trips) = (retransmitted, round_trips);
            }
        }
        record.looks += 1;
        self.next_look = looks.time(record.looks as usize);
    }

    /// The time of look number `number` has come, and what has arrived by then is known, unless looks at the sink wait
    /// for arrivals.
    pub fn settle(&mut self, number: usize, looks: &mut Looks) {
        if self.record.looks as usize == number {
            self.look(looks);
        }
        if !self.record.waits {
            self.look_at_sink(looks);
        }
    }

    /// What the run shows of the flow, beside these samples and their mean window.
    pub fn outcome(self, samples: impl FnOnce(u32) -> (FlowSeries, Option<f64>)) -> FlowOutcome {
        let Flow { source, record, .. } = self;
        let (counters, flow) = (source.counters, source.flow());
        drop(source); // its memory serves for the results
        let (series, mean_window) = samples(flow);
        FlowOutcome {
            delivered: record.measured.delivered,
            mean_rtt: record.measured.round_trips.mean(),
            retransmitted_packets: counters.retransmitted,
            loss_events: counters.loss_events.into(),
            timeouts: counters.timeouts.into(),
            mean_window,
            acquired: record.acquire.acquired(),
            completed: (record.completed != Time::MAX).then(|| record.completed.since(record.start)),
            series,
        }
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
    fn a_flow_takes_six_cache_lines() {
        assert_eq!(size_of::<Flow>(), 384);
        assert_eq!(size_of::<Record>(), 184);
    }
}
