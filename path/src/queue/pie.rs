//! PIE: a proportional integral controller drops arrivals with a probability that holds the delay at a target (RFC
//! 8033). This is the algorithm of appendix A, and of what section 5 adds: marks (5.1), drops that are spread evenly
//! (5.4), and a bound on the growth of the probability (5.5).
//!
//! The delay is measured by timestamps (section 5.2 calls for the departure rate only where packets have none). PIE is
//! always active: turning it off while the queue is short (section 5.3) is optional.

use super::buffer::Buffer;
use super::codel::Fifo;
use super::discipline::{Drops, Mistake, Queue, Queueing, Site};
use super::ticks::Ticks;
use crate::Packet;
use control::{Bytes, Duration, Time};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// PIE's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Parameters {
    /// QDELAY_REF: the queueing delay that PIE aims at.
    pub target: Duration,
    /// T_UPDATE: how often the probability is computed.
    pub update: Duration,
    /// Weight of the delay's distance from the target, in Hz.
    pub alpha: f64,
    /// Weight of the delay's change since the last update, in Hz.
    pub beta: f64,
    /// MAX_BURST: for how long nothing is dropped after the queue was short.
    pub burst: Duration,
    /// mark_ecnth: packets that are ECN-capable are marked in place of dropped up to this probability, 0 to 1.
    pub mark_limit: f64,
}

impl Default for Parameters {
    /// RFC 8033, section 4 and section 5.1.
    fn default() -> Parameters {
        Parameters {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Duration::from_millis(150),
            mark_limit: 0.1,
        }
    }
}

impl Queueing for Parameters {
    fn check(&self, _: &Site) -> Vec<Mistake> {
        let Parameters { target, update, alpha, beta, mark_limit, .. } = *self;
        let least = Duration::from_micros(100);
        Mistake::unless([
            ("target", target > Duration::ZERO, "is zero; write one like \"15 ms\"".into()),
            ("update", update >= least, format!("{update} is less than {least}; write one like \"15 ms\"")),
            (
                "alpha",
                (0.0..=1000.0).contains(&alpha),
                format!("{alpha} is not within 0 and 1000; write one like 0.125"),
            ),
            ("beta", (0.0..=1000.0).contains(&beta), format!("{beta} is not within 0 and 1000; write one like 1.25")),
            ("mark-limit", (0.0..=1.0).contains(&mark_limit), format!("{mark_limit} is no share; write 0 to 1")),
        ])
    }

    fn queue<P: Packet>(&self, site: &Site, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Pie::new(*self, site, seed))
    }
}

/// A first-in, first-out queue under PIE's control.
#[derive(Debug)]
pub struct Pie<P> {
    fifo: Fifo<P>,
    buffer: Buffer,
    /// Two packets: a queue that is not longer drops nothing.
    short: Bytes,
    parameters: Parameters,
    ticks: Ticks,
    control: Control,
    rng: Xoshiro256PlusPlus,
}

/// PIE's state. The fields have the RFC's names.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    /// The probability of a drop.
    drop_prob: f64,
    /// The sum of the probabilities with which arrivals since the last drop were not dropped.
    accu_prob: f64,
    /// The delay of the packet that left last, seconds; zero if it left nothing behind.
    current_qdelay: f64,
    /// The same at the last update.
    qdelay_old: f64,
    /// For how long nothing is dropped.
    burst_allowance: Duration,
}

