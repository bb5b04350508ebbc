//! The sender: which rate each monitor interval has, and what follows from their utilities (section 4).

use super::Vivace;
use super::step::Steps;
use crate::draw::draw;
use crate::monitor::{Measured, Monitor};
use crate::pace::Pacer;
use crate::roles::{Ack, Loss, Next, Phase, Pipe, Report, Sender, Stamp, State};
use crate::rtt::SmoothedRtt;
use crate::units::{Bytes, Duration, Rate, Time};

/// The least number of packets of a monitor interval.
const LEAST_PACKETS: u32 = 10;
/// The least rate, in packets per RTT.
const LEAST_RATE: f64 = 2.0;
/// The highest rate. No link has it: it keeps a rate finite whose utility never falls.
const HIGHEST_RATE: Rate = Rate::from_gbps(1e5);

/// What the sender is doing.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    /// No RTT is known, and so no rate.
    Opening,
    /// The rate doubles as long as its utility grows. `before` is the utility of half the rate, if that was measured.
    SlowStart { before: Option<f64> },
    /// Two rates are compared again and again; the first is the higher one, if `faster_first`.
    Comparing { faster_first: bool },
}

/// The intervals whose utilities the sender is waiting for.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// The number of the first one.
    first: u64,
    /// Their rates.
    rates: [Rate; 2],
    /// How many there are.
    count: usize,
    /// Their utilities, as far as they are known: the intervals end one after the other.
    utilities: [f64; 2],
}

/// The sender. It has no window.
pub struct VivaceSender {
    parameters: Vivace,
    packet: Bytes,
    rtt: SmoothedRtt,
    stage: Stage,
    /// r: the rate outside of trials.
    rate: Rate,
    /// The rate of the present interval.
    present: Rate,
    trial: Trial,
    steps: Steps,
    monitor: Monitor,
    /// When the present interval has lasted for a round trip. It is over at once if the next trial waits for it.
    until: Time,
    /// How many packets the present interval has.
    packets: u32,
    pacer: Pacer,
}

impl VivaceSender {
    /// A sender of packets of this size that has sent nothing yet.
    pub fn new(parameters: Vivace, packet: Bytes) -> VivaceSender {
        VivaceSender {
            parameters,
            packet,
            rtt: SmoothedRtt::default(),
            stage: Stage::Opening,
            rate: Rate::ZERO,
            present: Rate::ZERO,
            trial: Trial { first: 0, rates: [Rate::ZERO; 2], count: 0, utilities: [0.0; 2] },
            steps: Steps::default(),
            monitor: Monitor::new(),
            until: Time::ZERO,
            packets: 0,
            pacer: Pacer::default(),
        }
    }

    /// `packets` per round trip.
    fn per_rtt(&self, packets: f64) -> Rate {
        let rtt = Duration::from_secs(self.rtt.seconds().unwrap_or(0.0)).max(Duration::from_micros(1));
        self.packet.over(rtt) * packets
    }

    /// Sets r, within its limits.
    fn set(&mut self, rate: Rate) {
        let least = self.per_rtt(LEAST_RATE).as_bps();
        self.rate = Rate::from_bps(rate.as_bps().max(least).min(HIGHEST_RATE.as_bps()));
    }

    /// The first RTT is known: slow start begins.
    fn start(&mut self) {
        self.set(self.per_rtt(self.parameters.initial_window));
        self.stage = Stage::SlowStart { before: None };
        self.try_rates();
    }

    /// Compares two rates from the next packet on.
    fn compare(&mut self, now: Time) {
        self.stage = Stage::Comparing { faster_first: draw(now) & 1 == 0 };
        self.try_rates();
    }

    /// The next packet begins a trial: of r in slow start, of r (1 + epsilon) and r (1 - epsilon) later (section 4.2).
    fn try_rates(&mut self) {
        let difference = self.parameters.difference;
        let (rates, count) = match self.stage {
            Stage::Opening | Stage::SlowStart { .. } => ([self.rate; 2], 1),
            Stage::Comparing { faster_first } => {
                let (above, below) = (self.rate * (1.0 + difference), self.rate * (1.0 - difference));
                (if faster_first { [above, below] } else { [below, above] }, 2)
            }
        };
        self.trial = Trial { first: self.monitor.next(), rates, count, utilities: [0.0; 2] };
        (self.until, self.packets) = (Time::ZERO, LEAST_PACKETS);
    }

