//! How often packets arrive where a path or a host hands them on in batches: a Wi-Fi access point that aggregates
//! frames, a cable modem that waits for its turn, interrupt coalescing. All times shorter than that between two batches
//! are lost, so that a stream of single packets shows nothing unless it lasts for many batches. The sender hears of it
//! and sends bursts instead ([`Bursts`](super::bursts::Bursts)).
//!
//! The time between batches follows from four batches of several packets, or from a single stream, if at least half of
//! its packets came in batches.

use super::bunches::{Bunches, PACKETS_PER_FOLLOWER};
use super::sample::Sample;
use crate::units::{Duration, Time};

/// The number of batches of several packets of which the shortest time counts.
const BATCHES: u32 = 4;

/// For so long after batches were seen, the path is taken to have some still, as bursts that are a batch's time apart
/// do not show them. It is longer than the time after which the sender shortens its bursts to find out.
const MEMORY: Duration = Duration::from_millis(60_000);

/// A gap that is longer than the sender's by less than one over this counts as the sender's: clocks differ.
const CLOCKS: u64 = 16;

/// A single stream shows the time between batches if a packet was held back for at least so many sixteenths of the
/// shortest gap before a batch. Where gaps halve, those after one of them add up to a little less than it.
const LEAST_HELD_BACK: u64 = 7;

/// Watches the arrivals of a flow, packet by packet, or burst by burst where the sender sends bursts.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Which packets arrived together with the one before them.
    bunches: Bunches,
    /// When the last packet arrived, and the first packets of the present and of the previous batch.
    last: Option<Time>,
    /// When the last packet was sent.
    last_sent: Time,
    begins: [Option<Time>; 2],
    /// Whether the present batch has several packets.
    several: bool,
    /// Of the batches of several packets that are being counted: the packets since the first of them, those that came
    /// together with the one before them, the number of batches, and the shortest time since the batch before one.
    packets: usize,
    followers: usize,
    batches: u32,
    shortest: Duration,
    /// The last time found, when it was found, and whether it has been told.
    interval: Duration,
    found: Option<Time>,
    told: bool,
    /// Whether it was found in a single stream, and not in four batches.
    is_of_one_stream: bool,
}

impl Batches {
    /// Packets that arrive at most `within` apart after a long gap are of the same batch; zero: there are no batches.
    pub fn new(within: Duration) -> Batches {
        Batches {
            bunches: Bunches::new(within),
            last: None,
            last_sent: Time::ZERO,
            begins: [None; 2],
            several: false,
            packets: 0,
            followers: 0,
            batches: 0,
            shortest: Duration::MAX,
            interval: Duration::ZERO,
            found: None,
            told: true,
            is_of_one_stream: false,
        }
    }

    /// A packet arrived that the sender sent at `sent` by its clock.
    ///
    /// **Decided**: a gap that the sender made is none of the path's. Of the others, only the time before a batch of
    /// several packets counts. There the sender's gaps are shorter than the time between batches, so that no batch was
    /// left out; but one may have been lost, so that the shortest of some such times is that of the path.
    #[inline]
    pub fn on_arrival(&mut self, now: Time, sent: Time) {
        self.packets += 1;
        let sent_before = core::mem::replace(&mut self.last_sent, sent);
        let Some(last) = self.last.replace(now) else { return };
        self.bunches.on_gap(now.since(last));
        let (gap, own) = (now.since(last), sent.since(sent_before));
        let is_senders = gap > self.bunches.within() && own.0 >= gap.0 - gap.0 / CLOCKS;
        if !self.bunches.is_inside() || is_senders {
            (self.begins, self.several) = ([None; 2], false);
        } else if now.since(last) > self.bunches.within() {
            (self.begins, self.several) = ([self.begins[1], Some(now)], false);
        } else {
            self.followers += 1;
            if !core::mem::replace(&mut self.several, true)
                && let [Some(before), Some(begin)] = self.begins
            {
                self.add(now, begin.since(before));
            }
        }
    }

    /// A batch of several packets came this long after the one before it.
    fn add(&mut self, now: Time, interval: Duration) {
        (self.batches, self.shortest) = (self.batches + 1, self.shortest.min(interval));
        if self.batches < BATCHES {
            return;
        }
        // A queue of another flow's packets at a fast link may push two packets together now and then.
        let often = self.followers * PACKETS_PER_FOLLOWER >= self.packets;
        if often {
            (self.interval, self.found) = (self.shortest, Some(now));
            (self.told, self.is_of_one_stream) = (false, false);
        }
        (self.packets, self.followers, self.batches, self.shortest) = (0, 0, 0, Duration::MAX);
    }

