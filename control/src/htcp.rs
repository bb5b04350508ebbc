//! H-TCP: the window grows the faster, the longer ago the last loss was, and a loss takes no more of it than empties
//! the queue (Leith, Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and
//! draft-leith-tcp-htcp).
//!
//! The draft's optional scaling of the growth by the RTT is left out.

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::units::{Duration, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, format, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Htcp {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Delta_L: the time after a loss in which it grows as Reno
        pub low_speed: Duration,
        /// Least share of the window that a loss leaves, 0 to 1
        pub least_beta: f64,
        /// Largest share of the window that a loss leaves, 0 to 1
        pub largest_beta: f64,
        /// Delta_B: if the throughput has changed by a larger share between two losses, a loss leaves least-beta
        pub switch: f64,
    }
}

impl Default for Htcp {
    fn default() -> Htcp {
        Htcp {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            low_speed: Duration::from_millis(1000),
            least_beta: 0.5,
            largest_beta: 0.8,
            switch: 0.2,
        }
    }
}

impl Protocol for Htcp {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("low-speed", self.low_speed.as_secs(), 0.0..=1e6)?;
        within("least-beta", self.least_beta, 0.01..=0.99)?;
        within("largest-beta", self.largest_beta, 0.01..=0.99)?;
        within("switch", self.switch, 0.0..=1e6)?;
        if self.least_beta <= self.largest_beta {
            Ok(())
        } else {
            Err(format!("least-beta = {} is above largest-beta = {}; write less", self.least_beta, self.largest_beta))
        }
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let window = Window::new(HtcpRule::new(self), self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// H-TCP's window growth rule.
struct HtcpRule {
    htcp: Htcp,
    /// When the last loss was; before the first, when congestion avoidance began. None before that.
    last_loss: Option<Time>,
    /// beta: the share of the window that the last loss left.
    beta: f64,
    /// Throughput just before the last loss, packets per second; none if it was not measured.
    throughput: Option<f64>,
    /// The last RTT, seconds.
    rtt: Option<f64>,
    /// The shortest RTT so far, seconds.
    shortest: Option<f64>,
    /// The longest RTT since the last loss, seconds.
    longest: Option<f64>,
}

impl HtcpRule {
    fn new(htcp: &Htcp) -> HtcpRule {
        HtcpRule {
            beta: htcp.least_beta,
            htcp: htcp.clone(),
            last_loss: None,
            throughput: None,
            rtt: None,
            shortest: None,
            longest: None,
        }
    }

    /// beta for a loss at a throughput of so many packets per second.
    fn adapted_beta(&self, throughput: Option<f64>) -> f64 {
        let Htcp { least_beta, largest_beta, switch, .. } = self.htcp;
        match (self.throughput, throughput, self.shortest, self.longest) {
            // The throughput has hardly changed since the last loss: what the loss leaves empties the queue.
            (Some(before), Some(now), Some(shortest), Some(longest)) if (now - before).abs() <= switch * before => {
                (shortest / longest).clamp(least_beta, largest_beta)
            }
            // The flow's share of the path is changing, or is not known: Reno's decrease.
            _ => least_beta,
        }
    }
}

impl WindowRule for HtcpRule {
    fn observe(&mut self, _: Time, _: f64, ack: &Ack) {
        if let Some(rtt) = ack.rtt.map(Duration::as_secs).filter(|&rtt| rtt > 0.0) {
            self.rtt = Some(rtt);
            self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
            self.longest = Some(self.longest.map_or(rtt, |longest| longest.max(rtt)));
        }
    }

    fn increase(&mut self, now: Time, w: f64, _: &Ack) -> f64 {
        let since = *self.last_loss.get_or_insert(now);
        let fast = (now.since(since) - self.htcp.low_speed).as_secs(); // Delta - Delta_L, or zero
        let alpha = 1.0 + 10.0 * fast + 0.25 * fast * fast;
        // 2 (1 - beta) alpha gives the same mean window as beta = 1/2 and alpha. **Decided**: no faster than slow
        // start, while the paper has no limit.
        (2.0 * (1.0 - self.beta) * alpha / w).min(1.0)
    }

    fn decrease(&mut self, now: Time, w: f64) -> f64 {
        // **Decided**: the throughput just before the loss is that of the last window, w/RTT.
        let throughput = self.rtt.map(|rtt| w / rtt);
        self.beta = self.adapted_beta(throughput);
        self.throughput = throughput;
        self.last_loss = Some(now);
        self.longest = None;
        w * self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn rtt(rule: &mut HtcpRule, seconds: f64) {
        rule.observe(Time::ZERO, 1.0, &Ack { rtt: Some(Duration::from_secs(seconds)), ..Ack::default() });
    }

    #[test]
    fn growth_rises_with_the_time_since_the_last_loss() {
        // By hand: 1 for a second, then 1 + 10 D + (D/2)^2, times 2 (1 - beta) = 1.
        // The first acknowledgment of congestion avoidance counts as a loss.
        let mut rule = HtcpRule::new(&Htcp::default());
        for (seconds, alpha) in [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (5.0, 45.0), (11.0, 126.0)] {
            let found = rule.increase(at(seconds), 1000.0, &Ack::default()) * 1000.0;
            assert!((found - alpha).abs() < 1e-9, "{seconds} s: {found}");
        }
        rule.beta = 0.8;
        assert!((rule.increase(at(2.0), 1000.0, &Ack::default()) * 1000.0 - 4.5).abs() < 1e-9);
        assert_eq!(rule.increase(at(1000.0), 10.0, &Ack::default()), 1.0, "no faster than slow start");
    }

    #[test]
    fn a_loss_at_steady_throughput_takes_what_empties_the_queue() {
        let mut rule = HtcpRule::new(&Htcp::default());
        rtt(&mut rule, 0.1);
        rtt(&mut rule, 0.15);
        assert_eq!(rule.decrease(at(1.0), 1500.0), 750.0, "the first loss: nothing to compare with");
        rtt(&mut rule, 0.15);
        assert!((rule.decrease(at(2.0), 1500.0) - 1000.0).abs() < 1e-9, "100 ms / 150 ms");
        rtt(&mut rule, 0.101);
        assert!((rule.decrease(at(3.0), 1000.0) - 800.0).abs() < 1e-9, "at most 0.8");
        rtt(&mut rule, 0.11);
        assert_eq!(rule.decrease(at(4.0), 700.0), 350.0, "throughput fell by more than a fifth");
    }
}
