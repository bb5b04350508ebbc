//! Standard TCP's congestion avoidance (RFC 5681, section 3.1): one packet more per round trip, half the window on a
//! loss.
//!
//! Reno is nothing else. Many other window protocols do the same below some window, and senders that need routers do it
//! where no router takes part.

use crate::roles::Ack;
use crate::units::Time;
use crate::window::WindowRule;

/// By how much a window of `w` packets grows for one acknowledged packet, in packets.
pub(crate) fn increase(w: f64) -> f64 {
    1.0 / w // equation 3
}

/// What a loss event leaves of a window of `w` packets.
pub(crate) fn decrease(w: f64) -> f64 {
    w / 2.0 // equation 4
}

/// The window growth rule of Reno.
pub(crate) struct StandardRule {
    /// Share of the window that a reaction to marks leaves (RFC 8511, section 3).
    pub beta_ecn: f64,
}

impl Default for StandardRule {
    /// Marks take what a loss takes (RFC 3168, section 6.1.2).
    fn default() -> StandardRule {
        StandardRule { beta_ecn: 0.5 }
    }
}

impl WindowRule for StandardRule {
    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        increase(w)
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        decrease(w)
    }

    fn mark(&mut self, _: Time, w: f64) -> f64 {
        self.beta_ecn * w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::tests::growth_per_rtt;

    #[test]
    fn the_window_grows_by_one_packet_per_round_trip() {
        for w in [2.0, 10.0, 1000.0] {
            let grown = growth_per_rtt(&mut StandardRule::default(), w);
            assert!(grown <= 1.0 && grown > 1.0 - 1.0 / w, "{w}: {grown}");
        }
    }
}