    /// A stream has ended, of which these packets arrived, in `bunches`.
    ///
    /// A stream of slow start has few packets, whose rates span orders of magnitude. Behind a path with batches, its
    /// last ones arrive together, so that nothing shows above which rate the path has no more to spare: the flow would
    /// remain at a rate at which each batch has one packet, and would never see four batches of several. So if at least
    /// half of the packets came together with the one before them, the time T between batches is drawn from this stream
    /// alone, unless one is known.
    ///
    /// T is at most the shortest gap before a batch. And a batch leaves T after its first packet came, so that its last
    /// packet waits for less than T by the time between them: T is at least the largest such difference of delays. Where
    /// the gaps between packets halve, these bounds are within about a factor of two of each other, and the former is
    /// taken for T. They are often not if a queue drained or a host was interrupted, or if the sender sent packets
    /// together.
    ///
    /// Where an interruption did look the same, the packets of later streams come at shorter intervals, and lower T.
    pub fn on_stream(&mut self, samples: &[Sample], bunches: &Bunches) {
        let known = self.interval();
        let is_known = known > Duration::ZERO;
        let may_show = if is_known { self.is_of_one_stream } else { bunches.are_most(samples.len()) };
        if !may_show {
            return;
        }
        let (shortest, held_back) = bounds(samples, bunches.within());
        let are_near = shortest.0 / 16 * LEAST_HELD_BACK <= held_back.0 && held_back <= shortest;
        let shows = if is_known { shortest < known } else { are_near };
        if shows {
            (self.interval, self.found) = (shortest, self.last);
            (self.told, self.is_of_one_stream) = (false, true);
        }
    }

    /// The time between batches, if packets arrived in batches not long ago; otherwise zero.
    pub fn interval(&self) -> Duration {
        let are_there = self.found.zip(self.last).is_some_and(|(found, last)| last.since(found) < MEMORY);
        if are_there { self.interval } else { Duration::ZERO }
    }

    /// The time between batches, if it was found since the last call; otherwise zero.
    pub fn tell(&mut self) -> Duration {
        if core::mem::replace(&mut self.told, true) { Duration::ZERO } else { self.interval }
    }
}

