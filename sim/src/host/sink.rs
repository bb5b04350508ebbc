//! The receiving host: it keeps which segments have arrived, and makes acknowledgments.

use super::short_queue::ShortQueue;
use crate::packet::{Body, Head, Packet, near};
use control::{Bytes, Duration, Receiver, Report, Stamp, Time};
use experiment::Misbehaviour;
use path::{Ecn, prefetch};
use smallvec::{SmallVec, smallvec};

/// Receives one flow. The fields that each arrival touches fit into a cache line; the rest is behind pointers.
pub struct Sink {
    /// All segments before this one have arrived.
    cumulative: u64,
    /// Bytes that have arrived, without duplicates.
    delivered: Bytes,
    /// How many segments after `cumulative` have arrived.
    ahead: u32,
    /// How many segments have arrived out of order in all, modulo 2^32.
    out_of_order: u32,
    reporting: Option<Box<Reporting>>,
    disorder: Option<Box<Disorder>>,
    feedback: Option<Box<Feedback>>,
    ack_size: u32,
    /// The position in the topology at which acknowledgments begin.
    way_back: u32,
}

/// The controller's receiver.
struct Reporting {
    receiver: Box<dyn Receiver>,
    /// The newest report.
    report: Option<Report>,
    /// Reports are [`exaggerated`].
    is_false: bool,
}

impl Reporting {
    fn on_arrival(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        let news = self.receiver.on_arrival(now, stamp, size);
        self.report = if self.is_false { news.map(exaggerated) } else { news }.or(self.report);
        self.report
    }
}

/// What has arrived out of order, in a cache line for most flows.
struct Disorder {
    /// One bit per segment from `cumulative` on: segment s is at bit s modulo the number of bits, a power of two. All
    /// bits are zero while [`Sink::ahead`] is zero.
    arrived: SmallVec<[u64; 2]>,
    /// The segments that arrived out of order and that the source has not read yet, oldest first, modulo 2^32.
    record: ShortQueue<[u32; 4]>,
    /// Packets whose segments had arrived before.
    duplicates: u64,
}

/// What the acknowledgments of most flows do without: delays, the count of marks, and dishonesty.
#[derive(Default)]
struct Feedback {
    /// For how long an acknowledgment is held, if every second one is.
    delay: Option<Duration>,
    /// The acknowledgment that is held, and until when.
    held: Option<(Packet, Time)>,
    /// How many packets have arrived marked, modulo 2^32.
    marked: u32,
    /// If given, packets that have not arrived are acknowledged.
    optimism: Option<Optimism>,
}

/// A receiver acknowledges what has not arrived ([`Misbehaviour::OptimisticAcks`]).
#[derive(Default)]
struct Optimism {
    /// How many packets before [`Sink::cumulative`] have not arrived.
    missing: u64,
}

/// How many packets after the one that arrived an optimistic receiver acknowledges.
const AHEAD: u64 = 100;
/// By how much false reports are larger than true ones.
const EXAGGERATION: f32 = 10.0;

/// The report of a receiver that wants more than its sender's share ([`Misbehaviour::FalseReports`]).
fn exaggerated(report: Report) -> Report {
    match report {
        Report::Available { stream, rate, interval } => {
            Report::Available { stream, rate: rate * EXAGGERATION, interval }
        }
        Report::Received { rate } => Report::Received { rate: rate * EXAGGERATION },
        Report::Allowed { rate } => Report::Allowed { rate: rate * EXAGGERATION },
        // Routers may take back what they have allowed; this receiver does not say so.
        Report::Feedback { whole, part } => {
            Report::Feedback { whole: whole.max(0).saturating_mul(EXAGGERATION as i32), part }
        }
    }
}

/// What to do after an arrival.
#[derive(Debug)]
pub enum Answer {
    /// Send this acknowledgment.
    Send(Packet),
    /// An acknowledgment is held: call [`Sink::release`] at this time.
    HoldUntil(Time),
}

impl Sink {
    /// Acknowledgments have `ack_size` bytes and begin at position `way_back` of the topology. `delayed_ack` is how
    /// long an acknowledgment is held at most, if every second one is.
    pub fn new(
        receiver: Option<Box<dyn Receiver>>,
        ack_size: u32,
        way_back: u32,
        delayed_ack: Option<Duration>,
    ) -> Sink {
        Sink {
            cumulative: 0,
            delivered: Bytes(0),
            ahead: 0,
            out_of_order: 0,
            reporting: receiver.map(|receiver| Box::new(Reporting { receiver, report: None, is_false: false })),
            disorder: None,
            feedback: delayed_ack.map(|delay| Box::new(Feedback { delay: Some(delay), ..Feedback::default() })),
            ack_size,
            way_back,
        }
    }

