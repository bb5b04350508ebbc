//! The sender that an agent controls, and what it sees.

use super::draw::PACKET;
use control::{Ack, Bytes, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the agent sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The sending rate, in bits per second.
    Rate,
    /// The congestion window, in bytes.
    Window,
}

/// What the agent has decided, and what its sender has seen in the monitor interval.
#[derive(Default)]
pub struct Monitor {
    /// The rate or the window.
    pub decision: f64,
    /// Bytes sent, retransmissions included.
    pub sent: u64,
    /// Bytes acknowledged.
    pub acked: u64,
    /// Bytes lost.
    pub lost: u64,
    /// Round-trip times in seconds, in the order in which they were measured.
    pub rtts: Vec<f64>,
    in_flight: u64,
}

impl Monitor {
    /// A new interval begins.
    pub fn clear(&mut self) {
        (self.sent, self.acked, self.lost) = (0, 0, 0);
        self.rtts.clear();
    }
}

/// The monitor, shared by the sender and its environment, which work one after the other.
#[derive(Clone, Default)]
pub struct Shared(Arc<Mutex<Monitor>>);

impl Shared {
    /// Access to the monitor.
    pub fn lock(&self) -> MutexGuard<'_, Monitor> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sender.
pub struct Agent {
    control: Control,
    monitor: Shared,
    /// When the next packet leaves at the rate of the last one.
    due: Time,
}

impl Agent {
    /// A sender that does what the agent decides.
    pub fn new(control: Control, monitor: Shared) -> Agent {
        Agent { control, monitor, due: Time::ZERO }
    }
}

impl Sender for Agent {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        match self.control {
            Control::Rate if now < self.due => Next::At(self.due),
            Control::Rate => Next::Now,
            Control::Window if (pipe.in_flight + pipe.packet).0 as f64 <= self.monitor.lock().decision => Next::Now,
            Control::Window => Next::AfterAck,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        let mut monitor = self.monitor.lock();
        monitor.sent += size.0;
        monitor.in_flight += size.0;
        if self.control == Control::Rate {
            self.due = now + Rate::from_bps(monitor.decision).time_for(size);
        }
        Stamp::None
    }

    fn on_ack(&mut self, _: Time, ack: &Ack) {
        let mut monitor = self.monitor.lock();
        monitor.acked += ack.acked.0;
        monitor.lost += ack.lost.0;
        monitor.in_flight = ack.in_flight.0;
        monitor.rtts.extend(ack.rtt.map(|rtt| rtt.as_secs()));
    }

    fn on_loss(&mut self, _: Time, loss: &Loss) {
        if *loss == Loss::Timeout {
            let mut monitor = self.monitor.lock();
            monitor.lost += std::mem::take(&mut monitor.in_flight);
        }
    }

    fn state(&self) -> State {
        let decision = self.monitor.lock().decision;
        let (window, rate) = match self.control {
            Control::Rate => (None, Some(Rate::from_bps(decision))),
            Control::Window => (Some(decision / PACKET.0 as f64), None),
        };
        State { window, rate, phase: Phase::CongestionAvoidance }
    }
}
