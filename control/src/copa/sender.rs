//! The sender: what each acknowledgment does to the window (section 2.1).

use super::Copa;
use super::competition::Competition;
use super::velocity::Velocity;
use crate::pace::Pacer;
use crate::recent::Recent;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Sender, Stamp, State as Shown};
use crate::rtt::SmoothedRtt;
use crate::units::{Bytes, Duration, Rate, Time};
use core::cmp::Ordering;

/// The span of the standing RTT, as a share of the smoothed RTT.
const STANDING_RTTS: f64 = 0.5;
/// The span of the longest RTT, in smoothed RTTs (section 2.2).
const LONGEST_RTTS: f64 = 4.0;
/// How many windows leave in a standing RTT if acknowledgments allow it.
const PACING_GAIN: f64 = 2.0;
/// The least window, packets; after a timeout, it is one packet.
const MIN_CWND: f64 = 2.0;

/// The share of a round trip's packets that may be lost before the window is halved.
const LOSS_LIMIT: f64 = 0.25;

/// The sender.
///
/// ```text
///   SlowStart -- the rate exceeds its target --> Avoidance
///       ^----------------- timeout ------------------+
/// ```
pub struct CopaSender {
    /// Size of a full packet.
    packet: Bytes,
    /// Congestion window, packets.
    cwnd: f64,
    state: State,
    competition: Competition,
    losses: Losses,
    min_rtt_memory: Duration,
    srtt: SmoothedRtt,
    /// RTTs in seconds, for RTTmin.
    memory: Recent<10>,
    /// RTTs in seconds, for RTTstanding.
    standing: Recent<8>,
    /// RTTs in seconds, for RTTmax.
    longest: Recent<8>,
    /// Rate of packets; none before the first RTT is known.
    rate: Option<Rate>,
    pacer: Pacer,
}

#[derive(Clone, Debug)]
enum State {
    SlowStart,
    Avoidance(Velocity),
}

/// What became of the packets in the present round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    /// When the round trip began.
    begin: Time,
    acked: Bytes,
    lost: Bytes,
}

impl Losses {
    /// Whether an acknowledgment ends a round trip in which too many packets were lost.
    fn are_too_many(&mut self, now: Time, rtt: Duration, ack: &Ack) -> bool {
        self.acked += ack.acked;
        self.lost += ack.lost;
        if now - rtt < self.begin {
            return false;
        }
        let Losses { acked, lost, .. } = *self;
        *self = Losses { begin: now, ..Losses::default() };
        lost.0 as f64 > LOSS_LIMIT * (acked + lost).0 as f64
    }
}

/// What the round-trip times say at one time, seconds.
#[derive(Clone, Copy, Debug)]
struct Rtts {
    /// RTTstanding: the least RTT in the last srtt/2. It does not contain the noise of single acknowledgments.
    standing: f64,
    /// d_q = RTTstanding - RTTmin: the queueing delay.
    queueing: f64,
    /// RTTmax - RTTmin.
    range: f64,
}

impl CopaSender {
    /// A sender of packets of this size that has sent nothing yet.
    pub fn new(parameters: &Copa, packet: Bytes) -> CopaSender {
        CopaSender {
            packet,
            cwnd: parameters.initial_window,
            state: State::SlowStart,
            competition: Competition::new(parameters),
            losses: Losses::default(),
            min_rtt_memory: parameters.min_rtt_memory,
            srtt: SmoothedRtt::default(),
            memory: Recent::new(),
            standing: Recent::new(),
            longest: Recent::new(),
            rate: None,
            pacer: Pacer::default(),
        }
    }

    /// Step 1: adds a sample.
    fn measure(&mut self, now: Time, rtt: Duration) -> Rtts {
        self.srtt.sample(Some(rtt));
        let (rtt, smoothed) = (rtt.as_secs(), self.srtt.seconds().unwrap_or_default());
        let [recent, long] = [STANDING_RTTS, LONGEST_RTTS].map(|rtts| Duration::from_secs(rtts * smoothed));
        self.memory.add(now, self.min_rtt_memory, rtt);
        self.standing.add(now, recent, rtt);
        self.longest.add(now, long, rtt);
        let (standing, least) = (self.standing.least(now, recent), self.memory.least(now, self.min_rtt_memory));
        let range = self.longest.largest(now, long) - least;
        Rtts { standing, queueing: (standing - least).max(0.0), range }
    }

