//! One connection from its beginning to its end: it is opened, its messages are handed over and arrive, and it is
//! closed.

use super::class::Class;
use crate::event_queue::Kind;
use crate::flow_environment::FlowEnvironment;
use crate::host::{Answer, Setup, Sink, Source};
use crate::network::Network;
use crate::packet::{Body, Head, OPENING, Packet};
use control::{Bytes, Duration, Stamp, Time};
use experiment::Transfer;
use experiment::traffic::{Connection, Message, Side};
use path::Impairments;
use path::topology::{Access, access_delays};
use std::collections::VecDeque;

/// The time after which the request to open a connection is first repeated (RFC 6298, section 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_millis(1000);

/// A place for a connection.
pub struct Slot {
    pub class: usize,
    /// The access links of either side's packets.
    pub access: [Access; 2],
    /// The connection that occupies the slot, or did last.
    pub connection: Connection,
    /// The connection's number in its class.
    pub number: u32,
    pub state: State,
    /// When the connection began: packets sent before are an earlier connection's. [`Time::MAX`] while the slot is
    /// free.
    pub began: Time,
    /// When the request to open the connection is repeated, or the next message is handed over; of a concurrent
    /// connection, the next message of each side.
    pub due: [Time; 2],
    /// Number of the next message to be handed over; of a concurrent connection, that of each side.
    pub next: [usize; 2],
    /// Number of messages that have not arrived yet.
    pub left: usize,
    /// The data of either side.
    pub halves: [Half; 2],
    /// The current exchange.
    pub exchange: Transfer,
    /// The number of packets that were sent again before the current exchange.
    pub resent_before: u64,
}

/// The state of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// There is no connection.
    Free,
    /// The request to open the connection has been sent. It is repeated after this time.
    Opening(Duration),
    /// The connection is open. The handshake took this time; none without a handshake.
    Open(Option<Duration>),
}

/// The data of one direction.
#[derive(Default)]
pub struct Half {
    /// The two hosts, from the first message on.
    pub ends: Option<(Source, Sink)>,
    /// Messages that were handed over and have not arrived: the number of segments with which the message is complete,
    /// its number, and when it was handed over.
    pub pending: VecDeque<(u64, usize, Time)>,
}

impl Half {
    fn is_done(&self) -> bool {
        self.ends.as_ref().is_none_or(|(source, _)| source.is_done())
    }

    fn resent(&self) -> u64 {
        self.ends.as_ref().map_or(0, |(source, _)| source.counters.retransmitted)
    }
}

/// A slot and its class, while an event of the slot is handled.
pub struct Place<'p, 'a> {
    pub class: &'p mut Class<'a>,
    pub slot: &'p mut Slot,
    pub number: u32,
    /// Number of the initiator's flow; the acceptor's is the next one.
    pub flow: u32,
    /// The first of the slot's two event numbers.
    pub event: u32,
}

impl Place<'_, '_> {
    /// A connection begins: requests that it be opened, or opens it at once without a handshake.
    pub fn begin(&mut self, now: Time, network: &mut Network) {
        let Place { class, slot, .. } = self;
        let workload = class.workload;
        slot.number = class.outcome.connections as u32;
        slot.began = now;
        slot.connection.rtt = slot.connection.rtt.max(class.crossed);
        slot.next = [0; 2];
        slot.due = [Time::MAX; 2];
        slot.left = slot.connection.messages.len();
        slot.resent_before = 0;
        slot.exchange = slot.new_exchange(now);
        class.outcome.connections += 1;
        class.active += 1;
        class.outcome.most_active = class.outcome.most_active.max(class.active);
        if class.is_measured(now) {
            for message in &slot.connection.messages {
                class.outcome.offered[message.from.index()] += class.on_wire(message.size);
            }
        }
        for (side, delay) in access_delays(slot.connection.rtt, class.crossed).into_iter().enumerate() {
            let loss = slot.connection.loss[side];
            let mut impairments = Impairments::new();
            if loss > 0.0 {
                impairments = impairments.with_errors(loss, class.random.seed());
            }
            network.topology.restart(&slot.access[side], delay, impairments);
        }
        if workload.handshake {
            self.ask(now, FIRST_TIMEOUT, network);
        } else {
            self.open(now, None, network);
        }
    }

