//! The router: rate controller, acceleration controller and feedback controller.

use super::RcpAcRouting;
use crate::rcp::RateController;
use crate::roles::{Control, Router, Stamp};
use crate::units::{Bytes, Duration, Rate, Time};

/// Bits and seconds throughout.
pub struct RcpAcRouter {
    parameters: RcpAcRouting,
    /// B.
    buffer: f64,
    controller: RateController,
    /// phi, the growth of all traffic in this interval, and how much of it has not been granted yet.
    phi: f64,
    left: f64,
    /// Over the packets of the last interval and of this one: (R - r_k)+/r_k, each times the packet's size.
    wanted: f64,
    wants: f64,
    /// Bits that have arrived in this interval.
    arrived: f64,
    since: Time,
    due: Time,
}

impl RcpAcRouter {
    /// In front of a link with this rate controller and buffer.
    pub fn new(parameters: &RcpAcRouting, controller: RateController, buffer: Bytes) -> RcpAcRouter {
        let due = Time::ZERO + Duration::from_secs(controller.rtt());
        let buffer = buffer.as_bits();
        let phi = parameters.gamma * buffer;
        RcpAcRouter {
            parameters: parameters.clone(),
            buffer,
            controller,
            phi,
            left: phi,
            wanted: 0.0,
            wants: 0.0,
            arrived: 0.0,
            since: Time::ZERO,
            due,
        }
    }

    /// The feedback, in bits, for a packet of `size` bits of a flow with this window (in such packets) and round-trip
    /// time.
    fn feedback(&mut self, size: f64, window: f64, rtt: f64) -> f64 {
        let d = self.controller.rtt();
        let r = window * size / rtt;
        let below = (self.controller.rate() - r) / r;
        if below <= 0.0 {
            return below * rtt / d * size; // equation 3
        }
        let wants = below * size;
        self.wants += wants;
        if self.left <= 0.0 {
            return 0.0;
        }
        let share = self.phi * (wants / self.wanted) * rtt / d; // p_i of equation 4
        let granted = (wants * rtt / d).min(share).min(self.left);
        self.left -= granted;
        granted
    }

    /// The interval ends: acceleration control.
    fn accelerate(&mut self, now: Time, backlog: Bytes) {
        let RcpAcRouting { gamma, phi_alpha, phi_beta, .. } = self.parameters;
        let d = self.controller.rtt();
        let spare = self.controller.capacity() - self.arrived / now.since(self.since).as_secs();
        self.phi = phi_alpha * spare * d + (gamma * self.buffer - phi_beta * backlog.as_bits()); // equation 2
        // **Decided**: what is granted within an interval never exceeds phi. By the sum alone, which is the last
        // interval's, a crowd that comes after flows that had all they wanted would get without limit.
        self.left = self.phi.max(0.0);
        self.wanted = core::mem::take(&mut self.wants);
        self.arrived = 0.0;
        self.since = now;
        self.due = now + Duration::from_secs(d).max(Duration(1));
    }
}

impl Router for RcpAcRouter {
    fn on_arrival(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, _: Bytes) {
        let rtt = if let Stamp::Window { rtt, .. } = stamp { *rtt } else { 0.0 };
        self.controller.on_arrival(size, rtt);
        self.arrived += size.as_bits();
    }

    fn on_departure(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, _: Bytes) {
        let Stamp::Window { window, rtt, feedback } = stamp else { return };
        if *window <= 0.0 {
            *feedback = feedback.min(0.0); // opens a flow: there is no window yet
            return;
        }
        // A sender that does not know its round-trip time is taken to have the mean one.
        let rtt = if *rtt > 0.0 { f64::from(*rtt) } else { self.controller.rtt() };
        let size = size.as_bits();
        *feedback = feedback.min((self.feedback(size, f64::from(*window), rtt) / size) as f32);
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.controller.due().min(self.due))
    }

    fn on_tick(&mut self, now: Time, backlog: Bytes) {
        if now >= self.controller.due() {
            self.controller.update(now, backlog);
        }
        if now >= self.due {
            self.accelerate(now, backlog);
        }
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.controller.set_capacity(rate);
    }

    fn state(&self) -> Control {
        let rate = Some(Rate::from_bps(self.controller.rate()));
        Control { rate, growth: Some(self.phi / 8.0) }
    }
}