    /// Steps 2 to 4, with `acked` packets acknowledged.
    fn adjust(&mut self, now: Time, rtt: Duration, acked: f64, rtts: Rtts, app_limited: bool) {
        let inverse_delta = self.competition.inverse_delta();
        // The rate cwnd/RTTstanding is at most the target rate 1/(delta d_q) of equation 1.
        let below = self.cwnd * rtts.queueing <= inverse_delta * rtts.standing;
        match &mut self.state {
            State::SlowStart if below => {
                self.cwnd += if app_limited { 0.0 } else { acked };
            }
            State::SlowStart => self.state = State::Avoidance(Velocity::new(now, self.cwnd)),
            State::Avoidance(velocity) => {
                let direction = if below { Ordering::Greater } else { Ordering::Less };
                let v = velocity.towards(now, direction, self.cwnd);
                let step = acked * (v * inverse_delta / self.cwnd).min(1.0);
                if !below {
                    self.cwnd = (self.cwnd - step).max(MIN_CWND);
                } else if !app_limited {
                    self.cwnd += step;
                }
                velocity.on_ack(now, rtt, self.cwnd);
            }
        }
    }

    /// The window is `cwnd` packets, of which each takes its share of half a standing RTT.
    fn pace(&mut self, standing: f64) {
        self.rate = Some(Rate::from_bps(PACING_GAIN * self.cwnd * self.packet.as_bits() / standing));
    }
}

