//! The sender: sends at the rate that it is told.

use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::rtt::SmoothedRtt;
use crate::units::{Bytes, Duration, Rate, Time};

/// Sends a packet that asks for the rate, waits for the answer, and from then on sends at the newest rate.
pub struct RcpSender {
    packet: Bytes,
    /// R; none before the first answer.
    rate: Option<Rate>,
    rtt: SmoothedRtt,
    pacer: Pacer,
    recovering: bool,
}

/// Factor on the rate when nothing has been heard for a retransmission timeout.
const SILENCE: f64 = 0.5;

impl RcpSender {
    /// A sender of packets of this size that has sent nothing yet.
    pub fn new(packet: Bytes) -> RcpSender {
        let (rtt, pacer) = (SmoothedRtt::default(), Pacer::default());
        RcpSender { packet, rate: None, rtt, pacer, recovering: false }
    }

    fn obey(&mut self, report: Option<Report>) {
        if let Some(Report::Allowed { rate }) = report {
            self.rate = Some(Rate::from_bps(f64::from(rate).max(1.0)));
        }
    }

    /// **Decided**: one packet per round trip at least, so that the rate is known when it rises again. (The authors'
    /// sender sends packets without data for that.)
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
        self.obey(report);
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
        self.obey(ack.report);
    }

    /// The routers see to losses. **Decided**: silence halves the rate until the next word from them, as no paper says
    /// what to do when their word does not get through.
    fn on_loss(&mut self, _: Time, loss: &Loss) {
        self.recovering = true;
        if *loss == Loss::Timeout {
            self.rate = self.rate.map(|rate| Rate::from_bps((rate.as_bps() * SILENCE).max(1.0)));
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
    fn asks_first_and_then_sends_at_the_rate() {
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
    fn sends_a_packet_per_round_trip_at_least() {
        let mut sender = RcpSender::new(PACKET);
        sender.on_ack(Time::ZERO, &ack(1e-5));
        sender.on_send(Time::ZERO, PACKET, &Pipe::default());
        assert_eq!(sender.next(Time::ZERO, &Pipe::default()), Next::At(Time::ZERO + Duration::from_millis(100)));
    }
}