    /// Sends the request to open the connection, and repeats it after `timeout`.
    pub fn ask(&mut self, now: Time, timeout: Duration, network: &mut Network) {
        self.slot.state = State::Opening(timeout);
        // Routers may write on this packet already how fast the sender may send.
        if self.class.workload.sends[0] && self.slot.halves[0].ends.is_none() {
            self.slot.halves[0].ends = Some(self.build(0));
        }
        let stamp = self.slot.halves[0].ends.as_mut().map_or(Stamp::None, |(source, _)| source.open(now));
        self.send_opening(0, Body::Data(stamp), now, now, network);
        self.schedule(now + timeout, 0, network);
    }

    /// Sends the first packet of a direction, TCP's SYN or its answer, which carries no data.
    pub fn send_opening(&mut self, side: usize, body: Body, sent: Time, now: Time, network: &mut Network) {
        let hop = self.slot.access[side].first;
        let size = self.class.workload.ack_size.0 as u32;
        let packet = Packet { flow: self.flow, head: Head::plain(size), hop, order: 0, segment: OPENING, sent, body };
        network.forward(now, hop, size, || packet);
    }

    /// The connection is open, after `rtt` if there was a handshake.
    pub fn open(&mut self, now: Time, rtt: Option<Duration>, network: &mut Network) {
        self.slot.state = State::Open(rtt);
        self.slot.due = [Time::MAX; 2];
        self.extend(now);
        let threads = if self.slot.connection.concurrent { 2 } else { 1 };
        for thread in 0..threads {
            self.slot.next[thread] = self.slot.following(0, thread);
            let Some(first) = self.slot.next_message(thread) else { continue };
            // The acceptor learns it half a round trip later, from a packet that is not simulated.
            let known = match (first.from, rtt) {
                (Side::Acceptor, Some(_)) => Duration(self.slot.connection.rtt.0 / 2),
                _ => Duration::ZERO,
            };
            self.wait_for(known + first.wait, thread, now, network);
        }
        self.close_if_done(now);
    }

    /// Adds the messages that the connection's player decides on now, if it has a player.
    fn extend(&mut self, now: Time) {
        let known = self.slot.connection.messages.len();
        if !self.slot.connection.extend(now) {
            return;
        }
        let measured = self.class.is_measured(now);
        for message in &self.slot.connection.messages[known..] {
            self.slot.left += 1;
            if measured {
                self.class.outcome.offered[message.from.index()] += self.class.on_wire(message.size);
            }
        }
    }

    /// Hands over the thread's next message after `wait`. A thread is a sequence of messages, of which a concurrent
    /// connection has one per side.
    fn wait_for(&mut self, wait: Duration, thread: usize, now: Time, network: &mut Network) {
        if wait == Duration::ZERO {
            self.hand_over(now, thread, network);
        } else {
            self.schedule(now + wait, thread, network);
        }
    }

    fn schedule(&mut self, time: Time, thread: usize, network: &mut Network) {
        self.slot.due[thread] = time;
        network.events.add_timer(time, (Kind::Cross, self.event + thread as u32));
    }

    /// Hands over the thread's next message to the host that sends it, and those that follow at once.
    pub fn hand_over(&mut self, now: Time, thread: usize, network: &mut Network) {
        let mut due = self.slot.next_message(thread);
        while let Some(message) = due {
            due = self.send(now, message, thread, network);
        }
    }

