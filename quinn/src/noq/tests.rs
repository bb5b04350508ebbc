use super::ends::Ends;
use super::*;
use crate::simulated::round_trip::{PRECISION, RoundTrip};
use control::contract::checked;
use control::{Ack, Bytes, Conditions, Duration, Loss, Next, Pipe, Sender, Time};
use std::time::Instant;

const PACKET: Bytes = Bytes(1250);
const RTT: Duration = Duration::from_millis(50);
/// What the path carries, in bits per second.
const RATE: f64 = 20e6;

/// A bottleneck behind a constant delay, with an endless buffer.
struct Path {
    sender: Box<dyn Sender>,
    now: Time,
    /// When the bottleneck has sent all that has arrived.
    free: Time,
    /// Of each packet in flight, when it was sent and when its acknowledgment comes.
    flight: std::collections::VecDeque<(Time, Time)>,
    /// When each packet left.
    sent: Vec<Time>,
}

impl Path {
    fn new(factory: impl ControllerFactory + Send + Sync + 'static) -> Path {
        let guest = |origin: Instant, mtu| OfNoq::new(Arc::new(factory), origin, mtu);
        let sender = checked(Box::new(Simulated::new(guest, &Conditions::exact(PACKET))));
        Path { sender, now: Time::ZERO, free: Time::ZERO, flight: Default::default(), sent: Vec::new() }
    }

    fn in_flight(&self) -> Bytes {
        Bytes(self.flight.len() as u64 * PACKET.0)
    }

    fn run_until(&mut self, end: Time) {
        while self.now < end {
            let pipe = Pipe { in_flight: self.in_flight(), backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };
            let arrival = self.flight.front().map(|(_, at)| *at);
            match self.sender.next(self.now, &pipe) {
                Next::Now => {
                    self.sender.on_send(self.now, PACKET, &pipe);
                    self.free = self.free.max(self.now) + Duration::from_secs(8.0 * PACKET.0 as f64 / RATE);
                    self.flight.push_back((self.now, self.free + RTT));
                    self.sent.push(self.now);
                }
                Next::At(due) if arrival.is_none_or(|arrival| due < arrival) => self.now = due,
                _ => self.acknowledge(),
            }
        }
    }

    fn acknowledge(&mut self) {
        let (sent, at) = self.flight.pop_front().expect("something is in flight");
        self.now = self.now.max(at);
        let (rtt, in_flight) = (Some(self.now.since(sent)), self.in_flight());
        self.sender.on_ack(self.now, &Ack { acked: PACKET, rtt, in_flight, ..Ack::default() });
    }
}

/// The estimate of the bandwidth comes from what is delivered, and the rate from the estimate (draft-ietf-ccwg-bbr,
/// section 5.6.2): it finds the bottleneck's capacity within a factor, and packets leave at it and not in windows.
#[test]
fn bbr_finds_the_bandwidth_and_is_paced_at_it() {
    let mut path = Path::new(Bbr3Config::default());
    path.run_until(Time::ZERO + Duration::from_secs(6.0));
    let rate = path.sender.state().rate.expect("BBR has a rate").as_bps();
    assert!((0.7..1.3).contains(&(rate / RATE)), "{rate}");
    let late: Vec<Time> = path.sent.iter().copied().filter(|at| at.since(Time::ZERO).as_secs() > 4.0).collect();
    let goodput = late.len() as f64 * 8.0 * PACKET.0 as f64 / 2.0;
    assert!((0.7..1.05).contains(&(goodput / RATE)), "{goodput}");
    // At a rate, noq lets 10 ms of it leave at once at most: 20 packets, and a probe's quarter more.
    let burst = |at: &Time| late.iter().filter(|other| **other == *at).count();
    assert!(late.iter().map(burst).max().unwrap() <= 25);
}

/// RFC 9438, section 4.6: 0.7, and again 0.7 where fast convergence lowers W_max.
#[test]
fn each_loss_leaves_cubic_seven_tenths() {
    let mut path = Path::new(CubicConfig::default());
    path.run_until(Time::ZERO + Duration::from_secs(1.0));
    let mut before = path.sender.state().window.unwrap();
    for _ in 0..3 {
        path.sender.on_loss(path.now, &Loss::Event);
        path.acknowledge();
        let after = path.sender.state().window.unwrap();
        assert!((after / before - 0.7).abs() < 0.01, "{before} to {after}");
        path.run_until(path.now + Duration::from_secs(0.5));
        before = path.sender.state().window.unwrap();
    }
}

/// RFC 6298, section 2, as RFC 9002, section 5.3, has it: without delays of acknowledgments.
#[test]
fn the_estimator_smooths_what_was_measured() {
    let mut estimator = RoundTrip::<Ends>::new(Instant::now());
    let mut smoothed = 0.1;
    for ms in [100, 100, 180, 140, 90, 300, 95, 1000, 100, 100, 20, 20, 21, 20] {
        let before = estimator.sample(std::time::Duration::from_millis(ms)).expect("the controller was shown it");
        let shown = before.get().as_secs_f64();
        assert!((shown / smoothed - 1.0_f64).abs() < 1.0 / f64::from(PRECISION), "{shown} and not {smoothed}");
        smoothed = (7.0 * smoothed + ms as f64 / 1e3) / 8.0;
    }
}

