//! LEDBAT++: LEDBAT with a multiplicative decrease and periodic slowdowns, which show every flow the path without a
//! queue (P. Balasubramanian, O. Ertugay, D. Havey, "LEDBAT++: Congestion Control for Background Traffic",
//! draft-irtf-iccrg-ledbat-plus-plus-01).
//!
//! ```text
//!   +-----------+  3/4 of the target,   +-----------+   9 times as long   +--------+
//!   | SlowStart | --------------------> | Avoidance | ------------------> | Frozen |
//!   +-----------+  or a loss            +-----------+   as the last one,  +--------+
//!                                         ^             first after 2 RTT   |
//!                        window reaches   |     +------+     after 2 RTT    |
//!                        ssthresh, or     +---- | Ramp | <------------------+
//!                        a loss                 +------+ <-- the first acknowledgment after a timeout
//! ```
//! A slowdown is Frozen and the Ramp after it. Delays are round-trip times (section 4.5).

use super::MIN_CWND;
use super::delay::QueueingDelay;
use crate::parameters::{seconds, within};
use crate::protocol::Protocol;
use crate::roles::{Ack, Conditions, Loss, Next, Phase, Pipe, Sender, Stamp, State as Shown};
use crate::rtt::SmoothedRtt;
use crate::standard;
use crate::units::{Bytes, Duration, Time};
use alloc::{boxed::Box, string::String};
use libm::ceil;

crate::parameters! {
    /// Parameters.
    pub struct LedbatPlusPlus {
        /// Window at the start, in packets
        pub initial_window: f64,
        /// The queueing delay to keep
        pub target: Duration,
        /// The largest divisor of the gain: in the shortest round trips, the window grows by one divided by this
        pub largest_divisor: f64,
        /// Constant of the decrease: the share of the window given up per round trip when the delay is twice the target
        pub constant: f64,
        /// How long the least round-trip time is remembered
        pub base_history: Duration,
        /// How many times as long as a slowdown the time until the next one is; 9 makes a slowdown a tenth of the time
        pub slowdown_interval: f64,
    }
}

impl Default for LedbatPlusPlus {
    fn default() -> LedbatPlusPlus {
        LedbatPlusPlus {
            initial_window: 2.0,
            target: Duration::from_millis(60),
            largest_divisor: 16.0,
            constant: 1.0,
            base_history: Duration::from_millis(600_000),
            slowdown_interval: 9.0,
        }
    }
}

impl Protocol for LedbatPlusPlus {
    fn check(&self) -> Result<(), String> {
        within("initial-window", self.initial_window, 1.0..=1e6)?;
        seconds("target", self.target)?;
        within("largest-divisor", self.largest_divisor, 1.0..=1e3)?;
        within("constant", self.constant, 0.01..=100.0)?;
        within("base-history", self.base_history.as_secs(), 1.0..=86_400.0)?;
        within("slowdown-interval", self.slowdown_interval, 1.0..=1e6)
    }

    fn sender(&self, host: &Conditions) -> Box<dyn Sender> {
        Box::new(PlusPlusSender {
            parameters: self.clone(),
            packet: host.packet,
            cwnd: self.initial_window,
            state: State::SlowStart,
            delay: QueueingDelay::new(self.base_history),
            rtt: SmoothedRtt::default(),
            slowdown: Slowdown::AfterSlowStart,
        })
    }
}

/// The share of the target at which the first slow start ends (section 4.1).
const SLOW_START_EXIT: f64 = 0.75;
/// How many round trips a slowdown keeps the window at its least, and how many pass before the first slowdown (section
/// 4.4).
const FROZEN_RTTS: u32 = 2;

/// The sender.
struct PlusPlusSender {
    parameters: LedbatPlusPlus,
    /// Size of a full packet.
    packet: Bytes,
    /// Congestion window, packets.
    cwnd: f64,
    state: State,
    delay: QueueingDelay,
    rtt: SmoothedRtt,
    slowdown: Slowdown,
}

/// Where in the state machine the sender is. ssthresh is in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// The first slow start, which ends when a queue builds up.
    SlowStart,
    Avoidance,
    /// The window is at its least since the slowdown began. `passed` round trips have passed, and the present one began
    /// at `begin`.
    Frozen {
        ssthresh: f64,
        begin: Time,
        passed: u32,
    },
    /// Slow start up to ssthresh, whatever the delay.
    Ramp {
        ssthresh: f64,
    },
    /// The retransmission timeout has expired, and nothing has been acknowledged since.
    Backoff {
        ssthresh: f64,
    },
}

