//! What all window protocols share: slow start, ACK clocking, one reduction per loss event (RFC 5681).
//!
//! A protocol adds only its [`Law`]: how much the window grows per acknowledged packet, and where it falls to on a loss. Those
//! that measure delays or rates see every acknowledgment; what they decide once per round trip is spread over the packets of the
//! next, so that no window jumps.

use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State};
use crate::units::{Bytes, Time};

/// How a window protocol differs from the others. Windows are in packets.
pub trait Law: Send {
    /// By how much a window of `w` grows for one acknowledged packet in congestion avoidance; it shrinks if negative.
    fn increase(&mut self, now: Time, w: f64, ack: &Ack) -> f64;

    /// The window after a loss event at a window of `w`.
    fn decrease(&mut self, now: Time, w: f64) -> f64;

    /// The slow start threshold after a timeout at a window of `w`.
    fn timeout(&mut self, now: Time, w: f64) -> f64 {
        self.decrease(now, w)
    }

    /// By how much a window of `w` grows for one acknowledged packet in slow start, 0 to 1; none ends slow start.
    fn slow_start(&mut self, _w: f64) -> Option<f64> {
        Some(1.0) // RFC 5681, equation 2
    }

    /// What it is doing at a window of `w`, when it neither slow-starts nor repairs a loss.
    fn phase(&self, _w: f64) -> Phase {
        Phase::CongestionAvoidance
    }

    /// Sees each acknowledgment, also while losses are repaired, before it changes the window `w`.
    fn observe(&mut self, _now: Time, _w: f64, _ack: &Ack) {}
}

/// A window protocol's sender.
pub struct Window<L> {
    law: L,
    packet: Bytes,
    /// Congestion window, packets.
    cwnd: f64,
    /// Slow start ends here, packets.
    ssthresh: f64,
    recovering: bool,
    /// Nothing was acknowledged since the last timeout.
    backing_off: bool,
}

/// No window falls below this on a loss event, packets (RFC 5681, equation 4).
const SMALLEST: f64 = 2.0;

impl<L: Law> Window<L> {
    /// A sender whose first window is `initial` packets.
    pub fn new(law: L, initial: f64, packet: Bytes) -> Window<L> {
        Window { law, packet, cwnd: initial, ssthresh: f64::INFINITY, recovering: false, backing_off: false }
    }

    /// The same, with a slow start of no more than `ssthresh` packets.
    pub fn slow_start_to(self, ssthresh: f64) -> Window<L> {
        Window { ssthresh, ..self }
    }
}

impl<L: Law> Sender for Window<L> {
    fn next(&mut self, _: Time, pipe: &Pipe) -> Next {
        if (pipe.in_flight + self.packet).0 as i64 as f64 <= self.cwnd * self.packet.0 as i64 as f64 {
            Next::Now
        } else {
            Next::AfterAck
        }
    }

