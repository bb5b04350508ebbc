//! The queue with random early detection.

use super::settings::{Adaptation, Settings};
use crate::Packet;
use crate::queue::buffer::Buffer;
use crate::queue::discipline::{Drops, Queue};
use crate::queue::droptail::DropTail;
use control::{Bytes, Duration, Time};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Adaptation raises `max_p` to this at most ("Adaptive RED", figure 1).
const TOP: f64 = 0.5;
/// The most that `max_p` is increased by at a time.
const ALPHA: f64 = 0.01;
/// The factor by which `max_p` is decreased.
const BETA: f64 = 0.9;

/// A first-in, first-out queue with random early detection.
#[derive(Debug)]
pub struct Red<P> {
    pub(crate) fifo: DropTail<P>,
    settings: Settings,
    max_p: f64,
    average: f64,
    /// Arrivals since the last drop; none while the average is below the lower threshold (-1 in the paper).
    count: Option<f64>,
    /// When `max_p` is adapted next.
    adapt_at: Time,
    rng: Xoshiro256PlusPlus,
}

impl<P: Packet> Red<P> {
    /// An empty queue; drops are drawn from `seed`.
    pub fn new(settings: Settings, buffer: Buffer, seed: u64) -> Red<P> {
        Red {
            fifo: DropTail::new(buffer),
            settings,
            max_p: settings.max_p,
            average: 0.0,
            count: None,
            adapt_at: Time::ZERO,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    fn update_average(&mut self, idle: Duration) {
        let w = self.settings.weight;
        if idle == Duration::ZERO {
            self.average += w * (self.fifo.len() as f64 - self.average);
        } else {
            // The average ages as if m packets had arrived at an empty queue, as many as the link could have sent: (1 -
            // w)^m.
            let m = idle.0 as f64 / self.settings.packet_time.0.max(1) as f64;
            self.average *= libm::exp(m * libm::log1p(-w));
        }
    }

    /// Whether this arrival is marked or dropped, although the buffer may have room.
    fn signals(&mut self) -> bool {
        let Settings { min, max, gentle, wait, .. } = self.settings;
        let (average, max_p) = (self.average, self.max_p);
        // A queue that has just run empty has an average that is still high. Floyd's implementation in ns-2, and
        // ns-3's, drop nothing unless two packets wait.
        let p = if average < min || self.fifo.len() < 2 {
            self.count = None;
            return false;
        } else if average < max {
            max_p * (average - min) / (max - min)
        } else if gentle && average < 2.0 * max {
            max_p + (1.0 - max_p) * (average - max) / max
        } else {
            return true;
        };
        // The number of arrivals between drops is distributed uniformly from 1 to 1/p, not geometrically (the second
        // method of the 1993 paper).
        let count = self.count.map_or(0.0, |count| count + 1.0);
        self.count = Some(count);
        let waited = if wait { 1.0 } else { 0.0 };
        let left = 1.0 + waited - count * p;
        count * p >= waited && (left <= 0.0 || self.uniform() < p / left)
    }

    /// Figure 1 of "Adaptive RED", at the first arrival after each interval: without arrivals, `max_p` has no effect.
    fn adapt(&mut self, now: Time, adaptation: &Adaptation) {
        if now < self.adapt_at {
            return;
        }
        self.adapt_at = now + adaptation.interval;
        let Settings { min, max, .. } = self.settings;
        let (low, high) = (min + 0.4 * (max - min), min + 0.6 * (max - min));
        if self.average > high {
            self.max_p = (self.max_p + ALPHA.min(self.max_p / 4.0)).min(TOP);
        } else if self.average < low {
            self.max_p = (self.max_p * BETA).max(adaptation.bottom);
        }
    }

    /// A random number in [0, 1).
    fn uniform(&mut self) -> f64 {
        (self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }
}

impl<P: Packet> Queue<P> for Red<P> {
    fn enqueue(&mut self, now: Time, packet: &P, idle: Duration, drops: &mut Drops<P>) {
        self.update_average(idle);
        if let Some(adaptation) = self.settings.adaptation {
            self.adapt(now, &adaptation);
        }
        // A packet for which the buffer has no room is dropped, whatever its ECN field says (RFC 3168, section 7).
        let signals = self.signals();
        if !self.fifo.has_room(packet.size()) {
            self.count = Some(0.0);
            let early = signals && !packet.ecn().is_capable();
            if early {
                drops.drop_early(packet)
            } else {
                drops.drop_full(packet)
            }
            return;
        }
        let mut packet = *packet;
        if signals {
            self.count = Some(0.0);
            if !drops.mark_or_drop(&mut packet) {
                return;
            }
        }
        self.fifo.push_with(packet.size(), || packet);
    }

    fn dequeue(&mut self, _: Time, _: &mut Drops<P>) -> Option<P> {
        self.fifo.take()
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

    const FIXED: Settings = Settings {
        min: 5.0,
        max: 15.0,
        max_p: 0.1,
        weight: 1.0,
        gentle: true,
        wait: false,
        packet_time: Duration::from_millis(1),
        adaptation: None,
    };

    /// A queue that holds `length` packets.
    fn with_average(settings: Settings, length: u64) -> Red<Parcel> {
        let mut red = Red::new(settings, Buffer::UNLIMITED, 7);
        (0..length).for_each(|i| {
            red.fifo.push_with(Bytes(1000), || Parcel::new(i));
        });
        red
    }

    /// The share of arrivals dropped while `length` packets wait. With a weight of 1, the average is that length.
    fn share_dropped(settings: Settings, length: u64) -> f64 {
        let mut red = with_average(settings, length);
        let mut drops = Drops::default();
        for _ in 0..100_000 {
            red.enqueue(Time::ZERO, &Parcel::new(0), Duration::ZERO, &mut drops);
            while red.fifo.len() > length {
                red.fifo.pop();
            }
        }
        drops.early as f64 / 100_000.0
    }

    /// The number of arrivals between drops is uniform in 1 to 1/p - 1 (the first arrival after a drop counts as 1), so
    /// that its mean is 1/(2p).
    #[test]
    fn drops_as_many_as_the_thresholds_say() {
        for (length, p) in [(10, 0.05), (14, 0.09), (15, 0.1), (21, 0.1 + 0.9 * 0.4)] {
            let share = share_dropped(FIXED, length);
            let expected = 2.0 * p;
            // Where p is not small, it matters that the number of arrivals is a whole number.
            let band = if p < 0.2 { 0.03 } else { 0.15 };
            assert!((share / expected - 1.0).abs() < band, "at {length}: {share}, not {expected}");
        }
        // With `wait`, the number of arrivals is uniform in 1/p to 2/p.
        for (length, p) in [(10, 0.05), (14, 0.09)] {
            let share = share_dropped(Settings { wait: true, ..FIXED }, length);
            assert!((share / (p / 1.5) - 1.0).abs() < 0.03, "at {length}: {share}");
        }
        // Whatever the average, nothing is dropped while fewer than two packets wait.
        assert_eq!(share_dropped(Settings { min: 0.0, ..FIXED }, 1), 0.0);
        assert_eq!(share_dropped(FIXED, 4), 0.0);
        assert_eq!(share_dropped(FIXED, 30), 1.0);
        assert_eq!(share_dropped(Settings { gentle: false, ..FIXED }, 15), 1.0);
    }

    /// DCTCP's switch: min = max, a weight of 1, no gentle slope. And what is not ECN-capable is dropped.
    #[test]
    fn with_equal_thresholds_it_marks_whatever_finds_that_many_packets() {
        let settings = Settings { min: 20.0, max: 20.0, gentle: false, ..FIXED };
        let mut red = Red::new(settings, Buffer::Packets(30), 7);
        let mut drops = Drops::default();
        let parcel = |id, ecn| Parcel { ecn, ..Parcel::new(id) };
        (0..32).for_each(|id| red.enqueue(Time::ZERO, &parcel(id, Ecn::Ect1), Duration::ZERO, &mut drops));
        // The first 20 find fewer than 20 before them; the last two find the buffer full.
        assert_eq!((drops.marked, drops.early, drops.full, red.fifo.len()), (10, 0, 2, 30));
        let marked: Vec<bool> = std::iter::from_fn(|| red.fifo.take()).map(|packet| packet.ecn == Ecn::Ce).collect();
        assert_eq!(marked, (0..30).map(|id| id >= 20).collect::<Vec<_>>());
        (0..21).for_each(|id| red.enqueue(Time::ZERO, &parcel(id, Ecn::NotEct), Duration::ZERO, &mut drops));
        assert_eq!((drops.marked, drops.early, red.fifo.len()), (10, 1, 20));
    }

    #[test]
    fn no_two_drops_are_farther_apart_than_one_over_p() {
        let mut red = with_average(FIXED, 10);
        let (mut drops, mut before, mut longest) = (Drops::default(), 0, 0);
        for i in 0..100_000 {
            let dropped = drops.early;
            red.enqueue(Time::ZERO, &Parcel::new(0), Duration::ZERO, &mut drops);
            if drops.early > dropped {
                longest = longest.max(i - before);
                before = i;
            } else {
                red.fifo.pop();
            }
        }
        assert!(longest == 19, "{longest}");
    }

    #[test]
    fn the_average_is_exponential_and_ages_while_the_link_is_idle() {
        let w = 0.002;
        let mut red: Red<Parcel> = with_average(Settings { weight: w, min: 1e9, max: 2e9, ..FIXED }, 100);
        let mut drops = Drops::default();
        for _ in 0..500 {
            red.enqueue(Time::ZERO, &Parcel::new(0), Duration::ZERO, &mut drops);
            red.fifo.pop();
        }
        let expected = 100.0 * (1.0 - (1.0f64 - w).powi(500));
        assert!((red.average - expected).abs() < 1e-9, "{} instead of {expected}", red.average);
        while red.fifo.take().is_some() {}
        // A second is the time of a thousand packets.
        red.enqueue(Time::ZERO, &Parcel::new(0), Duration::from_secs(1.0), &mut drops);
        let aged = expected * (1.0f64 - w).powi(1000);
        assert!((red.average / aged - 1.0).abs() < 1e-9, "{} instead of {aged}", red.average);
    }

    #[test]
    fn max_p_goes_up_by_addition_and_down_by_multiplication() {
        let adaptation = Some(Adaptation { interval: Duration::from_millis(500), bottom: 0.01 });
        let mut drops = Drops::default();
        let mut after = |length, start, intervals: u64| {
            let mut red = with_average(Settings { max_p: start, adaptation, ..FIXED }, length);
            for i in 0..intervals {
                // Twice per interval: only one counts.
                for half in 0..2 {
                    let now = Time(500_000_000_000 * i + 250_000_000_000 * half);
                    red.enqueue(now, &Parcel::new(0), Duration::ZERO, &mut drops);
                    while red.fifo.len() > length {
                        red.fifo.pop();
                    }
                }
            }
            red.max_p
        };
        assert!((after(14, 0.1, 3) - 0.13).abs() < 1e-12, "above the target");
        assert!((after(14, 0.02, 1) - 0.025).abs() < 1e-12, "by a quarter at most");
        assert!((after(6, 0.1, 3) - 0.0729).abs() < 1e-12, "below the target");
        assert_eq!(after(10, 0.1, 3), 0.1, "on target");
        assert_eq!((after(14, 0.1, 100), after(6, 0.1, 100)), (0.5, 0.01));
    }
}