    /// Hands over `message`, the thread's next; returns the one after it if that follows at once.
    fn send(&mut self, now: Time, message: Message, thread: usize, network: &mut Network) -> Option<Message> {
        let number = self.slot.next[thread];
        self.slot.next[thread] = self.slot.following(number + 1, thread);
        let side = message.from.index();
        if !self.slot.connection.concurrent {
            if number > 0 && self.slot.begins_exchange(number) {
                self.slot.exchange = self.slot.new_exchange(now);
            }
            self.slot.exchange.sent[side] += message.size;
        }
        if self.slot.halves[side].ends.is_none() {
            self.slot.halves[side].ends = Some(self.build(side));
        }
        let half = &mut self.slot.halves[side];
        let (source, _) = half.ends.as_mut()?;
        let complete = source.offer(now, message.size, self.class.workload.header);
        half.pending.push_back((complete, number, now));
        let flow = self.flow + side as u32;
        source.on_wake(now, &mut FlowEnvironment { network, now, flow });
        let next = self.slot.next_message(thread).filter(|next| next.from == message.from)?;
        if next.wait > Duration::ZERO {
            self.schedule(now + next.wait, thread, network);
            return None;
        }
        Some(next)
    }

    /// The two hosts for one side's data.
    fn build(&self, side: usize) -> (Source, Sink) {
        let Place { class: Class { workload, factory, .. }, slot, .. } = self;
        let parties = factory();
        let room = (workload.packet - workload.header).0.max(1);
        let window = slot.connection.window[1 - side].map(|window| window.0.div_ceil(room).max(1));
        let mut source = Source::new(Setup {
            controller: parties.sender,
            recovery: workload.recovery,
            size: Some(Bytes(0)),
            packet: workload.packet,
            receive_window: window.into_iter().chain(workload.receive_window).min(),
            max_burst: workload.max_burst,
            pacing: workload.pacing,
            min_rto: workload.min_rto,
            idle_restart: workload.idle_restart,
            flow: self.flow + side as u32,
            way_out: slot.access[side].first,
            ecn: workload.ecn,
        });
        if let State::Open(Some(rtt)) = slot.state {
            source.on_handshake(rtt);
        }
        let way_back = slot.access[1 - side].first;
        let ack_size = workload.ack_size.0 as u32;
        (source, Sink::new(parties.receiver, ack_size, way_back, workload.delayed_ack))
    }

    /// A data packet of `side` arrives at the other side.
    pub fn on_data(&mut self, now: Time, packet: &Packet, stamp: &Stamp, side: usize, network: &mut Network) {
        let Some((_, sink)) = &mut self.slot.halves[side].ends else { return };
        let before = sink.delivered();
        let answer = sink.on_arrival(now, packet, stamp);
        self.class.delivered[side] += sink.delivered() - before;
        let arrived = sink.cumulative();
        match answer {
            Answer::Send(ack) => {
                network.forward(now, ack.hop, ack.head.size(), || ack);
            }
            Answer::HoldUntil(time) => network.events.add(time, (Kind::DelayedAck, packet.flow)),
        }
        while let Some(&(complete, number, handed)) = self.slot.halves[side].pending.front()
            && complete <= arrived
        {
            self.slot.halves[side].pending.pop_front();
            self.on_message(now, number, handed, network);
        }
    }

    /// A message that was handed over at `handed` has arrived.
    fn on_message(&mut self, now: Time, number: usize, handed: Time, network: &mut Network) {
        self.slot.left -= 1;
        let message = self.slot.connection.messages[number];
        if self.slot.connection.concurrent {
            // It is not known which message answers which: each is an exchange of its own.
            self.slot.exchange = self.slot.new_exchange(handed);
            self.slot.exchange.sent[message.from.index()] = message.size;
        }
        if self.slot.left == 0 {
            self.extend(now);
        }
        let next = self.slot.connection.messages.get(number + 1).copied();
        let answered = next.is_some_and(|next| next.from != message.from);
        if self.slot.connection.concurrent || next.is_none() || self.slot.begins_exchange(number + 1) {
            self.record(Some(now));
        }
        if let Some(next) = next
            && answered
            && !self.slot.connection.concurrent
        {
            self.wait_for(next.wait, 0, now, network);
        }
    }