    /// From now on, breaks the rules in this way.
    pub fn misbehave(&mut self, kind: Misbehaviour) {
        match kind {
            Misbehaviour::OptimisticAcks => {
                self.feedback.get_or_insert_default().optimism = Some(Optimism::default());
            }
            Misbehaviour::FalseReports => {
                self.reporting.iter_mut().for_each(|reporting| reporting.is_false = true);
            }
        }
    }

    /// Removes and returns the oldest entry in the record of segments that arrived out of order, which the source
    /// reads.
    pub(super) fn next_recorded(&mut self) -> Option<u64> {
        Some(near(self.cumulative, self.disorder.as_mut()?.record.pop_front()?))
    }

    /// Bytes that have arrived, without duplicates.
    #[inline]
    pub fn delivered(&self) -> Bytes {
        self.delivered
    }

    /// Packets that arrived, duplicates included.
    pub fn packets(&self) -> u64 {
        let missing = self.feedback.as_ref().and_then(|it| it.optimism.as_ref()).map_or(0, |it| it.missing);
        let duplicates = self.disorder.as_ref().map_or(0, |disorder| disorder.duplicates);
        self.cumulative + u64::from(self.ahead) + duplicates - missing
    }

    /// All segments before this one have arrived, or are acknowledged although they have not.
    pub fn cumulative(&self) -> u64 {
        self.cumulative
    }

    /// The position in the topology at which acknowledgments begin.
    pub fn way_back(&self) -> u32 {
        self.way_back
    }

    /// Size of an acknowledgment, in bytes.
    pub fn ack_size(&self) -> u32 {
        self.ack_size
    }

    /// Whether each packet is acknowledged when it arrives.
    #[inline(always)]
    pub fn answers_at_once(&self) -> bool {
        self.feedback.as_ref().is_none_or(|feedback| feedback.delay.is_none())
    }

    /// Whether the controller's receiver reads stamps.
    pub fn reads_stamps(&self) -> bool {
        self.reporting.is_some()
    }

    /// Prefetches what an arrival needs beside the sink itself.
    pub fn prefetch(&self) {
        if let Some(reporting) = &self.reporting {
            prefetch::lines(&**reporting);
        }
        if self.ahead > 0
            && let Some(disorder) = &self.disorder
        {
            prefetch::lines(&**disorder);
        }
    }

    /// A data packet arrives. Inline although there are two callers, one of which is the engine's loop.
    #[inline(always)]
    pub fn on_arrival(&mut self, now: Time, packet: &Packet, stamp: &Stamp) -> Answer {
        // RFC 5681, section 4.2: at once if the packet is out of order or fills a gap, otherwise every second packet.
        // RFC 9000, section 13.2.1: at once if the packet is marked.
        let usual = self.is_in_order(packet.segment) && packet.head.ecn() != Ecn::Ce;
        let ack = self.acknowledge(now, packet, stamp, self.way_back);
        match &mut self.feedback {
            Some(feedback) => feedback.answer(now, ack, usual),
            None => Answer::Send(ack),
        }
    }

    /// A data packet arrives. Returns the acknowledgment, which goes on at position `hop` of the topology.
    #[inline(always)]
    pub fn acknowledge(&mut self, now: Time, packet: &Packet, stamp: &Stamp, hop: u32) -> Packet {
        let size = packet.head.size();
        if packet.head.ecn() == Ecn::Ce {
            self.count_mark();
        }
        if self.is_in_order(packet.segment) {
            self.cumulative += 1;
            self.delivered += Bytes(size as u64);
        } else {
            self.on_disorder(packet.segment, size);
        }
        let out_of_order = self.out_of_order;
        let (marked, early) = self.feedback.as_ref().map_or((0, 0), |feedback| (feedback.marked, feedback.ahead()));
        Packet {
            flow: packet.flow,
            head: Head::plain(self.ack_size),
            hop,
            order: packet.order,
            segment: self.cumulative + early,
            sent: packet.sent,
            // Two bodies, so that a report is not copied once more where there is none.
            body: match &mut self.reporting {
                None => Body::Ack { out_of_order, marked, report: None },
                Some(reporting) => {
                    let stamp = *stamp; // so that `packet` need not be in memory if nothing reads its stamp
                    let report = reporting.on_arrival(now, &stamp, Bytes(size as u64));
                    Body::Ack { out_of_order, marked, report }
                }
            },
        }
    }

    #[inline(always)]
    fn is_in_order(&self, segment: u64) -> bool {
        segment == self.cumulative && self.ahead == 0
    }

    #[cold]
    fn count_mark(&mut self) {
        let feedback = self.feedback.get_or_insert_default();
        feedback.marked = feedback.marked.wrapping_add(1);
    }

