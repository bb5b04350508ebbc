//! A made-up host and path: one flow over one queue, in made-up time. It keeps to the contract of the roles, which is
//! checked, and knows no protocol, so that every controller of the registry can be put on it.

use control::registry::{Controller, Parties};
use control::{
    Ack, Bytes, Conditions, Duration, Loss, Next, Pipe, Rate, Receiver, Report, Sender, Stamp, State, Time, contract,
};
use std::collections::VecDeque;

/// The path, and how the host acknowledges packets and keeps time.
#[derive(Clone, Debug)]
pub struct Path {
    pub rate: Rate,
    pub rtt: Duration,
    /// The number of packets that can wait in the queue.
    pub buffer: u64,
    pub packet: Bytes,
    /// The number of packets per acknowledgment.
    pub ack_every: u64,
    /// By how much the host wakes up later than it was asked to.
    pub late: Duration,
    /// The shortest time between two departures that it says it can keep. If it is not zero, its times are not exact.
    pub quantum: Duration,
}

/// What happened in one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Sent,
    /// An acknowledgment arrived; with `recovery`, while a loss was being repaired.
    Acked {
        recovery: bool,
    },
    Lost(Loss),
}

struct Packet {
    number: u64,
    arrives: Time,
    sent: Time,
    stamp: Stamp,
    lost: bool,
}

pub struct Host {
    path: Path,
    sender: Box<dyn Sender>,
    receiver: Option<Box<dyn Receiver>>,
    pub now: Time,
    /// When the last packet in the queue will have been sent.
    busy_until: Time,
    /// Packets on the path and their acknowledgments on the way back, in order.
    flying: VecDeque<Packet>,
    in_flight: u64,
    to_repair: u64,
    sent: u64,
    /// A lost packet with this number or a higher one is a new loss event, and its arrival ends the recovery.
    recovery_until: u64,
    unacked: u64,
    /// Packets found lost since the last acknowledgment was passed on.
    missed: u64,
    newest: Option<Report>,
    /// Whether the acknowledgment that revealed a loss is still to be passed on.
    revealed: bool,
    heard: Time,
    pub app_limited: bool,
    /// What the sender showed just before it was told of the last loss event.
    pub before_loss: State,
    /// How many packets were in flight then, or had arrived and were not acknowledged yet.
    #[allow(dead_code)] // only the invariants use it
    pub flight_before_loss: u64,
}

impl Host {
    pub fn new(controller: &Controller, path: Path) -> Host {
        let timing_error = if path.quantum == Duration::ZERO { Duration::ZERO } else { Duration::from_micros(10) };
        let conditions = Conditions { timing_error, quantum: path.quantum, ..Conditions::exact(path.packet) };
        Host::with(controller.build(controller.defaults(), &conditions).unwrap(), path)
    }

    pub fn with(Parties { sender, receiver }: Parties, path: Path) -> Host {
        Host {
            before_loss: sender.state(),
            flight_before_loss: 0,
            path,
            sender: contract::checked(sender),
            receiver,
            now: Time::ZERO,
            busy_until: Time::ZERO,
            flying: VecDeque::new(),
            in_flight: 0,
            to_repair: 0,
            sent: 0,
            recovery_until: 0,
            unacked: 0,
            missed: 0,
            newest: None,
            revealed: false,
            heard: Time::ZERO,
            app_limited: false,
        }
    }

    pub fn state(&self) -> State {
        self.sender.state()
    }

    #[allow(dead_code)] // only the snapshots use it
    pub fn available(&self) -> Option<Rate> {
        self.sender.available()
    }

    fn pipe(&self) -> Pipe {
        Pipe {
            in_flight: Bytes(self.in_flight * self.path.packet.0),
            backlog: if self.to_repair > 0 { Bytes(0) } else { Bytes(u64::MAX) },
            packet: self.path.packet,
            repairing: self.to_repair > 0,
        }
    }

