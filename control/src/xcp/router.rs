//! The router of XCP: efficiency and fairness controller.

use super::XcpRouting;
use crate::roles::{Control, Router, Stamp};
use crate::routing::{last_due, stamped_rtt};
use crate::units::{Bytes, Duration, Rate, Time};

/// The router of XCP. Volumes are in bytes, and times in seconds. The numbers in brackets are the equations of the
/// paper.
pub struct XcpRouter {
    parameters: XcpRouting,
    /// Capacity, bytes per second.
    capacity: f64,
    /// d, the mean round-trip time, which is the control interval.
    interval: f64,
    /// phi, the aggregate feedback of the last interval.
    phi: f64,
    /// xi_p, the scale of positive feedback, in the present interval.
    xi_p: f64,
    /// xi_n, the scale of negative feedback, in the present interval.
    xi_n: f64,
    /// Positive feedback that is left to be given in the present interval.
    to_give: f64,
    /// Negative feedback that is left to be given in the present interval.
    to_take: f64,
    sums: Sums,
    /// When the present interval began.
    since: Time,
    /// When the present interval ends.
    due: Time,
}

/// Sums over the packets that have arrived in the present interval.
#[derive(Default)]
struct Sums {
    /// The sizes of all packets: y d.
    bytes: f64,
    /// The sizes of XCP's packets: sum of s.
    own: f64,
    /// Sum of rtt/cwnd over XCP's packets, cwnd in packets. Each flow has an equal part in it, whatever its window.
    per_flow: f64,
    /// Sum of rtt^2/cwnd over XCP's packets.
    rtt_per_flow: f64,
    /// Q, the shortest queue so far; none before a packet has arrived.
    least_queue: Option<f64>,
}

impl XcpRouter {
    /// The router of a link of this capacity.
    pub fn new(parameters: &XcpRouting, capacity: Rate) -> XcpRouter {
        let mut machine = XcpRouter {
            parameters: parameters.clone(),
            capacity: 0.0,
            interval: parameters.initial_rtt.as_secs(),
            phi: 0.0,
            xi_p: 0.0,
            xi_n: 0.0,
            to_give: 0.0,
            to_take: 0.0,
            sums: Sums::default(),
            since: Time::ZERO,
            due: Time::ZERO + parameters.initial_rtt,
        };
        machine.on_capacity(capacity);
        machine
    }

    /// The round-trip time that a packet carries; for a sender that does not know its own, the mean one.
    fn rtt(&self, stamped: f32) -> f64 {
        stamped_rtt(stamped).unwrap_or(self.interval)
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
            let per_flow = rtt / f64::from(window);
            self.sums.own += size;
            self.sums.per_flow += per_flow;
            self.sums.rtt_per_flow += rtt * per_flow;
        }
    }

    fn on_departure(&mut self, _: Time, stamp: &mut Stamp, size: Bytes, backlog: Bytes) {
        if let Some(least) = &mut self.sums.least_queue {
            *least = least.min(backlog.0 as f64);
        }
        let Stamp::Window { window, rtt, feedback } = stamp else { return };
        if *window <= 0.0 {
            *feedback = feedback.min(0.0); // the packet opens a flow, which has no window yet
            return;
        }
        let (rtt, size) = (self.rtt(*rtt), size.0 as f64);
        let given = (self.xi_p * rtt * rtt / f64::from(*window)).min(self.to_give); // (4): xi_p rtt^2 s/cwnd
        let taken = (self.xi_n * rtt * size).min(self.to_take); // (7): xi_n rtt s
        self.to_give -= given;
        self.to_take -= taken;
        *feedback = feedback.min(((given - taken) / size) as f32);
    }

    fn next_tick(&self) -> Option<Time> {
        Some(self.due)
    }

    fn on_tick(&mut self, now: Time, until: Time, backlog: Bytes) {
        let XcpRouting { alpha, beta, shuffle, .. } = self.parameters;
        let sums = core::mem::take(&mut self.sums);
        let y = sums.bytes / now.since(self.since).as_secs();
        if sums.per_flow > 0.0 {
            self.interval = sums.rtt_per_flow / sums.per_flow;
        }
        let d = self.interval;
        let queue = sums.least_queue.unwrap_or(backlog.0 as f64).min(backlog.0 as f64);
        self.phi = alpha * d * (self.capacity - y) - beta * queue; // (1)
        let h = (shuffle * y * d - self.phi.abs()).max(0.0);
        // The shuffled traffic h is taken from all flows and given to all flows even if phi is zero.
        self.to_give = h + self.phi.max(0.0);
        self.to_take = h + (-self.phi).max(0.0);
        self.xi_p = if sums.per_flow > 0.0 { self.to_give / (d * sums.per_flow) } else { 0.0 }; // (6)
        self.xi_n = if sums.own > 0.0 { self.to_take / (d * sums.own) } else { 0.0 }; // (8)
        self.since = now;
        let every = Duration::from_secs(d);
        self.due = now + every;
        if sums.least_queue.is_none() && self.due <= until {
            // No packet arrived: nothing above depended on the past, so that each further interval ends as this one.
            self.since = last_due(now, every, until);
            self.due = self.since + every;
        }
    }

    fn on_capacity(&mut self, rate: Rate) {
        self.capacity = rate.as_bps() / 8.0;
    }

    fn state(&self) -> Control {
        Control { rate: None, growth: Some(self.phi) }
    }
}