    /// The packet that asks to open the connection arrives. Returns the receiver's report.
    pub fn on_opening(&mut self, now: Time, stamp: &Stamp, size: Bytes) -> Option<Report> {
        self.reporting.as_mut()?.on_arrival(now, stamp, size)
    }

    /// Returns the acknowledgment that is held, if it is due.
    pub fn release(&mut self, now: Time) -> Option<Packet> {
        let (ack, _) = self.feedback.as_mut()?.held.take_if(|(_, due)| *due <= now)?;
        Some(ack)
    }

    /// `segment` is not the next one in order, or later segments have arrived before.
    fn on_disorder(&mut self, segment: u64, size: u32) {
        let disorder = self.disorder.get_or_insert_default();
        if segment < self.cumulative {
            disorder.duplicates += 1;
            return;
        }
        if let Some(optimism) = self.feedback.as_mut().and_then(|feedback| feedback.optimism.as_mut()) {
            optimism.missing += segment - self.cumulative;
            self.cumulative = segment + 1;
            self.delivered += Bytes(size as u64);
            return;
        }
        if segment > self.cumulative {
            disorder.make_room(self.cumulative, segment);
            if !disorder.add(segment) {
                disorder.duplicates += 1;
                return;
            }
            self.delivered += Bytes(size as u64);
            disorder.record.push_back(segment as u32);
            self.ahead += 1;
            self.out_of_order = self.out_of_order.wrapping_add(1);
            return;
        }
        self.delivered += Bytes(size as u64);
        self.cumulative += 1;
        while self.ahead > 0 && disorder.take(self.cumulative) {
            self.ahead -= 1;
            self.cumulative += 1;
        }
    }
}

impl Feedback {
    /// By how much an acknowledgment is beyond what has arrived.
    fn ahead(&self) -> u64 {
        if self.optimism.is_some() { AHEAD } else { 0 }
    }

    /// What to do with `ack`, which can be held if its packet is `usual`.
    #[inline(never)]
    fn answer(&mut self, now: Time, ack: Packet, usual: bool) -> Answer {
        let Some(delay) = self.delay else { return Answer::Send(ack) };
        match self.held.take() {
            // The timestamp echoed is that of the first packet (RFC 7323, section 4.3).
            Some((first, _)) => Answer::Send(Packet { sent: first.sent, ..ack }),
            None if usual => {
                let until = now + delay;
                self.held = Some((ack, until));
                Answer::HoldUntil(until)
            }
            None => Answer::Send(ack),
        }
    }
}

impl Default for Disorder {
    fn default() -> Disorder {
        Disorder { arrived: smallvec![0; 2], record: ShortQueue::default(), duplicates: 0 }
    }
}

impl Disorder {
    fn place(&self, segment: u64) -> (usize, u64) {
        ((segment / 64) as usize & (self.arrived.len() - 1), 1 << (segment % 64))
    }

