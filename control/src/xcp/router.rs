//! The router: efficiency and fairness controller.

use super::XcpRouting;
use crate::roles::{Control, Router, Stamp};
use crate::units::{Bytes, Duration, Rate, Time};

/// The numbers in brackets are the equations of the paper. Bytes and seconds throughout.
pub struct XcpRouter {
    parameters: XcpRouting,
    /// Bytes per second.
    capacity: f64,
    /// d, the mean round-trip time: the control interval.
    interval: f64,
    /// phi, the aggregate feedback of the last interval.
    phi: f64,
    /// xi_p and xi_n, from which each packet's feedback follows.
    scale: (f64, f64),
    /// What is left to be given and to be taken in this interval.
    left: (f64, f64),
    sums: Sums,
    since: Time,
    due: Time,
}

/// What arrived in an interval.
#[derive(Default)]
struct Sums {
    /// y d.
    bytes: f64,
    /// Over packets of XCP: s.
    own: f64,
    /// Over these: rtt s/cwnd, and rtt times that. Each flow has as large a part in the sums, whatever its window.
    turns: f64,
    rtt_turns: f64,
    /// Q, the least that has waited; none before something arrived.
    least_queue: Option<f64>,
}

impl XcpRouter {
    /// At a link of this capacity.
    pub fn new(parameters: &XcpRouting, capacity: Rate) -> XcpRouter {
        let mut machine = XcpRouter {
            parameters: parameters.clone(),
            capacity: 0.0,
            interval: parameters.initial_rtt.as_secs(),
            phi: 0.0,
            scale: (0.0, 0.0),
            left: (0.0, 0.0),
            sums: Sums::default(),
            since: Time::ZERO,
            due: Time::ZERO + parameters.initial_rtt,
        };
        machine.on_capacity(capacity);
        machine
    }

    /// A sender that does not know its round-trip time is taken to have the mean one.
    fn rtt(&self, stamped: f32) -> f64 {
        if stamped > 0.0 { f64::from(stamped) } else { self.interval }
    }
}

impl Router for XcpRouter {
    fn on_arrival(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes) {
        let (size, queue) = (size.0 as f64, backlog.0 as f64);
        self.sums.bytes += size;
        self.sums.least_queue = Some(self.sums.least_queue.map_or(queue, |least| least.min(queue)));
        if let Stamp::Window { window, rtt, .. } = *stamp
            && window > 0.0
        {
            let rtt = self.rtt(rtt);
            let turns = rtt / f64::from(window);
            self.sums.own += size;
            self.sums.turns += turns;
            self.sums.rtt_turns += rtt * turns;
        }
    }

    fn on_departure(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes) {
        if let Some(least) = &mut self.sums.least_queue {
            *least = least.min(backlog.0 as f64);
        }
        let Stamp::Window { window, rtt, feedback } = stamp else { return };
        if *window <= 0.0 {
            *feedback = feedback.min(0.0); // opens a flow: there is no window yet
            return;
        }
        let (rtt, size) = (self.rtt(*rtt), size.0 as f64);
        let given = (self.scale.0 * rtt * rtt / f64::from(*window)).min(self.left.0); // (4): xi_p rtt^2 s/cwnd
        let taken = (self.scale.1 * rtt * size).min(self.left.1); // (7): xi_n rtt s
        self.left = (self.left.0 - given, self.left.1 - taken);
        *feedback = feedback.min(((given - taken) / size) as f32);
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.due)
    }

    fn on_tick(&mut self, now: Time, backlog: Bytes) {
        let XcpRouting { alpha, beta, shuffle, .. } = self.parameters;
        let sums = core::mem::take(&mut self.sums);
        let y = sums.bytes / now.since(self.since).as_secs();
        if sums.turns > 0.0 {
            self.interval = sums.rtt_turns / sums.turns;
        }
        let d = self.interval;
        let queue = sums.least_queue.unwrap_or(backlog.0 as f64).min(backlog.0 as f64);
        self.phi = alpha * d * (self.capacity - y) - beta * queue; // (1)
        let h = (shuffle * y * d - self.phi.abs()).max(0.0);
        // What flows give to and take from each other goes round even if phi is zero.
        self.left = (h + self.phi.max(0.0), h + (-self.phi).max(0.0));
        // (6) and (8).
        self.scale.0 = if sums.turns > 0.0 { self.left.0 / (d * sums.turns) } else { 0.0 };
        self.scale.1 = if sums.own > 0.0 { self.left.1 / (d * sums.own) } else { 0.0 };
        self.since = now;
        self.due = now + Duration::from_secs(d).max(Duration(1));
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.capacity = rate.as_bps() / 8.0;
    }

    fn state(&self) -> Control {
        Control { rate: None, growth: Some(self.phi) }
    }
}
