//! How far RAPID-2009's probing reaches, in closed form: streams of 30 packets with m = 1.07. In each round trip the
//! highest rate becomes the next average; in slow start, it becomes the next lowest rate.

use super::definition::{Compute, Measure};
use control::Rate;
use control::pstream::{Layout, SlowStart, Stream};
use control::rapid::Rapid2009;

pub(super) const ALL: &[Measure] = &[
    Measure::new("rapid-low", "Lowest rate probed", Compute::OfLevel(lowest)),
    Measure::new("rapid-high", "Highest rate probed", Compute::OfLevel(highest)),
    Measure::new("rapid-low-printed", "Lowest rate probed", Compute::OfLevel(lowest_printed)),
    Measure::new("rapid-high-printed", "Highest rate probed", Compute::OfLevel(highest_printed)),
    Measure::new("rapid-slow-start", "Highest rate probed (Mbps)", Compute::OfLevel(slow_start)),
];

/// Length of a stream, in packets.
const LENGTH: u16 = 30;
/// Ratio of one packet's rate to that of the one before.
const SPREAD: f64 = 1.07;

/// The lowest and the highest rate of a stream whose average is 1 Mbps, in Mbps.
fn range() -> (f64, f64) {
    let (low, high) = Stream::new(0, LENGTH, SPREAD, Rate::from_mbps(1.0), Layout::AverageFirst).range();
    (low.as_mbps(), high.as_mbps())
}

/// The lowest rate probed after this many round trips, as a multiple of the first average.
fn lowest(rtts: f64) -> f64 {
    let (low, high) = range();
    libm::pow(high, rtts) * low
}

/// The highest rate probed after this many round trips, as a multiple of the first average.
fn highest(rtts: f64) -> f64 {
    let (_, high) = range();
    libm::pow(high, rtts) * high
}

/// The same by the reading of table III, which prints r_(N-1) = 3.22 r_avg: a stream's highest rate is m^(N-1) times
/// its lowest one, where equations 4 and 5 have m^(N-2).
fn lowest_printed(rtts: f64) -> f64 {
    let (low, high) = range();
    libm::pow(high * SPREAD, rtts) * low
}

/// The highest rate by that reading.
fn highest_printed(rtts: f64) -> f64 {
    let (_, high) = range();
    libm::pow(high * SPREAD, rtts + 1.0)
}

/// The highest rate that slow start has probed after this many round trips, in Mbps.
fn slow_start(rtts: f64) -> f64 {
    let SlowStart { first, longest, spread } = SlowStart::RAPID_2009;
    let lengths = std::iter::successors(Some(first), |len| Some((2 * len).min(longest)));
    let top = |first: Rate, len: u16| Stream::starting_at(0, len, spread, first).range().1;
    lengths.take(rtts as usize).fold(Rapid2009::default().0.initial_rate, top).as_mbps()
}
