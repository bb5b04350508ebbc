//! A [`Controller`] of quinn as a [`Sender`]: it is told what quinn would tell it, and its window is kept and paced as
//! quinn does.

use super::pacer::Pacer;
use super::packets::Packets;
use super::round_trip::RoundTrip;
use control::{Ack, Bytes, Conditions, Duration, Loss, Next, Phase, Pipe, Sender, Stamp, State, Time};
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// The instant that stands for the beginning of a run. Controllers see only differences, so that any will do.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn duration(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.0 / 1000)
}

fn instant(time: Time) -> Instant {
    *ORIGIN + duration(time.since(Time::ZERO))
}

/// See the [module](self).
pub(super) struct Simulated {
    controller: Box<dyn Controller>,
    round_trip: RoundTrip,
    packets: Packets,
    pacer: Pacer,
    /// Bytes of a full packet.
    packet: Bytes,
    /// The number of the last packet that was acknowledged.
    largest_acked: Option<u64>,
    /// When the last packet left.
    last_sent: Time,
    /// When the controller was told of the last loss event.
    last_event: Option<Time>,
    /// A loss event of which the controller is told after the acknowledgment that shows it, as quinn does, or else
    /// before the next packet.
    event: Option<Time>,
}

impl Simulated {
    pub(super) fn new(factory: Arc<dyn ControllerFactory>, host: &Conditions) -> Simulated {
        let mtu = u16::try_from(host.packet.0).unwrap_or(u16::MAX);
        Simulated {
            controller: factory.build(*ORIGIN, mtu),
            round_trip: RoundTrip::new(*ORIGIN),
            packets: Packets::default(),
            pacer: Pacer::new(),
            packet: host.packet,
            largest_acked: None,
            last_sent: Time::ZERO,
            last_event: None,
            event: None,
        }
    }

    /// Tells of an acknowledgment of `acked` bytes, the newest packet of which took `rtt`.
    fn acknowledge(&mut self, now: Time, rtt: Duration, ack: &Ack) {
        let Some(estimator) = self.round_trip.sample(duration(rtt)) else { return };
        let newest = self.packets.sent_at(Time(now.0.saturating_sub(rtt.0)));
        let mut bytes = ack.acked.0;
        while bytes > 0 {
            let size = bytes.min(self.packet.0);
            // What a timeout gave up is no longer known, but arrives all the same.
            let taken = newest.and_then(|newest| self.packets.acknowledge(newest));
            let sent = taken.map_or(Time(now.0.saturating_sub(rtt.0)), |(_, sent)| sent);
            self.controller.on_ack(instant(now), instant(sent), size, ack.app_limited, &estimator);
            self.largest_acked = self.largest_acked.max(taken.map(|(number, _)| number));
            bytes -= size;
        }
        let in_flight = ack.in_flight + ack.lost;
        self.controller.on_end_acks(instant(now), in_flight.0, ack.app_limited, self.largest_acked);
    }

    /// Tells of `lost` bytes. `is_new`: packets are among them that were sent after the last loss event.
    fn lose(&mut self, now: Time, lost: Bytes, is_new: bool) {
        let packets = lost.0.div_ceil(self.packet.0);
        let newest = (0..packets).map_while(|_| self.packets.lose()).last().unwrap_or(self.last_sent);
        // Controllers know a new event by the time at which its packet was sent.
        let sent = match self.last_event {
            Some(event) if is_new => newest.max(event + Duration::from_micros(1)),
            Some(event) => newest.min(event),
            None => newest,
        };
        if is_new {
            self.last_event = Some(now);
        }
        self.controller.on_congestion_event(instant(now), instant(sent), false, lost.0);
    }

    /// A timer found the loss that no acknowledgment has shown.
    fn tell_event(&mut self) {
        if let Some(time) = self.event.take() {
            self.lose(time, self.packet, true);
        }
    }
}

