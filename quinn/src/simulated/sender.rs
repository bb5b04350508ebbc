//! A controller of a QUIC library as a [`Sender`]: it is told what the library would tell it, and its window is kept
//! and paced as the library does.

use super::guest::{Event, Guest};
use super::pacer::Pacer;
use super::packets::Packets;
use control::{Ack, Bytes, Conditions, Duration, Loss, Next, Phase, Pipe, Rate, Sender, Stamp, State, Time};
use std::sync::LazyLock;
use std::time::Instant;

/// The instant that stands for the beginning of a run. Controllers see only differences, so that any will do.
static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

fn duration(time: Duration) -> std::time::Duration {
    std::time::Duration::from_nanos(time.0 / 1000)
}

fn instant(time: Time) -> Instant {
    *ORIGIN + duration(time.since(Time::ZERO))
}

/// How many packets the libraries hand to their socket at once at most, where the kernel splits them (segmentation
/// offload). They tell controllers of all of them together.
const BATCH: u32 = 10;

/// Packets that leave at the same time and of which the controller is not told yet.
#[derive(Clone, Copy)]
struct Batch {
    sent: Time,
    packets: u32,
    bytes: u64,
    /// The number of the last packet.
    last: u64,
}

/// See the [module](self).
pub(crate) struct Simulated<G> {
    guest: G,
    packets: Packets,
    pacer: Pacer,
    /// Bytes of a full packet.
    packet: Bytes,
    batch: Option<Batch>,
    /// The largest number of a packet that was acknowledged.
    largest_acked: Option<u64>,
    /// When the last packet left.
    last_sent: Time,
    /// When the controller was told of the last loss event.
    last_event: Option<Time>,
    /// A loss event of which the controller is told after the acknowledgment that shows it, as the libraries do, or
    /// else before the next packet.
    event: Option<Time>,
}

impl<G: Guest> Simulated<G> {
    /// The sender of a flow. `guest` makes its controller, from the time at which it is made and the bytes of a packet.
    pub(crate) fn new(guest: impl FnOnce(Instant, u16) -> G, host: &Conditions) -> Simulated<G> {
        Simulated {
            guest: guest(*ORIGIN, u16::try_from(host.packet.0).unwrap_or(u16::MAX)),
            packets: Packets::default(),
            pacer: Pacer::new(),
            packet: host.packet,
            batch: None,
            largest_acked: None,
            last_sent: Time::ZERO,
            last_event: None,
            event: None,
        }
    }

    /// Tells of the packets that have left.
    fn tell_sent(&mut self) {
        if let Some(Batch { sent, bytes, last, .. }) = self.batch.take() {
            self.guest.on_sent(instant(sent), bytes, last);
        }
    }

    /// Tells of an acknowledgment, the newest packet of which took `rtt`.
    fn acknowledge(&mut self, now: Time, rtt: Duration, ack: &Ack) {
        if !self.guest.on_rtt(duration(rtt)) {
            return;
        }
        let newest = self.packets.sent_at(Time(now.0.saturating_sub(rtt.0)));
        let mut bytes = ack.acked.0;
        while bytes > 0 {
            let size = bytes.min(self.packet.0);
            // What a timeout gave up is no longer known, but arrives all the same.
            let taken = newest.and_then(|newest| self.packets.acknowledge(newest));
            let sent = taken.map_or(Time(now.0.saturating_sub(rtt.0)), |(_, sent)| sent);
            let number = taken.map(|(number, _)| number);
            self.guest.on_ack(instant(now), instant(sent), size, number, ack.app_limited);
            self.largest_acked = self.largest_acked.max(number);
            bytes -= size;
        }
        let in_flight = ack.in_flight + ack.lost;
        self.guest.on_end_acks(instant(now), in_flight.0, ack.app_limited, self.largest_acked);
    }

    /// Takes the `count` oldest packets out, which are lost, and tells of each. Returns the newest of them.
    fn take_lost(&mut self, now: Time, count: u64) -> Option<(u64, Time)> {
        let mut newest = None;
        for _ in 0..count {
            let Some((number, sent)) = self.packets.lose() else { break };
            self.guest.on_packet_lost(instant(now), self.packet.0, number);
            newest = Some((number, sent));
        }
        newest
    }

    /// Tells of `lost` bytes. `is_new`: packets are among them that were sent after the last loss event.
    fn lose(&mut self, now: Time, lost: Bytes, is_new: bool) {
        let newest = self.take_lost(now, lost.0.div_ceil(self.packet.0));
        let (number, newest) = newest.unwrap_or((self.packets.last(), self.last_sent));
        // Controllers know a new event by the time at which its packet was sent.
        let sent = match self.last_event {
            Some(event) if is_new => newest.max(event + Duration::from_micros(1)),
            Some(event) => newest.min(event),
            None => newest,
        };
        if is_new {
            self.last_event = Some(now);
        }
        let event = Event { sent: instant(sent), number, is_persistent: false, is_mark: false, lost: lost.0 };
        self.guest.on_congestion(instant(now), event);
    }

