//! Westwood+: Reno, but on a loss the window falls to the measured bandwidth times the shortest RTT (Grieco, Mascolo,
//! "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control", ACM CCR 34(2),
//! 2004).
//!
//! The bandwidth estimate averages over some ten round trips. A slow start that fills a large path in about as many
//! leaves the estimate far below the path's bandwidth, and so the window far too small after the first loss.

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rounds::Rounds;
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::Time;
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Westwood {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// alpha: weight of the old estimate against a round trip's new sample of the bandwidth, 0 to 1
        pub filter: f64,
    }
}

impl Default for Westwood {
    fn default() -> Westwood {
        Westwood { initial_window: 2.0, slow_start: SlowStart::Standard, filter: 0.9 }
    }
}

impl Protocol for Westwood {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("filter", self.filter, 0.0..=0.999)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let rule = WestwoodRule {
            filter: self.filter,
            packet: host.packet.0 as f64,
            rounds: Rounds::new(),
            acked: 0,
            since: Time::ZERO,
            bandwidth: None,
        };
        let window = Window::new(rule, self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// Westwood+'s window growth rule.
struct WestwoodRule {
    /// alpha: weight of the old estimate.
    filter: f64,
    /// Size of a full packet, bytes.
    packet: f64,
    rounds: Rounds,
    /// Bytes acknowledged in the present round trip.
    acked: u64,
    /// When the present round trip began.
    since: Time,
    /// BWE, bytes per second; none before the end of the first round trip.
    bandwidth: Option<f64>,
}

impl WindowRule for WestwoodRule {
    /// Takes a sample of the bandwidth per round trip, d_k / Delta_k, also while losses are repaired. (The original
    /// Westwood took one per acknowledgment, which gives too much when acknowledgments arrive in bunches.)
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.acked += ack.acked.0;
        if let Some(rtt) = self.rounds.on_ack(now, ack) {
            let acked = self.acked as f64;
            self.bandwidth = Some(match self.bandwidth {
                None => acked / rtt,
                Some(old) => self.filter * old + (1.0 - self.filter) * acked / now.since(self.since).as_secs(),
            });
            (self.acked, self.since) = (0, now);
        }
    }

    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        standard::increase(w)
    }

    /// ssthresh = BWE RTT_min / seg_size. Before the first estimate it is Reno's.
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.bandwidth.map_or(standard::decrease(w), |bandwidth| bandwidth * self.rounds.base / self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::round;

    fn estimate() -> WestwoodRule {
        let (rounds, since) = (Rounds::new(), Time::ZERO);
        WestwoodRule { filter: 0.9, packet: 1000.0, rounds, acked: 0, since, bandwidth: None }
    }

    #[test]
    fn a_loss_leaves_the_bandwidth_times_the_shortest_rtt() {
        // 1500 packets per 150 ms on a path of 100 ms without a queue: 1000 packets fill the path without a queue.
        let mut rule = estimate();
        rule.rounds.base = 0.1;
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now = round(&mut rule, now, 1500.0, 0.15).0;
        }
        let left = rule.decrease(now, 1500.0);
        assert!((left / 1000.0 - 1.0).abs() < 0.01, "{left}");
    }

    #[test]
    fn the_old_estimate_keeps_a_weight_of_nine_tenths_per_round_trip() {
        let mut rule = estimate();
        let mut now = Time::ZERO;
        for _ in 0..50 {
            now = round(&mut rule, now, 100.0, 0.1).0;
        }
        let before = rule.bandwidth.unwrap();
        for _ in 0..10 {
            now = round(&mut rule, now, 200.0, 0.1).0;
        }
        // From 1 to 2 MB/s: 2 - 0.9^10, give or take a round trip.
        let after = rule.bandwidth.unwrap() / before;
        assert!((before / 1e6 - 1.0).abs() < 0.02 && (1.61..1.69).contains(&after), "{before}, {after}");
    }

    #[test]
    fn without_an_estimate_it_is_reno() {
        assert_eq!(estimate().decrease(Time::ZERO, 40.0), 20.0);
    }
}
