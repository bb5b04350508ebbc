//! Bursts, the units of a stream on a host that cannot time short gaps.
//!
//! A gap shorter than the host's quantum is no probe: the host would send the packets on both sides of it together, or
//! late. So the unit of a stream is a burst of k packets that leave together, where even the shortest gap of the
//! stream, the one before its highest rate r_N, takes at least a quantum: `k = ceil(quantum r_N / P)`. Indices and
//! lengths of streams count bursts, and the rate of a burst is k P over the gap before it. On a host that can time any
//! gap, a burst is a packet. A stream of N bursts lasts about N quanta times r_N/r_avg, at any rate.
//!
//! **A path that hands packets on in batches** (Wi-Fi, cable, interrupt coalescing) hides all gaps shorter than the
//! time between two batches. So the quantum is at least this time, which the receiver tells
//! ([`Batches`](super::batches::Batches)). It sees batches only while several bursts arrive together. So the quantum
//! is halved every 30 s, and rises again if it is then too short.
//!
//! **Slow start** may doubt that the path shows what the host can time, and makes the quantum longer for the bursts of
//! one stream.
//!
//! **A short buffer** holds no long bursts: of 53 packets that arrive together, 20 places keep 20. The sender learns it
//! from losses while no queue stands, that is, while the shortest round-trip time of a stream is about the shortest one
//! that the path once had. A short buffer loses packets of each stream, so that one such loss does not count: a host
//! that is interrupted loses packets, too. From the second loss on, the longest burst is half of those sent a round
//! trip before, and it doubles every 10 s. Shorter bursts limit the rate, to that of the longest burst in each quantum.

use crate::least_rtt::LeastRtt;
use crate::roles::Conditions;
use crate::units::{Bytes, Duration, Rate, Time};

/// How many packets a burst has on a host.
#[derive(Clone, Debug)]
pub struct Bursts {
    quantum: Duration,
    packet: Bytes,
    /// The time between two batches in which packets arrive; zero: they arrive one by one.
    batches: Duration,
    /// When that last changed.
    told: Time,
    /// The least quantum of the present stream, if its sender asked for one.
    of_stream: Duration,
    /// By how much departures are late, picoseconds; a moving average over about [`MEMORY`] of them.
    late: f64,
    /// The same over about [`LONG_MEMORY`] departures.
    late_for_long: f64,
    /// The most packets in a burst, and when that last changed.
    longest: u16,
    changed: Time,
    /// The least round-trip time of the path, and those during the previous and the present stream.
    least: LeastRtt,
    during: [Duration; 2],
    /// The longest bursts sent in the previous and the present round trip, and when the latter began.
    sent: [u16; 2],
    round: Time,
    /// Streams that probe and round trips since the last loss while no queue stood; many before the first one.
    streams: u32,
    rounds: u32,
}

/// The number of departures over which their lateness is averaged.
const MEMORY: f64 = 64.0;
/// The number of departures over which a host must be late to count as busy. An interruption of 10 ms makes some 50
/// departures late by 5 ms in the mean, which is an eighth of a millisecond over so many.
const LONG_MEMORY: f64 = 2048.0;
/// A host whose departures are late has a quantum of at least this multiple of their mean lateness, whatever it says.
const LATE_FACTOR: f64 = 2.0;
/// A departure counts as late by no more than this many quanta.
const LATEST: f64 = 32.0;

/// A loss is repeated if it follows another one within this many streams that probe, or round trips: the repair takes
/// two of the latter, and the next loss shows one later.
const REPEATED_STREAMS: u32 = 2;
const REPEATED_ROUNDS: u32 = 4;
/// The time after which the longest burst doubles, as the buffer may have become longer.
const REGROW: Duration = Duration::from_millis(10_000);
/// The delay by a standing queue up to which the queue does not count.
const TOLERANCE: Duration = Duration::from_millis(1);

/// The time after which the time between batches is halved, as the path may have fewer of them or none.
const FORGET_BATCHES: Duration = Duration::from_millis(30_000);
/// Batches that come more often than this are not heeded, and rarer ones as if they came so often.
const MOST_FREQUENT_BATCHES: Duration = Duration::from_micros(10);
const RAREST_BATCHES: Duration = Duration::from_millis(50);

