//! The sender of RCP: sends at the rate that the routers allow.

use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::rtt::SmoothedRtt;
use crate::units::{Bytes, Duration, Rate, Time};

/// Sends a packet that asks for the rate, waits for the answer, and from then on sends at the newest rate reported.
pub struct RcpSender {
    packet: Bytes,
    /// R, the newest rate reported; none before the first answer.
    rate: Option<Rate>,
    rtt: SmoothedRtt,
    pacer: Pacer,
    /// Whether the host is repairing losses, for traces.
    recovering: bool,
}

/// Factor on the rate for each retransmission timeout.
const TIMEOUT_FACTOR: f64 = 0.5;

impl RcpSender {
    /// A sender of packets of this size that has sent nothing yet.
    pub fn new(packet: Bytes) -> RcpSender {
        let (rtt, pacer) = (SmoothedRtt::default(), Pacer::default());
        RcpSender { packet, rate: None, rtt, pacer, recovering: false }
    }

    fn follow(&mut self, report: Option<Report>) {
        if let Some(Report::Allowed { rate }) = report {
            self.rate = Some(Rate::from_bps(f64::from(rate).max(1.0)));
        }
    }

    /// The rate for pacing. **Decided**: at least one packet per round trip, so that the sender learns when R rises
    /// again. (The authors' sender sends packets without data for that.)
    fn pace(&self, rate: Rate) -> Rate {
        let least = self.rtt.seconds().map_or(0.0, |rtt| self.packet.as_bits() / rtt);
        Rate::from_bps(rate.as_bps().max(least))
    }
}

impl Sender for RcpSender {
    fn open(&mut self, _: Time) -> Stamp {
        Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 }
    }

    fn on_open(&mut self, _: Time, rtt: Duration, report: Option<Report>) {
        self.rtt.sample(Some(rtt));
        self.follow(report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        match self.rate {
            None if pipe.in_flight == Bytes(0) => Next::Now,
            None => Next::AfterAck,
            Some(rate) => {
                let due = self.pacer.due(self.pace(rate));
                if due > now { Next::At(due) } else { Next::Now }
            }
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if let Some(rate) = self.rate {
            self.pacer.on_send(now, size, self.pace(rate));
        }
        Stamp::Rate { rate: f32::INFINITY, rtt: self.rtt.stamped() }
    }

    fn on_ack(&mut self, _: Time, ack: &Ack) {
        self.rtt.sample(ack.rtt);
        self.recovering = ack.recovery;
        self.follow(ack.report);
    }

    /// The routers react to losses, by a smaller R. **Decided**: a retransmission timeout halves the rate until the
    /// next report, as no paper says what to do when reports do not get through.
    fn on_loss(&mut self, _: Time, loss: &Loss) {
        self.recovering = true;
        if *loss == Loss::Timeout {
            self.rate = self.rate.map(|rate| Rate::from_bps((rate.as_bps() * TIMEOUT_FACTOR).max(1.0)));
        }
    }

    fn state(&self) -> State {
        let phase = match self.rate {
            None => Phase::SlowStart,
            Some(_) if self.recovering => Phase::Recovery,
            Some(_) => Phase::CongestionAvoidance,
        };
        State { window: None, rate: self.rate, phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);

    fn ack(mbps: f32) -> Ack {
        let rtt = Some(Duration::from_millis(100));
        Ack { rtt, report: Some(Report::Allowed { rate: mbps * 1e6 }), ..Ack::default() }
    }

    #[test]
    fn the_first_packet_asks_and_the_others_leave_at_the_reported_rate() {
        let mut sender = RcpSender::new(PACKET);
        let pipe = |packets: u64| Pipe { in_flight: Bytes(1000 * packets), ..Pipe::default() };
        assert_eq!(sender.next(Time::ZERO, &pipe(0)), Next::Now);
        let stamp = sender.on_send(Time::ZERO, PACKET, &pipe(0));
        assert_eq!(stamp, Stamp::Rate { rate: f32::INFINITY, rtt: 0.0 });
        assert_eq!(sender.next(Time::ZERO, &pipe(1)), Next::AfterAck);
        let mut now = Time::ZERO + Duration::from_millis(100);
        sender.on_ack(now, &ack(8.0));
        for _ in 0..10 {
            assert_eq!(sender.next(now, &pipe(0)), Next::Now);
            let stamp = sender.on_send(now, PACKET, &pipe(0));
            assert_eq!(stamp, Stamp::Rate { rate: f32::INFINITY, rtt: 0.1 });
            let due = now + Duration::from_millis(1);
            assert_eq!(sender.next(now, &pipe(1000)), Next::At(due), "no window");
            now = due;
        }
        sender.on_ack(now, &ack(4.0));
        let last = now - Duration::from_millis(1);
        assert_eq!(sender.next(now, &pipe(0)), Next::At(last + Duration::from_millis(2)));
    }

    #[test]
    fn at_least_one_packet_leaves_per_round_trip() {
        let mut sender = RcpSender::new(PACKET);
        sender.on_ack(Time::ZERO, &ack(1e-5));
        sender.on_send(Time::ZERO, PACKET, &Pipe::default());
        assert_eq!(sender.next(Time::ZERO, &Pipe::default()), Next::At(Time::ZERO + Duration::from_millis(100)));
    }
}