/// A connection of noq over a bottleneck of [`RATE`] with [`RTT`] and a buffer of `buffer` packets, with noq's pacing
/// as a bucket of two packets that the rate fills.
struct Connection {
    controller: Box<dyn noq_proto::congestion::Controller>,
    shown: noq_proto::RttEstimator,
    buffer: usize,
    dropped: u64,
}

impl Connection {
    fn new(name: &str, buffer: usize) -> Connection {
        let origin = Instant::now();
        let mut round_trip = RoundTrip::<Ends>::new(origin);
        let shown = round_trip.sample(std::time::Duration::from_millis(50)).expect("the first sample");
        let controller = Arc::new(factory(name, &Map::new()).unwrap()).build(origin, PACKET.0 as u16);
        Connection { controller, shown, buffer, dropped: 0 }
    }

    /// Bits per second that arrive in the last half of `seconds`.
    fn goodput(&mut self, seconds: f64) -> f64 {
        let origin = Instant::now();
        let at = |seconds: f64| origin + std::time::Duration::from_secs_f64(seconds);
        let (packet, rtt) = (PACKET.0 as f64, RTT.as_secs());
        // Of each packet in flight: when it left, and when its acknowledgment or the news of its loss comes.
        let mut flight = std::collections::VecDeque::<(f64, f64, bool)>::new();
        let (mut now, mut free, mut next, mut number, mut delivered) = (0.0_f64, 0.0_f64, 0.0_f64, 0, 0.0);
        while now < seconds {
            let metrics = self.controller.metrics();
            let in_flight = flight.len() as u64 * PACKET.0;
            if in_flight + PACKET.0 <= metrics.congestion_window && next <= now {
                let waiting = ((free - now).max(0.0) * RATE / 8.0 / packet) as usize;
                let lost = waiting >= self.buffer;
                self.dropped += u64::from(lost);
                free = if lost { free } else { free.max(now) + 8.0 * packet / RATE };
                self.controller.on_packet_sent(at(now), PACKET.0 as u16, number);
                self.controller.on_sent(at(now), PACKET.0, number);
                flight.push_back((now, free.max(now) + rtt, lost));
                number += 1;
                let gap = metrics.pacing_rate.map_or(0.0, |rate| packet / rate as f64);
                next = next.max(now - gap) + gap;
                continue;
            }
            let Some(&(sent, due, lost)) = flight.front() else { panic!("nothing in flight at {now}") };
            if in_flight + PACKET.0 <= metrics.congestion_window && next < due {
                now = next;
                continue;
            }
            now = now.max(due);
            flight.pop_front();
            let in_flight = flight.len() as u64 * PACKET.0;
            if lost {
                self.controller.on_congestion_event(at(now), at(sent), false, false, PACKET.0, number);
            } else {
                self.controller.on_ack(at(now), at(sent), PACKET.0, number, false, &self.shown);
                delivered += if now > seconds / 2.0 { 8.0 * packet } else { 0.0 };
            }
            self.controller.on_end_acks(at(now), in_flight, false, Some(number));
        }
        delivered / (seconds / 2.0)
    }
}

/// A path of one bandwidth-delay product, which each of them uses, and whose queue those that keep queues short do not
/// overflow after they have begun.
#[test]
fn our_controllers_use_a_path_under_noq() {
    for name in ["cubic", "bbr", "bbr1", "copa", "vivace"] {
        let mut connection = Connection::new(name, 100);
        // None begins with more than RFC 9002, section 7.2, allows.
        let window = connection.controller.window() / PACKET.0;
        assert!((2..=10).contains(&window), "{name}: {window} packets at first");
        let goodput = connection.goodput(20.0) / RATE;
        assert!((0.8..1.001).contains(&goodput), "{name}: {goodput}, {} dropped", connection.dropped);
        let rate = connection.controller.metrics().pacing_rate;
        assert_eq!(rate.is_some(), name != "cubic", "{name}: {rate:?}");
    }
}

#[test]
fn controllers_that_need_more_than_noq_offers_are_refused() {
    use crate::{FactoryError, Unsuitable};
    add().unwrap();
    for (name, needs) in [
        ("thalweg", Unsuitable::Stamps),
        ("rrrp", Unsuitable::Stamps),
        ("xcp", Unsuitable::Routers),
        ("prague", Unsuitable::MarkCounts),
        ("bbr-ecn", Unsuitable::MarkCounts),
        ("noq-bbr3", Unsuitable::Library),
    ] {
        match factory(name, &Map::new()) {
            Err(FactoryError::Unsuitable { why, .. }) => assert_eq!(why, needs, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
