//! Slow start: one stream per round trip. Each stream starts at the highest rate of the previous one, until an estimate
//! is lower than the highest rate of its stream.

use super::bursts::Bursts;
use super::stream::Stream;
use crate::units::Rate;

/// The streams of slow start.
#[derive(Clone, Copy, Debug)]
pub struct SlowStart {
    /// Packets in the first stream. Each later stream has twice as many as the one before.
    pub first: u16,
    /// The largest number of packets in a stream.
    pub longest: u16,
    /// Spread factor (m).
    pub spread: f64,
}

/// The least number of bursts in a stream that needs bursts of several packets, if slow start wants so many. Fewer do
/// not show at which rate congestion begins.
const LEAST_BURSTS: u16 = 6;

/// An estimate of at least this share of a stream's highest rate counts as that rate, as estimates travel in single
/// precision.
const HIGHEST_RATE_SHARE: f64 = 0.999_999;

impl SlowStart {
    /// RAPID-2009, section III-A5.
    pub const RAPID_2009: SlowStart = SlowStart { first: 2, longest: 16, spread: 2.0 };
    /// PACKET-SCALE-2017, table I (N_SS and m_SS).
    pub const PACKET_SCALE_2017: SlowStart = SlowStart { first: 20, longest: 20, spread: 2.0 };

    /// The lowest rate of the first stream, whose mean rate is `initial` (r_init: 2017, table I, "initial r_avg in
    /// slow-start"; 2009, section III-A5). RAPID-2009's first stream has two packets of one rate, so that this is the
    /// initial rate itself. **Decided**: the same on a host that sends bursts, whose first stream may be shorter.
    pub fn first_rate(&self, initial: Rate) -> Rate {
        let mean = Stream::starting_at(0, self.first, self.spread, initial).average();
        initial * (initial / mean)
    }

    /// Stream `id`, of up to `len` bursts, whose rates start at `first`. **Decided**: on a host with a quantum, it has
    /// only as many bursts as single packets need to reach the highest rate that the host can time, and at least six
    /// (a factor of 32). Bursts that suit the highest of all rates, 2^19 times the first one, would hold thousands of
    /// packets.
    pub fn stream(&self, id: u32, len: u16, first: Rate, bursts: &Bursts) -> Stream {
        Stream::starting_at(id, bursts.within_reach(first, self.spread, len, LEAST_BURSTS), self.spread, first)
    }

    /// The highest estimate that the receiver may report of this stream. **Decided**: on a host with a quantum it is
    /// the rate before the highest one, as such hosts are rarely exact: then streams are analysed by regression, which
    /// does not count the last burst.
    pub fn highest_estimate(&self, stream: &Stream, bursts: &Bursts) -> Rate {
        let (_, highest) = stream.range();
        if bursts.are_packets() { highest } else { highest * (1.0 / self.spread) }
    }

    /// The number of packets in the stream after one of `len` packets.
    pub fn len_after(&self, len: u16) -> u16 {
        (2 * len).min(self.longest)
    }

    /// The number of packets, at least 3 and at most those of the first stream, in a stream whose rates start at
    /// `first` and reach `top`. Two packets would not show congestion.
    pub fn len_up_to(&self, first: Rate, top: Rate) -> u16 {
        let steps = libm::ceil(libm::log(top / first) / libm::log(self.spread));
        (steps + 1.0).clamp(3.0, f64::from(self.first.max(3))) as u16
    }

    /// Whether slow start ends with this estimate of a stream whose highest rate is `top` (PACKET-SCALE-2017, section
    /// V-A3).
    pub fn ends_with(estimate: Rate, top: Rate) -> bool {
        estimate.as_bps() < HIGHEST_RATE_SHARE * top.as_bps()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roles::Conditions;
    use crate::units::{Bytes, Duration};

    fn bursts(quantum: Duration) -> Bursts {
        Bursts::on(&Conditions { quantum, ..Conditions::exact(Bytes(1000)) })
    }

    /// PACKET-SCALE-2017, table I: 20 packets of slow start with a mean rate of 1 Mbps span 0.1 Mbps to 52 Gbps.
    #[test]
    fn slow_start_of_2017_spans_100_kbps_to_52_gbps_in_160_ms() {
        let slow_start = SlowStart::PACKET_SCALE_2017;
        let first = slow_start.first_rate(Rate::from_mbps(1.0));
        let stream = slow_start.stream(0, slow_start.first, first, &bursts(Duration::ZERO));
        let (low, high) = stream.range();
        assert!((low.as_mbps() - 0.1).abs() < 1e-6 && (high.as_mbps() - 52_428.75).abs() < 0.01, "{low} {high}");
        assert!((stream.average().as_mbps() - 1.0).abs() < 1e-9, "{}", stream.average());
        assert!((stream.duration(Bytes(1000)).as_millis() - 160.0).abs() < 1e-6);
        assert_eq!(slow_start.len_after(slow_start.first), 20);
    }

    /// RAPID-2009, table IV: N = 2, 4, 8, 16 reach 100 Kbps, 800 Kbps, 102 Mbps and 3.3 Tbps.
    #[test]
    fn slow_start_of_2009_reaches_terabits_in_four_streams() {
        let slow_start = SlowStart::RAPID_2009;
        let (mut rate, mut len) = (slow_start.first_rate(Rate::from_mbps(0.1)), slow_start.first);
        for (n, mbps) in [(2, 0.1), (4, 0.8), (8, 102.4), (16, 3_355_443.2)] {
            let (low, high) = slow_start.stream(0, len, rate, &bursts(Duration::ZERO)).range();
            assert_eq!((len, low), (n, rate));
            assert!((high.as_mbps() / mbps - 1.0).abs() < 1e-9, "{high}");
            assert!(SlowStart::ends_with(high * 0.99, high) && !SlowStart::ends_with(high, high));
            (rate, len) = (high, slow_start.len_after(len));
        }
        assert_eq!(len, 16);
    }

    /// With a quantum of 50 us, single packets reach 128 Mbps. Each further stream reaches 32 times the highest
    /// estimate of the one before it, which is half of that stream's highest rate.
    #[test]
    fn slow_start_in_bursts_reaches_33_gigabits_in_three_streams() {
        let (slow_start, bursts) = (SlowStart::PACKET_SCALE_2017, bursts(Duration::from_micros(50)));
        let mut rate = Rate::from_mbps(1.0);
        for (packets, mbps) in [(1, 128.0), (13, 2_048.0), (205, 32_768.0)] {
            let stream = slow_start.stream(0, slow_start.longest, rate, &bursts);
            let (_, high) = stream.range();
            assert_eq!((bursts.packets(high), high.as_mbps()), (packets, mbps));
            rate = slow_start.highest_estimate(&stream, &bursts);
        }
    }
}
