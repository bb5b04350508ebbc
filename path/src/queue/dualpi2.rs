//! DualPI2: a queue for L4S traffic and one for all other traffic, whose signals are coupled so that flows of both
//! share the link (RFC 9332; appendix A has the algorithm, A.2 with what it does under overload).
//!
//! A proportional integral controller holds the delay of the classic queue C at its target by a probability p'. Packets
//! in C are dropped or marked with p'^2, to which classic senders respond as scalable ones do to p'. Packets in the L4S
//! queue L are marked with k p', or by the time that they have waited themselves if that asks for more.

use super::buffer::Buffer;
use super::codel::Fifo;
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use super::ticks::Ticks;
use crate::Packet;
use control::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DualPI2's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// The queueing delay that the classic queue aims at.
    pub target: Duration,
    /// Tupdate: how often the probabilities are computed.
    pub update: Duration,
    /// Weight of the delay's distance from the target, in Hz.
    pub alpha: f64,
    /// Weight of the delay's change since the last update, in Hz.
    pub beta: f64,
    /// k: how many times as likely a mark in the L4S queue is as the root of the probability in the classic one.
    pub coupling: f64,
    /// minTh: an L4S packet that has waited for longer may be marked for that.
    pub min_threshold: Duration,
    /// maxTh: an L4S packet that has waited for as long is marked. Linux has a step at 1 ms, which is "1 ms" for both
    /// thresholds.
    pub max_threshold: Duration,
    /// The share of bytes that the classic queue sends while both queues have packets, 0 to 1; the L4S queue has the
    /// rest, and its packets go first otherwise.
    pub classic_share: f64,
    /// If given, the packet that has waited longest goes next, where those in the L4S queue count as this much older
    /// (a time-shifted FIFO); by default turns follow `classic-share`.
    pub time_shift: Option<Duration>,
}

impl Default for Parameters {
    /// RFC 9332, appendix A.1, for round-trip times of up to RTT_max = 100 ms: alpha = 0.1 Tupdate / RTT_max^2, beta =
    /// 0.3 / RTT_max. Tupdate is Linux's, and so is the share.
    fn default() -> Parameters {
        Parameters {
            target: Duration::from_millis(15),
            update: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.0,
            coupling: 2.0,
            min_threshold: Duration::from_micros(800),
            max_threshold: Duration::from_micros(1200),
            classic_share: 0.1,
            time_shift: None,
        }
    }
}

impl Queueing for Parameters {
    fn check(&self, _: &Site) -> Vec<Mistake> {
        let Parameters { target, update, alpha, beta, coupling, min_threshold, max_threshold, classic_share, .. } =
            *self;
        let least = Duration::from_micros(100);
        let gain = |value: f64| (0.0..=1000.0).contains(&value);
        let no_gain = |value: f64| format!("{value} is not within 0 and 1000; write one like 0.16");
        Mistake::unless([
            ("target", target > Duration::ZERO, "is zero; write one like \"15 ms\"".into()),
            ("update", update >= least, format!("{update} is less than {least}; write one like \"16 ms\"")),
            ("alpha", gain(alpha), no_gain(alpha)),
            ("beta", gain(beta), no_gain(beta)),
            // With less than 1, neither queue would ever reach its p_max, at which overload begins.
            ("coupling", (1.0..=100.0).contains(&coupling), format!("{coupling} is not within 1 and 100; write 2")),
            (
                "max-threshold",
                max_threshold >= min_threshold,
                format!("{max_threshold} is less than min-threshold = {min_threshold}; write as much or more"),
            ),
            ("classic-share", (0.0..=1.0).contains(&classic_share), format!("{classic_share} is no share; write 0.1")),
        ])
    }

    fn queue<P: Packet>(&self, site: &Site, _: u64) -> Box<dyn Queue<P>> {
        Box::new(DualPi2::new(*self, site.buffer))
    }
}

/// See the [module](self).
#[derive(Debug)]
pub struct DualPi2<P> {
    l4s: Half<P>,
    classic: Half<P>,
    buffer: Buffer,
    parameters: Parameters,
    ticks: Ticks,
    coupled: Coupled,
    /// By how many bytes the classic queue has sent less than its share, since both queues have had packets.
    owed: f64,
}

/// One of the two queues.
#[derive(Debug)]
struct Half<P> {
    fifo: Fifo<P>,
    /// The sum of the likelihoods of signals since the last one.
    count: f64,
}

/// The probabilities that couple the queues. The names are the RFC's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Coupled {
    /// p', of which the others are functions.
    base: f64,
    /// p_CL: that of a mark in the L4S queue.
    p_cl: f64,
    /// p_C: that of a drop or a mark in the classic queue.
    p_c: f64,
    /// prevq: the delay at the last update, seconds.
    prevq: f64,
}

