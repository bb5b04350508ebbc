//! The p-stream: packets whose rates rise geometrically around the wanted average.

use crate::roles::Stamp;
use crate::units::{Bytes, Duration, Rate, Time};

/// How a stream's rates are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// RAPID-2009: the gap before the first packet stands for the average, the N - 1 others rise (its equation 5).
    AverageFirst,
    /// PACKET-SCALE-2017: all N gaps rise (its equations 1 and 4).
    AllRising,
}

/// A stream on its way out.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    id: u32,
    /// Packets in all, and sent so far.
    len: u16,
    sent: u16,
    /// Whether the receiver is to analyse it.
    probes: bool,
    /// Rate of the packet to be sent next, and the factor to the one after it.
    rate: f64,
    growth: f64,
    /// Rate of the second packet, if the first one's is not of the series.
    second: Option<f64>,
}

impl Stream {
    /// A stream of `len` packets (at least 1) at the mean rate `average`.
    pub fn new(id: u32, len: u16, spread: f64, average: Rate, layout: Layout) -> Stream {
        let average = average.as_bps();
        if len <= 2 {
            // RAPID-2009, footnote 5: too short to probe with.
            return Stream { id, len, sent: 0, probes: false, rate: average, growth: 1.0, second: None };
        }
        let rising = match layout {
            Layout::AverageFirst => len - 1,
            Layout::AllRising => len,
        };
        // The mean of n rates in series over equal packets is n / sum(1/r_i), so r_1 = (average/n) sum of m^-i, i < n.
        let n = rising as f64;
        let inverse_sum = (1.0 - libm::pow(spread, -n)) / (1.0 - 1.0 / spread);
        let first = average / n * inverse_sum;
        let (rate, second) = match layout {
            Layout::AverageFirst => (average, Some(first)),
            Layout::AllRising => (first, None),
        };
        Stream { id, len, sent: 0, probes: true, rate, growth: spread, second }
    }

    /// A slow-start stream of `len` packets whose rates start at `first`. Two packets go at that rate both (RAPID-2009, table IV,
    /// whose first stream reaches no more than its first rate, and the others `spread`^(N-1) times theirs).
    pub fn starting_at(id: u32, len: u16, spread: f64, first: Rate) -> Stream {
        let growth = if len <= 2 { 1.0 } else { spread };
        Stream { id, len, sent: 0, probes: true, rate: first.as_bps(), growth, second: None }
    }

    /// Packets at one rate, which close the streams before them and are not analysed (recovery).
    pub fn uniform(id: u32, rate: Rate) -> Stream {
        Stream { id, len: u16::MAX, sent: 0, probes: false, rate: rate.as_bps(), growth: 1.0, second: None }
    }

    /// Which stream it is.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Whether all of its packets have been sent.
    pub fn is_over(&self) -> bool {
        self.sent == self.len
    }

    /// Whether the receiver analyses it.
    pub fn probes(&self) -> bool {
        self.probes
    }

    /// The gap between the packet sent last and a next one of `size`.
    pub fn gap(&self, size: Bytes) -> Duration {
        Rate::from_bps(self.rate).time_for(size)
    }

    /// The lowest and the highest rate of its series.
    pub fn range(&self) -> (Rate, Rate) {
        let steps = |n: f64| libm::pow(self.growth, n);
        let first = match self.second {
            Some(second) if self.sent == 0 => second,
            Some(_) => self.rate / steps(self.sent as f64 - 1.0),
            None => self.rate / steps(self.sent as f64),
        };
        let rising = self.len - self.second.is_some() as u16;
        (Rate::from_bps(first), Rate::from_bps(first * steps(rising as f64 - 1.0)))
    }

    /// The mean rate of all its packets, taken before the first is sent.
    pub fn average(&self) -> Rate {
        let mut next = *self;
        let inverse: f64 = (0..self.len).map(|_| 1.0 / next.advance()).sum();
        Rate::from_bps(self.len as f64 / inverse)
    }

    /// Its next packet is sent.
    pub fn send(&mut self, sent: Time) -> Stamp {
        let (index, len) = (self.sent, if self.probes { self.len } else { 0 });
        let rate = self.advance() as f32;
        Stamp::Probe { stream: self.id, index, len, rate, sent }
    }