    /// Runs until the next event. If `lose`, a packet that is sent in this step is lost on the way.
    pub fn step(&mut self, lose: bool) -> Event {
        if self.revealed {
            return self.arrive(); // a loss is followed at once by the acknowledgment that revealed it
        }
        let wake = match self.sender.next(self.now, &self.pipe()) {
            Next::Now => return self.send(lose),
            Next::At(time) => {
                assert!(time >= self.now, "asks to be woken in the past: {time} at {}", self.now);
                Some(time + self.path.late)
            }
            Next::AfterAck => {
                assert!(self.in_flight > 0, "waits for acknowledgments of nothing");
                None
            }
        };
        let arrival = self.flying.iter().find(|p| !p.lost).map(|p| p.arrives);
        let timeout = (self.in_flight > 0).then_some(self.heard + self.path.rtt.scale(3.0) + self.longest_wait());
        let first = [wake, arrival, timeout].into_iter().flatten().min().expect("nothing will ever happen");
        self.now = self.now.max(first);
        if arrival == Some(first) {
            self.arrive()
        } else if timeout == Some(first) {
            self.time_out()
        } else {
            self.step(lose)
        }
    }

    fn longest_wait(&self) -> Duration {
        self.path.rate.time_for(Bytes((self.path.buffer + self.path.ack_every) * self.path.packet.0))
    }

    fn send(&mut self, lose: bool) -> Event {
        let stamp = self.sender.on_send(self.now, self.path.packet, &self.pipe());
        let start = self.busy_until.max(self.now);
        let full = start.since(self.now) > self.path.rate.time_for(Bytes(self.path.buffer * self.path.packet.0));
        if !full {
            self.busy_until = start + self.path.rate.time_for(self.path.packet);
        }
        let arrives = self.busy_until + self.path.rtt;
        if self.in_flight == 0 {
            self.heard = self.now;
        }
        self.flying.push_back(Packet { number: self.sent, arrives, sent: self.now, stamp, lost: lose || full });
        self.sent += 1;
        self.in_flight += 1;
        self.to_repair = self.to_repair.saturating_sub(1);
        Event::Sent
    }

    fn time_out(&mut self) -> Event {
        self.to_repair += self.in_flight;
        self.in_flight = 0;
        self.unacked = 0;
        self.missed = 0;
        self.flying.clear(); // packets of which some may still arrive are sent again
        self.recovery_until = self.sent;
        self.sender.on_loss(self.now, &Loss::Timeout);
        Event::Lost(Loss::Timeout)
    }

    /// The next packet that is not lost arrives, which reveals the losses before it.
    fn arrive(&mut self) -> Event {
        let mut event = None;
        while self.flying.front().is_some_and(|p| p.lost)
            && let Some(packet) = self.flying.pop_front()
        {
            self.in_flight -= 1;
            self.to_repair += 1;
            self.missed += 1;
            if packet.number >= self.recovery_until {
                self.recovery_until = self.sent;
                self.before_loss = self.sender.state();
                self.flight_before_loss = self.in_flight + 1 + self.unacked;
                self.sender.on_loss(self.now, &Loss::Event);
                event = Some(Event::Lost(Loss::Event));
            }
        }
        if let Some(event) = event {
            self.revealed = true;
            return event;
        }
        let packet = self.flying.pop_front().expect("a packet that arrives");
        self.in_flight -= 1;
        self.unacked += 1;
        self.heard = self.now;
        if let Some(receiver) = &mut self.receiver {
            self.newest = receiver.on_arrival(self.now, &packet.stamp, self.path.packet).or(self.newest);
        }
        let recovery = packet.number < self.recovery_until;
        let at_once = std::mem::take(&mut self.revealed) || self.flying.is_empty();
        if self.unacked >= self.path.ack_every || at_once {
            let ack = Ack {
                acked: Bytes(self.unacked * self.path.packet.0),
                lost: Bytes(self.missed * self.path.packet.0),
                spurious: Bytes(0),
                marked: Bytes(0),
                rtt: Some(self.now.since(packet.sent)),
                in_flight: Bytes(self.in_flight * self.path.packet.0),
                recovery,
                spurious_timeout: false,
                app_limited: self.app_limited,
                report: self.newest,
            };
            self.unacked = 0;
            self.missed = 0;
            self.sender.on_ack(self.now, &ack);
        }
        Event::Acked { recovery }
    }
}
