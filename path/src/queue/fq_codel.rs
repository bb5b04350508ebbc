//! FQ-CoDel: flows are hashed to queues that take turns by bytes, new queues first. Each queue is under CoDel's control
//! (RFC 8290).

use super::buffer::Buffer;
use super::codel::{self, Control, Fifo};
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use crate::ring::Ring;
use crate::{Ecn, Packet};
use control::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// FQ-CoDel's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// CoDel's parameters, for each queue.
    #[serde(flatten)]
    pub codel: codel::Parameters,
    /// Bytes that a queue may send in its turn.
    pub quantum: Bytes,
    /// Number of queues that flows are hashed to, 1 to 65536.
    pub queues: u32,
    /// Packets that are ECN-capable and have waited for longer than this are marked, whatever CoDel does; none by
    /// default (RFC 8290, section 5.2.7).
    pub ce_threshold: Option<Duration>,
}

impl Parameters {
    /// RFC 8290, section 5.2: a quantum of an Ethernet frame, 1024 queues.
    pub const RFC: Parameters =
        Parameters { codel: codel::Parameters::RFC, quantum: Bytes(1514), queues: 1024, ce_threshold: None };
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters::RFC
    }
}

/// The most queues: more are of no use, and take memory.
const MOST_QUEUES: u32 = 1 << 16;

impl Queueing for Parameters {
    fn check(&self, site: &Site) -> Vec<Mistake> {
        let queues = self.queues;
        let mut mistakes = self.codel.check(site);
        mistakes.extend(Mistake::unless([
            ("quantum", self.quantum > Bytes(0), "is zero; write one like \"1514 B\"".into()),
            (
                "queues",
                (1..=MOST_QUEUES).contains(&queues),
                format!("{queues} is no number of queues; write 1 to {MOST_QUEUES}"),
            ),
        ]));
        mistakes
    }
    fn queue<P: Packet>(&self, site: &Site, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(FqCoDel::new(*self, site.buffer, seed))
    }
}

/// The most packets dropped at once when the buffer is full: dropping several makes up for the search for the longest
/// queue (section 4.1).
const DROP_BATCH: u64 = 64;

/// The queue of the flows that are hashed to it.
#[derive(Clone, Debug)]
struct FlowQueue<P> {
    fifo: Fifo<P>,
    control: Control,
    /// Bytes that the queue may still send in its turn: the RFC's byte credits.
    deficit: i64,
    /// The queue is on one of the two lists.
    listed: bool,
}

/// See the [module](self).
#[derive(Debug)]
pub struct FqCoDel<P> {
    queues: Vec<FlowQueue<P>>,
    /// Queues that have become busy since their last turn, in the order of their turns.
    new: Ring<u32>,
    /// The other queues with packets, in the order of their turns.
    old: Ring<u32>,
    parameters: Parameters,
    buffer: Buffer,
    /// Decides which flows are hashed to the same queue.
    seed: u64,
    packets: u64,
    bytes: Bytes,
    mtu: Bytes,
}

impl<P: Packet> FqCoDel<P> {
    /// Empty queues; `seed` decides which flows share a queue.
    pub fn new(parameters: Parameters, buffer: Buffer, seed: u64) -> FqCoDel<P> {
        let queue = FlowQueue { fifo: Fifo::new(), control: Control::default(), deficit: 0, listed: false };
        FqCoDel {
            queues: vec![queue; parameters.queues.max(1) as usize],
            new: Ring::new(),
            old: Ring::new(),
            parameters,
            buffer,
            seed,
            packets: 0,
            bytes: Bytes(0),
            mtu: Bytes(0),
        }
    }

    /// Drops half of the packets of the queue with the most bytes, from its head, [`DROP_BATCH`] at most.
    fn make_room(&mut self, drops: &mut Drops<P>) {
        let Some(longest) = self.queues.iter_mut().max_by_key(|queue| queue.fifo.bytes()) else { return };
        for _ in 0..longest.fifo.len().div_ceil(2).min(DROP_BATCH) {
            if let Some((_, packet)) = longest.fifo.take() {
                self.packets -= 1;
                self.bytes -= packet.size();
                drops.drop_full(&packet);
            }
        }
    }

    /// Which queue a flow's packets join: SplitMix64's finaliser mixes all bits, and the high half of a product scales.
    fn hash(&self, flow: u64) -> u32 {
        let mut mixed = flow ^ self.seed;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (((mixed >> 32) * self.queues.len() as u64) >> 32) as u32
    }
}