    fn on_send(&mut self, _: Time, _: Bytes, _: &Pipe) -> Stamp {
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.recovering = ack.recovery;
        self.backing_off = false;
        self.law.observe(now, self.cwnd, ack);
        if ack.recovery || ack.app_limited {
            return;
        }
        // An acknowledgment that covers more than the window, as when it fills the hole that a timeout left, does not
        // say that so much got through at once: the window no more than doubles.
        let acked = (ack.acked.0 as f64 / self.packet.0 as f64).min(self.cwnd);
        // Slow start goes up to ssthresh and not past it.
        let mut slow = acked.min((self.ssthresh - self.cwnd).max(0.0));
        if slow > 0.0 {
            match self.law.slow_start(self.cwnd) {
                Some(growth) => self.cwnd += slow * growth,
                None => (self.ssthresh, slow) = (self.cwnd, 0.0),
            }
        }
        if acked > slow {
            self.cwnd = (self.cwnd + (acked - slow) * self.law.increase(now, self.cwnd, ack)).max(1.0);
            self.ssthresh = self.ssthresh.min(self.cwnd); // a window that shrinks does not slow-start again
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        // RFC 5681, section 3.1: a retransmission that times out again does not lower ssthresh again.
        if !self.backing_off {
            let left = match loss {
                Loss::Event => self.law.decrease(now, self.cwnd),
                Loss::Timeout => self.law.timeout(now, self.cwnd),
            };
            self.ssthresh = left.max(SMALLEST);
        }
        self.backing_off = *loss == Loss::Timeout;
        self.recovering = true;
        self.cwnd = match loss {
            Loss::Event => self.cwnd.min(self.ssthresh),
            Loss::Timeout => 1.0,
        };
    }

    fn state(&self) -> State {
        let phase = if self.recovering {
            Phase::Recovery
        } else if self.cwnd < self.ssthresh {
            Phase::SlowStart
        } else {
            self.law.phase(self.cwnd)
        };
        State { window: Some(self.cwnd), rate: None, phase }
    }
}

/// Round trips as a sender tells them apart, for laws that act once in each.
pub(crate) struct Rounds {
    /// When the present one began: it ends with the first acknowledgment of a packet sent since.
    begin: Time,
    /// Sum and number of its RTT samples, seconds.
    sum: f64,
    samples: u32,
    /// baseRTT: the shortest RTT so far, seconds.
    pub(crate) base: f64,
}

impl Rounds {
    pub(crate) fn new() -> Rounds {
        Rounds { begin: Time::ZERO, sum: 0.0, samples: 0, base: f64::INFINITY }
    }

    /// An acknowledgment arrives; if it ends a round trip, that one's mean RTT, seconds.
    #[inline]
    pub(crate) fn on_ack(&mut self, now: Time, ack: &Ack) -> Option<f64> {
        let rtt = ack.rtt.filter(|rtt| rtt.0 > 0)?;
        let seconds = rtt.as_secs();
        self.base = self.base.min(seconds);
        self.sum += seconds;
        self.samples += 1;
        if now - rtt < self.begin {
            return None;
        }
        let mean = self.sum / f64::from(self.samples);
        (self.begin, self.sum, self.samples) = (now, 0.0, 0);
        Some(mean)
    }

    /// How many packets of a window of `w` wait in queues if a round trip takes `rtt` seconds: what was sent in it beyond what
    /// an empty path would have held.
    pub(crate) fn queued(&self, w: f64, rtt: f64) -> f64 {
        w * (1.0 - self.base / rtt)
    }
}

/// Checks that a parameter's `value` lies in `range`; if not, the error says so by `name`.
pub fn within(name: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} = {value} is out of range; write {} to {}", range.start(), range.end()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::registry;
    use crate::roles::Conditions;
    use crate::units::Duration;

    const PACKET: Bytes = Bytes(1000);

    fn ack(packets: u64) -> Ack {
        Ack { acked: Bytes(packets * PACKET.0), ..Ack::default() }
    }

    /// Rounds of a flow that has seen a shortest RTT of `base` seconds.
    pub(crate) fn rounds(base: f64) -> Rounds {
        Rounds { base, ..Rounds::new() }
    }

    /// Acknowledgments of a packet each, one round trip of `w` packets that takes `seconds`, from `now` on, as a host would
    /// give them: each was sent a round trip ago. The window at the end, and the time.
    pub(crate) fn round(law: &mut impl Law, now: Time, w: f64, seconds: f64) -> (Time, f64) {
        let ack = Ack { rtt: Some(Duration::from_secs(seconds)), ..ack(1) };
        let mut end = w;
        for i in 1..=w as u64 {
            let now = now + Duration::from_secs(seconds * i as f64 / w);
            law.observe(now, end, &ack);
            end += law.increase(now, end, &ack);
        }
        (now + Duration::from_secs(seconds), end)
    }

    /// A law's growth over one round trip from a window of `w`, every packet of which is acknowledged by itself.
    pub(crate) fn growth_per_rtt(law: &mut impl Law, w: f64) -> f64 {
        let end = (0..w as u64).fold(w, |w, _| w + law.increase(Time::ZERO, w, &ack(1)));
        end - w
    }

    fn window(sender: &dyn Sender) -> f64 {
        sender.state().window.unwrap()
    }

