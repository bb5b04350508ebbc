//! DCTCP: the window shrinks in proportion to the share of packets that were marked (RFC 8257).
//!
//! Its switches mark whatever finds more than K packets before it. RFC 8257, section 3.5: a loss takes half of the
//! window, as ever. It is for data centres only: on paths of others, it leaves nothing to flows that take a mark for a
//! loss.

use crate::extensions::Extensions;
use crate::parameters::within;
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::slow_start::SlowStart;
use crate::standard;
use crate::units::{Duration, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Dctcp {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// g: weight of each window of data in the mean share of marks, more than 0 and at most 1
        pub g: f64,
    }
}

impl Default for Dctcp {
    fn default() -> Dctcp {
        Dctcp { initial_window: 2.0, slow_start: SlowStart::Standard, g: 1.0 / 16.0 } // section 4.2
    }
}

impl Protocol for Dctcp {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("g", self.g, 1e-6..=1.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let rule = DctcpRule { g: self.g, share: MarkedShare::new() };
        let window = Window::new(rule, self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// DCTCP's window growth rule.
struct DctcpRule {
    g: f64,
    share: MarkedShare,
}

/// The mean share of bytes that are marked (section 3.3).
pub(crate) struct MarkedShare {
    /// DCTCP.Alpha.
    pub alpha: f64,
    /// DCTCP.WindowEnd: the window of data ends with the acknowledgment of a packet that was sent at this time or
    /// later.
    end: Time,
    /// DCTCP.BytesAcked.
    acked: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
}

impl MarkedShare {
    /// Before the first acknowledgment. Alpha is 1 then (section 4.2), so that the first mark halves the window.
    pub fn new() -> MarkedShare {
        MarkedShare { alpha: 1.0, end: Time::ZERO, acked: 0, marked: 0 }
    }

    /// Counts what `ack` tells. If it ends a window of data that lasted for `least` at least, alpha moves by a weight
    /// of `g` to that window's share (step 6).
    pub fn on_ack(&mut self, now: Time, ack: &Ack, g: f64, least: Duration) {
        self.acked += ack.acked.0;
        self.marked += ack.marked.0;
        let ends = ack.rtt.is_some_and(|rtt| now - rtt >= self.end) && now.since(self.end) >= least;
        if ends && self.acked > 0 {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha = self.alpha * (1.0 - g) + g * share;
            (self.end, self.acked, self.marked) = (now, 0, 0);
        }
    }
}

impl WindowRule for DctcpRule {
    const SCALABLE: bool = true;

    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.share.on_ack(now, ack, self.g, Duration::ZERO);
    }

    fn increase(&mut self, _: Time, w: f64, _: &Ack) -> f64 {
        standard::increase(w) // section 3.4
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        standard::decrease(w) // section 3.5
    }

    fn mark(&mut self, _: Time, w: f64) -> f64 {
        w * (1.0 - self.share.alpha / 2.0) // section 3.3, step 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{Loss, State};
    use crate::units::Bytes;

    const PACKET: Bytes = Bytes(1000);

    fn window(sender: &dyn Sender) -> f64 {
        let State { window, .. } = sender.state();
        window.unwrap()
    }

    /// A packet that was sent `rtt` ms ago is acknowledged at `ms`, and `marked` marks are told of.
    fn ack(sender: &mut dyn Sender, ms: u64, rtt: u64, marked: u64) {
        let ack = Ack {
            acked: PACKET,
            marked: Bytes(1000 * marked),
            rtt: Some(Duration::from_millis(rtt)),
            ..Ack::default()
        };
        sender.on_ack(Time::ZERO + Duration::from_millis(ms), &ack);
    }

    #[test]
    fn alpha_is_the_mean_share_of_marks_per_window_of_data() {
        let mut share = MarkedShare::new();
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let of = |marked: u64| Ack {
            acked: PACKET,
            marked: Bytes(1000 * marked),
            rtt: Some(Duration::from_millis(10)),
            ..Ack::default()
        };
        let mut alpha = |ms, marked| {
            share.on_ack(at(ms), &of(marked), 0.25, Duration::from_millis(5));
            share.alpha
        };
        // The first acknowledgment ends a window without marks, that at 20 ms one in which two of four are marked, and
        // that at 30 ms one without.
        let alphas = [(10, 0), (11, 0), (12, 1), (13, 1), (20, 0), (21, 0), (30, 0)].map(|(ms, n)| alpha(ms, n));
        let half = 0.75 * 0.75 + 0.25 * 0.5;
        assert_eq!(alphas, [0.75, 0.75, 0.75, 0.75, half, half, 0.75 * half]);
    }

    #[test]
    fn the_window_shrinks_by_half_of_alpha_and_halves_on_a_loss() {
        let mut sender =
            Dctcp { initial_window: 100.0, g: 0.25, ..Dctcp::default() }.sender(&Conditions::exact(PACKET));
        let sender = &mut *sender;
        // The first acknowledgment ends a window without marks: alpha = 0.75; the second is marked: 1 - 0.75/2.
        ack(sender, 100, 100, 0);
        let before = window(sender);
        ack(sender, 101, 100, 1);
        let after = before * 0.625;
        assert!((window(sender) - after - 1.0 / after).abs() < 1e-9, "{}", window(sender));
        // Marks of the same window of data do not shrink it further, and it grows.
        let before = window(sender);
        ack(sender, 150, 100, 1);
        assert_eq!(window(sender), before + 1.0 / before);
        // A loss takes half, whatever the marks have taken.
        let before = window(sender);
        sender.on_loss(Time::ZERO + Duration::from_millis(160), &Loss::Event);
        assert_eq!(window(sender), before / 2.0);
    }
}
