//! A small QUIC-like stack and a path between two of them, in made-up time. Packets are numbered, acknowledged in
//! ranges of the newest ones, and declared lost by the packet threshold of RFC 9002 (section 6.1.1). Lost chunks of
//! data are sent again in new packets.

use control::registry::Parties;
use control::{Bytes, Duration, Rate, Receiver, Report, Stamp, Time};
use host::{AckEnd, Host, Lost, Packet, Waiting};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of a packet of data.
pub const PACKET: Bytes = Bytes(1200);
/// Bytes that a stamp adds.
const STAMP: Bytes = Bytes(48);
/// Bytes of a packet that carries only acknowledgments.
const ACK: Bytes = Bytes(60);
/// How many received packets an acknowledgment names at most.
const NAMED: usize = 256;
/// A packet is lost when one so much later is acknowledged.
const THRESHOLD: u64 = 3;

/// Where acknowledgments travel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Acks {
    /// Alone, at once.
    Alone,
    /// In packets of data, if there are any.
    WithData,
}

struct Datagram {
    number: u64,
    size: Bytes,
    stamp: Option<Stamp>,
    /// Which chunk of data it carries, if any.
    chunk: Option<u64>,
    acks: Vec<u64>,
    report: Option<Report>,
}

/// A packet that was sent and is neither acknowledged nor lost.
struct Sent {
    at: Time,
    chunk: u64,
}

/// One end of a connection.
pub struct End {
    pub host: Host,
    receiver: Option<Box<dyn Receiver>>,
    acks: Acks,
    /// Chunks of data that wait to be sent.
    waiting: VecDeque<u64>,
    sent: BTreeMap<u64, Sent>,
    next_number: u64,
    largest_acked: u64,
    /// When something was sent or acknowledged last, for the stack's own probe timeout.
    active: Time,
    /// Numbers of packets of data that arrived, the newest last.
    arrived: VecDeque<u64>,
    received: u64,
    report: Option<Report>,
    /// Chunks of data that arrived.
    pub chunks: BTreeSet<u64>,
    /// Packets that the stack declared lost.
    pub losses: u64,
}

impl End {
    /// An end that sends `chunks` packets of data.
    pub fn new(first: Box<dyn control::Sender>, chunks: u64, acks: Acks) -> End {
        End {
            host: Host::new(PACKET, first),
            receiver: None,
            acks,
            waiting: (0..chunks).collect(),
            sent: BTreeMap::new(),
            next_number: 0,
            largest_acked: 0,
            active: Time::ZERO,
            arrived: VecDeque::new(),
            received: 0,
            report: None,
            chunks: BTreeSet::new(),
            losses: 0,
        }
    }

    fn state(&self) -> Waiting {
        Waiting { backlog: Bytes(self.waiting.len() as u64 * PACKET.0), received: self.received }
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.sent.len() as u64 * PACKET.0)
    }

    /// Sends what may leave, and returns when to be called again.
    fn send(&mut self, now: Time, path: &mut Path) -> Option<Time> {
        let probe = self.active + self.host.rtt().unwrap_or(Duration::from_millis(300)).scale(3.0);
        if self.waiting.is_empty() && now >= probe && !self.sent.is_empty() {
            // RFC 9002, section 6.2.4: a probe carries data that was sent before.
            self.waiting.extend(self.sent.values().next().map(|sent| sent.chunk));
            self.active = now;
        }
        self.host.on_wakeup(now, &self.state());
        while !self.waiting.is_empty() && self.host.may_send(now, &self.state()) {
            let state = self.state();
            let packet = Packet { size: PACKET, sent: Some(now), received: self.received, ecn_capable: false };
            let stamp = self.host.on_sent(now, &packet, &state);
            let chunk = self.waiting.pop_front();
            self.sent.insert(self.next_number, Sent { at: now, chunk: chunk.unwrap_or_default() });
            self.active = now;
            let size = PACKET + stamp.map_or(Bytes(0), |_| STAMP);
            let datagram = self.datagram(size, stamp, chunk);
            self.next_number += 1;
            path.carry(now, datagram);
        }
        let wake = (!self.waiting.is_empty()).then(|| self.host.wake_at(now, &self.state()));
        let probe = (self.waiting.is_empty() && !self.sent.is_empty()).then_some(probe.max(now + Duration(1)));
        wake.or(probe)
    }

    fn datagram(&self, size: Bytes, stamp: Option<Stamp>, chunk: Option<u64>) -> Datagram {
        let acks = self.arrived.iter().copied().collect();
        Datagram { number: self.next_number, size, stamp, chunk, acks, report: self.report }
    }

    /// A datagram arrives.
    fn receive(&mut self, now: Time, datagram: &Datagram, back: &mut Path) {
        self.on_ack(now, &datagram.acks);
        if let Some(report) = datagram.report
            && self.host.is_stamped()
        {
            self.host.on_report(now, report);
        }
        let Some(chunk) = datagram.chunk else { return };
        self.chunks.insert(chunk);
        self.received += 1;
        self.arrived.push_back(datagram.number);
        if self.arrived.len() > NAMED {
            self.arrived.pop_front();
        }
        if let (Some(receiver), Some(stamp)) = (&mut self.receiver, &datagram.stamp) {
            self.report = receiver.on_arrival(now, stamp, PACKET).or(self.report);
        }
        if self.acks == Acks::Alone || self.waiting.is_empty() {
            self.host.on_ack_sent(self.received);
            let datagram = self.datagram(ACK, None, None);
            back.carry(now, datagram);
        }
    }

    fn on_ack(&mut self, now: Time, acks: &[u64]) {
        let newly: Vec<Sent> = acks.iter().filter_map(|number| self.sent.remove(number)).collect();
        if newly.is_empty() {
            return;
        }
        self.active = now;
        self.largest_acked = acks.iter().copied().fold(self.largest_acked, u64::max);
        newly.iter().for_each(|sent| self.host.on_acked(now, sent.at, PACKET));
        let kept = self.sent.split_off(&(self.largest_acked + 1).saturating_sub(THRESHOLD));
        let lost = std::mem::replace(&mut self.sent, kept);
        if let Some((_, last)) = lost.last_key_value() {
            let size = Bytes(lost.len() as u64 * PACKET.0);
            self.host.on_lost(now, &Lost { sent: last.at, size, persistent: false });
        }
        self.losses += lost.len() as u64;
        for sent in lost.into_values().rev() {
            self.waiting.push_front(sent.chunk);
        }
        let end = AckEnd { in_flight: self.in_flight(), app_limited: self.waiting.is_empty() };
        self.host.on_ack_end(now, &end);
    }
}

