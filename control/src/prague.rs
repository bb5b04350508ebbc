//! Prague: DCTCP made fit for paths of others, the sender of L4S (K. De Schepper, O. Tilmans, B. Briscoe, V. Goel,
//! "Prague Congestion Control", draft-briscoe-iccrg-prague-congestion-control; RFC 9331, section 4.3).
//!
//! Below a reference round-trip time, it behaves as flows of that round-trip time do, so that its rate does not depend
//! on its own: within the *virtual* round-trip time, the longer of the two, it grows and gives up as much as they do.
//! Hosts are to space its packets: in the simulator with `pacing = 1`, on the wire by quinn's pacer. Left out are the
//! detection of classic queues that mark (section 4.3 of RFC 9331 leaves it to operators, too) and windows below a
//! packet.

use crate::dctcp::MarkedShare;
use crate::extensions::Extensions;
use crate::parameters::{seconds, within};
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::rtt::SmoothedRtt;
use crate::slow_start::SlowStart;
use crate::units::{Duration, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Prague {
        /// Window at the start, in packets; RFC 6928 has 10
        pub initial_window: f64,
        /// What ends slow start before a loss or mark: nothing ("standard"), HyStart of Linux ("hystart"), RFC 9406
        /// ("hystart++"), or deliveries that no longer keep up with what was sent ("search")
        pub slow_start: SlowStart,
        /// Weight of each virtual round trip in the mean share of marks, more than 0 and at most 1
        pub g: f64,
        /// Share of the window that a loss leaves, 0 to 1: Reno's, or 0.7 as CUBIC's
        pub beta: f64,
        /// The least virtual round-trip time
        pub reference_rtt: Duration,
    }
}

impl Default for Prague {
    fn default() -> Prague {
        Prague {
            initial_window: 2.0,
            slow_start: SlowStart::Standard,
            g: 1.0 / 16.0,
            beta: 0.5,
            reference_rtt: Duration::from_millis(25),
        }
    }
}

impl Protocol for Prague {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        within("g", self.g, 1e-6..=1.0)?;
        within("beta", self.beta, 0.01..=0.99)?;
        seconds("reference-rtt", self.reference_rtt)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let rule =
            PragueRule { prague: self.clone(), share: MarkedShare::new(), rtt: SmoothedRtt::default(), reduced: None };
        let window = Window::new(rule, self.initial_window, host.packet);
        Box::new(window.extended(Extensions::of(self.slow_start, host)))
    }
}

/// Prague's window growth rule.
struct PragueRule {
    prague: Prague,
    share: MarkedShare,
    rtt: SmoothedRtt,
    /// When marks last reduced the window; none before.
    reduced: Option<Time>,
}

impl PragueRule {
    /// The round-trip time as a share of the virtual one.
    fn share_of_virtual(&self) -> f64 {
        self.rtt.seconds().map_or(1.0, |rtt| (rtt / self.prague.reference_rtt.as_secs()).min(1.0))
    }

    /// The virtual round-trip time.
    fn virtual_rtt(&self) -> Duration {
        self.rtt.seconds().map_or(Duration::ZERO, Duration::from_secs).max(self.prague.reference_rtt)
    }
}

impl WindowRule for PragueRule {
    const SCALABLE: bool = true;

    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.rtt.sample(ack.rtt);
        self.share.on_ack(now, ack, self.prague.g, self.virtual_rtt());
    }

    /// A packet per virtual round trip at the rate of a flow of that round-trip time: with a share r of the virtual
    /// round-trip time, r packets per virtual round trip, which are r^2 per round trip. Marked packets do not count.
    fn increase(&mut self, _: Time, w: f64, ack: &Ack) -> f64 {
        let r = self.share_of_virtual();
        let unmarked = 1.0 - (ack.marked.0 as f64 / ack.acked.0.max(1) as f64).min(1.0);
        unmarked * r * r / w
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        self.prague.beta * w
    }

    /// At most once per virtual round trip.
    fn mark(&mut self, now: Time, w: f64) -> f64 {
        if self.reduced.is_some_and(|reduced| now.since(reduced) < self.virtual_rtt()) {
            return w;
        }
        self.reduced = Some(now);
        w * (1.0 - self.share.alpha / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{Loss, State};
    use crate::units::Bytes;
    use crate::window::tests::round;

    fn rule() -> PragueRule {
        PragueRule { prague: Prague::default(), share: MarkedShare::new(), rtt: SmoothedRtt::default(), reduced: None }
    }

    #[test]
    fn growth_per_second_is_that_of_the_reference_round_trip_time_as_a_rate() {
        // At 25 ms and more, a packet per round trip. At 5 ms, 1/25 of one: 8 packets per second are 8/5 packets/ms^2
        // in rate, as 40 packets per second at 25 ms are.
        for (ms, growth) in [(100.0, 1.0), (25.0, 1.0), (5.0, 0.04)] {
            let (_, w) = round(&mut rule(), Time::ZERO, 50.0, ms / 1000.0);
            assert!((w - 50.0 - growth).abs() < 0.02 * growth, "{ms} ms: {w}");
        }
    }

    #[test]
    fn marked_packets_do_not_grow_the_window() {
        let ack = |marked| Ack { acked: Bytes(4000), marked: Bytes(marked), ..Ack::default() };
        let grown = [0, 1000, 4000, 5000].map(|marked| rule().increase(Time::ZERO, 10.0, &ack(marked)));
        assert_eq!(grown, [0.1, 0.075, 0.0, 0.0]);
    }

    #[test]
    fn the_window_shrinks_by_half_of_alpha_once_per_virtual_round_trip() {
        let (mut rule, packet) = (rule(), Bytes(1000));
        rule.share.alpha = 0.2;
        let mut sender = Window::new(rule, 100.0, packet);
        let mut ack = |ms: u64, marked| {
            let rtt = Some(Duration::from_millis(5));
            let ack = Ack { acked: packet, marked: Bytes(marked), rtt, app_limited: true, ..Ack::default() };
            sender.on_ack(Time::ZERO + Duration::from_millis(ms), &ack);
            let State { window, .. } = sender.state();
            window.unwrap()
        };
        // Alpha moves at the first acknowledgment after 25 ms, which is marked: 0.2 x 15/16 + 1/16 = 0.25.
        assert_eq!(ack(1000, 1000), 87.5);
        for ms in [1001, 1005, 1010, 1020] {
            assert_eq!(ack(ms, 1000), 87.5, "{ms}");
        }
        assert!(ack(1026, 1000) < 87.5);
    }

    #[test]
    fn a_loss_takes_half() {
        let mut sender = Prague { initial_window: 100.0, ..Prague::default() }.sender(&Conditions::exact(Bytes(1000)));
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(sender.state().window, Some(50.0));
    }
}