/// The most packets in a burst. A burst of so many packets of 1000 bytes takes a quantum of 50 us at 10 Tbps.
const LONGEST: u16 = u16::MAX;

impl Bursts {
    /// The bursts of this host.
    pub fn on(host: &Conditions) -> Bursts {
        Bursts {
            quantum: host.quantum,
            packet: host.packet,
            batches: Duration::ZERO,
            told: Time::ZERO,
            of_stream: Duration::ZERO,
            late: 0.0,
            late_for_long: 0.0,
            longest: LONGEST,
            changed: Time::ZERO,
            least: LeastRtt::new(),
            during: [Duration::MAX; 2],
            sent: [1; 2],
            round: Time::ZERO,
            streams: u32::MAX,
            rounds: u32::MAX,
        }
    }

    /// The shortest time between two departures that the host can keep and the path shows.
    pub fn quantum(&self) -> Duration {
        self.quantum.max(self.batches).max(self.of_stream).max(Duration((LATE_FACTOR * self.late) as u64))
    }

    /// From now on the quantum is at least this, in place of what was asked for before; zero: it is that of the host
    /// and the path.
    pub fn lengthen(&mut self, quantum: Duration) {
        self.of_stream = quantum;
    }

    /// The shortest gap that the host itself can time; zero: it can time any.
    pub fn host_quantum(&self) -> Duration {
        self.quantum
    }

    /// The time between two batches in which packets arrive; zero: none are known.
    pub fn batches(&self) -> Duration {
        self.batches
    }

    /// The receiver tells the time between two batches in which packets arrive; zero: it saw none.
    pub fn on_batches(&mut self, now: Time, interval: Duration) {
        if interval > Duration::ZERO {
            (self.batches, self.told) = (interval.min(RAREST_BATCHES), now);
        } else if self.batches > Duration::ZERO && now.since(self.told) >= FORGET_BATCHES {
            (self.batches, self.told) = (Duration(self.batches.0 / 2), now);
            if self.batches < MOST_FREQUENT_BATCHES {
                self.batches = Duration::ZERO;
            }
        }
    }

    /// A burst left this much later than it was to leave.
    pub fn on_departure(&mut self, late: Duration) {
        let most = LATEST * self.quantum.0 as f64;
        let late = (late.0 as f64).min(most);
        self.late += (late - self.late) / MEMORY;
        self.late_for_long += (late - self.late_for_long) / LONG_MEMORY;
    }

    /// Earlier departures no longer count.
    pub fn forget_lateness(&mut self) {
        (self.late, self.late_for_long) = (0.0, 0.0);
    }

    /// Whether departures are late by no more than a quantum in the mean of the last few thousand. The times of a
    /// busier host say more about its other programs than about the path; a single interruption makes no host busy.
    pub fn keeps_times(&self) -> bool {
        self.late_for_long <= self.quantum.0 as f64
    }

    /// A stream begins, whose bursts have `packets` packets.
    pub fn on_stream(&mut self, packets: u16, probes: bool) {
        self.streams = self.streams.saturating_add(probes.into());
        self.during = [self.during[1], Duration::MAX];
        self.sent[1] = self.sent[1].max(packets);
    }

    /// A packet was acknowledged after this round-trip time, while bursts have `packets` packets.
    pub fn on_rtt(&mut self, now: Time, rtt: Duration, packets: u16) {
        self.least.on_rtt(now, rtt);
        self.during[1] = self.during[1].min(rtt);
        if now.since(self.round) >= rtt {
            self.sent.swap(0, 1);
            (self.sent[1], self.round) = (packets, now);
            self.rounds = self.rounds.saturating_add(1);
        }
        if self.longest < LONGEST && now.since(self.changed) >= REGROW {
            (self.longest, self.changed) = (self.longest.saturating_mul(2), now);
        }
    }