/// One direction of the path: a queue in front of a link, which loses some packets.
pub struct Path {
    rate: Rate,
    delay: Duration,
    /// Bytes that wait at most.
    buffer: Bytes,
    /// Whether the packet of this number that enters the link at this time is lost: data and acknowledgments alike.
    loses: fn(Time, u64) -> bool,
    carried: u64,
    busy_until: Time,
    flying: VecDeque<(Time, Datagram)>,
}

impl Path {
    pub fn new(rate: Rate, delay: Duration, buffer: Bytes, loses: fn(Time, u64) -> bool) -> Path {
        Path { rate, delay, buffer, loses, carried: 0, busy_until: Time::ZERO, flying: VecDeque::new() }
    }

    fn carry(&mut self, now: Time, datagram: Datagram) {
        let start = self.busy_until.max(now);
        self.carried += 1;
        if start.since(now) > self.rate.time_for(self.buffer) || (self.loses)(now, self.carried) {
            return;
        }
        self.busy_until = start + self.rate.time_for(datagram.size);
        self.flying.push_back((self.busy_until + self.delay, datagram));
    }
}

/// The first end's parties, agreed on by both ends: the sender at the first, the receiver at the second.
pub fn agree(now: Time, parties: Parties, [first, second]: &mut [End; 2]) {
    second.receiver = parties.receiver;
    first.host.stamp(now, parties.sender, STAMP);
}

/// Runs both ends until each has all of the other's data, and returns when. Fails if they have not by `limit`.
pub fn run(ends: &mut [End; 2], paths: &mut [Path; 2], limit: Time) -> Result<Time, String> {
    let wanted = [1, 0].map(|other: usize| ends[other].waiting.len());
    let mut now = Time::ZERO;
    loop {
        let wakes = [0, 1].map(|end: usize| ends[end].send(now, &mut paths[end]));
        let done = (0..2).all(|end| ends[end].chunks.len() >= wanted[end]);
        if done {
            return Ok(now);
        }
        let arrivals = paths.iter().filter_map(|path| path.flying.front()).map(|(time, _)| *time);
        let Some(next) = arrivals.chain(wakes.into_iter().flatten()).min() else {
            return Err(format!("nothing will ever happen after {now}"));
        };
        now = now.max(next);
        if now > limit {
            return Err(format!("{} and {} chunks after {now}", ends[0].chunks.len(), ends[1].chunks.len()));
        }
        for end in 0..2 {
            while paths[end].flying.front().is_some_and(|(time, _)| *time <= now)
                && let Some((_, datagram)) = paths[end].flying.pop_front()
            {
                ends[1 - end].receive(now, &datagram, &mut paths[1 - end]);
            }
        }
    }
}
