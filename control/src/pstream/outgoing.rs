//! The stream that a sender is transmitting, and when its packets leave.
//!
//! On a host that cannot time short gaps, the unit of a stream is a burst ([`Bursts`]): all packets of a burst leave at
//! one time and carry the same stamp.
//!
//! **Lost time** is made up on a host whose times are not exact. A late departure does not move the due times of the
//! stream. If the next departure would then come too soon after the late one, it waits: for the gap of the stream's
//! highest rate, for a quantum, and for a gap at [`CATCHING_UP`] times its own rate. The stamp carries the rate at
//! which the burst left. So the stream keeps its average rate, and all rates that it probes are within its range. At
//! most the duration of one stream is made up.

use super::bursts::Bursts;
use super::stream::Stream;
use crate::roles::{Conditions, Next, Pipe, Stamp};
use crate::units::{Bytes, Duration, Time};

/// A sender that is behind its schedule sends at this multiple of the rates of its stream.
const CATCHING_UP: f64 = 1.5;

/// A stream on its way out, burst by burst.
#[derive(Clone, Debug)]
pub struct Outgoing {
    stream: Stream,
    host: Conditions,
    bursts: Bursts,
    /// The number of packets in each burst of this stream.
    burst: u16,
    /// The shortest gap of this stream, and the most time that it makes up.
    shortest: Duration,
    make_up: Duration,
    /// When the gap before the next burst starts: when the last burst was due, or the time that
    /// [`Outgoing::wait_from`] set; none: the next burst is due at once.
    gap_starts: Option<Time>,
    /// When the last burst left.
    left: Time,
    /// How many packets of that burst have still to leave, and their stamp.
    open: u16,
    stamp: Stamp,
    /// Whether that burst had all data that there was. A burst that comes later than its time is then not late.
    dry: bool,
}

impl Outgoing {
    /// Sends `stream` from this host, which has sent nothing yet.
    pub fn new(stream: Stream, host: &Conditions) -> Outgoing {
        let mut outgoing = Outgoing {
            stream,
            host: *host,
            bursts: Bursts::on(host),
            burst: 1,
            shortest: Duration::ZERO,
            make_up: Duration::ZERO,
            gap_starts: None,
            left: Time::ZERO,
            open: 0,
            stamp: Stamp::None,
            dry: false,
        };
        outgoing.begin(stream);
        outgoing
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// How many packets the bursts of this host have.
    pub fn bursts(&self) -> &Bursts {
        &self.bursts
    }

    /// The size of a burst of full packets of this stream.
    pub fn burst(&self) -> Bytes {
        self.size_of_burst(self.host.packet)
    }

    /// The number of the stream after this one.
    pub fn next_id(&self) -> u32 {
        self.stream.id().wrapping_add(1)
    }

    /// Begins this stream with the next packet, whatever is left of the present one.
    pub fn begin(&mut self, stream: Stream) {
        self.lengthen(Duration::ZERO);
        self.begin_lengthened(stream);
    }

    /// The same, where the quantum remains as long as [`Outgoing::lengthen`] has made it.
    pub fn begin_lengthened(&mut self, stream: Stream) {
        let (_, highest) = stream.range();
        self.stream = stream;
        self.open = 0;
        self.burst = self.bursts.packets(highest);
        self.bursts.on_stream(self.burst, stream.probes());
        if !self.host.is_exact() {
            let burst = self.burst();
            (self.shortest, self.make_up) = if stream.probes() {
                (highest.time_for(burst).max(self.bursts.quantum()), stream.duration(burst))
            } else {
                (self.bursts.quantum(), stream.gap(burst)) // all rates are the same, and there may be no end
            };
        }
    }

    /// The quantum of the bursts is at least this until [`Outgoing::begin`] or [`Outgoing::end`] is called.
    pub fn lengthen(&mut self, quantum: Duration) {
        self.bursts.lengthen(quantum);
    }

    /// How late earlier bursts left no longer matters, as another protocol has sent since.
    pub fn forget_lateness(&mut self) {
        self.bursts.forget_lateness();
    }

    /// Ends the stream, whatever is left of it.
    pub fn end(&mut self) {
        self.stream = self.stream.ended();
        self.open = 0;
        self.lengthen(Duration::ZERO);
    }

    /// A packet was acknowledged after this round-trip time.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration) {
        self.bursts.on_rtt(now, rtt, self.burst);
    }

    /// The receiver says how often packets arrive in batches; zero: they arrive one by one, or it does not know.
    pub fn on_batches(&mut self, now: Time, interval: Duration) {
        self.bursts.on_batches(now, interval);
    }

    /// A loss event that transmission errors do not explain.
    pub fn on_loss(&mut self, now: Time) {
        self.bursts.on_loss(now);
    }