    /// The next interval begins.
    fn begin(&mut self, now: Time) {
        let index = (self.monitor.next() - self.trial.first) as usize;
        self.present = if index < self.trial.count { self.trial.rates[index] } else { self.rate };
        self.monitor.begin(now);
        self.until = now + Duration::from_secs(self.rtt.seconds().unwrap_or(0.0));
        self.packets = 0;
    }

    /// An interval is over.
    fn learn(&mut self, now: Time, measured: &Measured) {
        let Some(index) = measured.number.checked_sub(self.trial.first).map(|index| index as usize) else { return };
        if index >= self.trial.count {
            return;
        }
        if measured.app_limited {
            return self.try_rates();
        }
        self.trial.utilities[index] = self.parameters.utility(measured);
        if index + 1 == self.trial.count {
            self.decide(now);
        }
    }

    /// All utilities of the trial are known.
    fn decide(&mut self, now: Time) {
        let [first, second] = self.trial.utilities;
        match self.stage {
            Stage::Opening => {}
            Stage::SlowStart { before } if before.is_none_or(|before| first > before) => {
                self.set(self.rate * 2.0);
                self.stage = Stage::SlowStart { before: Some(first) };
                self.try_rates();
            }
            Stage::SlowStart { .. } => {
                self.set(self.rate * 0.5);
                self.compare(now);
            }
            Stage::Comparing { faster_first } => {
                let (above, below) = if faster_first { (first, second) } else { (second, first) };
                let rate = self.rate.as_mbps();
                let gradient = (above - below) / (2.0 * self.parameters.difference * rate); // gamma
                let change = self.steps.next(&self.parameters, gradient, rate);
                self.set(Rate::from_mbps(rate + change));
                self.compare(now);
            }
        }
    }
}

impl Sender for VivaceSender {
    fn on_open(&mut self, _: Time, rtt: Duration, _: Option<Report>) {
        self.rtt.sample(Some(rtt));
        if self.rtt.seconds().is_some() {
            self.start();
        }
    }

    fn next(&mut self, now: Time, pipe: &Pipe) -> Next {
        if self.stage == Stage::Opening {
            let window = self.parameters.initial_window * self.packet.0 as f64;
            return if (pipe.in_flight + self.packet).0 as f64 <= window { Next::Now } else { Next::AfterAck };
        }
        let due = self.pacer.due(self.present);
        if due > now { Next::At(due) } else { Next::Now }
    }

    fn on_send(&mut self, now: Time, size: Bytes, _: &Pipe) -> Stamp {
        if self.stage != Stage::Opening {
            if now >= self.until && self.packets >= LEAST_PACKETS {
                self.begin(now);
            }
            self.packets += 1;
            self.pacer.on_send(now, size, self.present);
        }
        self.monitor.on_send(size);
        Stamp::None
    }

    fn on_ack(&mut self, now: Time, ack: &Ack) {
        self.rtt.sample(ack.rtt);
        if self.stage == Stage::Opening && self.rtt.seconds().is_some() {
            self.start();
        }
        self.monitor.on_ack(now, ack);
        while let Some(measured) = self.monitor.finished() {
            self.learn(now, &measured);
        }
    }

    /// Section 4.3: if nothing is heard of an interval for too long, the rate is halved. Other losses count in the
    /// utility only.
    fn on_loss(&mut self, now: Time, loss: &Loss) {
        if *loss == Loss::Timeout {
            self.monitor.give_up();
            if self.stage != Stage::Opening {
                self.set(self.rate * 0.5);
                self.steps = Steps::default();
                self.compare(now);
            }
        }
    }

