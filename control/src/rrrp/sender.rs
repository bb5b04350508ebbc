//! The sender of RRRP: a rate that each acknowledgment sets anew.

use super::{Feedback, Rrrp};
use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::units::{Bytes, Rate, Time};

/// Sends at a constant rate between acknowledgments, and never waits for one (section 3.1). Losses change nothing.
///
/// ```text
///   Starting -- first valid report --> Following
///   in either state, after a timeout: reports are ignored until n packets have been acknowledged
/// ```
pub struct RrrpSender {
    feedback: Feedback,
    /// X_min.
    least: Rate,
    /// C_max.
    highest: Rate,
    /// n: the number of packets over which the receiver averages.
    average: u32,
    /// X_in.
    rate: Rate,
    pacer: Pacer,
    stage: Stage,
    /// After a timeout: how many acknowledgments are still to come whose reports average over the time in which nothing
    /// arrived. These reports are ignored.
    stale_reports: u32,
}

/// Whether the receiver's reports have set the rate yet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// No report has been followed, and the rate is the initial one.
    Starting,
    /// The rate follows the reports.
    Following,
}

/// Factor on the rate for each retransmission timeout.
const TIMEOUT_FACTOR: f64 = 0.5;

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
            stage: Stage::Starting,
            stale_reports: 0,
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
        // A stream of no packets is not to be analysed: the stamp tells X_in only.
        Stamp::Probe { stream: 0, index: 0, len: 0, rate: self.rate.as_bps() as f32, sent: now }
    }

    fn on_ack(&mut self, _: Time, ack: &Ack) {
        if self.stale_reports > 0 {
            self.stale_reports -= 1;
        } else if let Some(Report::Received { rate }) = ack.report {
            self.stage = Stage::Following;
            self.set(self.feedback.rate(Rate::from_bps(rate as f64)));
        }
    }

    /// **Decided**: the paper does not say what to do when nothing is acknowledged. Each retransmission timeout halves
    /// the rate, as the nofeedback timer of RFC 5348, section 4.4, does. The receiver's average over the time in which
    /// nothing arrived does not show the path's rate, so reports count again only when all n packets of the average
    /// have arrived after the timeout.
    fn on_loss(&mut self, _: Time, loss: &Loss) {
        if *loss == Loss::Timeout {
            self.set(self.rate * TIMEOUT_FACTOR);
            self.stale_reports = self.average;
        }
    }

    fn state(&self) -> State {
        let phase = match self.stage {
            Stage::Starting => Phase::SlowStart,
            Stage::Following => Phase::CongestionAvoidance,
        };
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

    /// The growth rate of X_in, per second, over `seconds` on a path with this RTT that is never congested.
    fn growth(parameters: &Rrrp, rtt: Duration, seconds: f64) -> f64 {
        let (mut sender, mut receiver) =
            (RrrpSender::new(parameters), RrrpReceiver::new(parameters.average, parameters.bounded));
        let mut acks = VecDeque::new();
        let (mut now, mut begun) = (Time::ZERO, None);
        loop {
            let Next::At(due) = sender.next(now, &Pipe::default()) else {
                let stamp = sender.on_send(now, PACKET, &Pipe::default());
                let report = receiver.on_arrival(now, &stamp, PACKET);
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
            // Measure once the packets sent at the rate of the first reports have been reported in turn.
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
    fn the_rate_grows_exponentially_on_a_path_without_congestion() {
        for target in [0.01, 0.05] {
            for rtt in [Duration::from_millis(50), Duration::from_millis(200)] {
                // At this rate, n packets take a time that is short beside the RTT. The measurement is older by half of
                // that time.
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
    fn the_rate_follows_each_report_within_its_bounds() {
        let mut sender = RrrpSender::new(&Rrrp { highest_rate: Rate::from_mbps(100.0), ..Rrrp::default() });
        assert_eq!((sender.rate.as_mbps(), sender.state().phase), (1.6, Phase::SlowStart));
        for (arrives, sent) in [(1.2, 1.6), (6.0, 6.0 / 0.99), (0.1, 1.0), (1e-5, 0.01), (100.0, 100.0)] {
            sender.on_ack(Time::ZERO, &report(arrives));
            assert!((sender.rate.as_mbps() / sent - 1.0).abs() < 1e-6, "{arrives}: {}", sender.rate);
        }
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
    }

    #[test]
    fn a_loss_changes_nothing_and_a_timeout_halves_the_rate() {
        let mut sender = RrrpSender::new(&Rrrp::default());
        sender.on_ack(Time::ZERO, &report(60.0));
        let before = sender.rate;
        sender.on_loss(Time::ZERO, &Loss::Event);
        assert_eq!(sender.rate, before);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        sender.on_loss(Time::ZERO, &Loss::Timeout);
        assert_eq!(sender.rate, before * 0.25);
        // The next 64 reports average over the time in which nothing arrived.
        for _ in 0..64 {
            sender.on_ack(Time::ZERO, &report(0.05));
            assert_eq!(sender.rate, before * 0.25);
        }
        sender.on_ack(Time::ZERO, &report(12.0));
        assert!((sender.rate.as_mbps() - 12.0 / (1.0 - 0.0025)).abs() < 1e-4);
    }

    #[test]
    fn packets_leave_at_the_rate_without_acknowledgments() {
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