impl Sender for CopaSender {
    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if (pipe.in_flight + self.packet).0 as f64 > self.cwnd * self.packet.0 as f64 {
            return Next::AfterAck;
        }
        match self.rate.map(|rate| self.pacer.due(rate)) {
            Some(due) if due > now => Next::At(due),
            _ => Next::Now,
        }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if let Some(rate) = self.rate {
            self.pacer.on_send(now, size, rate);
        }
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        let Some(rtt) = ack.rtt.filter(|rtt| rtt.0 > 0) else { return };
        let rtts = self.measure(now, rtt);
        let steady = matches!(&self.state, State::Avoidance(velocity) if velocity.v == 1.0);
        self.competition.on_ack(now, rtt, rtts.queueing, rtts.range, steady);
        // As in window protocols, what fills a hole counts for no more than a window.
        let acked = (ack.acked.0 as f64 / self.packet.0 as f64).min(self.cwnd);
        if self.losses.are_too_many(now, rtt, ack) {
            self.cwnd = self.cwnd.min((self.cwnd / 2.0).max(MIN_CWND));
            self.state = State::Avoidance(Velocity::new(now, self.cwnd));
        } else {
            self.adjust(now, rtt, acked, rtts, ack.app_limited);
        }
        self.pace(rtts.standing);
    }

    fn on_loss(&mut self, _: Time, loss: &Loss) {
        match loss {
            Loss::Event => self.competition.on_loss(),
            Loss::Timeout => {
                self.rate = self.rate.map(|rate| rate * (1.0 / self.cwnd).min(1.0));
                self.cwnd = 1.0;
                self.state = State::SlowStart;
            }
        }
    }

    fn state(&self) -> Shown {
        let phase = match self.state {
            State::SlowStart => Phase::SlowStart,
            State::Avoidance(_) => Phase::CongestionAvoidance,
        };
        Shown { window: Some(self.cwnd), rate: self.rate, phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes(1000);
    const PIPE: Pipe = Pipe { in_flight: Bytes(0), backlog: Bytes(u64::MAX), packet: PACKET, repairing: false };

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn ack(ms: u64) -> Ack {
        Ack { acked: PACKET, rtt: Some(Duration::from_millis(ms)), ..Ack::default() }
    }

    /// A sender with a window of `w` packets that has seen an RTT of 100 ms, and has left slow start.
    fn sender(w: f64) -> CopaSender {
        let mut sender = CopaSender::new(&Copa { initial_window: w, ..Copa::default() }, PACKET);
        sender.on_ack(at(100), &Ack { acked: Bytes(0), ..ack(100) });
        sender.state = State::Avoidance(Velocity::new(at(100), w));
        sender
    }

    #[test]
    fn the_window_moves_towards_the_target_rate() {
        // A queueing delay of 10 ms: the target is 1/(0.5 x 10 ms) = 200 packets per second, in 110 ms 22 packets.
        for (w, sign) in [(21.9, 1.0), (22.1, -1.0)] {
            let mut sender = sender(w);
            sender.on_ack(at(300), &ack(110));
            assert!((sender.cwnd - w - sign * 2.0 / w).abs() < 1e-9, "{w}: {}", sender.cwnd);
        }
    }

    #[test]
    fn a_window_changes_by_a_packet_per_acknowledged_packet_at_most() {
        // Without a queue, the velocity doubles from the fifth round trip on: by 2, 4, 8 ... packets more per round
        // trip, up to twice the window.
        let mut sender = sender(30.0);
        let windows: Vec<f64> = (2..20)
            .map(|i| {
                for _ in 0..sender.cwnd as u64 {
                    sender.on_ack(at(100 * i), &ack(100));
                }
                sender.cwnd
            })
            .collect();
        assert!(windows.windows(2).all(|pair| pair[1] <= 2.0 * pair[0]));
        assert!(windows[17] > 1.9 * windows[16]);
        assert!(windows[2] < 30.0 + 3.0 * 2.0 + 0.1);
    }

    #[test]
    fn the_standing_rtt_ignores_what_delays_single_acknowledgments() {
        // In half a round trip of 100 ms, at least one sample has no more than 100 ms.
        let mut sender = sender(50.0);
        for i in 0..100 {
            let before = sender.cwnd;
            sender.on_ack(at(300 + 10 * i), &ack(if i % 4 == 0 { 100 } else { 150 }));
            assert!(sender.cwnd > before, "{i}");
        }
        // If all samples of half a round trip have 150, there is a queue.
        for i in 100..120 {
            let before = sender.cwnd;
            sender.on_ack(at(300 + 10 * i), &ack(150));
            assert!(i < 108 || sender.cwnd < before, "{i}");
        }
    }

    #[test]
    fn slow_start_doubles_per_round_trip_until_the_rate_exceeds_its_target() {
        let mut sender = CopaSender::new(&Copa::default(), PACKET);
        for (i, expected) in (1..).zip([4.0, 8.0, 16.0]) {
            for _ in 0..sender.cwnd as u64 {
                sender.on_ack(at(100 * i), &ack(100));
            }
            assert_eq!((sender.cwnd, sender.state().phase), (expected, Phase::SlowStart));
        }
        sender.on_ack(at(500), &ack(115)); // at most 2 x 115/15 = 15.3 packets
        assert_eq!((sender.cwnd, sender.state().phase), (16.0, Phase::CongestionAvoidance));
        sender.on_loss(at(1500), &Loss::Timeout);
        assert_eq!((sender.cwnd, sender.state().phase), (1.0, Phase::SlowStart));
    }

    #[test]
    fn packets_are_paced_at_two_windows_per_standing_rtt() {
        let mut sender = sender(40.0);
        sender.on_ack(at(300), &Ack { acked: Bytes(0), ..ack(100) });
        assert!((sender.state().rate.unwrap().as_mbps() - 2.0 * 40.0 * 8000.0 / 0.1 / 1e6).abs() < 1e-9);
        assert_eq!(sender.next(at(300), &PIPE), Next::Now);
        sender.on_send(at(300), PACKET, &PIPE);
        assert_eq!(sender.next(at(300), &PIPE), Next::At(at(300) + Duration::from_micros(1250)));
        assert_eq!(sender.next(at(300), &Pipe { in_flight: Bytes(39_001), ..PIPE }), Next::AfterAck);
    }

    #[test]
    fn the_least_rtt_is_forgotten_after_ten_seconds() {
        let mut sender = sender(50.0);
        for i in 1..=101 {
            let now = 100 + 100 * i;
            let rtts = sender.measure(at(now), Duration::from_millis(130));
            let forgotten = rtts.queueing == 0.0;
            assert!((rtts.queueing - 0.03).abs() < 1e-9 || forgotten);
            assert!(now < 10_100 || forgotten, "{now} ms");
            assert!(now > 9_000 || !forgotten, "{now} ms");
        }
    }

    #[test]
    fn a_loss_changes_nothing_in_the_default_mode() {
        let mut sender = sender(50.0);
        sender.on_loss(at(200), &Loss::Event);
        sender.on_ack(at(200), &Ack { recovery: true, ..ack(100) });
        assert_eq!(sender.cwnd, 50.0 + 2.0 / 50.0);
    }

    #[test]
    fn a_round_trip_that_loses_more_than_a_quarter_halves_the_window() {
        for (lost, halved) in [(3, false), (4, true)] {
            let mut sender = sender(50.0);
            sender.on_ack(at(300), &ack(100)); // a round trip begins
            let before = sender.cwnd;
            sender.on_ack(at(350), &Ack { acked: Bytes(9000), lost: Bytes(lost * 1000), ..ack(100) });
            assert!(sender.cwnd > before, "not before its end");
            sender.on_ack(at(400), &Ack { acked: Bytes(1000), ..ack(100) });
            assert_eq!(sender.cwnd < before, halved, "{lost} of {}", 10 + lost);
        }
    }
}