    /// Goes on to the next packet; returns this one's rate.
    fn advance(&mut self) -> f64 {
        let rate = self.rate;
        self.rate = match self.second {
            Some(second) if self.sent == 0 => second,
            _ => rate * self.growth,
        };
        self.sent = (self.sent + 1) % u16::MAX;
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(mut stream: Stream) -> Vec<f64> {
        (0..stream.len).map(|_| stream.advance()).collect()
    }

    #[test]
    fn the_mean_rate_is_the_wanted_one_to_rounding_error() {
        for layout in [Layout::AverageFirst, Layout::AllRising] {
            for len in [1, 2, 3, 4, 29, 30, 89, 90] {
                for spread in [1.01, 1.039, 1.07, 2.0] {
                    let average = Rate::from_mbps(437.0);
                    let mean = Stream::new(0, len, spread, average, layout).average();
                    assert!((mean / average - 1.0).abs() < 1e-12, "{layout:?} {len} {spread}: {mean}");
                }
            }
        }
    }

    #[test]
    fn the_range_is_known_at_every_packet() {
        for layout in [Layout::AverageFirst, Layout::AllRising] {
            let mut stream = Stream::new(0, 30, 1.07, Rate::from_mbps(100.0), layout);
            let rates = rates(stream);
            let (low, high) = (rates.iter().cloned().fold(f64::MAX, f64::min), rates[29]);
            while !stream.is_over() {
                let range = stream.range();
                assert!((range.0.as_bps() / low - 1.0).abs() < 1e-9 && (range.1.as_bps() / high - 1.0).abs() < 1e-9);
                stream.send(Time::ZERO);
            }
        }
    }

    #[test]
    fn the_gaps_add_up_to_the_streams_length_in_picoseconds() {
        let average = Rate::from_gbps(40.0);
        let mut stream = Stream::new(0, 90, 1.039, average, Layout::AllRising);
        let mut length = Duration::ZERO;
        while !stream.is_over() {
            length += stream.gap(Bytes(1000));
            stream.send(Time::ZERO);
        }
        let expected = average.time_for(Bytes(90_000));
        assert!(length.0.abs_diff(expected.0) <= 45, "{length} for {expected}: half a picosecond a gap");
    }

    /// PACKET-SCALE-2017: N = 90, m = 1.039 probe from 0.287 to 8.6 times the average.
    #[test]
    fn spans_the_range_of_the_2017_paper() {
        let r = rates(Stream::new(0, 90, 1.039, Rate::from_mbps(1000.0), Layout::AllRising));
        assert!((r[0] / 1e9 - 0.287).abs() < 0.001 && (r[89] / 1e9 - 8.6).abs() < 0.1, "{} {}", r[0], r[89]);
    }

    /// RAPID-2009, equation 5: r_1 = (m^(N-1) - 1) / ((N-1)(m-1) m^(N-2)) r_avg, and r_(N-1) = m^(N-2) r_1.
    #[test]
    fn spans_the_range_of_the_2009_paper() {
        let (n, m) = (30, 1.07f64);
        let r = rates(Stream::new(0, n, m, Rate::from_bps(1.0), Layout::AverageFirst));
        let r1 = (m.powi(29) - 1.0) / (29.0 * (m - 1.0) * m.powi(28));
        assert!((r[0] - 1.0).abs() < 1e-12 && (r[1] - r1).abs() < 1e-12);
        assert!((r[29] - r1 * m.powi(28)).abs() < 1e-9);
    }

    /// PACKET-SCALE-2017, table I: 20 packets of slow start reach from 1 Mbps to 524 Gbps.
    #[test]
    fn slow_start_spans_1_mbps_to_524_gbps() {
        let stream = Stream::starting_at(0, 20, 2.0, Rate::from_mbps(1.0));
        assert_eq!(stream.range(), (Rate::from_mbps(1.0), Rate::from_mbps(524_288.0)));
    }

    /// RAPID-2009, table IV: N = 2, 4, 8, 16 reach 100 Kbps, 800 Kbps, 102 Mbps and 3.3 Tbps.
    #[test]
    fn slow_start_of_2009_reaches_terabits_in_four_streams() {
        let mut rate = Rate::from_mbps(0.1);
        for (n, mbps) in [(2, 0.1), (4, 0.8), (8, 102.4), (16, 3_355_443.2)] {
            let (low, high) = Stream::starting_at(0, n, 2.0, rate).range();
            assert_eq!((low, high.as_mbps()), (rate, mbps));
            rate = high;
        }
    }
}
