//! The sender of XCP and RCP-AC: a window that changes by the routers' feedback.

use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::rtt::SmoothedRtt;
use crate::units::{Bytes, Duration, Rate, Time};

/// Sends the packet that opens the flow, and after its acknowledgment the first window.
pub struct XcpSender {
    packet: Bytes,
    /// Congestion window, packets.
    window: f64,
    /// The newest sum of all feedback that has been applied to the window, as the receiver reports it.
    applied: (i32, f32),
    rtt: SmoothedRtt,
    release: Release,
    /// Whether the host is repairing losses, for traces.
    recovering: bool,
}

/// What lets the packets of a window leave.
enum Release {
    /// Acknowledgments (XCP).
    AckClock,
    /// A pacer that spaces packets at window/rtt (RCP-AC).
    Paced(Pacer),
}

impl XcpSender {
    /// A sender of packets of this size with a first window of `initial` packets, released by acknowledgments.
    pub fn new(initial: f64, packet: Bytes) -> XcpSender {
        XcpSender::released(initial, packet, Release::AckClock)
    }

    /// The same sender, but paced.
    pub fn paced(initial: f64, packet: Bytes) -> XcpSender {
        XcpSender::released(initial, packet, Release::Paced(Pacer::default()))
    }

    fn released(initial: f64, packet: Bytes, release: Release) -> XcpSender {
        let rtt = SmoothedRtt::default();
        XcpSender { packet, window: initial, applied: (0, 0.0), rtt, release, recovering: false }
    }

    /// How many packets may be in flight: one before the first round-trip time.
    fn usable(&self) -> f64 {
        if self.rtt.seconds().is_some() { self.window } else { 1.0 }
    }

    fn apply(&mut self, report: Option<Report>) {
        if let Some(Report::Feedback { whole, part }) = report {
            let (whole_before, part_before) = core::mem::replace(&mut self.applied, (whole, part));
            let feedback = f64::from(whole.wrapping_sub(whole_before)) + f64::from(part) - f64::from(part_before);
            self.window = (self.window + feedback).max(1.0); // cwnd = max(cwnd + feedback, s)
        }
    }

    /// window/rtt, if the sender is paced and knows a round-trip time.
    fn rate(&self) -> Option<Rate> {
        let rtt = self.rtt.seconds()?;
        match self.release {
            Release::AckClock => None,
            Release::Paced(_) => Some(Rate::from_bps(self.window * self.packet.as_bits() / rtt)),
        }
    }
}

impl Sender for XcpSender {
    fn open(&mut self, _: Time) -> Stamp {
        Stamp::Window { window: 0.0, rtt: 0.0, feedback: f32::INFINITY }
    }

    fn on_open(&mut self, _: Time, rtt: Duration, report: Option<Report>) {
        self.rtt.sample(Some(rtt));
        self.apply(report);
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if (pipe.in_flight + self.packet).0 as f64 > self.usable() * self.packet.0 as f64 {
            return Next::AfterAck;
        }
        match (self.rate(), &self.release) {
            (Some(rate), Release::Paced(pacer)) if pacer.due(rate) > now => Next::At(pacer.due(rate)),
            _ => Next::Now,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if let Some(rate) = self.rate()
            && let Release::Paced(pacer) = &mut self.release
        {
            pacer.on_send(now, size, rate);
        }
        let window = if self.rtt.seconds().is_some() { self.window as f32 } else { 0.0 };
        Stamp::Window { window, rtt: self.rtt.stamped(), feedback: f32::INFINITY }
    }

    fn on_ack(&mut self, _: Time, ack: &Ack) {
        self.rtt.sample(ack.rtt);
        self.recovering = ack.recovery;
        self.apply(ack.report);
    }

    /// As TCP: section 3.2 of XCP's paper calls losses rare, and asks senders to react to them as TCP does.
    /// **Decided**: RCP-AC's sender does the same.
    fn on_loss(&mut self, _: Time, loss: &Loss) {
        self.recovering = true;
        self.window = match loss {
            Loss::Event => (self.window / 2.0).max(1.0),
            Loss::Timeout => 1.0,
        };
    }

    fn state(&self) -> State {
        let phase = match (self.recovering, self.rtt.seconds()) {
            (true, _) => Phase::Recovery,
            (false, None) => Phase::SlowStart,
            (false, Some(_)) => Phase::CongestionAvoidance,
        };
        State { window: Some(self.window), rate: self.rate(), phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);

    fn ack(total: f64) -> Ack {
        let rtt = Some(Duration::from_millis(100));
        let report = Report::Feedback { whole: total.floor() as i32, part: (total - total.floor()) as f32 };
        Ack { rtt, report: Some(report), ..Ack::default() }
    }

    fn pipe(packets: u64) -> Pipe {
        Pipe { in_flight: Bytes(1000 * packets), ..Pipe::default() }
    }

    #[test]
    fn the_first_window_follows_the_packet_that_opens_the_flow() {
        let mut sender = XcpSender::new(2.0, PACKET);
        assert_eq!(sender.next(Time::ZERO, &pipe(0)), Next::Now);
        let opening = Stamp::Window { window: 0.0, rtt: 0.0, feedback: f32::INFINITY };
        assert_eq!(sender.on_send(Time::ZERO, PACKET, &pipe(0)), opening);
        assert_eq!(sender.next(Time::ZERO, &pipe(1)), Next::AfterAck);
        sender.on_ack(Time::ZERO, &ack(0.0));
        assert_eq!(sender.next(Time::ZERO, &pipe(1)), Next::Now);
        assert_eq!(sender.next(Time::ZERO, &pipe(2)), Next::AfterAck);
        let stamp = Stamp::Window { window: 2.0, rtt: 0.1, feedback: f32::INFINITY };
        assert_eq!(sender.on_send(Time::ZERO, PACKET, &pipe(1)), stamp);
    }

    /// It makes no difference whether acknowledgments are lost, repeated, or stand for several packets.
    #[test]
    fn the_window_follows_the_sum_of_all_feedback() {
        let mut sender = XcpSender::new(2.0, PACKET);
        for (total, window) in [(1.5, 3.5), (1.5, 3.5), (4.25, 6.25), (-10.0, 1.0), (-9.5, 1.5)] {
            sender.on_ack(Time::ZERO, &ack(total));
            assert_eq!(sender.state().window, Some(window));
        }
    }

    #[test]
    fn a_paced_window_is_spread_over_a_round_trip() {
        let mut sender = XcpSender::paced(10.0, PACKET);
        sender.on_ack(Time::ZERO, &ack(0.0));
        sender.on_send(Time::ZERO, PACKET, &pipe(0));
        let due = Time::ZERO + Duration::from_millis(10);
        assert_eq!(sender.next(Time::ZERO, &pipe(1)), Next::At(due));
        assert_eq!(sender.next(due, &pipe(1)), Next::Now);
        assert_eq!(sender.next(due, &pipe(10)), Next::AfterAck);
    }
}
