//! LEDBAT: keeps the queueing delay at a target, so that it gives way to everything that queues for longer (S.
//! Shalunov, G. Hazel, J. Iyengar, M. Kuehlewind, "Low Extra Delay Background Transport (LEDBAT)", RFC 6817).
//!
//! The RFC measures one-way delays. Acknowledgments carry none here, so the delays are round-trip times, as in
//! LEDBAT++: a queue in the direction of the acknowledgments counts, too. Otherwise this is the pseudocode of section
//! 2.4.2, which has no slow start.
//!
//! A flow that starts while others keep a queue takes their queueing delay for a part of the base delay, and queues its
//! target on top of it. The flows before it then see more than their target, and give way. [`plus_plus`] is the
//! successor without that latecomer's advantage.

mod delay;
pub mod plus_plus;

use self::delay::QueueingDelay;
use crate::parameters::{seconds, within};
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Sender};
use crate::standard;
use crate::units::{Bytes, Duration, Time};
use crate::window::{Window, WindowRule};
use alloc::{boxed::Box, string::String};

crate::parameters! {
    /// Parameters.
    pub struct Ledbat {
        /// INIT_CWND: window at the start, in packets
        pub initial_window: f64,
        /// TARGET: the queueing delay to keep; the RFC allows no more than 100 ms
        pub target: Duration,
        /// GAIN: by how many packets the window grows per round trip without a queue, more than 0 and at most 1
        pub gain: f64,
        /// ALLOWED_INCREASE: by how many packets the window may exceed what is in flight
        pub allowed_increase: f64,
        /// BASE_HISTORY: how long the least delay is remembered
        pub base_history: Duration,
    }
}

impl Default for Ledbat {
    /// Section 2.5.
    fn default() -> Ledbat {
        Ledbat {
            initial_window: 2.0,
            target: Duration::from_millis(100),
            gain: 1.0,
            allowed_increase: 1.0,
            base_history: Duration::from_millis(600_000),
        }
    }
}

impl Protocol for Ledbat {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        seconds("target", self.target)?;
        within("gain", self.gain, 1e-3..=1.0)?;
        within("allowed-increase", self.allowed_increase, 1.0..=1e6)?;
        within("base-history", self.base_history.as_secs(), 1.0..=86_400.0)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        let delay = QueueingDelay::new(self.base_history);
        let rule = LedbatRule { ledbat: self.clone(), packet: host.packet, delay };
        Box::new(Window::new(rule, self.initial_window, host.packet))
    }
}

/// MIN_CWND, packets (section 2.5).
const MIN_CWND: f64 = 2.0;

/// LEDBAT's window growth rule.
struct LedbatRule {
    ledbat: Ledbat,
    packet: Bytes,
    delay: QueueingDelay,
}

impl WindowRule for LedbatRule {
    fn observe(&mut self, now: Time, _: f64, ack: &Ack) {
        self.delay.sample(now, ack.rtt);
    }

    /// Section 2.4.2: by GAIN off_target per round trip, up or down, but to no more than what was in flight and
    /// ALLOWED_INCREASE, and to no less than MIN_CWND.
    fn increase(&mut self, _: Time, w: f64, ack: &Ack) -> f64 {
        let Ledbat { target, gain, allowed_increase, .. } = self.ledbat;
        let off_target = 1.0 - self.delay.seconds() / target.as_secs();
        let packets = |bytes: Bytes| bytes.0 as f64 / self.packet.0 as f64;
        let acked = packets(ack.acked).min(w);
        let max_allowed = packets(ack.in_flight + ack.acked) + allowed_increase;
        let next = (w + acked * gain * off_target / w).min(max_allowed).max(MIN_CWND);
        (next - w) / acked
    }

    fn slow_start(&mut self, _: f64) -> Option<f64> {
        None
    }

    fn decrease(&mut self, _: Time, w: f64) -> f64 {
        standard::decrease(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::{Loss, Phase, State};

    const PACKET: Bytes = Bytes(1000);

    /// A sender with a window of `w` packets that has seen round-trip times down to 50 ms.
    fn sender(w: f64) -> Box<dyn Sender> {
        let mut sender = Ledbat { initial_window: w, ..Ledbat::default() }.sender(&Conditions::exact(PACKET));
        let rtt = Some(Duration::from_millis(50));
        sender.on_ack(Time::ZERO, &Ack { rtt, app_limited: true, ..Ack::default() });
        sender
    }

    fn window(sender: &dyn Sender) -> f64 {
        let State { window, .. } = sender.state();
        window.unwrap()
    }

    /// Acknowledges a window of packets, one by one, which took `ms`, the window being full.
    fn round(sender: &mut dyn Sender, ms: u64) {
        for _ in 0..window(sender) as u64 {
            let in_flight = Bytes((window(sender) * 1000.0) as u64 - PACKET.0);
            let ack = Ack { acked: PACKET, in_flight, rtt: Some(Duration::from_millis(ms)), ..Ack::default() };
            sender.on_ack(Time::ZERO, &ack);
        }
    }

    #[test]
    fn the_window_grows_by_the_share_of_the_target_that_is_left() {
        // From the second round on, the four newest samples are all of this length. Without a queue, a packet per round
        // trip; with 50 ms of 100, half a packet; at the target none; with 150 ms, half a packet less.
        for (ms, growth) in [(50, 1.0), (100, 0.5), (150, 0.0), (200, -0.5)] {
            let mut sender = sender(40.0);
            round(&mut *sender, ms);
            let before = window(&*sender);
            round(&mut *sender, ms);
            let grown = window(&*sender) - before;
            // A window of 40.9 packets has 40 acknowledgments.
            assert!((grown - growth).abs() < 0.04, "{ms} ms: {grown}");
        }
    }

    #[test]
    fn the_window_does_not_shrink_below_two_packets() {
        let mut sender = sender(2.5);
        for _ in 0..20 {
            round(&mut *sender, 1000);
        }
        assert_eq!(window(&*sender), 2.0);
    }

    #[test]
    fn the_window_exceeds_what_is_in_flight_by_a_packet_at_most() {
        let mut sender = sender(10.0);
        let rtt = Some(Duration::from_millis(50));
        let ack = Ack { acked: PACKET, in_flight: Bytes(3000), rtt, ..Ack::default() };
        sender.on_ack(Time::ZERO, &ack);
        assert_eq!(window(&*sender), 5.0); // the three, the acknowledged one, and one
    }

    #[test]
    fn a_loss_halves_the_window_and_a_timeout_leaves_one_packet() {
        let mut sender = sender(40.0);
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(window(&*sender), 20.0);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(window(&*sender), 1.0);
        // No slow start: two packets at once, then at most a packet more per round trip.
        round(&mut *sender, 50);
        assert_eq!(window(&*sender), 2.0);
        for _ in 0..10 {
            let before = window(&*sender);
            round(&mut *sender, 50);
            let grown = window(&*sender) - before;
            assert!(grown > 0.5 && grown <= 1.0, "{before}: {grown}");
        }
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
    }
}
