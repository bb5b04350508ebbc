//! The router of RCP-AC: rate controller, acceleration controller and feedback controller.

use super::RcpAcRouting;
use crate::rcp::RateController;
use crate::roles::{Control, Router, Stamp};
use crate::routing::{last_due, stamped_rtt};
use crate::units::{Bytes, Duration, Rate, Time};

/// The router of RCP-AC. Volumes are in bits, and times in seconds.
pub struct RcpAcRouter {
    parameters: RcpAcRouting,
    /// B, the buffer.
    buffer: f64,
    controller: RateController,
    /// phi: by how much all traffic together may grow in the present interval.
    phi: f64,
    /// The part of phi that has not been granted yet.
    left: f64,
    /// The sum of (R - r_k)+/r_k times the packet's size over the packets of the last interval.
    wanted_before: f64,
    /// The same sum over the packets of the present interval so far.
    wanted: f64,
    /// Bits that have arrived in the present interval.
    arrived: f64,
    /// When the present interval began.
    since: Time,
    /// When the present interval ends.
    due: Time,
}

impl RcpAcRouter {
    /// The router of a link with this rate controller and buffer.
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
            wanted_before: 0.0,
            wanted: 0.0,
            arrived: 0.0,
            since: Time::ZERO,
            due,
        }
    }

    /// The feedback, in bits, for a packet of `size` bits of a flow with this window (in packets of that size) and
    /// round-trip time.
    fn feedback(&mut self, size: f64, window: f64, rtt: f64) -> f64 {
        let d = self.controller.rtt();
        let r = window * size / rtt;
        let below = (self.controller.rate() - r) / r;
        if below <= 0.0 {
            return below * rtt / d * size; // equation 3
        }
        let wants = below * size;
        self.wanted += wants;
        if self.left <= 0.0 {
            return 0.0;
        }
        let share = self.phi * (wants / self.wanted_before) * rtt / d; // p_i of equation 4
        let granted = (wants * rtt / d).min(share).min(self.left);
        self.left -= granted;
        granted
    }

    /// Acceleration control, at the end of an interval.
    fn accelerate(&mut self, now: Time, until: Time, backlog: Bytes) {
        let RcpAcRouting { gamma, phi_alpha, phi_beta, .. } = self.parameters;
        let d = self.controller.rtt();
        let spare = self.controller.capacity() - self.arrived / now.since(self.since).as_secs();
        self.phi = phi_alpha * spare * d + (gamma * self.buffer - phi_beta * backlog.as_bits()); // equation 2
        // **Decided**: the packets of an interval are granted no more than phi in all. The sum over packets alone,
        // which is that of the last interval, does not ensure this: new flows that follow flows at their full rate
        // would be granted an unlimited amount.
        self.left = self.phi.max(0.0);
        // Without packets, nothing above depends on the past, so that each further interval ends as this one does.
        let idle = self.arrived == 0.0 && self.wanted == 0.0;
        self.wanted_before = core::mem::take(&mut self.wanted);
        self.arrived = 0.0;
        let every = Duration::from_secs(d);
        self.since = if idle { last_due(now, every, until) } else { now };
        self.due = self.since + every;
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
            *feedback = feedback.min(0.0); // the packet opens a flow, which has no window yet
            return;
        }
        // For a sender that does not know its round-trip time, the mean one is taken.
        let rtt = stamped_rtt(*rtt).unwrap_or(self.controller.rtt());
        let size = size.as_bits();
        *feedback = feedback.min((self.feedback(size, f64::from(*window), rtt) / size) as f32);
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.controller.due().min(self.due))
    }

    fn on_tick(&mut self, now: Time, until: Time, backlog: Bytes) {
        if now >= self.controller.due() {
            self.controller.update(now, until, backlog);
        }
        if now >= self.due {
            self.accelerate(now, until, backlog);
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
