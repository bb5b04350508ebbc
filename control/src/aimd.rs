//! AIMD(a, b): `a` packets more per round trip, a share `b` of the window less on a loss. Reno is AIMD(1, 0.5); BIC-2004
//! compares itself with AIMD(32, 0.125), which its own response function meets at low loss rates (section VI-B).

use crate::registry::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Aimd {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
    /// a: growth per round trip, in packets
    pub increase: f64,
    /// b: share of the window given up on a loss, 0 to 1
    pub decrease: f64,
}

impl Default for Aimd {
    fn default() -> Aimd {
        Aimd { initial_window: 2.0, increase: 32.0, decrease: 0.125 }
    }
}

impl Protocol for Aimd {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("increase", self.increase, 0.0..=1e6)?;
        within("decrease", self.decrease, 0.0..=1.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(self.clone(), self.initial_window, host.packet))
    }
}

impl Law for Aimd {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        self.increase / w // a per round trip of w packets
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        w * (1.0 - self.decrease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    #[test]
    fn grows_by_a_per_round_trip_and_falls_by_b() {
        let mut law = Aimd::default();
        let grown = growth_per_rtt(&mut law, 10_000.0);
        assert!((grown - 32.0).abs() < 0.1, "{grown}"); // a little less: w grows while it is acknowledged
        assert_eq!(law.decrease(Time::ZERO, 800.0), 700.0);
    }
}