    /// `segment` arrives. Returns whether it had not arrived before.
    #[inline(always)]
    fn add(&mut self, segment: u64) -> bool {
        let (word, bit) = self.place(segment);
        let word = &mut self.arrived[word];
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Returns whether `segment` has arrived, and forgets it.
    #[inline(always)]
    fn take(&mut self, segment: u64) -> bool {
        let (word, bit) = self.place(segment);
        let word = &mut self.arrived[word];
        let had_arrived = *word & bit != 0;
        *word &= !bit;
        had_arrived
    }

    /// Room for the segments from `first` to `last`, which never share a word, so that words can be moved whole.
    fn make_room(&mut self, first: u64, last: u64) {
        let ahead_by = (last - first) as usize;
        if ahead_by < (self.arrived.len() - 1) * 64 {
            return;
        }
        let words = (ahead_by / 64 + 2).next_power_of_two();
        let mut arrived = smallvec![0; words];
        let start = (first / 64) as usize;
        for word in start..start + self.arrived.len() {
            arrived[word & (words - 1)] = self.arrived[word & (self.arrived.len() - 1)];
        }
        self.arrived = arrived;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_arrived_out_of_order_takes_a_cache_line() {
        assert_eq!(size_of::<Disorder>(), 64);
    }

    fn arrive(sink: &mut Sink, segment: u64) -> Option<(u64, u32)> {
        let data = Body::Data(Stamp::None);
        let packet =
            Packet { flow: 0, head: Head::plain(1000), hop: 0, order: 0, segment, sent: Time(segment), body: data };
        match sink.on_arrival(Time(segment), &packet, &Stamp::None) {
            Answer::Send(Packet { segment, body: Body::Ack { out_of_order, .. }, .. }) => Some((segment, out_of_order)),
            _ => None,
        }
    }

    #[test]
    fn segments_are_put_in_order_across_gaps_and_duplicates() {
        let mut sink = Sink::new(None, 40, 0, None);
        let arrivals = [0, 1, 3, 3, 5, 2, 2, 4, 900, 6];
        let acks: Vec<_> = arrivals.iter().filter_map(|&s| arrive(&mut sink, s)).collect();
        let expected = [(1, 0), (2, 0), (2, 1), (2, 1), (2, 2), (4, 2), (4, 2), (6, 2), (6, 3), (7, 3)];
        assert_eq!(acks, expected);
        assert_eq!(std::iter::from_fn(|| sink.next_recorded()).collect::<Vec<_>>(), [3, 5, 900]);
        assert_eq!(sink.delivered(), Bytes(8000));
    }

    #[test]
    fn in_any_order_of_arrival_all_segments_are_received() {
        // 0..n in orders that jump about, behind a start in order, across several growths of the bitmap.
        for start in [0, 1, 37, 64, 1000] {
            for stride in [3, 7, 1999] {
                let n = 5000u64;
                let mut sink = Sink::new(None, 40, 0, None);
                for i in 0..start {
                    arrive(&mut sink, i);
                }
                for i in 0..n {
                    arrive(&mut sink, start + (i * stride + 17) % n);
                }
                assert_eq!((sink.cumulative, sink.packets()), (start + n, start + n), "{start}, {stride}");
                assert_eq!(sink.delivered(), Bytes((start + n) * 1000));
                assert!(sink.disorder.iter().all(|disorder| disorder.arrived.iter().all(|&word| word == 0)));
            }
        }
    }

    #[test]
    fn acknowledgments_are_delayed_for_two_packets_in_order_only() {
        let mut sink = Sink::new(None, 40, 0, Some(Duration::from_millis(100)));
        assert_eq!(arrive(&mut sink, 0), None);
        assert_eq!(arrive(&mut sink, 1), Some((2, 0)));
        assert_eq!(arrive(&mut sink, 3), Some((2, 1)), "out of order: at once");
        assert_eq!(arrive(&mut sink, 2), Some((4, 1)), "a gap filled: at once");
        assert_eq!(arrive(&mut sink, 4), None);
        assert!(sink.release(Time(5)).is_none());
        assert!(sink.release(Time(4) + Duration::from_millis(100)).is_some());
        assert!(sink.release(Time::MAX).is_none());
    }

    #[test]
    fn an_optimistic_receiver_acknowledges_what_has_not_arrived() {
        let mut sink = Sink::new(None, 40, 0, None);
        sink.misbehave(Misbehaviour::OptimisticAcks);
        let acks: Vec<_> = [0, 1, 5, 3, 6].into_iter().filter_map(|segment| arrive(&mut sink, segment)).collect();
        assert_eq!(acks, [1, 2, 6, 6, 7].map(|segment| (segment + AHEAD, 0)));
        assert_eq!(sink.packets(), 5, "one of them too late to count");
        assert_eq!(sink.delivered(), Bytes(4000));
    }

    #[test]
    fn false_reports_are_ten_times_the_true_ones() {
        let reports = [
            (Report::Received { rate: 1e6 }, Report::Received { rate: 1e7 }),
            (Report::Allowed { rate: 2e6 }, Report::Allowed { rate: 2e7 }),
            (Report::Feedback { whole: 3, part: 0.5 }, Report::Feedback { whole: 30, part: 0.5 }),
            (Report::Feedback { whole: -3, part: 0.5 }, Report::Feedback { whole: 0, part: 0.5 }),
            (
                Report::Available { stream: 1, rate: 3e6, interval: 2 },
                Report::Available { stream: 1, rate: 3e7, interval: 2 },
            ),
        ];
        for (report, expected) in reports {
            assert_eq!(exaggerated(report), expected);
        }
    }

    #[test]
    fn marks_are_counted_and_acknowledged_at_once() {
        let mut sink = Sink::new(None, 40, 0, Some(Duration::from_millis(100)));
        let mut arrive = |segment, ecn| {
            let data = Body::Data(Stamp::None);
            let packet = Packet { segment, head: Head::new(1000, ecn), body: data, ..Packet::default() };
            match sink.on_arrival(Time(segment), &packet, &Stamp::None) {
                Answer::Send(Packet { head, body: Body::Ack { marked, .. }, .. }) => {
                    assert_eq!((head.ecn(), head.size()), (Ecn::NotEct, 40)); // RFC 3168, section 6.1.4
                    Some(marked)
                }
                _ => None,
            }
        };
        let acks = [Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::Ect1, Ecn::Ce, Ecn::Ect0];
        let acks: Vec<_> = acks.into_iter().enumerate().map(|(i, ecn)| arrive(i as u64, ecn)).collect();
        assert_eq!(acks, [None, Some(0), Some(1), None, Some(2), None]);
        assert_eq!(arrive(5, Ecn::Ce), Some(3), "a duplicate counts, as its packet is marked");
    }
}