/// The shortest gap between packets of a stream that did not come together, or the longest duration if there is none;
/// and the largest difference of delays of packets that did.
fn bounds(samples: &[Sample], within: Duration) -> (Duration, Duration) {
    let mut bunches = Bunches::new(within);
    let (mut shortest, mut held_back) = (Duration::MAX, 0);
    let mut first = samples.first();
    for pair in samples.windows(2) {
        let gap = Duration(pair[1].arrival.wrapping_sub(pair[0].arrival) as u64);
        bunches.on_gap(gap);
        if gap > within {
            first = Some(&pair[1]);
            shortest = if bunches.is_inside() { shortest.min(gap) } else { shortest };
        } else if bunches.is_inside()
            && let Some(first) = first
        {
            held_back = held_back.max(first.delay.saturating_sub(pair[1].delay));
        }
    }
    (shortest, Duration(held_back as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// The intervals that are told, in microseconds, where packets leave and arrive at these times, in microseconds.
    fn told(times: impl Iterator<Item = (u64, u64)>) -> Vec<u64> {
        let mut batches = Batches::new(Duration::from_micros(1));
        let after = times.map(|(sent, arrives)| {
            batches.on_arrival(Time::ZERO + Duration::from_micros(arrives), Time::ZERO + Duration::from_micros(sent));
            batches.tell().0 / 1_000_000
        });
        after.filter(|&interval| interval > 0).collect()
    }

    #[test]
    fn the_interval_is_that_of_the_path_and_not_that_of_the_sender() {
        // A packet every `gap`, held back until the next multiple of 4 ms.
        let held = |gap: u64| told((1..400).map(move |i| (i * gap, (i * gap).next_multiple_of(4000))));
        for gap in [100, 900, 1900, 2500] {
            let found = held(gap);
            assert!(!found.is_empty() && found.iter().all(|&interval| interval == 4000), "{gap}: {found:?}");
        }
        assert!(held(4000).is_empty() && held(9000).is_empty(), "no two packets in a batch");
    }

    /// The samples of ten packets that are sent and arrive at these times, ns.
    fn samples(sent: &[i64; 10], arrivals: &[i64; 10]) -> [Sample; 10] {
        core::array::from_fn(|index| Sample {
            index: index as u16,
            rate: 1e6,
            delay: 1000 * (arrivals[index] - sent[index]),
            arrival: 1000 * arrivals[index],
            packets: 1,
        })
    }

    /// When ten packets are sent whose gaps halve from 6 ms on, ns.
    fn halving() -> [i64; 10] {
        core::array::from_fn(|index| 12_000_000 - (12_000_000 >> index))
    }

    /// When they arrive if each batch leaves so many us after its first packet.
    fn held_back(sent: &[i64; 10], wait: i64) -> [i64; 10] {
        let mut leaves = i64::MIN;
        sent.map(|sent| {
            leaves = if leaves < sent { sent + 1000 * wait } else { leaves };
            leaves
        })
    }

    /// What is told after this stream, us.
    fn told_after(batches: &mut Batches, stream: &[Sample; 10]) -> u64 {
        let mut bunches = Bunches::new(batches.bunches.within());
        let gaps = stream.windows(2).map(|pair| pair[1].arrival - pair[0].arrival);
        gaps.for_each(|gap| bunches.on_gap(Duration(gap as u64)));
        batches.last = Some(Time(stream[9].arrival as u64));
        batches.on_stream(stream, &bunches);
        batches.tell().0 / 1_000_000
    }

    #[test]
    fn a_stream_of_slow_start_shows_the_time_between_batches() {
        let sent = halving();
        let told = |sent: &[i64; 10], arrivals: &[i64; 10]| {
            told_after(&mut Batches::new(Duration::from_micros(1)), &samples(sent, arrivals)) as i64
        };
        for wait in (800..3000).step_by(13) {
            let arrivals = held_back(&sent, wait);
            let told_of_path = told(&sent, &arrivals);
            assert!((wait..=wait * 2).contains(&told_of_path), "{told_of_path} us of {wait} us");
            assert_eq!(told(&arrivals, &arrivals), 0, "the sender's own gaps");
        }
        assert_eq!(told(&sent, &held_back(&sent, 0)), 0, "no batches");
        assert_eq!(told(&sent, &held_back(&sent, 20)), 0, "less than half of the packets are so close");
    }

    #[test]
    fn batches_may_leave_by_a_clock() {
        let sent = halving();
        // A packet waits for the next multiple of 3 ms, or for that and `phase` us.
        let told: Vec<i64> = (0..3000)
            .step_by(25)
            .map(|phase| {
                let arrivals = sent.map(|sent| {
                    let since = sent - 1000 * phase;
                    1000 * phase + since.div_euclid(3_000_000) * 3_000_000 + 3_000_000
                });
                told_after(&mut Batches::new(Duration::from_micros(1)), &samples(&sent, &arrivals)) as i64
            })
            .collect();
        assert_eq!(told[0], 3000);
        assert!(told.iter().all(|told| [0, 3000].contains(told)), "{told:?}");
        assert!(told.iter().filter(|&&told| told > 0).count() * 2 > told.len(), "{told:?}");
    }

    #[test]
    fn an_interruption_looks_like_batches_until_the_next_streams() {
        let mut batches = Batches::new(Duration::from_micros(1));
        let steady: [i64; 10] = core::array::from_fn(|index| 700_000 * index as i64);
        let late = |from| steady.map(|sent| if sent >= from { 6_300_000 } else { sent });
        assert_eq!(told_after(&mut batches, &samples(&steady, &late(2_000_000))), 0, "held back for 4.2 ms, not 0.7");
        assert_eq!(told_after(&mut batches, &samples(&steady, &late(700_000))), 6_300);
        assert_eq!(told_after(&mut batches, &samples(&steady, &steady)), 700);
        assert_eq!(told_after(&mut batches, &samples(&steady, &steady)), 0, "nothing new");
        assert_eq!(batches.interval(), Duration::from_micros(700));
    }

    #[test]
    fn packets_that_arrive_one_by_one_are_no_batches() {
        assert!(told((1..400).map(|i| (i * 100, i * 100))).is_empty());
        assert!(told((1..400).map(|i| (i, i))).is_empty(), "a fast link");
        // Two of 200 packets arrive together.
        let two = |i| if i % 200 == 0 { i * 100 - 99 } else { i * 100 };
        assert!(told((1..4000).map(|i| (i * 100, two(i)))).is_empty());
        // A fast sender pauses for 50 us after every 20 packets.
        let pauses = |i: u64| i + i / 20 * 50;
        assert!(told((1..4000).map(|i| (pauses(i), pauses(i) + 700))).is_empty(), "the sender's gaps");
        let held = told((1..4000).map(|i| (i, i / 20 * 70)));
        assert!(!held.is_empty() && held.iter().all(|&interval| interval == 70), "the path's, as fast: {held:?}");
    }
}
