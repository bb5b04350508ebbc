//! The rates of a p-stream's packets. They rise by the same factor from packet to packet, and their mean is the wanted
//! average rate. On a host that sends bursts ([`bursts`](super::bursts)), each burst counts as one packet here.

use crate::parameters::within;
use crate::roles::Stamp;
use crate::units::{Bytes, Duration, Rate, Time};
use alloc::string::String;

/// Checks that the ratio of the highest to the lowest rate of a stream of `len` packets with this spread factor is at
/// most 10^12.
pub fn check_range(len: u16, spread: f64) -> Result<(), String> {
    within("the highest over the lowest rate of a stream", libm::pow(spread, len as f64), 1.0..=1e12)
}

/// Which rate the first packet of a stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The average rate (RAPID-2009: r_0 = r_avg, footnote 6). The rates of the N - 1 other packets rise (equations 1,
    /// 4 and 5).
    AverageFirst,
    /// The lowest rate (PACKET-SCALE-2017: the rates of all N packets rise, equations 1 and 4).
    AllRising,
}

/// The rates of a stream, from the packet to be sent next.
#[derive(Clone, Copy, Debug)]
pub struct Stream {
    id: u32,
    /// The number of its packets, and the number of those sent.
    len: u16,
    sent: u16,
    /// Whether the receiver analyses it.
    probes: bool,
    /// The rate of the next packet in bits per second, and the factor from each rate to the next one (m).
    rate: f64,
    growth: f64,
    /// The rate of the second packet in bits per second, if the first packet goes at r_avg (2009).
    second: Option<f64>,
}

impl Stream {
    /// Stream `id`, of `len` packets (at least 1) with this spread factor, whose mean rate is `average`.
    pub fn new(id: u32, len: u16, spread: f64, average: Rate, layout: Layout) -> Stream {
        let average = average.as_bps();
        if len <= 2 {
            // RAPID-2009, footnote 5: one or two packets go at r_avg. They are too few to probe with.
            return Stream { id, len, sent: 0, probes: false, rate: average, growth: 1.0, second: None };
        }
        let rising = match layout {
            Layout::AverageFirst => len - 1,
            Layout::AllRising => len,
        };
        // Equation 1 for packets of one size: the mean of n rates is n / sum(1/r_i). With equation 4, r_i = m^(i-1)
        // r_1, it follows that r_1 = (r_avg/n) (1 + m^-1 + ... + m^-(n-1)); for n = N - 1, this is equation 5 of
        // RAPID-2009.
        let n = rising as f64;
        // The sum of r_1/r_i over the n rates.
        let inverse_rates = (1.0 - libm::pow(spread, -n)) / (1.0 - 1.0 / spread);
        let first = average / n * inverse_rates;
        let (rate, second) = match layout {
            Layout::AverageFirst => (average, Some(first)),
            Layout::AllRising => (first, None),
        };
        Stream { id, len, sent: 0, probes: true, rate, growth: spread, second }
    }

    /// Stream `id`, of `len` packets whose rates start at `first` and rise by `spread`: a slow-start stream. If there
    /// are two packets, both have the first rate (RAPID-2009, table IV: the first stream reaches no more than its first
    /// rate, and the others `spread`^(N-1) times theirs).
    pub fn starting_at(id: u32, len: u16, spread: f64, first: Rate) -> Stream {
        let growth = if len <= 2 { 1.0 } else { spread };
        Stream { id, len, sent: 0, probes: true, rate: first.as_bps(), growth, second: None }
    }

    /// A stream without end, whose packets all have the same rate. The receiver does not analyse it, but ends the
    /// stream before it. Recovery sends these.
    pub fn uniform(id: u32, rate: Rate) -> Stream {
        Stream { id, len: u16::MAX, sent: 0, probes: false, rate: rate.as_bps(), growth: 1.0, second: None }
    }

    /// The same stream, with no packet left to be sent.
    pub fn ended(&self) -> Stream {
        Stream { len: 0, sent: 0, probes: false, growth: 1.0, second: None, ..*self }
    }

    /// Its number; streams count up, modulo 2^32.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The number of its packets.
    pub fn length(&self) -> u16 {
        self.len
    }

    /// Whether all of its packets have been sent.
    pub fn is_over(&self) -> bool {
        self.sent == self.len
    }

    /// Whether the receiver analyses it.
    pub fn probes(&self) -> bool {
        self.probes
    }

    /// The gap before the next packet, P/r, where P is `size`.
    pub fn gap(&self, size: Bytes) -> Duration {
        Rate::from_bps(self.rate).time_for(size)
    }

    /// The lowest and the highest of its rising rates. The average rate of a first packet of 2009 is not one of them.
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

    /// How long its packets take that have not been sent yet, of this size.
    pub fn duration(&self, size: Bytes) -> Duration {
        let left = f64::from(self.len.saturating_sub(self.sent));
        let after_first = |rate: f64, n: f64| match self.growth {
            1.0 => n / rate,
            growth => (1.0 - libm::pow(growth, -n)) / ((1.0 - 1.0 / growth) * rate),
        };
        let per_bit = match self.second {
            Some(second) if self.sent == 0 => 1.0 / self.rate + after_first(second, left - 1.0),
            _ => after_first(self.rate, left),
        };
        Duration::from_secs(size.as_bits() * per_bit)
    }

    /// The highest over the average rate of a stream like that of [`Stream::new`].
    pub fn top_over_average(len: u16, spread: f64, layout: Layout) -> f64 {
        Stream::new(0, len, spread, Rate::from_bps(1.0), layout).range().1.as_bps()
    }

    /// The mean rate of all its packets, if none has been sent yet.
    pub fn average(&self) -> Rate {
        let mut next = *self;
        let inverse: f64 = (0..self.len).map(|_| 1.0 / next.advance()).sum();
        Rate::from_bps(self.len as f64 / inverse)
    }

    /// Its next packet leaves at this time. Returns the packet's stamp.
    pub fn send(&mut self, sent: Time) -> Stamp {
        let (index, len) = (self.sent, if self.probes { self.len } else { 0 });
        let rate = self.advance() as f32;
        Stamp::Probe { stream: self.id, index, len, rate, sent }
    }

    /// Advances to the next packet, and returns the rate of this one.
    fn advance(&mut self) -> f64 {
        let rate = self.rate;
        self.rate = match self.second {
            Some(second) if self.sent == 0 => second,
            _ => rate * self.growth,
        };
        // A uniform stream never ends: `sent` wraps before it reaches `len`.
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
        let mut duration = Duration::ZERO;
        while !stream.is_over() {
            duration += stream.gap(Bytes(1000));
            stream.send(Time::ZERO);
        }
        let expected = average.time_for(Bytes(90_000));
        let all = Stream::new(0, 90, 1.039, average, Layout::AllRising).duration(Bytes(1000));
        assert!(all.0.abs_diff(expected.0) <= 45, "{all}");
        assert!(duration.0.abs_diff(expected.0) <= 45, "{duration} for {expected}: half a picosecond a gap");
    }

    /// By table I of PACKET-SCALE-2017 (N = 90, m = 1.039) and its equations 1 and 4, rates range from 0.287 to 8.6
    /// times the average. The paper does not print these factors.
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
}