    /// Packets were lost. They were sent about a round trip before.
    pub fn on_loss(&mut self, now: Time) {
        let ([before, present], packets) = (self.during, self.sent[0]);
        let stands = before.min(present).0.saturating_sub(self.least.get().0) > TOLERANCE.0;
        if packets == 1 || stands {
            return;
        }
        if self.streams <= REPEATED_STREAMS || self.rounds <= REPEATED_ROUNDS {
            (self.longest, self.changed) = (self.longest.min(packets / 2), now);
        }
        (self.streams, self.rounds) = (0, 0);
    }

    /// Whether each burst is a packet at any rate, as the host can time any gap and the path shows it.
    pub fn are_packets(&self) -> bool {
        self.quantum == Duration::ZERO && self.batches == Duration::ZERO
    }

    /// The number of packets in each burst of a stream with this highest rate, at least 1.
    pub fn packets(&self, highest: Rate) -> u16 {
        if self.are_packets() {
            return 1;
        }
        libm::ceil(self.per_quantum(highest)).clamp(1.0, f64::from(self.longest)) as u16
    }

    /// The most bursts for a stream whose lowest rate is `first` and whose rates rise by `spread`, where up to `wanted`
    /// are wanted: as many as are necessary to reach the highest rate at which the host can time single packets, or
    /// `least` if these are more; but no more than the longest burst allows, unless these are fewer than three. For
    /// streams that span orders of magnitude, as in slow start: bursts that suit their highest rates would take
    /// seconds at their lowest ones.
    pub fn within_reach(&self, first: Rate, spread: f64, wanted: u16, least: u16) -> u16 {
        if self.are_packets() || spread <= 1.0 {
            return wanted;
        }
        // The index of the last rate that bursts of this many packets reach.
        let reach =
            |packets: u16| libm::floor(libm::log(f64::from(packets) / self.per_quantum(first)) / libm::log(spread));
        let single = (reach(1) + 1.0).max(f64::from(least));
        single.min(reach(self.longest) + 1.0).clamp(3.0, f64::from(wanted.max(3))).min(f64::from(wanted)) as u16
    }

