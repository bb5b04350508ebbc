//! The stream that a sender is transmitting, and when its packets leave.

use super::stream::Stream;
use crate::roles::{Conditions, Next, Stamp};
use crate::units::{Bytes, Duration, Rate, Time};

/// A stream on its way out, packet by packet.
#[derive(Clone, Debug)]
pub struct Outgoing {
    stream: Stream,
    host: Conditions,
    /// When the gap before the next packet starts: when the last packet was due, or the time that
    /// [`Outgoing::wait_from`] set; none: the next packet is due at once.
    gap_starts: Option<Time>,
    /// When the last packet left.
    left: Time,
}

impl Outgoing {
    /// Sends `stream` from this host, which has sent nothing yet.
    pub fn new(stream: Stream, host: &Conditions) -> Outgoing {
        Outgoing { stream, host: *host, gap_starts: None, left: Time::ZERO }
    }

    /// The stream.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// The number of the stream after this one.
    pub fn next_id(&self) -> u32 {
        self.stream.id().wrapping_add(1)
    }

    /// Begins this stream with the next packet, whatever is left of the present one.
    pub fn begin(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// Ends the stream, whatever is left of it.
    pub fn end(&mut self) {
        self.stream = self.stream.ended();
    }

    /// The gap before the next packet starts now.
    pub fn wait_from(&mut self, now: Time) {
        self.gap_starts = Some(now);
    }

    /// The next packet leaves without a gap. This is for a sender that was idle after the last packet, as in slow
    /// start: the gap from the last packet of the previous stream that PACKET-SCALE-2017 demands (footnote 11) has
    /// passed.
    pub fn wait_for_nothing(&mut self) {
        self.gap_starts = None;
    }

    /// When the next packet of the stream leaves.
    pub fn next(&self, now: Time) -> Next {
        let Some(gap_starts) = self.gap_starts else { return Next::Now };
        // The host has not yet said how large the packet is, so the gap is that of a full packet. A smaller packet
        // would be due earlier: `on_send` computes its gap again from its real size, and finds it late by the
        // difference.
        let due = gap_starts + self.stream.gap(self.host.packet);
        if due > now { Next::At(due) } else { Next::Now }
    }

    /// The next packet of the stream, of `size`, leaves now.
    pub fn on_send(&mut self, now: Time, size: Bytes) -> Stamp {
        // If a packet is late by at most its own gap, the next ones keep their due times. If it is later, the schedule
        // restarts now, so that no burst makes up for the lost time.
        let gap = self.stream.gap(size);
        let planned = match self.gap_starts.map(|gap_starts| gap_starts + gap) {
            Some(due) if due <= now && now.since(due) <= gap => due,
            _ => now,
        };
        self.gap_starts = Some(planned);
        let since = now.since(core::mem::replace(&mut self.left, now));
        let stamp = self.stream.send(now);
        if self.host.is_exact() { stamp } else { as_it_left(stamp, size, since) }
    }
}

/// The stamp of a packet that left `since` after the one before it. A packet that leaves late, after more than twice
/// its planned gap, probes a lower rate: its size over the real gap. The stamp carries that rate. So no estimate
/// exceeds the rate at which this host can send.
fn as_it_left(stamp: Stamp, size: Bytes, since: Duration) -> Stamp {
    match stamp {
        Stamp::Probe { stream, index, len, rate, sent } if index > 0 => {
            let planned = Rate::from_bps(f64::from(rate)).time_for(size);
            let missed = since.0 / 2 > planned.0;
            let rate = if missed { size.over(since).as_bps() as f32 } else { rate };
            Stamp::Probe { stream, index, len, rate, sent }
        }
        stamp => stamp,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);

    /// Packets 1, 2, 4, ... ms apart, on such a host.
    fn outgoing(timing_error: Duration) -> Outgoing {
        let stream = Stream::starting_at(1, 10, 0.5, Rate::from_mbps(8.0));
        Outgoing::new(stream, &Conditions { packet: PACKET, timing_error })
    }

    fn ms(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_packet_that_is_late_by_its_gap_delays_no_other() {
        let mut outgoing = outgoing(Duration::ZERO);
        assert_eq!(outgoing.next(ms(5)), Next::Now, "the first packet ever");
        outgoing.on_send(ms(5), PACKET);
        assert_eq!(outgoing.next(ms(5)), Next::At(ms(7)));
        outgoing.on_send(ms(9), PACKET);
        assert_eq!(outgoing.next(ms(9)), Next::At(ms(11)), "4 ms after it was due");
        outgoing.on_send(ms(16), PACKET);
        assert_eq!(outgoing.next(ms(16)), Next::At(ms(24)), "that one was too late, by 5 ms");
        outgoing.wait_from(ms(20));
        assert_eq!(outgoing.next(ms(20)), Next::At(ms(28)));
        outgoing.wait_for_nothing();
        assert_eq!(outgoing.next(ms(20)), Next::Now);
    }

    #[test]
    fn a_packet_that_left_late_by_more_than_its_gap_probed_less() {
        let probe = |index, rate| Stamp::Probe { stream: 1, index, len: 90, rate, sent: Time(5) };
        let as_it_left = |index, rate, us| as_it_left(probe(index, rate), PACKET, Duration::from_micros(us));
        assert_eq!(as_it_left(3, 1e9, 15), probe(3, 1e9), "8 us and a little late");
        assert_eq!(as_it_left(3, 1e9, 20), probe(3, 4e8));
        assert_eq!(as_it_left(0, 1e9, 20), probe(0, 1e9), "the first follows a pause");
    }

    #[test]
    fn only_on_an_inexact_host_stamps_say_that_packets_left_late() {
        let rate = |timing| {
            let mut outgoing = outgoing(timing);
            outgoing.on_send(ms(0), PACKET);
            match outgoing.on_send(ms(10), PACKET) {
                Stamp::Probe { rate, .. } => rate,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([rate(Duration::ZERO), rate(Duration::from_micros(10))], [4e6, 8e5]);
    }
}