    fn state(&self) -> State {
        let (rate, phase) = match self.stage {
            Stage::Opening => (None, Phase::SlowStart),
            Stage::SlowStart { .. } => (Some(self.present), Phase::SlowStart),
            Stage::Comparing { .. } => (Some(self.present), Phase::CongestionAvoidance),
        };
        State { window: None, rate: rate.filter(|&rate| rate > Rate::ZERO), phase }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;

    const PACKET: Bytes = Bytes(1250);
    const RTT: Duration = Duration::from_millis(100);
    const PIPE: Pipe = Pipe { in_flight: Bytes(0), backlog: PACKET, packet: PACKET, repairing: false };

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    /// A sender that has just learned its RTT: 10 packets of 10,000 bits in 100 ms, 1 Mbps.
    fn started() -> VivaceSender {
        let mut sender = VivaceSender::new(Vivace::default(), PACKET);
        sender.on_open(at(0), RTT, None);
        sender
    }

    /// The trial's intervals have these utilities.
    fn decide(sender: &mut VivaceSender, utilities: [f64; 2]) -> f64 {
        sender.trial.utilities = utilities;
        sender.decide(at(0));
        sender.rate.as_mbps()
    }

    #[test]
    fn the_initial_window_waits_for_the_first_rtt() {
        let mut sender = VivaceSender::new(Vivace::default(), PACKET);
        for in_flight in 0..10 {
            let pipe = Pipe { in_flight: Bytes(in_flight * PACKET.0), ..PIPE };
            assert_eq!(sender.next(at(0), &pipe), Next::Now);
            sender.on_send(at(0), PACKET, &pipe);
        }
        assert_eq!(sender.next(at(0), &Pipe { in_flight: Bytes(10 * PACKET.0), ..PIPE }), Next::AfterAck);
        assert_eq!(started().rate, Rate::from_mbps(1.0));
    }

    /// Of 1, 2 and 4 Mbps the last has less utility: it goes on from 2.
    #[test]
    fn slow_start_doubles_while_the_utility_grows() {
        let mut sender = started();
        assert_eq!([1.0, 2.0, 1.9].map(|utility| decide(&mut sender, [utility, 0.0])), [2.0, 4.0, 2.0]);
        assert_eq!(sender.state().phase, Phase::CongestionAvoidance);
    }

    /// At 100 Mbps, a pair is 10 Mbps apart: utilities that differ by 5 have a gradient of 0.5 per Mbps.
    #[test]
    fn the_rate_moves_towards_the_better_of_a_pair() {
        for (faster_first, utilities, rate) in
            [(true, [5.0, 0.0], 100.5), (true, [0.0, 5.0], 99.5), (false, [5.0, 0.0], 99.5), (false, [0.0, 5.0], 100.5)]
        {
            let mut sender = started();
            sender.set(Rate::from_mbps(100.0));
            sender.stage = Stage::Comparing { faster_first };
            let found = decide(&mut sender, utilities);
            assert!((found - rate).abs() < 1e-9, "{found} instead of {rate} Mbps");
        }
    }

    #[test]
    fn a_timeout_halves_the_rate_but_not_below_two_packets_per_round_trip() {
        let mut sender = started();
        let mut after = || {
            sender.on_loss(at(0), &Loss::Timeout);
            sender.rate.as_mbps()
        };
        assert_eq!([after(), after(), after(), after()], [0.5, 0.25, 0.2, 0.2]);
        sender.on_loss(at(0), &Loss::Event);
        assert_eq!(sender.rate, Rate::from_mbps(0.2));
    }

    /// On a path that is never full, with an RTT of 100 ms: intervals of a round trip, and a decision a round trip
    /// after the last packet of a trial, which leaves about 10 ms before the next interval. In between the sender keeps
    /// its rate.
    #[test]
    fn a_trial_takes_its_intervals_and_a_round_trip() {
        let mut sender = started();
        (sender.rate, sender.stage) = (Rate::from_mbps(1.0), Stage::Comparing { faster_first: true });
        sender.try_rates();
        let (mut now, mut sent, mut rates) = (at(0), VecDeque::new(), Vec::new());
        while now < at(330) {
            if sent.front().is_some_and(|&time| now >= time + RTT) {
                sent.pop_front();
                let in_flight = Bytes(PACKET.0 * sent.len() as u64);
                sender.on_ack(now, &Ack { acked: PACKET, rtt: Some(RTT), in_flight, ..Ack::default() });
            } else if sender.next(now, &PIPE) == Next::Now {
                sender.on_send(now, PACKET, &PIPE);
                sent.push_back(now);
                if rates.last().is_none_or(|&(_, rate)| rate != sender.present.as_mbps()) {
                    rates.push((libm::round(now.as_secs() * 1e3) as u64, sender.present.as_mbps()));
                }
            } else {
                now += Duration::from_micros(100);
            }
        }
        let [(0, 1.05), (105..=106, 0.95), (211..=212, 1.0), (300..=312, next)] = rates[..] else {
            panic!("{rates:?}")
        };
        // Without queue and losses, the utilities are powers, whose gradient is about 0.9: the step is bounded to 5 %.
        assert!([1.05 * 1.05, 1.05 * 0.95].iter().any(|rate| (next - rate).abs() < 1e-9), "{next}");
    }
}