    fn reno() -> Box<dyn Sender> {
        let reno = registry::find("reno").unwrap();
        reno.build(reno.defaults(), &Conditions::exact(PACKET)).unwrap().sender
    }

    #[test]
    fn slow_start_doubles_per_round_trip_and_stops_at_ssthresh() {
        let mut sender = reno();
        for expected in [4.0, 8.0, 16.0, 32.0] {
            for _ in 0..window(&*sender) as u64 {
                sender.on_ack(Time::ZERO, &ack(1));
            }
            assert_eq!(window(&*sender), expected);
        }
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!((window(&*sender), sender.state().phase), (1.0, Phase::Recovery));
        for _ in 0..4 {
            sender.on_ack(Time::ZERO, &ack(3)); // 2, 4 (not 5), 7, 10
        }
        assert_eq!((window(&*sender), sender.state().phase), (10.0, Phase::SlowStart));
        sender.on_ack(Time::ZERO, &ack(8)); // 6 to ssthresh = 32/2, the other 2 in congestion avoidance
        assert_eq!((window(&*sender), sender.state().phase), (16.0 + 2.0 / 16.0, Phase::CongestionAvoidance));
    }

    #[test]
    fn only_the_first_of_several_timeouts_in_a_row_lowers_ssthresh() {
        let mut sender = reno();
        sender.on_ack(Time::ZERO, &ack(2));
        sender.on_ack(Time::ZERO, &ack(4));
        for _ in 0..5 {
            sender.on_loss(Time::ZERO, &Loss::Timeout);
        }
        for _ in 0..3 {
            sender.on_ack(Time::ZERO, &ack(1));
        }
        assert_eq!(window(&*sender), 4.0); // 8/2, still in slow start
    }

    /// Ends slow start at 10 packets, then shrinks by a packet per acknowledgment.
    struct Shrink;

    impl Law for Shrink {
        fn increase(&mut self, _: Time, _: f64, _: &Ack) -> f64 {
            -1.0
        }

        fn decrease(&mut self, _: Time, w: f64) -> f64 {
            w
        }

        fn slow_start(&mut self, w: f64) -> Option<f64> {
            (w < 10.0).then_some(1.0)
        }
    }

    #[test]
    fn a_law_may_end_slow_start_and_shrink_the_window_down_to_a_packet() {
        let mut sender = Window::new(Shrink, 2.0, PACKET);
        for (acked, expected) in [(2, 4.0), (4, 8.0), (2, 10.0), (1, 9.0), (4, 5.0), (5, 1.0), (1, 1.0)] {
            sender.on_ack(Time::ZERO, &ack(acked));
            let slow = acked == 2 || expected == 8.0;
            let phase = if slow { Phase::SlowStart } else { Phase::CongestionAvoidance };
            assert_eq!((window(&sender), sender.state().phase), (expected, phase));
        }
    }

    #[test]
    fn rounds_end_with_the_first_packet_sent_in_them() {
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let ack = |ms| Ack { rtt: Some(Duration::from_millis(ms)), ..ack(1) };
        let mut rounds = Rounds::new();
        let ends: Vec<bool> = [(100, 100), (110, 100), (190, 100), (200, 100), (290, 100), (310, 110), (400, 200)]
            .map(|(now, rtt)| rounds.on_ack(at(now), &ack(rtt)).is_some())
            .to_vec();
        assert_eq!(ends, [true, false, false, true, false, true, false]); // sent at 0, 10, 90, 100, 190, 200, 200
        assert!((rounds.on_ack(at(510), &ack(200)).unwrap() - 0.2).abs() < 1e-12, "the mean of 200 and 200 ms");
        assert!((rounds.queued(300.0, 0.15) - 100.0).abs() < 1e-9, "of 300 packets in 150 ms, 200 would need 100 ms");
    }

    #[test]
    fn a_window_neither_grows_in_recovery_nor_without_use() {
        let mut sender = reno();
        sender.on_ack(Time::ZERO, &Ack { app_limited: true, ..ack(2) });
        sender.on_ack(Time::ZERO, &Ack { recovery: true, ..ack(2) });
        assert_eq!(window(&*sender), 2.0);
    }
}
