//! The window that a window protocol reaches despite transmission errors.

use crate::roles::Ack;
use crate::units::Bytes;

/// The weight of the newest number of packets between two errors in the moving average of these numbers.
const WEIGHT: f64 = 0.125;
/// The window is estimated from this many errors on. Beside other flows, a buffer also drops packets while the
/// round-trip time is short, which looks like an error. After one or two of these drops, a small path would be taken
/// for one that loses packets.
const LEAST_ERRORS: u32 = 3;

/// Estimates the mean window of a loss-based protocol at this error rate.
#[derive(Clone, Debug, Default)]
pub struct ErrorWindow {
    /// The number of packets between two errors, a moving average over about eight such numbers; none before the first
    /// error.
    between: Option<f64>,
    /// Packets since the last error.
    since: f64,
    /// The number of errors, up to [`LEAST_ERRORS`].
    errors: u32,
}

impl ErrorWindow {
    /// An acknowledgment arrived; full packets are of this size.
    pub fn on_ack(&mut self, ack: &Ack, packet: Bytes) {
        self.since += ack.acked.0 as f64 / packet.0 as f64;
    }

    /// Packets were lost to an error.
    pub fn on_error(&mut self) {
        let between = self.between.map_or(self.since, |between| between + WEIGHT * (self.since - between));
        (self.between, self.since) = (Some(between), 0.0);
        self.errors = (self.errors + 1).min(LEAST_ERRORS);
    }

    /// The window in packets: Reno's, sqrt(3/(2p)) (Mathis, Semke, Mahdavi and Ott, CCR 27(3), 1997), where p is the
    /// rate of errors. The packets since the last error count once they exceed the average between errors (RFC 5348,
    /// section 5.4). Infinite before the third error.
    pub fn packets(&self) -> f64 {
        match self.between {
            Some(between) if self.errors == LEAST_ERRORS => libm::sqrt(1.5 * between.max(self.since)),
            _ => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_follows_the_gaps_between_errors() {
        let packet = Bytes(1000);
        let mut window = ErrorWindow::default();
        let mut after = |packets: u64| {
            window.on_ack(&Ack { acked: Bytes(packets * packet.0), ..Ack::default() }, packet);
            window.on_error();
            window.packets()
        };
        assert_eq!([(); 2].map(|()| after(600)), [f64::INFINITY; 2], "too few errors");
        assert_eq!(after(600), 30.0, "the root of 1.5 times 600");
        assert_eq!(after(1400), (1.5f64 * 700.0).sqrt(), "an eighth of the way to 1400");
        window.on_ack(&Ack { acked: Bytes(2_400_000), ..Ack::default() }, packet);
        assert_eq!(window.packets(), 60.0, "a gap that is long already");
        assert_eq!(ErrorWindow::default().packets(), f64::INFINITY);
    }
}
