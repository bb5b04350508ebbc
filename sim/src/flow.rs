//! One flow of a run: its source, its sink, and when these are looked at.

use crate::host::{Answer, Sink, Source};
use crate::looks::{Look, Looks};
use crate::packet::{Body, Packet};
use crate::record::Record;
use control::{Duration, Stamp, Time};
use experiment::{FlowOutcome, FlowSeries};

/// A flow. What each packet touches is in the struct itself, and what is recorded of the flow in [`Looks::records`], so
/// that many flows fit into the caches. In this order of fields, a delivery touches one cache line of 64 bytes, and an
/// acknowledgment three or four.
#[repr(C, align(64))]
pub struct Flow {
    /// The receiving host.
    pub sink: Sink,
    /// From this time on, the next delivery is told to the flow's record, or comes after a look at the sink.
    pub watch: Time,
    /// The sending host.
    pub source: Source,
    /// Acknowledgments that reach the source before this time may be handled ahead of it.
    pub ahead_until: Time,
    /// The time of the next look at the source.
    next_look: Time,
}

impl Flow {
    /// A flow that has not started, of which `record` is kept, and at whose source looks are taken as `looks` says.
    pub fn new(source: Source, sink: Sink, record: Record, looks: &mut Looks) -> Flow {
        let watch = record.acquire.ends;
        looks.records.push(record);
        Flow { source, sink, watch, ahead_until: Time::ZERO, next_look: looks.time(0) }
    }

    /// Data arrives at the sink. Returns what to do then.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, packet: &Packet, stamp: &Stamp, looks: &mut Looks) -> Answer {
        self.before_data(now, looks);
        let answer = self.sink.on_arrival(now, packet, stamp);
        self.after_data(now, looks);
        answer
    }

    /// Data arrives at the sink, which answers at once. Returns the acknowledgment, which goes on at position `hop` of
    /// the topology.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Time, packet: &Packet, hop: u32, looks: &mut Looks) -> Packet {
        let Body::Data(stamp) = &packet.body else { return *packet };
        self.before_data(now, looks);
        let ack = self.sink.acknowledge(now, packet, stamp, hop);
        self.after_data(now, looks);
        ack
    }

    #[inline(always)]
    fn before_data(&mut self, now: Time, looks: &mut Looks) {
        if now >= self.watch {
            self.check_watch(now, looks);
        }
    }

    #[inline(always)]
    fn after_data(&mut self, now: Time, looks: &mut Looks) {
        if self.sink.cumulative() == self.source.size() {
            let record = looks.record(self.source.flow());
            record.completed = record.completed.min(now);
        }
    }

    /// Data is delivered at or after `watch`.
    #[cold]
    fn check_watch(&mut self, now: Time, looks: &mut Looks) {
        let flow = self.source.flow();
        while looks.next_at_sink(flow).is_some_and(|time| time < now) {
            self.look_at_sink(looks);
        }
        let acquire = &mut looks.record(flow).acquire;
        if now >= acquire.ends {
            acquire.on_bins_end(now, self.sink.delivered());
        }
        self.watch_sink(looks);
    }

    /// Sets the time of [`Flow::watch`].
    fn watch_sink(&mut self, looks: &mut Looks) {
        let flow = self.source.flow();
        let after = looks.next_at_sink(flow).map_or(Time::MAX, |time| time + Duration(1));
        self.watch = looks.record(flow).acquire.ends.min(after);
    }

    /// From before the first arrival on, arrivals are told of after looks whose times are later.
    pub fn wait_for_arrivals(&mut self, looks: &mut Looks) {
        looks.record(self.source.flow()).waits = true;
        self.watch_sink(looks);
    }

    /// All arrivals have been told of: takes the looks at the sink that are left.
    pub fn end_looks(&mut self, looks: &mut Looks) {
        while looks.next_at_sink(self.source.flow()).is_some_and(|time| time != Time::MAX) {
            self.look_at_sink(looks);
        }
    }

    /// Takes the next look at the sink.
    fn look_at_sink(&mut self, looks: &mut Looks) {
        let (flow, delivered) = (self.source.flow(), self.sink.delivered());
        let record = &mut looks.records[flow as usize];
        match looks.all.get(record.sink_looks as usize) {
            Some((_, Look::Begin)) => record.measured.delivered = delivered,
            Some((_, Look::End)) => record.measured.delivered = delivered - record.measured.delivered,
            Some(&(_, Look::Sample(number))) => {
                let before = std::mem::replace(&mut record.before.delivered, delivered);
                looks.samples.deliver(flow, number, (delivered - before).0);
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
        let source = &self.source;
        let record = &mut looks.records[source.flow() as usize];
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
        let next = record.looks as usize;
        self.next_look = looks.time(next);
    }

    /// The time of look number `number` has come, and what has arrived by then is known, unless looks at the sink wait
    /// for arrivals.
    pub fn settle(&mut self, number: usize, looks: &mut Looks) {
        let record = looks.record(self.source.flow());
        let (is_due, waits) = (record.looks as usize == number, record.waits);
        if is_due {
            self.look(looks);
        }
        if !waits {
            self.look_at_sink(looks);
        }
    }

    /// What the run shows of the flow, of which this is recorded, beside these samples and their mean window.
    pub fn outcome(self, record: &Record, samples: impl FnOnce(u32) -> (FlowSeries, Option<f64>)) -> FlowOutcome {
        let Flow { source, .. } = self;
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
    fn a_flow_takes_five_cache_lines() {
        assert_eq!(size_of::<Flow>(), 320);
    }
}