impl<P: Packet> Pie<P> {
    /// An empty queue; drops are drawn from `seed`.
    pub fn new(parameters: Parameters, site: &Site, seed: u64) -> Pie<P> {
        Pie {
            fifo: Fifo::new(),
            buffer: site.buffer,
            short: Bytes(2 * site.packet.0),
            parameters,
            ticks: Ticks::every(parameters.update),
            control: Control { burst_allowance: parameters.burst, ..Control::default() },
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// Makes all updates that were due by `now`.
    #[inline]
    fn update(&mut self, now: Time) {
        while self.ticks.next(now).is_some() {
            self.control.calculate_drop_prob(&self.parameters);
            if self.control.is_at_rest() {
                self.ticks.skip(now);
            }
        }
    }

    /// `drop_early` of appendix A, with the de-randomisation of section 5.4.
    fn drop_early(&mut self) -> bool {
        let Control { drop_prob, accu_prob, qdelay_old, .. } = &mut self.control;
        if *drop_prob == 0.0 {
            *accu_prob = 0.0;
        }
        let short = *qdelay_old < self.parameters.target.as_secs() / 2.0 && *drop_prob < 0.2;
        if short || self.fifo.bytes() <= self.short {
            return false;
        }
        *accu_prob += *drop_prob;
        if *accu_prob < 0.85 {
            return false;
        }
        *accu_prob >= 8.5 || uniform(&mut self.rng) < *drop_prob
    }
}

/// A random number in [0, 1).
fn uniform(rng: &mut Xoshiro256PlusPlus) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Control {
    /// `calculate_drop_prob` of appendix A, with the bound of section 5.5.
    fn calculate_drop_prob(&mut self, parameters: &Parameters) {
        let Parameters { target, update, alpha, beta, .. } = *parameters;
        let delay = self.current_qdelay;
        let mut p = alpha * (delay - target.as_secs()) + beta * (delay - self.qdelay_old);
        // Section 4.2: the steps are in proportion to the probability, roughly.
        p /= match self.drop_prob {
            prob if prob < 0.000_001 => 2048.0,
            prob if prob < 0.000_01 => 512.0,
            prob if prob < 0.000_1 => 128.0,
            prob if prob < 0.001 => 32.0,
            prob if prob < 0.01 => 8.0,
            prob if prob < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 {
            p = p.min(0.02); // section 5.5
        }
        self.drop_prob += p;
        if delay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98; // the congestion is over
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.qdelay_old = delay;
        self.burst_allowance = Duration(self.burst_allowance.0.saturating_sub(update.0));
    }

    /// Whether further updates would change nothing until a packet leaves.
    fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0 && self.current_qdelay == 0.0 && self.qdelay_old == 0.0 && self.burst_allowance.0 == 0
    }
}

impl<P: Packet> Queue<P> for Pie<P> {
    fn enqueue(&mut self, now: Time, packet: &P, _: Duration, drops: &mut Drops<P>) {
        self.update(now);
        let half = self.parameters.target.as_secs() / 2.0;
        let Control { drop_prob, current_qdelay, qdelay_old, .. } = self.control;
        if drop_prob == 0.0 && current_qdelay < half && qdelay_old < half {
            self.control.burst_allowance = self.parameters.burst;
        }
        if !self.buffer.has_room(self.fifo.len(), self.fifo.bytes(), packet.size()) {
            self.control.accu_prob = 0.0;
            drops.drop_full(packet);
            return;
        }
        let mut packet = *packet;
        if self.control.burst_allowance == Duration::ZERO && self.drop_early() {
            self.control.accu_prob = 0.0;
            // Section 5.1: above the limit, packets are dropped, whether or not they are ECN-capable.
            if drop_prob > self.parameters.mark_limit {
                drops.drop_early(&packet);
                return;
            }
            if !drops.mark_or_drop(&mut packet) {
                return;
            }
        }
        self.fifo.push(now, &packet);
    }

    fn dequeue(&mut self, now: Time, _: &mut Drops<P>) -> Option<P> {
        self.update(now);
        let (since, packet) = self.fifo.take()?;
        self.control.current_qdelay = if self.fifo.len() == 0 { 0.0 } else { now.since(since).as_secs() };
        Some(packet)
    }

    fn len(&self) -> u64 {
        self.fifo.len()
    }

    fn bytes(&self) -> Bytes {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ecn;
    use crate::testing::Parcel;
    use control::Rate;

    const MS: fn(u64) -> Time = |ms| Time(ms * 1_000_000_000);

    fn pie(buffer: Buffer) -> Pie<Parcel> {
        let site = Site { rate: Rate::from_mbps(8.0), buffer, packet: Bytes(1000) };
        Pie::new(Parameters::default(), &site, 1)
    }

    /// The probabilities after each of these delays, from `control` on.
    fn probabilities(mut control: Control, delays: &[f64]) -> Vec<f64> {
        let after = |&delay: &f64| {
            control.current_qdelay = delay;
            control.calculate_drop_prob(&Parameters::default());
            control.drop_prob
        };
        delays.iter().map(after).collect()
    }

    #[track_caller]
    fn near(found: &[f64], expected: &[f64]) {
        let close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-9 * expected.abs().max(1e-6);
        assert!(found.iter().zip(expected).all(close), "{found:?}, not {expected:?}");
    }

    #[test]
    fn the_probability_follows_delay_and_target_in_steps_that_fit_it() {
        // 45 ms for long: 0.125 x 30 ms = 0.00375 per update, over 2048 at 0, 512 from 1e-6, 128 from 1e-5, 32 from
        // 1e-4.
        let step = 0.00375;
        let first = step / 2048.0; // 1.83e-6
        let third = first + 2.0 * step / 512.0; // 1.65e-5
        let sixth = third + 3.0 * step / 128.0; // 1.04e-4
        let steady = Control { qdelay_old: 0.045, ..Control::default() };
        let expected =
            [first, first + step / 512.0, third, third + step / 128.0, third + step / 64.0, sixth, sixth + step / 32.0];
        near(&probabilities(steady, &[0.045; 7]), &expected);
        // From 15 to 25 ms: 0.125 x 10 ms + 1.25 x 10 ms = 0.01375, over 2 from 0.01 on, and itself from 0.1 on.
        let at = |drop_prob| Control { drop_prob, qdelay_old: 0.015, ..Control::default() };
        near(&probabilities(at(0.05), &[0.025]), &[0.05 + 0.01375 / 2.0]);
        near(&probabilities(at(0.3), &[0.025]), &[0.31375]);
        // From 15 ms to a second: by 2 % at most from 0.1 on, and to 1 at most.
        near(&probabilities(at(0.3), &[1.0, 1.0, 1.0]), &[0.32, 0.34, 0.36]);
        near(&probabilities(at(0.99), &[1.0]), &[1.0]);
        // No delay: -0.125 x 15 ms, then 2 % less.
        let idle = Control { drop_prob: 0.5, ..Control::default() };
        near(&probabilities(idle, &[0.0]), &[(0.5 - 0.001875) * 0.98]);
        near(&probabilities(Control::default(), &[0.0]), &[0.0]);
    }

    /// A queue of 100 packets with this probability, in which nothing changes.
    fn frozen(drop_prob: f64) -> Pie<Parcel> {
        let mut pie = pie(Buffer::UNLIMITED);
        (0..100).for_each(|id| pie.fifo.push(Time::ZERO, &Parcel::new(id)));
        pie.control = Control { drop_prob, current_qdelay: 0.02, qdelay_old: 0.02, ..Control::default() };
        pie
    }

    #[test]
    fn drops_are_neither_close_together_nor_far_apart() {
        // Section 5.4: the sum of the probabilities is 0.85 to 8.5 at a drop, so 9 to 85 arrivals at 0.1.
        let (mut pie, mut drops) = (frozen(0.1), Drops::default());
        let (mut last, mut gaps) = (0, Vec::new());
        for i in 1..=50_000 {
            let before = drops.early;
            pie.enqueue(Time::ZERO, &Parcel::new(i), Duration::ZERO, &mut drops);
            if drops.early > before {
                gaps.push(i - std::mem::replace(&mut last, i));
            }
        }
        let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
        assert!(*least >= 9 && *least <= 10 && *most <= 85, "{least} to {most}");
        // After 8 arrivals that cannot be dropped, one in ten is: 18 on average.
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        assert!((mean - 18.0).abs() < 0.6, "{mean}");
    }

    #[test]
    fn packets_are_marked_up_to_a_probability_of_a_tenth_and_dropped_above() {
        for (drop_prob, marks) in [(0.1, true), (0.11, false)] {
            let (mut pie, mut drops) = (frozen(drop_prob), Drops::default());
            let capable = Parcel { ecn: Ecn::Ect0, ..Parcel::new(7) };
            (0..1000).for_each(|_| pie.enqueue(Time::ZERO, &capable, Duration::ZERO, &mut drops));
            assert!((drops.marked > 30) == marks && (drops.early > 30) != marks, "{drops:?}");
            assert_eq!(pie.len(), 1100 - drops.early);
        }
    }

    #[test]
    fn a_burst_passes() {
        // Ten packets arrive per millisecond, and one leaves: nothing is dropped for 150 ms, and then packets are.
        let (mut pie, mut drops) = (pie(Buffer::UNLIMITED), Drops::default());
        let mut early = Vec::new();
        for ms in 0..600 {
            (0..10).for_each(|i| pie.enqueue(MS(ms), &Parcel::new(i), Duration::ZERO, &mut drops));
            pie.dequeue(MS(ms), &mut drops);
            early.push(drops.early);
        }
        assert_eq!(early[150], 0);
        assert!(early[599] > 100, "{}", early[599]);
    }

    #[test]
    fn after_a_long_idle_time_the_work_is_bounded_and_the_burst_allowance_is_back() {
        let (mut pie, mut drops) = (frozen(1.0), Drops::default());
        while pie.dequeue(MS(1), &mut drops).is_some() {}
        pie.enqueue(MS(10_000_000), &Parcel::new(0), Duration::ZERO, &mut drops);
        assert_eq!((pie.control.drop_prob, pie.control.burst_allowance), (0.0, Duration::from_millis(150)));
        assert_eq!(drops, Drops::default());
    }

    #[test]
    fn a_full_buffer_drops_the_newest() {
        let (mut pie, mut drops) = (pie(Buffer::Packets(3)), Drops::default());
        let capable = |id| Parcel { ecn: Ecn::Ect0, ..Parcel::new(id) };
        (0..5).for_each(|id| pie.enqueue(Time::ZERO, &capable(id), Duration::ZERO, &mut drops));
        assert_eq!((drops.full, drops.early, drops.marked, pie.len()), (2, 0, 0, 3));
    }
}
