//! The sender: a rate, set anew by each acknowledgment.

use super::{Feedback, Rrrp};
use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Rate, Time};

/// Sends at a constant rate between acknowledgments and never waits for one (section 3.1). Losses change nothing.
pub struct RrrpSender {
    feedback: Feedback,
    least: Rate,
    highest: Rate,
    /// Packets over which the receiver averages.
    average: u32,
    /// X_in.
    rate: Rate,
    pacer: Pacer,
    /// Nothing has been reported yet.
    starting: bool,
    /// So many packets have still to arrive until what the receiver reports no longer spans a silence.
    stale: u32,
}

/// Factor on the rate when nothing has been heard for a retransmission timeout.
const SILENCE: f64 = 0.5;

impl RrrpSender {
    /// A sender that has sent nothing yet.
    pub fn new(parameters: &Rrrp) -> RrrpSender {
        let mut machine = RrrpSender {
            feedback: Feedback::new(parameters),
            least: parameters.least_rate,
            highest: parameters.highest_rate,
            average: parameters.average.into(),
            rate: Rate::ZERO,
            pacer: Pacer::default(),
            starting: true,
            stale: 0,
        };
        machine.set(parameters.initial_rate);
        machine
    }

    fn set(&mut self, rate: Rate) {
        // Footnote 1: no more than the sender's capacity.
        self.rate = Rate::from_bps(rate.as_bps().clamp(self.least.as_bps(), self.highest.as_bps()));
    }
}

impl Sender for RrrpSender {
    fn next(&mut self, now: Time, _: &Pipe) -> Next {
        let due = self.pacer.due(self.rate);
        if due > now { Next::At(due) } else { Next::Now }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        self.pacer.on_send(now, size, self.rate);
        Stamp::None
    }

    fn on_ack(&mut self, _: Time, ack: &Ack) {
        if self.stale > 0 {
            self.stale -= 1;
        } else if let Some(Report::Received { rate }) = ack.report {
            self.starting = false;
            self.set(self.feedback.rate(Rate::from_bps(rate as f64)));
        }
    }

    /// **Decided**: the paper does not say what to do in silence. The rate is halved at each retransmission timeout, as
    /// by the nofeedback timer of RFC 5348, section 4.4; and as the time that nothing arrived says nothing of the
    /// path's rate after it, what the receiver measures counts again when its n packets have all arrived since.
    fn on_loss(&mut self, _: Time, loss: &Loss) {
        if *loss == Loss::Timeout {
            self.set(self.rate * SILENCE);
            self.stale = self.average;
        }
    }

    fn state(&self) -> State {
        let phase = if self.starting { Phase::SlowStart } else { Phase::CongestionAvoidance };
        State { window: None, rate: Some(self.rate), phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rrrp::{Function, RrrpReceiver};
    use crate::{Duration, Receiver};
    use alloc::collections::VecDeque;

    const PACKET: Bytes = Bytes(1500);

    /// The growth rate of X_in, per second, over `seconds` on a path of `rtt` that is never congested.
    fn growth(parameters: &Rrrp, rtt: Duration, seconds: f64) -> f64 {
        let (mut sender, mut receiver) = (RrrpSender::new(parameters), RrrpReceiver::new(parameters.average));
        let mut acks = VecDeque::new();
        let (mut now, mut begun) = (Time::ZERO, None);
        loop {
            let Next::At(due) = sender.next(now, &Pipe::default()) else {
                sender.on_send(now, PACKET, &Pipe::default());
                let report = receiver.on_arrival(now, &Stamp::None, PACKET);
                acks.push_back((now + rtt, report));
                continue;
            };
            now = match acks.front() {
                Some(&(time, report)) if time <= due => {
                    acks.pop_front();
                    sender.on_ack(time, &Ack { report, ..Ack::default() });
                    time
                }
                _ => due,
            };
            // Once the first reports have come round again.
            let settled = Time::ZERO + Duration(3 * rtt.0);
            if now > settled && begun.is_none() {
                begun = Some((now, sender.rate));
            }
            if let Some((since, rate)) = begun
                && now.since(since).as_secs() > seconds
            {
                return libm::log(sender.rate / rate) / now.since(since).as_secs();
            }
        }
    }

    /// Section 3: X_in grows as exp(alpha t), alpha = log(1/(1 - p_T))/RTT on a path without congestion.
    #[test]
    fn grows_exponentially_on_a_free_path() {
        for target in [0.01, 0.05] {
            for rtt in [Duration::from_millis(50), Duration::from_millis(200)] {
                // Fast enough that the time of n packets, by half of which the measurement is older, is short beside
                // the RTT.
                let initial_rate = Rate::from_mbps(200.0);
                let parameters = Rrrp { function: Function::Fixed, target, initial_rate, ..Rrrp::default() };
                let alpha = libm::log(1.0 / (1.0 - target)) / rtt.as_secs();
                let measured = growth(&parameters, rtt, 10.0 * rtt.as_secs());
                assert!((measured / alpha - 1.0).abs() < 0.03, "p_T {target}, RTT {rtt}: {measured} against {alpha}");
            }
        }
    }

    fn report(mbps: f64) -> Ack {
        Ack { report: Some(Report::Received { rate: mbps as f32 * 1e6 }), ..Ack::default() }
    }

    #[test]
    fn follows_each_report_within_its_bounds() {
        let mut sender = RrrpSender::new(&Rrrp { highest_rate: Rate::from_mbps(100.0), ..Rrrp::default() });
        assert_eq!((sender.rate.as_mbps(), sender.state().phase), (1.6, Phase::SlowStart));
        for (arrives, sent) in [(1.2, 1.6), (6.0, 6.0 / 0.99), (0.1, 1.0), (1e-5, 0.01), (100.0, 100.0)] {
            sender.on_ack(Time::ZERO, &report(arrives));
            assert!((sender.rate.as_mbps() / sent - 1.0).abs() < 1e-6, "{arrives}: {}", sender.rate);
        }
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
    }

    #[test]
    fn losses_do_not_matter_but_silence_does() {
        let mut sender = RrrpSender::new(&Rrrp::default());
        sender.on_ack(Time::ZERO, &report(60.0));
        let before = sender.rate;
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(sender.rate, before);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.rate, before * 0.25);
        // The first 32 reports span the silence.
        for _ in 0..32 {
            sender.on_ack(Time::ZERO, &report(0.05));
            assert_eq!(sender.rate, before * 0.25);
        }
        sender.on_ack(Time::ZERO, &report(12.0));
        assert!((sender.rate.as_mbps() - 12.0 / (1.0 - 0.0025)).abs() < 1e-4);
    }

    #[test]
    fn keeps_sending_without_acknowledgments() {
        let mut sender = RrrpSender::new(&Rrrp::default());
        let mut now = Time::ZERO;
        for _ in 0..100 {
            assert_eq!(sender.next(now, &Pipe::default()), Next::Now);
            sender.on_send(now, PACKET, &Pipe::default());
            let due = now + Duration::from_micros(7500); // 12,000 bits at 1.6 Mbps
            assert_eq!(sender.next(now, &Pipe::default()), Next::At(due));
            now = due;
        }
    }
}