    /// A timer found the loss that no acknowledgment has shown.
    fn tell_event(&mut self) {
        if let Some(time) = self.event.take() {
            self.lose(time, self.packet, true);
        }
    }
}

impl<G: Guest> Sender for Simulated<G> {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        self.tell_event();
        if !self.guest.allows((pipe.in_flight + pipe.packet).0) {
            self.guest.on_window_full();
            return Next::AfterAck;
        }
        let smoothed = self.guest.smoothed().as_secs_f64();
        match self.pacer.due(now, smoothed, &self.guest, pipe.packet.0) {
            due if due > now => Next::At(due),
            _ => Next::Now,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if self.batch.is_some_and(|batch| batch.sent != now || batch.packets == BATCH) {
            self.tell_sent();
        }
        let batch = self.batch.get_or_insert(Batch { sent: now, packets: 0, bytes: 0, last: 0 });
        batch.packets += 1;
        batch.bytes += size.0;
        batch.last = self.packets.on_send(now);
        self.last_sent = now;
        self.pacer.on_send(size.0);
        self.guest.on_packet_sent(instant(now), size.0, batch.last);
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.tell_sent();
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
            let sent = Time(now.0.saturating_sub(ack.rtt.unwrap_or_default().0));
            let number = self.largest_acked.unwrap_or_default();
            let event = Event { sent: instant(sent), number, is_persistent: false, is_mark: true, lost: 0 };
            self.guest.on_congestion(instant(now), event);
        }
    }

    fn on_loss(&mut self, now: Time, loss: &Loss) {
        self.tell_sent();
        self.tell_event();
        match loss {
            Loss::Event => self.event = Some(now),
            Loss::Timeout => {
                let count = self.packets.in_flight();
                self.take_lost(now, count);
                let (number, lost) = (self.packets.last(), count.max(1) * self.packet.0);
                let sent =
                    self.last_event.map_or(self.last_sent, |event| self.last_sent.max(event + Duration(1_000_000)));
                self.last_event = Some(now);
                let event = Event { sent: instant(sent), number, is_persistent: true, is_mark: false, lost };
                self.guest.on_congestion(instant(now), event);
            }
        }
    }

    fn state(&self) -> State {
        let metrics = self.guest.metrics();
        let window = metrics.window;
        let is_slow_start = metrics.threshold.is_some_and(|threshold| window < threshold);
        let phase = if is_slow_start { Phase::SlowStart } else { Phase::CongestionAvoidance };
        let rate = metrics.rate.map(|bytes| Rate::from_bps(8.0 * bytes as f64));
        State { window: Some(window as f64 / self.packet.0 as f64), rate, phase }
    }

    fn slow_start_threshold(&self) -> Option<f64> {
        let threshold = self.guest.metrics().threshold?;
        Some(if threshold == u64::MAX { f64::INFINITY } else { threshold as f64 / self.packet.0 as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::library::OfQuinn;
    use control::contract::checked;
    use quinn_proto::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
    use std::any::Any;
    use std::sync::{Arc, Mutex};

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
            let guest = |origin, mtu| OfQuinn::new(Arc::new(factory), origin, mtu);
            let sender = Simulated::new(guest, &Conditions::exact(PACKET));
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
    /// reached again; until quinn-proto 0.11.14, the window of CUBIC was then 0.595 times what it had been.
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

    /// A controller that keeps what it is told was sent.
    #[derive(Clone, Default)]
    struct Told(Arc<Mutex<Vec<(u64, u64)>>>);

    impl ControllerFactory for Told {
        fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
            self.clone_box()
        }
    }

    impl Controller for Told {
        fn on_sent(&mut self, _: Instant, bytes: u64, last: u64) {
            self.0.lock().unwrap().push((bytes, last));
        }

        fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

        fn on_mtu_update(&mut self, _: u16) {}

        fn window(&self) -> u64 {
            25 * PACKET.0 + 1
        }

        fn clone_box(&self) -> Box<dyn Controller> {
            Box::new(self.clone())
        }

        fn initial_window(&self) -> u64 {
            self.window()
        }

        fn into_any(self: Box<Self>) -> Box<dyn Any> {
            self
        }
    }

    /// A window leaves as bursts of at most ten packets, and each is told as one, before anything else.
    #[test]
    fn packets_that_leave_together_are_told_together() {
        let told = Told::default();
        let mut path = Path::new(told.clone());
        path.round(0);
        let bursts = told.0.lock().unwrap();
        assert_eq!((bursts.len(), bursts[0]), (3, (10 * PACKET.0, 9)));
        assert_eq!(bursts.iter().map(|(bytes, _)| bytes).sum::<u64>(), 25 * PACKET.0);
        assert_eq!(bursts[2].1, 24);
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
