//! Reno: one packet more per round trip, half the window on a loss (RFC 5681). `newreno` and `reno` differ only in how the
//! host repairs losses: RFC 6582 without selective acknowledgments, RFC 6675 with them.

use crate::registry::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::units::Time;
use crate::window::{Law, Window, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Reno {
    /// Window at the start, in packets; RFC 6928 has 10
    pub initial_window: f64,
}

impl Default for Reno {
    fn default() -> Reno {
        Reno { initial_window: 2.0 }
    }
}

impl Protocol for Reno {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(Window::new(Halve, self.initial_window, host.packet))
    }
}

/// One packet more per round trip, half on a loss.
pub(crate) struct Halve;

impl Law for Halve {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        increase(w)
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        decrease(w)
    }
}

/// Growth of a window of `w` packets per packet acknowledged; that of the other protocols, too, below their low window.
pub(crate) fn increase(w: f64) -> f64 {
    1.0 / w // RFC 5681, equation 3
}

/// What a loss event leaves of a window of `w` packets; also for the other protocols below their low window.
pub(crate) fn decrease(w: f64) -> f64 {
    w / 2.0 // RFC 5681, equation 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    #[test]
    fn a_packet_more_per_round_trip() {
        for w in [2.0, 10.0, 1000.0] {
            let grown = growth_per_rtt(&mut Halve, w);
            assert!(grown <= 1.0 && grown > 1.0 - 1.0 / w, "{w}: {grown}");
        }
    }
}