impl<P: Packet> Queue<P> for FqCoDel<P> {
    /// Section 4.1: `packet` joins its flow's queue. If the buffer is full then, packets of the longest queue are
    /// dropped.
    fn enqueue(&mut self, now: Time, packet: &P, _: Duration, drops: &mut Drops<P>) {
        let size = packet.size();
        self.mtu = self.mtu.max(size);
        let index = self.hash(packet.flow());
        let queue = &mut self.queues[index as usize];
        queue.fifo.push(now, packet);
        if !queue.listed {
            queue.listed = true;
            queue.deficit = self.parameters.quantum.0 as i64;
            *self.new.push_place() = index;
        }
        self.packets += 1;
        self.bytes += size;
        while self.packets > 0 && !self.buffer.has_room(self.packets - 1, self.bytes, Bytes(0)) {
            self.make_room(drops);
        }
    }

    /// Section 4.2: the next packet of the first queue that has credit and a packet.
    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        let quantum = self.parameters.quantum.0.max(1) as i64;
        loop {
            let from_new = !self.new.is_empty();
            let list = if from_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let queue = &mut self.queues[index as usize];
            if queue.deficit <= 0 {
                queue.deficit += quantum;
                list.pop();
                *self.old.push_place() = index;
                continue;
            }
            let (packets, bytes) = (queue.fifo.len(), queue.fifo.bytes());
            let packet = queue.control.dequeue(now, &self.parameters.codel, self.mtu, &mut queue.fifo, drops);
            self.packets -= packets - queue.fifo.len();
            self.bytes -= bytes - queue.fifo.bytes();
            match packet {
                Some((since, mut packet)) => {
                    let late = self.parameters.ce_threshold.is_some_and(|threshold| now.since(since) > threshold);
                    if late && matches!(packet.ecn(), Ecn::Ect0 | Ecn::Ect1) {
                        drops.mark(&mut packet);
                    }
                    queue.deficit -= packet.size().0 as i64;
                    return Some(packet);
                }
                None => {
                    list.pop();
                    // An empty new queue waits for one turn among the old queues, so that it cannot be new again at
                    // once.
                    if from_new && !self.old.is_empty() {
                        *self.old.push_place() = index;
                    } else {
                        queue.listed = false;
                        // Otherwise each queue would keep memory for as many packets as the buffer holds.
                        queue.fifo.release();
                    }
                }
            }
        }
    }

    fn len(&self) -> u64 {
        self.packets
    }

    fn bytes(&self) -> Bytes {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Parcel;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    fn fq(buffer: Buffer) -> FqCoDel<Parcel> {
        FqCoDel::new(Parameters::RFC, buffer, 1)
    }

    fn parcel(flow: u64, size: u64) -> Parcel {
        Parcel { flow, size: Bytes(size), ..Parcel::new(flow) }
    }

    /// RFC 8290, section 5.2.7: what has waited for more than `ce-threshold` is marked, long before CoDel would.
    #[test]
    fn packets_above_the_ce_threshold_are_marked() {
        let parameters = Parameters { ce_threshold: Some(Duration::from_millis(1)), ..Parameters::RFC };
        let mut fq = FqCoDel::new(parameters, Buffer::UNLIMITED, 1);
        let mut drops = Drops::default();
        for (id, ecn) in [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce, Ecn::Ect1].into_iter().enumerate() {
            let came = if id == 4 { MS(2) } else { Time::ZERO };
            fq.enqueue(came, &Parcel { ecn, ..Parcel::new(id as u64) }, Duration::ZERO, &mut drops);
        }
        let after = |ms| move |packet: Parcel| (ms, packet.ecn);
        let left = [2, 2, 2, 2, 3].map(|ms| fq.dequeue(MS(ms), &mut drops).map(after(ms)).unwrap());
        assert_eq!(left, [(2, Ecn::Ce), (2, Ecn::Ce), (2, Ecn::NotEct), (2, Ecn::Ce), (3, Ecn::Ect1)]);
        assert_eq!((drops.marked, drops.early), (2, 0));
    }

    /// Two flows with packets of different sizes send the same number of bytes, to within a quantum and a packet.
    #[test]
    fn turns_are_by_bytes() {
        let (mut fq, mut drops) = (fq(Buffer::UNLIMITED), Drops::default());
        for _ in 0..3000 {
            fq.enqueue(MS(0), &parcel(1, 1500), Duration::ZERO, &mut drops);
            fq.enqueue(MS(0), &parcel(2, 300), Duration::ZERO, &mut drops);
        }
        let mut sent = [0i64; 3];
        for _ in 0..1000 {
            let packet = fq.dequeue(MS(1), &mut drops).unwrap();
            sent[packet.flow as usize] += packet.size.0 as i64;
            assert!((sent[1] - sent[2]).abs() <= 1514 + 1500, "{sent:?}");
        }
        assert_eq!(drops, Drops::default());
        assert!(sent[2] > 100_000);
    }

    /// A flow without waiting packets is served before flows with waiting packets, once.
    #[test]
    fn a_new_flow_goes_first() {
        let (mut fq, mut drops) = (fq(Buffer::UNLIMITED), Drops::default());
        (0..100).for_each(|_| fq.enqueue(MS(0), &parcel(1, 1000), Duration::ZERO, &mut drops));
        for _ in 0..10 {
            fq.dequeue(MS(0), &mut drops);
        }
        (0..10).for_each(|_| fq.enqueue(MS(0), &parcel(2, 1000), Duration::ZERO, &mut drops));
        let order: Vec<u64> = (0..6).map(|_| fq.dequeue(MS(0), &mut drops).unwrap().flow).collect();
        assert_eq!(order[..2], [2, 2], "its quantum, then turns");
        assert!(order[2..].contains(&1), "{order:?}");
    }

    /// A sparse flow's packet never waits behind more than one quantum of the others.
    #[test]
    fn a_sparse_flow_stays_new() {
        let (mut fq, mut drops) = (fq(Buffer::UNLIMITED), Drops::default());
        for ms in 0..1000 {
            (0..3).for_each(|_| fq.enqueue(MS(ms), &parcel(1, 1000), Duration::ZERO, &mut drops));
            if ms % 10 == 5 {
                fq.enqueue(MS(ms), &parcel(2, 200), Duration::ZERO, &mut drops);
            }
            let next = fq.dequeue(MS(ms), &mut drops).unwrap();
            let second = fq.dequeue(MS(ms), &mut drops).unwrap();
            assert_eq!([next.flow, second.flow].contains(&2), ms % 10 == 5, "at {ms} ms");
        }
    }

    /// When the buffer is full, packets of the longest queue are dropped, not the packet that arrives.
    #[test]
    fn a_full_buffer_drops_from_the_longest_queue() {
        for (buffer, batch) in [(Buffer::Packets(100), 50), (Buffer::Bytes(Bytes(100_000)), 50)] {
            let (mut fq, mut drops) = (fq(buffer), Drops::default());
            (0..99).for_each(|_| fq.enqueue(MS(0), &parcel(1, 1000), Duration::ZERO, &mut drops));
            fq.enqueue(MS(0), &parcel(2, 1000), Duration::ZERO, &mut drops);
            assert_eq!(drops.full, 0);
            fq.enqueue(MS(0), &parcel(2, 1000), Duration::ZERO, &mut drops);
            assert_eq!((drops.full, fq.len()), (batch, 101 - batch));
            let flows: Vec<u64> = std::iter::from_fn(|| fq.dequeue(MS(0), &mut drops)).map(|p| p.flow).collect();
            assert_eq!(flows.iter().filter(|&&flow| flow == 2).count(), 2);
            assert_eq!((fq.len(), fq.bytes()), (0, Bytes(0)));
        }
    }

    #[test]
    fn flows_are_spread_evenly_over_the_queues() {
        let fq = fq(Buffer::UNLIMITED);
        let mut counts = vec![0; 1024];
        (0..102_400).for_each(|flow| counts[fq.hash(flow) as usize] += 1);
        // 100 each on average; six standard deviations.
        assert!(counts.iter().all(|&n| (40..=160).contains(&n)), "{counts:?}");
    }

    /// Packets come out once each, in their flow's order, whatever mix comes in.
    #[test]
    fn nothing_is_lost_or_reordered_within_a_flow() {
        let parameters = Parameters { queues: 7, ..Parameters::RFC };
        let mut fq: FqCoDel<Parcel> = FqCoDel::new(parameters, Buffer::Packets(40), 3);
        let (mut drops, mut random) = (Drops::default(), 1u64);
        let (mut sent, mut received, mut last) = (0, 0, [0; 20]);
        for step in 1..50_000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if (random >> 33) % 100 < if step / 5000 % 2 == 0 { 60 } else { 40 } {
                let flow = (random >> 40) % 20;
                fq.enqueue(
                    MS(step),
                    &Parcel { flow, size: Bytes(100 + (random >> 50) % 1400), ..Parcel::new(step) },
                    Duration::ZERO,
                    &mut drops,
                );
                sent += 1;
            } else if let Some(packet) = fq.dequeue(MS(step), &mut drops) {
                assert!(packet.id > std::mem::replace(&mut last[packet.flow as usize], packet.id));
                received += 1;
            }
            assert!(fq.len() <= 40);
            assert_eq!(sent, received + fq.len() + drops.full + drops.early);
        }
        assert!(drops.full > 0 && drops.early > 0 && received > 10_000, "{drops:?} {received}");
    }
}
