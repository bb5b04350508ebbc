//! CoDel: drops from the head, or marks, while packets have waited too long for too long (RFC 8289; section 5 has the
//! algorithm).

use super::buffer::Buffer;
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use crate::Packet;
use crate::ring::Ring;
use control::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parameters {
    /// TARGET: the queueing delay that CoDel accepts.
    pub target: Duration,
    /// INTERVAL: how long the delay may exceed the target before packets are dropped, about a round trip.
    pub interval: Duration,
}

impl Parameters {
    /// RFC 8289, sections 4.3 and 4.4.
    pub const RFC: Parameters = Parameters { target: Duration::from_millis(5), interval: Duration::from_millis(100) };
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters::RFC
    }
}

impl Queueing for Parameters {
    fn check(&self, _: &Site) -> Vec<Mistake> {
        Mistake::unless([("interval", self.interval > Duration::ZERO, "is zero; write one like \"100 ms\"".into())])
    }
    fn queue<P: Packet>(&self, site: &Site, _: u64) -> Box<dyn Queue<P>> {
        Box::new(CoDel::new(*self, site.buffer))
    }
}

/// A first-in, first-out queue without a limit that knows when each packet arrived.
#[derive(Clone, Debug)]
pub(crate) struct Fifo<P> {
    waiting: Ring<(Time, P)>,
    bytes: Bytes,
}

impl<P: Packet> Fifo<P> {
    pub fn new() -> Fifo<P> {
        Fifo { waiting: Ring::new(), bytes: Bytes(0) }
    }

    pub fn push(&mut self, now: Time, packet: &P) {
        self.bytes += packet.size();
        *self.waiting.push_place() = (now, *packet);
    }

    pub fn take(&mut self) -> Option<(Time, P)> {
        let &(since, packet) = self.waiting.front()?;
        self.waiting.pop();
        self.bytes -= packet.size();
        Some((since, packet))
    }

    /// Since when the first packet has waited.
    pub fn first_since(&self) -> Option<Time> {
        self.waiting.front().map(|&(since, _)| since)
    }

    /// Returns the memory that a burst has taken, if the queue is empty.
    pub fn release(&mut self) {
        self.waiting.release(64);
    }

    pub fn len(&self) -> u64 {
        self.waiting.len() as u64
    }

    pub fn bytes(&self) -> Bytes {
        self.bytes
    }
}

