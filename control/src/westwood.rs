//! Westwood+: Reno, but on a loss the window falls to what the path was measured to deliver in the shortest round trip (Grieco,
//! Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control", ACM CCR 34(2), 2004).
//!
//! The estimate remembers some ten round trips. A slow start that fills a large path in as many leaves it far below the path's
//! bandwidth, and the first loss the window as low.

use crate::registry::Protocol;
use crate::reno;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Rounds, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Westwood {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// alpha: weight of the old estimate against a round trip's new sample of the bandwidth, 0 to 1
    pub filter: f64,
}

impl Default for Westwood {
    fn default() -> Westwood {
        Westwood { initial_window: 2.0, filter: 0.9 }
    }
}

impl Protocol for Westwood {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("filter", self.filter, 0.0..=0.999)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let law = Estimate {
            filter: self.filter,
            packet: host.packet.0 as f64,
            rounds: Rounds::new(),
            acked: 0,
            since: Time::ZERO,
            bandwidth: None,
        };
        Box::new(Window::new(law, self.initial_window, host.packet))
    }
}

struct Estimate {
    filter: f64,
    /// Bytes in a packet.
    packet: f64,
    rounds: Rounds,
    /// Bytes acknowledged in this round trip, and since when.
    acked: u64,
    since: Time,
    /// BWE, bytes per second.
    bandwidth: Option<f64>,
}

impl Law for Estimate {
    /// A sample per round trip, d_k / Delta_k, also while losses are repaired. (Westwood took one per acknowledgment, which
    /// overestimates when these come in bunches.)
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
        reno::increase(w)
    }

    /// ssthresh = BWE RTT_min / packet. Before there is an estimate, as Reno.
    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.bandwidth.map_or(reno::decrease(w), |bandwidth| bandwidth * self.rounds.base / self.packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::round;

    fn estimate() -> Estimate {
        let (rounds, since) = (Rounds::new(), Time::ZERO);
        Estimate { filter: 0.9, packet: 1000.0, rounds, acked: 0, since, bandwidth: None }
    }

    #[test]
    fn a_loss_leaves_what_the_path_delivers_in_the_shortest_round_trip() {
        // 1500 packets per 150 ms on a path of 100 ms without a queue: 1000 of them need none.
        let mut law = estimate();
        law.rounds.base = 0.1;
        let mut now = Time::ZERO;
        for _ in 0..100 {
            now = round(&mut law, now, 1500.0, 0.15).0;
        }
        let left = law.decrease(now, 1500.0);
        assert!((left / 1000.0 - 1.0).abs() < 0.01, "{left}");
    }

    #[test]
    fn the_filter_keeps_nine_tenths_per_round_trip() {
        let mut law = estimate();
        let mut now = Time::ZERO;
        for _ in 0..50 {
            now = round(&mut law, now, 100.0, 0.1).0;
        }
        let before = law.bandwidth.unwrap();
        for _ in 0..10 {
            now = round(&mut law, now, 200.0, 0.1).0;
        }
        // From 1 to 2 MB/s: 2 - 0.9^10, give or take a round trip.
        let after = law.bandwidth.unwrap() / before;
        assert!((before / 1e6 - 1.0).abs() < 0.02 && (1.61..1.69).contains(&after), "{before}, {after}");
    }

    #[test]
    fn without_an_estimate_it_is_reno() {
        assert_eq!(estimate().decrease(Time::ZERO, 40.0), 20.0);
    }
}