    /// Records the current exchange.
    fn record(&mut self, completed: Option<Time>) {
        let Place { class, slot, .. } = self;
        let resent = slot.halves.iter().map(Half::resent).sum::<u64>();
        slot.exchange.retransmitted = (resent - slot.resent_before) as u32;
        slot.exchange.completed = completed.map(|time| time.since(slot.exchange.start));
        slot.resent_before = resent;
        class.outcome.transfers.push(slot.exchange);
    }

    /// Closes the connection once all messages have arrived and are acknowledged.
    pub fn close_if_done(&mut self, now: Time) {
        if self.slot.left > 0 || !self.slot.halves.iter().all(Half::is_done) {
            return;
        }
        self.account(now);
        self.class.outcome.completed += 1;
        self.class.active -= 1;
        self.slot.state = State::Free;
        self.slot.began = Time::MAX;
        for half in &mut self.slot.halves {
            half.ends = None;
        }
        self.class.free.push_back((self.number, now));
    }

    /// The run ends before the connection: records the exchanges that are not complete.
    pub fn give_up(&mut self) {
        if !self.slot.connection.concurrent {
            if self.slot.left > 0 && !self.slot.is_between_exchanges() {
                self.record(None);
            }
            return;
        }
        for side in 0..2 {
            while let Some((_, number, handed)) = self.slot.halves[side].pending.pop_front() {
                self.slot.exchange = self.slot.new_exchange(handed);
                self.slot.exchange.sent[side] = self.slot.connection.messages[number].size;
                self.record(None);
            }
        }
    }

    /// The connection ends, or the run does: adds its hosts' counters, and its player's session, to the outcome.
    pub fn account(&mut self, now: Time) {
        if let Some(player) = &self.slot.connection.player {
            self.class.outcome.videos.push(player.session(self.slot.number, self.slot.began, now));
        }
        for (source, sink) in self.slot.halves.iter().filter_map(|half| half.ends.as_ref()) {
            self.class.outcome.packets_delivered += sink.packets();
            self.class.outcome.retransmitted_packets += source.counters.retransmitted;
            self.class.outcome.loss_events += u64::from(source.counters.loss_events);
            self.class.outcome.timeouts += u64::from(source.counters.timeouts);
        }
    }
}

impl Slot {
    /// A free slot.
    pub fn new(class: usize, access: [Access; 2]) -> Slot {
        Slot {
            class,
            access,
            connection: Connection::default(),
            number: 0,
            state: State::Free,
            began: Time::MAX,
            due: [Time::MAX; 2],
            next: [0; 2],
            left: 0,
            halves: Default::default(),
            exchange: Transfer::default(),
            resent_before: 0,
        }
    }

    /// The thread's next message.
    fn next_message(&self, thread: usize) -> Option<Message> {
        self.connection.messages.get(self.next[thread]).copied()
    }

    /// Number of the thread's first message from number `from` on: of a concurrent connection, the next message of that
    /// side.
    fn following(&self, from: usize, thread: usize) -> usize {
        let messages = &self.connection.messages;
        let after = |number: &usize| !self.connection.concurrent || messages[*number].from.index() == thread;
        (from..messages.len()).find(after).unwrap_or(messages.len())
    }

    /// Whether all messages handed over have arrived, and the next one begins an exchange.
    fn is_between_exchanges(&self) -> bool {
        let next = self.next[0];
        next > 0 && self.connection.messages.len() - self.left == next && self.begins_exchange(next)
    }

    fn new_exchange(&self, start: Time) -> Transfer {
        Transfer { connection: self.number, start, rtt: self.connection.rtt, ..Transfer::default() }
    }

    /// Whether message `number` of a sequential connection begins an exchange: the first one, and each at which the
    /// side that sent the first one has its turn again.
    fn begins_exchange(&self, number: usize) -> bool {
        let messages = &self.connection.messages;
        number == 0 || messages[number].from == messages[0].from && messages[number - 1].from != messages[0].from
    }
}