/// The present or the next slowdown.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Slowdown {
    /// Two round trips after the first slow start.
    AfterSlowStart,
    /// At this time.
    At(Time),
    /// It began at this time.
    Since(Time),
}

impl PlusPlusSender {
    /// GAIN (section 4.2): by how many packets the window grows per round trip.
    fn gain(&self) -> f64 {
        let divisor = ceil(2.0 * self.parameters.target.as_secs() / self.delay.base_delay);
        1.0 / divisor.clamp(1.0, self.parameters.largest_divisor)
    }

    /// By how many packets the window changes per round trip in Avoidance (section 4.3).
    fn change(&self) -> f64 {
        let (gain, w) = (self.gain(), self.cwnd);
        let excess = self.delay.seconds() / self.parameters.target.as_secs() - 1.0;
        if excess <= 0.0 { gain } else { (gain - self.parameters.constant * w * excess).max(-w / 2.0) }
    }

    /// Slow start ends, and with it the slowdown that it was a part of. Says when the next slowdown begins.
    fn avoid(&mut self, now: Time) {
        self.state = State::Avoidance;
        self.slowdown = match self.slowdown {
            Slowdown::AfterSlowStart => {
                let rtt = self.rtt.seconds().unwrap_or(0.0);
                Slowdown::At(now + Duration::from_secs(f64::from(FROZEN_RTTS) * rtt))
            }
            Slowdown::Since(begin) => Slowdown::At(now + now.since(begin).scale(self.parameters.slowdown_interval)),
            at => at,
        };
    }

    /// The window changes by an acknowledgment outside of recovery.
    fn update(&mut self, now: Time, ack: &Ack) {
        let acked = (ack.acked.0 as f64 / self.packet.0 as f64).min(self.cwnd);
        // **Decided**: the slow start of a slowdown grows by GAIN, too, as section 4.1 has no other slow start.
        let grown = if ack.app_limited { self.cwnd } else { self.cwnd + self.gain() * acked };
        match self.state {
            State::SlowStart if self.delay.seconds() > SLOW_START_EXIT * self.parameters.target.as_secs() => {
                self.avoid(now)
            }
            State::SlowStart => self.cwnd = grown,
            State::Avoidance => {
                let change = acked / self.cwnd * self.change();
                if change < 0.0 || !ack.app_limited {
                    self.cwnd = (self.cwnd + change).max(MIN_CWND);
                }
                if let Slowdown::At(time) = self.slowdown
                    && time <= now
                {
                    self.state = State::Frozen { ssthresh: self.cwnd, begin: now, passed: 0 };
                    self.slowdown = Slowdown::Since(now);
                    self.cwnd = MIN_CWND;
                }
            }
            State::Frozen { ssthresh, begin, passed } => {
                if ack.rtt.is_none_or(|rtt| now - rtt < begin) {
                    return;
                }
                self.state = if passed + 1 < FROZEN_RTTS {
                    State::Frozen { ssthresh, begin: now, passed: passed + 1 }
                } else {
                    State::Ramp { ssthresh }
                };
            }
            State::Ramp { ssthresh } | State::Backoff { ssthresh } => {
                self.state = State::Ramp { ssthresh };
                self.cwnd = grown.min(ssthresh).max(MIN_CWND); // also after a timeout (RFC 6817, section 2.4.2)
                if self.cwnd >= ssthresh {
                    self.avoid(now);
                }
            }
        }
    }
}

impl Sender for PlusPlusSender {
    fn next(&mut self, _: Time, pipe: &Pipe) -> Next {
        let window = (self.cwnd * self.packet.0 as f64) as u64;
        if pipe.in_flight + self.packet <= Bytes(window) { Next::Now } else { Next::AfterAck }
    }

    fn window(&self) -> Option<Bytes> {
        Some(Bytes((self.cwnd * self.packet.0 as f64) as u64))
    }

    fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.delay.sample(now, ack.rtt);
        self.rtt.sample(ack.rtt);
        if !ack.recovery && ack.acked > Bytes(0) {
            self.update(now, ack);
        }
    }

    /// A loss takes half, as in LEDBAT (RFC 6817, section 2.4.2).
    fn on_loss(&mut self, now: Time, loss: &Loss) {
        let half = |w| standard::decrease(w).max(MIN_CWND);
        match (self.state, loss) {
            // A slowdown returns to half of the window before it.
            (State::Frozen { ssthresh, begin, passed }, Loss::Event) => {
                self.state = State::Frozen { ssthresh: half(ssthresh), begin, passed }
            }
            (State::SlowStart | State::Ramp { .. }, Loss::Event) => self.avoid(now),
            (State::Avoidance | State::Backoff { .. }, Loss::Event) => {}
            // RFC 5681, section 3.1: a retransmission that times out again does not lower ssthresh again.
            (State::Backoff { .. }, Loss::Timeout) => {}
            (State::Frozen { ssthresh, .. }, Loss::Timeout) => self.state = State::Backoff { ssthresh: half(ssthresh) },
            (_, Loss::Timeout) => self.state = State::Backoff { ssthresh: half(self.cwnd) },
        }
        self.cwnd = match loss {
            Loss::Event => self.cwnd.min(half(self.cwnd)),
            Loss::Timeout => 1.0,
        };
    }

    /// RFC 5681, section 4.1: the window begins again, and grows to where it was as after a slowdown.
    fn on_idle(&mut self, _: Time) {
        if self.state == State::Avoidance {
            self.state = State::Ramp { ssthresh: self.cwnd };
        }
        self.cwnd = self.cwnd.min(self.parameters.initial_window);
    }

    fn state(&self) -> Shown {
        let phase = match self.state {
            State::SlowStart | State::Ramp { .. } => Phase::SlowStart,
            State::Avoidance => Phase::CongestionAvoidance,
            State::Frozen { .. } => Phase::ProbeRtt,
            State::Backoff { .. } => Phase::Recovery,
        };
        Shown { window: Some(self.cwnd), rate: None, phase }
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        match self.state {
            State::SlowStart => Some(f64::INFINITY),
            State::Avoidance => None,
            State::Frozen { ssthresh, .. } | State::Ramp { ssthresh } | State::Backoff { ssthresh } => Some(ssthresh),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn sender(w: f64) -> Box<dyn Sender> {
        LedbatPlusPlus { initial_window: w, ..LedbatPlusPlus::default() }.sender(&Conditions::exact(PACKET))
    }

    fn window(sender: &dyn Sender) -> f64 {
        sender.state().window.unwrap()
    }

    fn ack(ms: u64) -> Ack {
        Ack { acked: PACKET, rtt: Some(Duration::from_millis(ms)), ..Ack::default() }
    }

    /// Acknowledges a window of packets, one by one, that were sent `ms` ago and more, at time `now`.
    fn round(sender: &mut dyn Sender, now: Time, ms: u64) {
        for _ in 0..window(sender) as u64 {
            sender.on_ack(now, &ack(ms));
        }
    }

    #[test]
    fn the_gain_is_smaller_on_short_paths() {
        // 1/min(16, ceil(120 ms/base)); slow start grows by as much per acknowledged packet.
        for (ms, divisor) in [(200, 1.0), (120, 1.0), (119, 2.0), (60, 2.0), (50, 3.0), (10, 12.0), (7, 16.0)] {
            let mut sender = sender(10.0);
            sender.on_ack(at(1000), &ack(ms));
            assert!((window(&*sender) - 10.0 - 1.0 / divisor).abs() < 1e-9, "{ms} ms: {}", window(&*sender));
        }
    }

    /// A sender with a window of `w` in congestion avoidance, on a path of 120 ms, at 10 s; the first slowdown is due
    /// 240 ms later.
    fn avoiding(w: f64) -> Box<dyn Sender> {
        let mut sender = sender(2.0 * w);
        sender.on_ack(at(10_000), &Ack { acked: Bytes(0), ..ack(120) });
        sender.on_loss(at(10_000), &Loss::Event);
        sender
    }

    #[test]
    fn the_window_grows_by_gain_below_the_target_and_shrinks_in_proportion_to_the_window_above() {
        // At most half per round trip: 1 - w (delay/60 ms - 1), w = 100.
        for (ms, change) in [(120, 1.0), (170, 1.0), (180, 1.0), (183, -4.0), (192, -19.0), (240, -50.0), (500, -50.0)]
        {
            let mut sender = avoiding(100.0);
            for _ in 0..4 {
                sender.on_ack(at(10_000), &Ack { acked: Bytes(0), ..ack(ms) });
            }
            // As a share of the first acknowledged packet, of which a window has a hundred.
            sender.on_ack(at(10_000), &ack(ms));
            let changed = 100.0 * (window(&*sender) - 100.0);
            assert!((changed - change).abs() < 1e-6, "{ms} ms: {changed}");
        }
    }

    #[test]
    fn after_an_idle_period_the_window_begins_again_and_grows_to_where_it_was() {
        let mut sender = sender(4.0);
        (0..28).for_each(|_| sender.on_ack(at(1000), &ack(120)));
        assert_eq!(window(&*sender), 32.0);
        sender.on_loss(at(1000), &Loss::Event);
        sender.on_idle(at(9000));
        assert_eq!((window(&*sender), sender.slow_start_threshold()), (4.0, Some(16.0)));
        (0..12).for_each(|_| sender.on_ack(at(9120), &ack(120)));
        assert_eq!((window(&*sender), sender.state().phase), (16.0, Phase::CongestionAvoidance));
    }

    #[test]
    fn the_first_slow_start_ends_at_three_quarters_of_the_target() {
        for (ms, phase) in [(164, Phase::SlowStart), (166, Phase::CongestionAvoidance)] {
            let mut sender = sender(10.0);
            sender.on_ack(at(1000), &ack(120));
            for _ in 0..4 {
                sender.on_ack(at(1001), &ack(ms));
            }
            assert_eq!(sender.state().phase, phase, "{ms} ms");
        }
    }

    #[test]
    fn slowdowns_come_two_round_trips_after_slow_start_and_then_take_a_tenth_of_the_time() {
        let mut sender = sender(64.0);
        sender.on_ack(at(1000), &Ack { acked: Bytes(0), ..ack(120) });
        sender.on_loss(at(1000), &Loss::Event); // slow start ends
        sender.on_ack(at(1239), &ack(120));
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
        let before = window(&*sender) + 1.0 / window(&*sender);
        sender.on_ack(at(1240), &ack(120)); // 2 RTT later
        assert_eq!((window(&*sender), sender.state().phase), (2.0, Phase::ProbeRtt));
        // What was sent before does not end the first round trip.
        round(&mut *sender, at(1300), 120);
        assert_eq!((window(&*sender), sender.state().phase), (2.0, Phase::ProbeRtt));
        round(&mut *sender, at(1400), 120);
        assert_eq!((window(&*sender), sender.state().phase), (2.0, Phase::ProbeRtt));
        round(&mut *sender, at(1520), 120);
        assert_eq!(sender.state().phase, Phase::SlowStart);
        // Twice the window per round trip, as GAIN is 1 at 120 ms. The first of the two packets above ended Frozen.
        let mut now = 1520;
        for expected in [3.0, 6.0, 12.0, 24.0] {
            assert_eq!(window(&*sender), expected);
            now += 120;
            round(&mut *sender, at(now), 120);
        }
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
        assert!(window(&*sender) >= before && window(&*sender) < before + 1.0, "{}", window(&*sender));
        // From 1240 to 2000 ms, so the next one begins 9 x 760 ms later.
        assert_eq!(now, 2000);
        sender.on_ack(at(8839), &ack(120));
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
        sender.on_ack(at(8840), &ack(120));
        assert_eq!(sender.state().phase, Phase::ProbeRtt);
    }

    #[test]
    fn a_delay_does_not_end_the_slow_start_of_a_slowdown_and_a_loss_does() {
        let mut sender = avoiding(64.0);
        sender.on_ack(at(11_000), &ack(120));
        // The window stays at two packets for two round trips, whose last packet is the first one of slow start.
        for now in [12_000, 13_000, 14_000] {
            round(&mut *sender, at(now), 400);
        }
        assert_eq!((window(&*sender), sender.state().phase), (6.0, Phase::SlowStart));
        sender.on_loss(at(14_000), &Loss::Event);
        assert_eq!((window(&*sender), sender.state().phase), (3.0, Phase::CongestionAvoidance));
    }

    #[test]
    fn a_loss_halves_the_window_and_after_a_timeout_slow_start_returns_to_half() {
        let mut sender = avoiding(64.0);
        sender.on_loss(at(10_000), &Loss::Event);
        assert_eq!(window(&*sender), 32.0);
        sender.on_loss(at(10_000), &Loss::Timeout);
        sender.on_loss(at(10_000), &Loss::Timeout);
        assert_eq!((window(&*sender), sender.state().phase), (1.0, Phase::Recovery));
        for expected in [2.0, 4.0, 8.0, 16.0] {
            round(&mut *sender, at(10_001), 120);
            assert_eq!(window(&*sender), expected);
        }
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
    }
}