/// CoDel's state for one queue. The fields have the RFC's names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Control {
    /// When the delay will have been above the target for an interval; none while it is not above the target.
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl Control {
    /// Section 5.5: the next packet of `fifo` that is not dropped, and since when it has waited. While at most `mtu`
    /// bytes wait, no packet is dropped. Where the RFC drops a packet, one that is ECN-capable is marked and goes on
    /// (RFC 8290, section 4.2.2).
    pub fn dequeue<P: Packet>(
        &mut self,
        now: Time,
        parameters: &Parameters,
        mtu: Bytes,
        fifo: &mut Fifo<P>,
        drops: &mut Drops<P>,
    ) -> Option<(Time, P)> {
        let (mut first, mut ok_to_drop) = self.next(now, parameters, mtu, fifo);
        if self.dropping {
            self.dropping = ok_to_drop;
            while let Some((_, packet)) = &mut first
                && self.dropping
                && now >= self.drop_next
            {
                self.count += 1; // also for the drop that ends the dropping
                if drops.mark_or_drop(packet) {
                    self.drop_next = control_law(self.drop_next, parameters.interval, self.count);
                    return first;
                }
                (first, ok_to_drop) = self.next(now, parameters, mtu, fifo);
                if ok_to_drop {
                    self.drop_next = control_law(self.drop_next, parameters.interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if let Some((_, packet)) = &mut first
            && ok_to_drop
        {
            if !drops.mark_or_drop(packet) {
                (first, _) = self.next(now, parameters, mtu, fifo);
            }
            self.dropping = true;
            // If packets were dropped not long ago, dropping goes on at about the rate at which it ended.
            let delta = self.count - self.last_count;
            let soon = now.since(self.drop_next) < parameters.interval.scale(16.0);
            self.count = if delta > 1 && soon { delta } else { 1 };
            self.drop_next = control_law(now, parameters.interval, self.count);
            self.last_count = self.count;
        }
        first
    }

    /// Section 5.4, `dodequeue`: the first packet, since when it has waited, and whether the delay has been above the
    /// target for an interval.
    fn next<P: Packet>(
        &mut self,
        now: Time,
        parameters: &Parameters,
        mtu: Bytes,
        fifo: &mut Fifo<P>,
    ) -> (Option<(Time, P)>, bool) {
        let Some((since, packet)) = fifo.take() else {
            self.first_above = None;
            return (None, false);
        };
        let first = Some((since, packet));
        if now.since(since) < parameters.target || fifo.bytes() <= mtu {
            self.first_above = None;
            return (first, false);
        }
        let first_above = *self.first_above.get_or_insert(now + parameters.interval);
        (first, now >= first_above)
    }
}

/// Section 5.3: the time between drops shrinks with the square root of their number.
fn control_law(time: Time, interval: Duration, count: u64) -> Time {
    time + interval.scale(1.0 / (count as f64).sqrt())
}

/// A first-in, first-out queue under CoDel's control.
#[derive(Debug)]
pub struct CoDel<P> {
    fifo: Fifo<P>,
    control: Control,
    parameters: Parameters,
    buffer: Buffer,
    /// The largest packet so far: the queue does not know the link's MTU.
    mtu: Bytes,
}

impl<P: Packet> CoDel<P> {
    /// An empty queue.
    pub fn new(parameters: Parameters, buffer: Buffer) -> CoDel<P> {
        CoDel { fifo: Fifo::new(), control: Control::default(), parameters, buffer, mtu: Bytes(0) }
    }
}

impl<P: Packet> Queue<P> for CoDel<P> {
    fn enqueue(&mut self, now: Time, packet: &P, _: Duration, drops: &mut Drops<P>) {
        let size = packet.size();
        self.mtu = self.mtu.max(size);
        if self.buffer.has_room(self.fifo.len(), self.fifo.bytes(), size) {
            self.fifo.push(now, packet);
        } else {
            drops.drop_full(packet);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        let (_, packet) = self.control.dequeue(now, &self.parameters, self.mtu, &mut self.fifo, drops)?;
        Some(packet)
    }

    fn len(&self) -> u64 {
        self.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::testing::Parcel;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    /// Dequeues a packet each millisecond from a queue in which all packets have waited since time 0. Returns the
    /// milliseconds in which packets were dropped.
    fn drop_times(milliseconds: std::ops::Range<u64>, codel: &mut CoDel<Parcel>) -> Vec<u64> {
        let mut drops = Drops::default();
        let mut times = Vec::new();
        for ms in milliseconds {
            let before = drops.early;
            assert!(codel.dequeue(MS(ms), &mut drops).is_some());
            times.extend((before..drops.early).map(|_| ms));
        }
        times
    }

    fn standing(packets: u64) -> CoDel<Parcel> {
        let mut codel = CoDel::new(Parameters::RFC, Buffer::UNLIMITED);
        let mut drops = Drops::default();
        (0..packets).for_each(|i| codel.enqueue(Time::ZERO, &Parcel::new(i), Duration::ZERO, &mut drops));
        codel
    }

    /// The first drop comes after an interval above the target, the others 100 ms / sqrt(n) apart.
    #[test]
    fn drops_follow_the_control_law() {
        let times = drop_times(5..1000, &mut standing(5000));
        let mut due = 105.0f64; // above the target since 5 ms
        let expected = (1..).map(|n: i32| {
            let this = due;
            due += 100.0 / f64::from(n).sqrt();
            this.ceil() as u64
        });
        assert_eq!(times, expected.take_while(|&ms| ms < 1000).collect::<Vec<_>>());
        assert!(times.len() > 20);
    }

    #[test]
    fn a_packet_that_waits_less_than_the_target_or_alone_is_never_dropped() {
        let mut codel = CoDel::new(Parameters::RFC, Buffer::UNLIMITED);
        let mut drops = Drops::default();
        for ms in 0..10_000 {
            codel.enqueue(MS(ms), &Parcel::new(ms), Duration::ZERO, &mut drops);
            if ms >= 4 {
                codel.dequeue(MS(ms), &mut drops); // has waited for 4 ms
            }
        }
        // One packet at a time, each waiting for a second, and one behind it.
        let mut codel = CoDel::new(Parameters::RFC, Buffer::UNLIMITED);
        for s in 0..100 {
            codel.enqueue(MS(1000 * s), &Parcel::new(s), Duration::ZERO, &mut drops);
            if s >= 1 {
                assert_eq!(codel.dequeue(MS(1000 * s), &mut drops).unwrap().id, s - 1);
            }
        }
        assert_eq!(drops, Drops::default());
    }

    /// Section 5.5 by hand. The drops at 105, 205 and 205 + 100/sqrt(2) = 275.7 ms make `count` 3. The packet behind
    /// the third has waited for 1 ms, which ends the dropping. What stands from then on is dropped from an interval
    /// after its first 5 ms on. Within 16 intervals of 275.7 ms, `count` begins at delta = 3 - 1, otherwise at 1.
    #[test]
    fn the_drop_that_ends_an_episode_counts_for_the_next() {
        for (fresh, expected) in [
            (275, [380, 451, 509, 559, 604]), // 380, then 100 ms / sqrt(2), sqrt(3), sqrt(4), sqrt(5) later
            (2000, [2105, 2205, 2276, 2334, 2384]), // 2105, then 100 ms / sqrt(1), sqrt(2), sqrt(3), sqrt(4) later
        ] {
            // A packet per millisecond from 5 to 276 ms, two drops before, and the last drop's packet.
            let mut codel = standing(274);
            assert_eq!(drop_times(5..275, &mut codel), [105, 205]);
            let mut drops = Drops::default();
            let mut more = |ms, n| {
                (0..n).for_each(|i| codel.enqueue(MS(ms), &Parcel::new(i), Duration::ZERO, &mut drops));
            };
            more(275, if fresh == 275 { 2000 } else { 3 });
            assert_eq!(drop_times(275..277, &mut codel), [276]);
            assert_eq!((codel.control.count, codel.control.dropping), (3, false));
            if fresh != 275 {
                while codel.fifo.take().is_some() {}
                (0..2000).for_each(|i| codel.enqueue(MS(fresh), &Parcel::new(i), Duration::ZERO, &mut drops));
            }
            let times = drop_times(fresh.max(277)..fresh + 1000, &mut codel);
            assert_eq!(times[..5], expected);
        }
    }

    /// Within 16 intervals of the last drop, the count goes on from its last value, less the value that it had started
    /// from.
    #[test]
    fn dropping_resumes_at_the_rate_at_which_it_ended() {
        let mut codel = standing(5000);
        let first = drop_times(5..1000, &mut codel).len() as u64;
        let (count, last) = (codel.control.count, codel.control.last_count);
        assert_eq!((count, last), (first, 1));
        // A packet that has not waited ends the dropping.
        let mut drops = Drops::default();
        let mut fresh = codel;
        while fresh.fifo.take().is_some() {}
        (0..3).for_each(|i| fresh.enqueue(MS(1000), &Parcel::new(i), Duration::ZERO, &mut drops));
        fresh.dequeue(MS(1000), &mut drops);
        assert!(!fresh.control.dropping);
        while fresh.fifo.take().is_some() {}
        (0..5000).for_each(|i| fresh.enqueue(MS(1001), &Parcel::new(i), Duration::ZERO, &mut drops));
        let again = drop_times(1006..1200, &mut fresh);
        assert_eq!(again[0], 1106);
        assert_eq!(fresh.control.last_count, count - 1);
        // The next comes 100 ms / sqrt(count - 1) later.
        assert_eq!(again[1], (1106.0 + 100.0 / ((count - 1) as f64).sqrt()).ceil() as u64);
    }

    /// A mark is a drop after which the same packet goes on, at the same times.
    #[test]
    fn packets_that_are_ecn_capable_are_marked_in_place_of_dropped() {
        let mut codel = CoDel::new(Parameters::RFC, Buffer::Packets(5000));
        let mut drops = Drops::default();
        let capable = |id| Parcel { ecn: Ecn::Ect0, ..Parcel::new(id) };
        (0..5000).for_each(|i| codel.enqueue(Time::ZERO, &capable(i), Duration::ZERO, &mut drops));
        let mut marked = Vec::new();
        for ms in 5..400 {
            let packet = codel.dequeue(MS(ms), &mut drops).unwrap();
            assert_eq!(packet.id, ms - 5, "every packet goes on");
            marked.extend((packet.ecn == Ecn::Ce).then_some(ms));
        }
        assert_eq!(marked, [105, 205, 276, 334, 384]);
        assert_eq!((drops.marked, drops.early, drops.full), (5, 0, 0));
        // However capable packets are, a full buffer drops them.
        (0..1000).for_each(|i| codel.enqueue(MS(400), &capable(i), Duration::ZERO, &mut drops));
        assert_eq!((drops.marked, drops.early, drops.full), (5, 0, 605));
    }

    #[test]
    fn a_full_buffer_drops_the_newest() {
        let mut codel = CoDel::new(Parameters::RFC, Buffer::Packets(3));
        let mut drops = Drops::default();
        (0..5).for_each(|i| codel.enqueue(Time::ZERO, &Parcel::new(i), Duration::ZERO, &mut drops));
        assert_eq!((drops.full, drops.early, codel.fifo.len()), (2, 0, 3));
    }
}