impl Coupled {
    /// `dualpi2_update`: the delay is `curq` seconds.
    fn update(&mut self, parameters: &Parameters, curq: f64) {
        let Parameters { target, alpha, beta, coupling, .. } = *parameters;
        let base = self.base + alpha * (curq - target.as_secs()) + beta * (curq - self.prevq);
        let base = base.clamp(0.0, 1.0);
        *self = Coupled { base, p_cl: coupling * base, p_c: base * base, prevq: curq };
    }
}

impl<P: Packet> Half<P> {
    fn new() -> Half<P> {
        Half { fifo: Fifo::new(), count: 0.0 }
    }

    /// How long the first packet has waited, in seconds.
    fn delay(&self, now: Time) -> f64 {
        self.fifo.first_since().map_or(0.0, |since| now.since(since).as_secs())
    }

    /// `recur`: whether this packet is the one to signal with, so that their share is `likelihood`.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood.min(1.0);
        let recurs = self.count > 1.0;
        if recurs {
            self.count -= 1.0;
        }
        recurs
    }
}

impl<P: Packet> DualPi2<P> {
    /// Empty queues.
    pub fn new(parameters: Parameters, buffer: Buffer) -> DualPi2<P> {
        DualPi2 {
            l4s: Half::new(),
            classic: Half::new(),
            buffer,
            parameters,
            ticks: Ticks::every(parameters.update),
            coupled: Coupled::default(),
            owed: 0.0,
        }
    }

    /// Makes all updates that were due by `now`.
    #[inline]
    fn update(&mut self, now: Time) {
        while let Some(due) = self.ticks.next(now) {
            // Appendix A.2: L4S traffic alone can overload the link, too.
            let curq = self.classic.delay(due).max(self.l4s.delay(due));
            self.coupled.update(&self.parameters, curq);
            if self.is_empty() && self.coupled == Coupled::default() {
                self.ticks.skip(now);
            }
        }
    }

    /// Whether the L4S queue sends next. At least one of the queues has a packet.
    fn is_turn_of_l4s(&self, now: Time) -> bool {
        let Some(l4s) = self.l4s.fifo.first_since() else { return false };
        let Some(classic) = self.classic.fifo.first_since() else { return true };
        match self.parameters.time_shift {
            Some(shift) => now.since(l4s) + shift >= now.since(classic),
            None => self.owed <= 0.0,
        }
    }

    /// Notes that a packet of `size` leaves, for the shares of the queues while both have packets.
    fn share(&mut self, from_l4s: bool, size: Bytes) {
        let share = self.parameters.classic_share;
        if self.l4s.fifo.len() == 0 || self.classic.fifo.len() == 0 {
            self.owed = 0.0;
        } else if from_l4s {
            self.owed += share * size.0 as f64;
        } else {
            self.owed -= (1.0 - share) * size.0 as f64;
        }
    }

    /// `laqm`: the likelihood of a mark for the time that a packet has waited.
    fn ramp(&self, waited: Duration) -> f64 {
        let Parameters { min_threshold, max_threshold, .. } = self.parameters;
        if waited >= max_threshold {
            1.0
        } else if waited > min_threshold {
            (waited - min_threshold).as_secs() / (max_threshold - min_threshold).as_secs()
        } else {
            0.0
        }
    }

    /// Whether `packet` of the L4S queue goes on after it waited for `waited`.
    fn passes_l4s(&mut self, waited: Duration, packet: &mut P, drops: &mut Drops<P>) -> bool {
        let Coupled { p_cl, p_c, .. } = self.coupled;
        // Th_len: a packet that leaves none behind has waited for the packet before it, however slow the link is.
        let native = if self.l4s.fifo.len() == 0 { 0.0 } else { self.ramp(waited) };
        // p_Lmax = 1: once all are marked, marks say no more, and packets are dropped as in the classic queue.
        if p_cl >= 1.0 && self.l4s.recurs(p_c) {
            drops.drop_early(packet);
            return false;
        }
        if self.l4s.recurs(native.max(p_cl)) {
            drops.mark(packet);
        }
        true
    }

    /// Whether `packet` of the classic queue goes on.
    fn passes_classic(&mut self, packet: &mut P, drops: &mut Drops<P>) -> bool {
        let p_c = self.coupled.p_c;
        if !self.classic.recurs(p_c) {
            return true;
        }
        // p_Cmax = 1/k^2: under overload, marks are not enough.
        let k = self.parameters.coupling;
        if p_c * k * k >= 1.0 {
            drops.drop_early(packet);
            return false;
        }
        drops.mark_or_drop(packet)
    }
}