impl Sender for Simulated {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.tell_event();
        let window = self.controller.window();
        // quinn sends while what is in flight and the packet are less than the window.
        if (pipe.in_flight + pipe.packet).0 >= window {
            return Next::AfterAck;
        }
        match self.pacer.due(now, self.round_trip.smoothed().as_secs_f64(), window, pipe.packet.0) {
            due if due > now => Next::At(due),
            _ => Next::Now,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        let number = self.packets.on_send(now);
        self.last_sent = now;
        self.pacer.on_send(size.0);
        self.controller.on_sent(instant(now), size.0, number);
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let event = self.event.take();
        if let Some(rtt) = ack.rtt
            && ack.acked > Bytes(0)
        {
            self.acknowledge(now, rtt, ack);
        }
        if event.is_some() || ack.lost > Bytes(0) {
            self.lose(now, ack.lost.max(self.packet), event.is_some());
        }
        if ack.marked > Bytes(0) {
            // quinn tells of marks by no bytes lost.
            let sent = Time(now.0.saturating_sub(ack.rtt.unwrap_or_default().0));
            self.controller.on_congestion_event(instant(now), instant(sent), false, 0);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.tell_event();
        match loss {
            Loss::Event => self.event = Some(now),
            Loss::Timeout => {
                self.packets.lose_all();
                let sent =
                    self.last_event.map_or(self.last_sent, |event| self.last_sent.max(event + Duration(1_000_000)));
                self.last_event = Some(now);
                self.controller.on_congestion_event(instant(now), instant(sent), true, self.packet.0);
            }
        }
    }

    fn state(&self) -> State {
        let metrics = self.controller.metrics();
        let window = metrics.congestion_window;
        let is_slow_start = metrics.ssthresh.is_some_and(|threshold| window < threshold);
        let phase = if is_slow_start { Phase::SlowStart } else { Phase::CongestionAvoidance };
        State { window: Some(window as f64 / self.packet.0 as f64), rate: None, phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use control::contract::checked;
    use quinn_proto::congestion::{BbrConfig, CubicConfig, NewRenoConfig};

    const PACKET: Bytes = Bytes(1250);
    const RTT: Duration = Duration::from_millis(50);

    /// A path of constant delay that acknowledges what was sent a round trip before.
    struct Path {
        sender: Box<dyn Sender>,
        now: Time,
        in_flight: u64,
    }

    impl Path {
        fn new(factory: impl ControllerFactory + 'static) -> Path {
            let sender = Simulated::new(Arc::new(factory), &Conditions::exact(PACKET));
            Path { sender: checked(Box::new(sender)), now: Time::ZERO, in_flight: 0 }
        }

        fn window(&self) -> f64 {
            self.sender.state().window.unwrap()
        }

        fn pipe(&self) -> Pipe {
            let in_flight = Bytes(self.in_flight * PACKET.0);
            Pipe { in_flight, backlog: Bytes(u64::MAX), packet: PACKET, repairing: false }
        }

        /// A window of packets leaves, as its pacing allows, and is acknowledged; the first `lost` of them are lost.
        fn round(&mut self, lost: u64) {
            let mut sent = Vec::new();
            loop {
                match self.sender.next(self.now, &self.pipe()) {
                    Next::Now => {
                        let pipe = self.pipe();
                        self.sender.on_send(self.now, PACKET, &pipe);
                        sent.push(self.now);
                        self.in_flight += 1;
                    }
                    Next::At(time) => self.now = time,
                    Next::AfterAck => break,
                }
            }
            for (i, time) in sent.into_iter().enumerate().skip(lost as usize) {
                self.now = self.now.max(time + RTT);
                self.in_flight -= 1;
                let mut ack = Ack { acked: PACKET, rtt: Some(self.now.since(time)), ..Ack::default() };
                if i as u64 == lost && lost > 0 {
                    ack.lost = Bytes(lost * PACKET.0);
                    self.in_flight -= lost;
                    self.sender.on_loss(self.now, &Loss::Event);
                }
                ack.in_flight = Bytes(self.in_flight * PACKET.0);
                ack.recovery = lost > 0;
                self.sender.on_ack(self.now, &ack);
            }
        }
    }

    /// RFC 9438, section 4.6, and RFC 9002, section 7.3.2. The second loss comes before the window of the first one is
    /// reached again; until quinn-proto 0.11.18, the window of CUBIC was then 0.595 times what it had been.
    #[test]
    fn losses_cut_the_windows_by_what_their_rfcs_say() {
        for (mut path, factor) in [(Path::new(CubicConfig::default()), 0.7), (Path::new(NewRenoConfig::default()), 0.5)]
        {
            for _ in 0..5 {
                path.round(0);
            }
            assert!(path.window() > 60.0, "slow start: {}", path.window());
            for _ in 0..2 {
                let before = path.window();
                path.round(2);
                assert!((path.window() / before - factor).abs() < 0.01, "{before} to {}", path.window());
                path.round(0);
            }
        }
    }

    #[test]
    fn a_timeout_leaves_two_packets() {
        let mut path = Path::new(CubicConfig::default());
        path.round(0);
        while path.sender.next(path.now, &path.pipe()) == Next::Now {
            let pipe = path.pipe();
            path.sender.on_send(path.now, PACKET, &pipe);
            path.in_flight += 1;
        }
        path.now += Duration::from_secs(1.0);
        path.in_flight = 0;
        path.sender.on_loss(path.now, &Loss::Timeout);
        assert_eq!(path.window(), 2.0);
    }

    /// A mark is a loss of no bytes for CUBIC; BBR ignores it.
    #[test]
    fn marks_cut_the_window_of_cubic() {
        let mark = |path: &mut Path| {
            path.round(0);
            let before = path.window();
            let pipe = path.pipe();
            assert_eq!(path.sender.next(path.now, &pipe), Next::Now);
            path.sender.on_send(path.now, PACKET, &pipe);
            path.now += RTT;
            path.sender.on_ack(path.now, &Ack { acked: PACKET, marked: PACKET, rtt: Some(RTT), ..Ack::default() });
            path.window() / before
        };
        assert!((0.69..0.75).contains(&mark(&mut Path::new(CubicConfig::default()))));
        assert!(mark(&mut Path::new(BbrConfig::default())) >= 1.0);
    }
}