    /// The number of packets that leave at this rate within a quantum.
    fn per_quantum(&self, rate: Rate) -> f64 {
        rate.as_bps() * self.quantum().as_secs() / self.packet.as_bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bursts(us: u64) -> Bursts {
        Bursts::on(&Conditions { quantum: Duration::from_micros(us), ..Conditions::exact(Bytes(1000)) })
    }

    #[test]
    fn even_the_shortest_gap_takes_a_quantum() {
        let packets = |us, mbps| bursts(us).packets(Rate::from_mbps(mbps));
        assert_eq!([packets(0, 1e6), packets(50, 100.0), packets(50, 160.0)], [1, 1, 1]);
        assert_eq!([packets(50, 170.0), packets(50, 10_000.0), packets(200, 10_000.0)], [2, 63, 250]);
        assert_eq!(packets(200, 1e9), u16::MAX);
    }

    #[test]
    fn bursts_that_are_lost_although_no_queue_stands_halve_the_longest_one() {
        let second = |seconds: u64| Time::ZERO + Duration::from_millis(1000 * seconds);
        let mut bursts = bursts(50);
        // A stream of bursts of so many packets begins, a packet is acknowledged after this round-trip time, and
        // another is lost, or not. The longest burst after that:
        let mut after = |now, packets, us, lost| {
            bursts.on_stream(packets, true);
            bursts.on_rtt(second(now), Duration::from_micros(us), packets);
            if lost {
                bursts.on_loss(second(now));
            }
            bursts.packets(Rate::from_gbps(1e6))
        };
        assert_eq!(after(1, 1, 50_000, true), u16::MAX, "a single packet cannot be shorter");
        assert_eq!(after(2, 64, 50_200, true), u16::MAX, "the first loss");
        assert_eq!(after(2, 64, 50_200, true), 32);
        assert_eq!(after(3, 32, 53_000, true), 32, "the lost packets may be of a burst of 64");
        assert_eq!(after(4, 32, 50_200, true), 16, "now of 32");
        assert_eq!([after(5, 16, 53_000, false), after(6, 16, 53_000, true)], [16; 2], "a queue stands");
        assert_eq!([after(13, 16, 53_000, false), after(14, 16, 50_000, false)], [16, 32], "10 s after 4 s");
        (15..20).for_each(|now| assert_eq!(after(now, 32, 50_000, false), 32));
        assert_eq!(after(20, 32, 50_200, true), 32, "the last loss is five round trips ago");
    }

    #[test]
    fn the_quantum_is_at_least_the_time_between_batches_and_is_halved_when_none_are_seen() {
        let (ms, second) = (Duration::from_millis, |seconds: u64| Time::ZERO + Duration::from_millis(1000 * seconds));
        let mut bursts = bursts(0);
        bursts.on_batches(second(0), Duration::ZERO);
        assert!(bursts.are_packets());
        bursts.on_batches(second(1), ms(4));
        // A packet of 1000 bytes takes 80 us at 100 Mbps.
        assert_eq!((bursts.are_packets(), bursts.packets(Rate::from_mbps(100.0))), (false, 50));
        bursts.on_batches(second(30), Duration::ZERO);
        assert_eq!(bursts.quantum(), ms(4), "after 29 s");
        bursts.on_batches(second(31), Duration::ZERO);
        assert_eq!(bursts.quantum(), ms(2));
        bursts.on_batches(second(32), ms(4));
        assert_eq!(bursts.quantum(), ms(4), "they are still there");
        (0..20).for_each(|i| bursts.on_batches(second(100 + 40 * i), Duration::ZERO));
        assert!(bursts.are_packets(), "they are gone");
        bursts.on_batches(second(1000), ms(5000));
        assert_eq!(bursts.quantum(), RAREST_BATCHES);
    }

    #[test]
    fn a_host_that_is_late_has_a_longer_quantum() {
        let mut bursts = bursts(50);
        (0..1000).for_each(|_| bursts.on_departure(Duration::from_micros(20)));
        assert_eq!((bursts.quantum(), bursts.keeps_times()), (Duration::from_micros(50), true));
        (0..1000).for_each(|_| bursts.on_departure(Duration::from_micros(150)));
        assert_eq!(bursts.quantum().as_millis().mul_add(1e3, 0.5) as u64, 300);
        bursts.on_departure(Duration::from_millis(5000));
        assert!(bursts.quantum() < Duration::from_micros(400), "{:?}", bursts.quantum());
        assert!(!bursts.keeps_times(), "150 us are three quanta");
        bursts.forget_lateness();
        assert!(bursts.keeps_times());
    }

    #[test]
    fn a_single_interruption_makes_no_host_busy_and_many_do() {
        // The host stands still for 10 ms: the bursts of a stream with gaps of 200 us are late by what is left of them.
        let interrupt = |bursts: &mut Bursts| {
            (0..50).for_each(|i| bursts.on_departure(Duration::from_micros(10_000 - 200 * i)));
        };
        let mut bursts = bursts(200);
        interrupt(&mut bursts);
        assert!(bursts.keeps_times());
        for _ in 0..50 {
            interrupt(&mut bursts);
            (0..50).for_each(|_| bursts.on_departure(Duration::ZERO));
        }
        assert!(!bursts.keeps_times(), "late by 2 ms in the mean");
    }

    #[test]
    fn slow_start_reaches_what_single_packets_reach_and_then_a_factor_of_32_per_stream() {
        let len = |us, mbps| bursts(us).within_reach(Rate::from_mbps(mbps), 2.0, 20, 6);
        assert_eq!(len(0, 0.1), 20, "single packets at any rate");
        assert_eq!(len(50, 0.1), 11, "102 Mbps; a packet in 50 us are 160 Mbps");
        assert_eq!([len(50, 102.4), len(50, 3276.8)], [6, 6]);
        assert_eq!(len(50, 1e9), 3, "no burst is long enough");
        assert_eq!(bursts(50).within_reach(Rate::from_mbps(0.1), 2.0, 2, 6), 2, "no more than wanted");
    }
}
