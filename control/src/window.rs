//! What all window protocols share: slow start, ACK clocking, one reduction per loss event (RFC 5681).
//!
//! A protocol adds only its [`Law`]: how much the window grows per acknowledged packet, and where it falls to on a loss.

use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State};
use crate::units::{Bytes, Time};

/// How a window protocol differs from the others. Windows are in packets.
pub trait Law: Send {
    /// By how much a window of `w` grows for one acknowledged packet in congestion avoidance.
    fn increase(&mut self, now: Time, w: f64, ack: &Ack) -> f64;

    /// The window after a loss event at a window of `w`.
    fn decrease(&mut self, now: Time, w: f64) -> f64;
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

    /// A sender that takes over where another one was at `window` packets: it is in congestion avoidance.
    pub fn resumed(law: L, window: f64, packet: Bytes) -> Window<L> {
        Window { ssthresh: window, ..Window::new(law, window, packet) }
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
        if ack.recovery || ack.app_limited {
            return;
        }
        // An acknowledgment that covers more than the window, as when it fills the hole that a timeout left, does not
        // say that so much got through at once: the window no more than doubles.
        let acked = (ack.acked.0 as f64 / self.packet.0 as f64).min(self.cwnd);
        // RFC 5681, equation 2: a packet more for each acknowledged, up to ssthresh and not past it.
        let slow = acked.min((self.ssthresh - self.cwnd).max(0.0));
        self.cwnd += slow;
        if acked > slow {
            self.cwnd += (acked - slow) * self.law.increase(now, self.cwnd, ack);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        // RFC 5681, section 3.1: a retransmission that times out again does not lower ssthresh again.
        if !self.backing_off {
            self.ssthresh = self.law.decrease(now, self.cwnd).max(SMALLEST);
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
            Phase::CongestionAvoidance
        };
        State { window: Some(self.cwnd), rate: None, phase }
    }
}

/// Checks that a parameter's `value` lies in `range`; if not, the error says so by `name`.
pub fn within(name: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<(), String> {
    if range.contains(&value) {
        Ok(())
    } else {
        Err(format!("{name} = {value} is outside {} to {}", range.start(), range.end()))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::registry;

    const PACKET: Bytes = Bytes(1000);

    fn ack(packets: u64) -> Ack {
        Ack { acked: Bytes(packets * PACKET.0), ..Ack::default() }
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
        reno.build(reno.defaults(), PACKET).unwrap().sender
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

    #[test]
    fn a_window_neither_grows_in_recovery_nor_without_use() {
        let mut sender = reno();
        sender.on_ack(Time::ZERO, &Ack { app_limited: true, ..ack(2) });
        sender.on_ack(Time::ZERO, &Ack { recovery: true, ..ack(2) });
        assert_eq!(window(&*sender), 2.0);
    }
}
