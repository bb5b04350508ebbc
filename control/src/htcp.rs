//! H-TCP: the longer ago the last loss, the faster the growth; and on a loss, no more is given up than empties the queue (Leith,
//! Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004, and draft-leith-tcp-htcp). Without the draft's
//! optional scaling of the growth by the RTT.

use crate::registry::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::{Duration, Time};
use crate::window::{Law, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Htcp {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// Delta_L: for so long after a loss it grows as Reno
    pub low_speed: Duration,
    /// Least share of the window kept on a loss, 0 to 1
    pub least_beta: f64,
    /// Largest share of the window kept on a loss, 0 to 1
    pub largest_beta: f64,
    /// Delta_B: if the throughput changed by a larger share between two losses, least-beta is kept
    pub switch: f64,
}

impl Default for Htcp {
    fn default() -> Htcp {
        Htcp {
            initial_window: 2.0,
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
        Box::new(Window::new(Adaptive::new(self), self.initial_window, host.packet))
    }
}

struct Adaptive {
    htcp: Htcp,
    /// When the last loss was.
    lost: Time,
    /// Share of the window kept then.
    beta: f64,
    /// Throughput just before it, packets per second.
    throughput: f64,
    /// The last RTT, the shortest ever and the longest since the last loss, seconds.
    rtt: f64,
    shortest: f64,
    longest: f64,
}

impl Adaptive {
    fn new(htcp: &Htcp) -> Adaptive {
        Adaptive {
            beta: htcp.least_beta,
            htcp: htcp.clone(),
            lost: Time::ZERO,
            throughput: 0.0,
            rtt: 0.0,
            shortest: f64::INFINITY,
            longest: 0.0,
        }
    }
}

impl Law for Adaptive {
    fn observe(&mut self, _: Time, _: f64, ack: &Ack) {
        if let Some(rtt) = ack.rtt {
            self.rtt = rtt.as_secs();
            self.shortest = self.shortest.min(self.rtt);
            self.longest = self.longest.max(self.rtt);
        }
    }

    fn increase(&mut self, now: Time, w: f64, _: &Ack) -> f64 {
        let fast = (now.since(self.lost) - self.htcp.low_speed).as_secs(); // Delta - Delta_L
        let alpha = 1.0 + 10.0 * fast + 0.25 * fast * fast;
        // The same mean window as with beta = 1/2. **Decided**: no faster than slow start, where the paper has no limit.
        (2.0 * (1.0 - self.beta) * alpha / w).min(1.0)
    }

    fn decrease(&mut self, now: Time, w: f64) -> f64 {
        // **Decided**: the throughput just before the loss is that of the last window, w/RTT.
        let throughput = if self.rtt > 0.0 { w / self.rtt } else { 0.0 };
        let changed = (throughput - self.throughput).abs() > self.htcp.switch * self.throughput;
        let Htcp { least_beta, largest_beta, .. } = self.htcp;
        self.beta = if changed || self.longest == 0.0 {
            least_beta // the flow's share is changing: Reno's back-off
        } else {
            (self.shortest / self.longest).clamp(least_beta, largest_beta) // what empties the queue
        };
        self.throughput = throughput;
        self.lost = now;
        self.longest = 0.0;
        w * self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::ZERO + Duration::from_secs(seconds)
    }

    fn rtt(law: &mut Adaptive, seconds: f64) {
        law.observe(Time::ZERO, 1.0, &Ack { rtt: Some(Duration::from_secs(seconds)), ..Ack::default() });
    }

    #[test]
    fn growth_rises_with_the_time_since_the_last_loss() {
        // By hand: 1 for a second, then 1 + 10 D + (D/2)^2, times 2 (1 - beta) = 1.
        let mut law = Adaptive::new(&Htcp::default());
        for (seconds, alpha) in [(0.0, 1.0), (1.0, 1.0), (2.0, 11.25), (5.0, 45.0), (11.0, 126.0)] {
            let found = law.increase(at(seconds), 1000.0, &Ack::default()) * 1000.0;
            assert!((found - alpha).abs() < 1e-9, "{seconds} s: {found}");
        }
        law.beta = 0.8;
        assert!((law.increase(at(2.0), 1000.0, &Ack::default()) * 1000.0 - 4.5).abs() < 1e-9);
        assert_eq!(law.increase(at(1000.0), 10.0, &Ack::default()), 1.0, "no faster than slow start");
    }

    #[test]
    fn a_steady_flow_gives_up_what_empties_the_queue() {
        let mut law = Adaptive::new(&Htcp::default());
        rtt(&mut law, 0.1);
        rtt(&mut law, 0.15);
        assert_eq!(law.decrease(at(1.0), 1500.0), 750.0, "the first loss: nothing to compare with");
        rtt(&mut law, 0.15);
        assert!((law.decrease(at(2.0), 1500.0) - 1000.0).abs() < 1e-9, "100 ms / 150 ms");
        rtt(&mut law, 0.101);
        assert!((law.decrease(at(3.0), 1000.0) - 800.0).abs() < 1e-9, "at most 0.8");
        rtt(&mut law, 0.11);
        assert_eq!(law.decrease(at(4.0), 700.0), 350.0, "throughput fell by more than a fifth");
    }
}