impl<P: Packet> Queue<P> for DualPi2<P> {
    fn enqueue(&mut self, now: Time, packet: &P, _: Duration, drops: &mut Drops<P>) {
        self.update(now);
        if !self.buffer.has_room(self.len(), self.bytes(), packet.size()) {
            drops.drop_full(packet);
            return;
        }
        let half = if packet.ecn().is_l4s() { &mut self.l4s } else { &mut self.classic };
        half.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P> {
        self.update(now);
        while !self.is_empty() {
            let from_l4s = self.is_turn_of_l4s(now);
            let half = if from_l4s { &mut self.l4s } else { &mut self.classic };
            let (since, mut packet) = half.fifo.take()?;
            let passes = match from_l4s {
                true => self.passes_l4s(now.since(since), &mut packet, drops),
                false => self.passes_classic(&mut packet, drops),
            };
            if passes {
                self.share(from_l4s, packet.size());
                return Some(packet);
            }
        }
        None
    }

    fn len(&self) -> u64 {
        self.l4s.fifo.len() + self.classic.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.l4s.fifo.bytes() + self.classic.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::testing::Parcel;

    const US: fn(u64) -> Time = |us| Time(us * 1_000_000);

    fn parcel(id: u64, ecn: Ecn) -> Parcel {
        Parcel { ecn, ..Parcel::new(id) }
    }

    fn dual(parameters: Parameters) -> DualPi2<Parcel> {
        DualPi2::new(parameters, Buffer::UNLIMITED)
    }

    /// Queues of this many L4S packets and of this many classic ones, with this p' for as long as no update is due.
    fn standing(parameters: Parameters, base: f64, l4s: u64, classic: u64, ecn: Ecn) -> DualPi2<Parcel> {
        let mut dual = dual(Parameters { update: Duration::from_millis(1_000_000), ..parameters });
        let mut drops = Drops::default();
        (0..l4s).for_each(|id| dual.enqueue(Time::ZERO, &parcel(id, Ecn::Ect1), Duration::ZERO, &mut drops));
        (0..classic).for_each(|id| dual.enqueue(Time::ZERO, &parcel(id, ecn), Duration::ZERO, &mut drops));
        dual.coupled = Coupled { base, p_cl: parameters.coupling * base, p_c: base * base, prevq: 0.0 };
        dual
    }

    #[test]
    fn the_probabilities_follow_the_delay() {
        let parameters = Parameters::default();
        let mut coupled = Coupled::default();
        // 0.16 x (25 - 15) ms + 3 x 25 ms = 0.0766; then 0.0016 more for a delay that stays.
        for base in [0.0766, 0.0782] {
            coupled.update(&parameters, 0.025);
            let Coupled { base: found, p_cl, p_c, .. } = coupled;
            assert!((found - base).abs() < 1e-12 && (p_cl - 2.0 * base).abs() < 1e-12, "{coupled:?}");
            assert!((p_c - base * base).abs() < 1e-12, "{coupled:?}");
        }
        // The queue is empty: - 0.16 x 15 ms - 3 x 25 ms = -0.0774; then -0.0024, but not below 0.
        coupled.update(&parameters, 0.0);
        assert!((coupled.base - 0.0008).abs() < 1e-12, "{coupled:?}");
        coupled.update(&parameters, 0.0);
        assert_eq!(coupled, Coupled::default());
        coupled.update(&parameters, 10.0);
        assert_eq!((coupled.base, coupled.p_cl, coupled.p_c), (1.0, 2.0, 1.0));
    }

    #[test]
    fn updates_see_the_delay_of_the_first_packet_at_their_time() {
        let (mut dual, mut drops) = (dual(Parameters::default()), Drops::default());
        dual.enqueue(US(6_000), &parcel(0, Ecn::NotEct), Duration::ZERO, &mut drops);
        // At 16 ms 10 ms: -0.0008 + 0.03; at 32 ms 26 ms: 0.00176 + 0.048.
        dual.enqueue(US(40_000), &parcel(1, Ecn::NotEct), Duration::ZERO, &mut drops);
        assert!((dual.coupled.base - (0.0292 + 0.04976)).abs() < 1e-12, "{:?}", dual.coupled);
        // Long after both have left, p' is 0 again.
        dual.dequeue(US(40_000), &mut drops);
        dual.dequeue(US(40_000), &mut drops);
        dual.enqueue(US(1_000_000_000_000), &parcel(2, Ecn::NotEct), Duration::ZERO, &mut drops);
        assert_eq!(dual.coupled, Coupled::default());
    }

    #[test]
    fn classic_packets_are_signalled_with_the_square_and_l4s_packets_with_twice_the_root() {
        // p' = 0.1: one of 100 classic packets, and one of 5 L4S packets, at regular distances.
        for (ecn, marked, dropped) in [(Ecn::Ect0, 10, 0), (Ecn::NotEct, 0, 10)] {
            let mut dual = standing(Parameters::default(), 0.1, 0, 1001, ecn);
            let mut drops = Drops::default();
            while dual.dequeue(Time::ZERO, &mut drops).is_some() {}
            assert_eq!((drops.marked, drops.early), (marked, dropped));
        }
        let mut dual = standing(Parameters::default(), 0.1, 1001, 0, Ecn::NotEct);
        let mut drops = Drops::default();
        let marks = std::iter::from_fn(|| dual.dequeue(Time::ZERO, &mut drops)).map(|packet| packet.ecn == Ecn::Ce);
        let at: Vec<_> = marks.enumerate().filter_map(|(i, marked)| marked.then_some(i)).collect();
        assert!(at.windows(2).all(|pair| pair[1] - pair[0] == 5) && at.len() == 200, "{} {at:?}", at.len());
    }

    #[test]
    fn l4s_packets_are_marked_for_the_time_that_they_have_waited() {
        let share = |parameters, waited| {
            let mut dual = standing(parameters, 0.0, 1001, 0, Ecn::NotEct);
            let mut drops = Drops::default();
            (0..1000).for_each(|_| assert!(dual.dequeue(US(waited), &mut drops).is_some()));
            drops.marked
        };
        // The ramp from 0.8 to 1.2 ms: nothing, a quarter, three quarters, all. The first of a regular sequence is
        // late.
        for (waited, marked) in [(800, 0), (900, 249), (1100, 749), (1200, 999), (5000, 999)] {
            assert_eq!(share(Parameters::default(), waited), marked, "{waited}");
        }
        let one = Duration::from_millis(1);
        let step = Parameters { min_threshold: one, max_threshold: one, ..Parameters::default() };
        assert_eq!((share(step, 999), share(step, 1000)), (0, 999));
        // A packet that is alone is not marked for its own transmission.
        let mut dual = standing(step, 0.0, 1, 0, Ecn::NotEct);
        assert_eq!(dual.dequeue(US(5000), &mut Drops::default()).unwrap().ecn, Ecn::Ect1);
    }

    #[test]
    fn under_overload_both_queues_drop() {
        // p' = 0.5: p_CL = 1 and p_C = 0.25 = p_Cmax. A quarter is dropped in both queues, whatever the ECN field says.
        let mut dual = standing(Parameters::default(), 0.5, 0, 1001, Ecn::Ect0);
        let mut drops = Drops::default();
        while dual.dequeue(Time::ZERO, &mut drops).is_some() {}
        assert_eq!((drops.marked, drops.early), (0, 250));
        let mut dual = standing(Parameters::default(), 0.5, 1001, 0, Ecn::NotEct);
        let mut drops = Drops::default();
        while dual.dequeue(Time::ZERO, &mut drops).is_some() {}
        assert!((drops.early as i64 - 250).abs() <= 1 && drops.marked + drops.early >= 1000, "{drops:?}");
    }

    #[test]
    fn queues_take_turns_by_their_shares_or_by_the_shifted_time() {
        let mut dual = standing(Parameters::default(), 0.0, 2000, 2000, Ecn::NotEct);
        let mut drops = Drops::default();
        let l4s = (0..1000).filter(|_| dual.dequeue(Time::ZERO, &mut drops).unwrap().ecn == Ecn::Ect1).count();
        assert_eq!(l4s, 900);
        // 40 ms ahead: the L4S packets of 0 to 10 ms go before the classic ones of 0 ms as long as these are 40 ms
        // older.
        let shifted = Parameters { time_shift: Some(Duration::from_millis(40)), ..Parameters::default() };
        let mut dual = standing(shifted, 0.0, 0, 1, Ecn::NotEct);
        dual.enqueue(US(40_000), &parcel(1, Ecn::Ect1), Duration::ZERO, &mut drops);
        dual.enqueue(US(40_001), &parcel(2, Ecn::Ect1), Duration::ZERO, &mut drops);
        let order: Vec<_> = std::iter::from_fn(|| dual.dequeue(US(50_000), &mut drops)).map(|p| p.ecn).collect();
        assert_eq!(order.len(), 3);
        assert_eq!(order[..2], [Ecn::Ect1, Ecn::NotEct]);
    }

    #[test]
    fn the_queues_share_a_buffer_and_a_full_one_drops() {
        let mut dual = DualPi2::new(Parameters::default(), Buffer::Packets(3));
        let mut drops = Drops::default();
        for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::NotEct, Ecn::Ce] {
            dual.enqueue(Time::ZERO, &parcel(0, ecn), Duration::ZERO, &mut drops);
        }
        assert_eq!((drops.full, drops.early, drops.marked, dual.len()), (3, 0, 0, 3));
        assert_eq!((dual.l4s.fifo.len(), dual.classic.fifo.len()), (1, 2));
    }
}
