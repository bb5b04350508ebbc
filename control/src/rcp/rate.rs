//! The rate controller of RCP and RCP-AC (equation 1).

use super::RcpRouting;
use crate::routing::{last_due, stamped_rtt};
use crate::units::{Bytes, Duration, Rate, Time};

/// Keeps R, the rate that every flow may have, and d, the mean round-trip time of the packets that arrive.
pub struct RateController {
    parameters: RcpRouting,
    /// C, bits per second.
    capacity: f64,
    /// R, bits per second.
    rate: f64,
    /// d, seconds.
    rtt: f64,
    /// Bits that have arrived since the last update.
    arrived: f64,
    /// Sum of the round-trip times that packets have stamped since the last update, seconds.
    rtt_sum: f64,
    /// Number of these packets.
    rtt_samples: u32,
    /// When R was last updated.
    updated: Time,
    /// When R is to be updated next.
    due: Time,
}

impl RateController {
    /// The controller of a link of this capacity.
    pub fn new(parameters: &RcpRouting, capacity: Rate) -> RateController {
        let capacity = capacity.as_bps();
        let mut controller = RateController {
            parameters: parameters.clone(),
            capacity,
            rate: capacity * parameters.initial_rate,
            rtt: parameters.initial_rtt.as_secs(),
            arrived: 0.0,
            rtt_sum: 0.0,
            rtt_samples: 0,
            updated: Time::ZERO,
            due: Time::ZERO,
        };
        controller.due = Time::ZERO + controller.interval();
        controller
    }

    /// R, in bits per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// d, in seconds.
    pub fn rtt(&self) -> f64 {
        self.rtt
    }

    /// C, in bits per second.
    pub fn capacity(&self) -> f64 {
        self.capacity
    }

    /// When to call [`RateController::update`].
    pub fn due(&self) -> Time {
        self.due
    }

    /// T, which is no longer than d (below equation 1).
    fn interval(&self) -> Duration {
        self.parameters.interval.min(Duration::from_secs(self.rtt))
    }

    /// The link has another capacity from now on. Each flow's share of it stays the same.
    pub fn set_capacity(&mut self, capacity: Rate) {
        let capacity = capacity.as_bps().max(1.0);
        self.rate *= capacity / self.capacity;
        self.capacity = capacity;
    }

    /// A packet of this size arrives. `rtt` is its sender's round-trip time in seconds, or zero if the sender does not
    /// know it or runs another protocol.
    #[inline]
    pub fn on_arrival(&mut self, size: Bytes, rtt: f32) {
        self.arrived += size.as_bits();
        if let Some(rtt) = stamped_rtt(rtt) {
            self.rtt_sum += rtt;
            self.rtt_samples += 1;
        }
    }

    /// An interval T has passed, and `backlog` bytes wait in the queue: updates R and d. No packet passes until
    /// `until`, as in [`Router::on_tick`](crate::Router::on_tick).
    pub fn update(&mut self, now: Time, until: Time, backlog: Bytes) {
        let RcpRouting { alpha, beta, least_rate, .. } = self.parameters;
        let t = now.since(self.updated).as_secs();
        let (c, y, q) = (self.capacity, self.arrived / t, backlog.as_bits());
        if self.rtt_samples > 0 {
            // A moving average over the time d.
            let mean = self.rtt_sum / f64::from(self.rtt_samples);
            self.rtt += (t / self.rtt).min(1.0) * (mean - self.rtt);
        }
        let d = self.rtt;
        // Equation 1. The factor 1/C, without which the bracket has a dimension, is missing in the printed equation.
        let factor = 1.0 + t / d * (alpha * (c - y) - beta * q / d) / c;
        let before = self.rate;
        self.rate = (self.rate * factor).clamp(least_rate * c, c);
        // Without packets, R grows to C, or falls to its least if the queue stands still, and stays there.
        let at_rest = self.arrived == 0.0 && self.rtt_samples == 0 && self.rate == before;
        (self.arrived, self.rtt_sum, self.rtt_samples) = (0.0, 0.0, 0);
        self.updated = if at_rest { last_due(now, self.interval(), until) } else { now };
        self.due = self.updated + self.interval();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: Rate = Rate::from_mbps(100.0);

    /// A controller that has measured d = 100 ms on a full link for 100 ms.
    fn controller() -> RateController {
        let mut controller = RateController::new(&RcpRouting::default(), MBPS);
        while controller.due().as_secs() <= 0.1 {
            controller.on_arrival(Bytes(125_000), 0.1); // 100 Mbps in 10 ms
            controller.update(controller.due(), controller.due(), Bytes(0));
        }
        controller
    }

    /// The factor by which an update changes R at a load of `mbps` and with `backlog` bytes in the queue.
    fn update(mbps: f64, backlog: u64) -> f64 {
        let mut controller = controller();
        let before = controller.rate();
        controller.on_arrival(Bytes((mbps * 1e6 / 8.0 * 0.01) as u64), 0.1);
        controller.update(controller.due(), controller.due(), Bytes(backlog));
        controller.rate() / before
    }

    #[test]
    fn equation_1() {
        assert!((controller().rate() - 5e6).abs() < 1.0, "full link, no queue: at rest");
        // T/d = 0.1, alpha = beta = 0.4.
        assert!((update(50.0, 0) - (1.0 + 0.1 * 0.4 * 0.5)).abs() < 1e-9);
        assert!((update(150.0, 0) - (1.0 - 0.1 * 0.4 * 0.5)).abs() < 1e-9);
        // A queue of half a bandwidth-delay product: 625,000 bytes.
        assert!((update(100.0, 625_000) - (1.0 - 0.1 * 0.4 * 0.5)).abs() < 1e-9);
    }

    #[test]
    fn the_rate_stays_between_its_bounds() {
        let mut controller = controller();
        for _ in 0..10_000 {
            controller.update(controller.due(), controller.due(), Bytes(0));
        }
        assert_eq!(controller.rate(), 100e6);
        for _ in 0..10_000 {
            controller.update(controller.due(), controller.due(), Bytes(10_000_000));
        }
        assert!((controller.rate() - 100.0).abs() < 1e-6);
    }

    #[test]
    fn the_rate_is_updated_at_least_once_per_round_trip() {
        let mut controller = controller();
        for _ in 0..1000 {
            controller.on_arrival(Bytes(1000), 0.002);
            controller.update(controller.due(), controller.due(), Bytes(0));
        }
        let t = controller.due().since(controller.updated).as_secs();
        assert!((t - 0.002).abs() < 1e-4, "{t}");
    }

    #[test]
    fn a_change_of_capacity_leaves_the_shares_of_flows_as_they_are() {
        let mut controller = controller();
        controller.set_capacity(Rate::from_mbps(10.0));
        assert!((controller.rate() - 0.5e6).abs() < 1.0);
    }
}