    /// Whether all packets of the stream have been sent.
    pub fn is_over(&self) -> bool {
        self.stream.is_over() && self.open == 0
    }

    /// The gap before the next burst starts now.
    pub fn wait_from(&mut self, now: Time) {
        self.gap_starts = Some(now);
    }

    /// The next burst leaves without a gap. This is for a sender that was idle after the last packet, as in slow
    /// start: the gap from the last packet of the previous stream that PACKET-SCALE-2017 demands (footnote 11) has
    /// passed.
    pub fn wait_for_nothing(&mut self) {
        self.gap_starts = None;
    }

    /// When the next packet of the stream leaves.
    pub fn next(&self, now: Time) -> Next {
        if self.open > 0 {
            return Next::Now;
        }
        // The host has not yet said how large the packet is, so the gap is that of a full packet. A smaller packet
        // would be due earlier: `on_send` computes its gap again from its real size, and finds it late by the
        // difference.
        match self.plan(self.host.packet) {
            Some(Plan { leaves, .. }) if leaves > now => Next::At(leaves),
            _ => Next::Now,
        }
    }

    /// The next packet of the stream, of `size`, leaves now, and `pipe` is what the host told of it.
    pub fn on_send(&mut self, now: Time, size: Bytes, pipe: &Pipe) -> Stamp {
        if self.open > 0 {
            self.open -= 1;
        } else {
            self.begin_burst(now, size);
            self.open = self.burst - 1;
        }
        self.dry = pipe.backlog <= size;
        self.stamp
    }

    /// The first packet of a burst, of `size`, leaves now.
    fn begin_burst(&mut self, now: Time, size: Bytes) {
        let plan = self.plan(size);
        let gap = self.gap(size);
        // If a burst is late by no more than `bearable`, the next ones keep their due times. If it is later, the
        // schedule restarts, so that an exact host sends no burst that makes up for the lost time.
        let bearable = if self.host.is_exact() || self.dry { gap } else { self.make_up.max(gap) };
        let due = match plan {
            Some(Plan { due, .. }) if due <= now && now.since(due) <= bearable => due,
            Some(Plan { due, .. }) if due <= now && !self.host.is_exact() && !self.dry => now - bearable,
            _ => now,
        };
        self.gap_starts = Some(due);
        if let Some(Plan { leaves, .. }) = plan
            && !self.dry
        {
            self.bursts.on_departure(now.since(leaves));
        }
        let since = now.since(core::mem::replace(&mut self.left, now));
        let bytes = self.size_of_burst(size);
        let unlimited = self.stream.gap(bytes);
        let mut stamp = self.stream.send(now);
        if let Stamp::Probe { index, rate, .. } = &mut stamp {
            let planned = plan.map_or(gap, |plan| plan.gap);
            if planned != unlimited {
                *rate = bytes.over(planned).as_bps() as f32;
            }
            // A burst that leaves late, after more than twice its planned gap, probes a lower rate. So no estimate
            // exceeds the rate at which this host can send. The first burst of a stream may follow a pause.
            if !self.host.is_exact() && *index > 0 && since.0 / 2 > planned.0 {
                *rate = bytes.over(since).as_bps() as f32;
            }
        }
        self.stamp = stamp;
    }

    /// When the next burst, of packets of `size`, is due and leaves; none if that is at once.
    fn plan(&self, size: Bytes) -> Option<Plan> {
        let gap = self.gap(size);
        let due = self.gap_starts? + gap;
        if self.host.is_exact() {
            return Some(Plan { due, leaves: due, gap });
        }
        let soonest = self.shortest.max(gap.scale(1.0 / CATCHING_UP)).min(gap);
        let leaves = due.max(self.left + soonest);
        // A burst that waits for `soonest` is behind the schedule.
        Some(Plan { due, leaves, gap: if leaves > due { soonest } else { gap } })
    }

    /// The gap before the next burst, of packets of `size`, by the stream's schedule.
    fn gap(&self, size: Bytes) -> Duration {
        self.stream.gap(self.size_of_burst(size)).max(self.bursts.quantum())
    }

    fn size_of_burst(&self, packet: Bytes) -> Bytes {
        Bytes(packet.0 * u64::from(self.burst))
    }
}

/// When a burst leaves.
struct Plan {
    /// When it is due by the stream's schedule.
    due: Time,
    /// When it leaves: later, if the burst before it left late.
    leaves: Time,
    /// The gap before it whose rate it probes.
    gap: Duration,
}

#[cfg(test)]
mod tests {
    use super::super::stream::Layout;
    use super::*;
    use crate::units::Rate;

    const PACKET: Bytes = Bytes(1000);
    const PIPE: Pipe = Pipe { in_flight: Bytes(0), backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };

    /// Packets 1, 2, 4, ... ms apart, on such a host.
    fn outgoing(timing_error: Duration) -> Outgoing {
        let stream = Stream::starting_at(1, 10, 0.5, Rate::from_mbps(8.0));
        Outgoing::new(stream, &Conditions { timing_error, ..Conditions::exact(PACKET) })
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_packet_that_is_late_by_its_gap_delays_no_other() {
        let mut outgoing = outgoing(Duration::ZERO);
        assert_eq!(outgoing.next(ms(5)), Next::Now, "the first packet ever");
        outgoing.on_send(ms(5), PACKET, &PIPE);
        assert_eq!(outgoing.next(ms(5)), Next::At(ms(7)));
        outgoing.on_send(ms(9), PACKET, &PIPE);
        assert_eq!(outgoing.next(ms(9)), Next::At(ms(11)), "4 ms after it was due");
        outgoing.on_send(ms(16), PACKET, &PIPE);
        assert_eq!(outgoing.next(ms(16)), Next::At(ms(24)), "that one was too late, by 5 ms");
        outgoing.wait_from(ms(20));
        assert_eq!(outgoing.next(ms(20)), Next::At(ms(28)));
        outgoing.wait_for_nothing();
        assert_eq!(outgoing.next(ms(20)), Next::Now);
    }

    #[test]
    fn only_on_an_inexact_host_stamps_say_that_packets_left_late() {
        let rate = |timing| {
            let mut outgoing = outgoing(timing);
            outgoing.on_send(ms(0), PACKET, &PIPE);
            match outgoing.on_send(ms(10), PACKET, &PIPE) {
                Stamp::Probe { rate, .. } => rate,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([rate(Duration::ZERO), rate(Duration::from_micros(10))], [4e6, 8e5]);
    }

    /// A host with a quantum of 50 us.
    fn coarse(timing_error: Duration) -> Conditions {
        Conditions { timing_error, quantum: Duration::from_micros(50), ..Conditions::exact(PACKET) }
    }

    fn gigabit() -> Stream {
        Stream::new(1, 90, 1.039, Rate::from_gbps(1.0), Layout::AllRising)
    }

    /// 8.6 Gbps are 53.8 packets in 50 us.
    #[test]
    fn the_packets_of_a_burst_leave_together_with_one_stamp_and_bursts_a_quantum_apart() {
        let mut outgoing = Outgoing::new(gigabit(), &coarse(Duration::ZERO));
        let (mut now, mut stamps) = (Time::ZERO, Vec::new());
        while !outgoing.is_over() {
            match outgoing.next(now) {
                Next::At(time) => {
                    assert!(time >= now + Duration::from_micros(50));
                    now = time;
                }
                _ => stamps.push(outgoing.on_send(now, PACKET, &PIPE)),
            }
        }
        assert_eq!(stamps.len(), 90 * 54);
        for (burst, index) in stamps.chunks(54).zip(0..) {
            assert!(burst.iter().all(|stamp| stamp == &burst[0]));
            assert!(matches!(burst[0], Stamp::Probe { index: i, len: 90, .. } if i == index));
        }
        let average = Bytes(89 * 54_000).over(now.since(Time::ZERO)).as_bps() / 1e9;
        assert!((average - 1.03).abs() < 0.005, "without the first and longest gap: {average}");
    }

    /// The stream of [`gigabit`], on a host whose departures are this late. Returns when it ends, and the highest rate
    /// between two bursts.
    fn with_late(late: impl Fn(u16) -> Duration) -> (Duration, f64) {
        let mut outgoing = Outgoing::new(gigabit(), &coarse(Duration::from_micros(10)));
        outgoing.wait_from(Time::ZERO);
        let (mut now, mut left, mut highest, mut bursts) = (Time::ZERO, Time::ZERO, 0.0, 0);
        while !outgoing.is_over() {
            if let Next::At(time) = outgoing.next(now) {
                now = time + late(bursts);
                bursts += 1;
                highest = Bytes(54_000).over(now.since(left)).as_bps().max(highest);
                left = now;
            }
            outgoing.on_send(now, PACKET, &PIPE);
        }
        (now.since(Time::ZERO), highest)
    }

    #[test]
    fn lost_time_is_made_up_within_the_rates_of_the_stream() {
        let (exact, top) = with_late(|_| Duration::ZERO);
        for millis in [1, 3] {
            let (end, highest) = with_late(|burst| Duration::from_millis(if burst == 20 { millis } else { 0 }));
            assert!(end.0.abs_diff(exact.0) < Duration::from_micros(10).0, "{end} in place of {exact}");
            assert!(highest <= top * 1.001, "{highest}");
        }
    }
}
