//! How far RAPID-2009's probing reaches, in closed form: streams of 30 packets with m = 1.07. In each round trip the
//! highest rate becomes the next average; in slow start, it becomes the next lowest rate.

use control::Rate;
use control::pstream::{Layout, SlowStart, Stream};
use control::rapid::Rapid2009;
use serde::Deserialize;

/// One end of the range of rates that a stream probes for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum End {
    /// The rate of its first packet.
    Lowest,
    /// The rate of its last packet.
    Highest,
}

/// Length of a stream, in packets.
const LENGTH: u16 = 30;
/// Ratio of one packet's rate to that of the one before.
const SPREAD: f64 = 1.07;

/// The lowest or the highest rate of the stream that is sent after this many round trips, as a multiple of the average
/// of the first stream.
///
/// By equations 4 and 5, a stream's highest rate is m^(N-2) times its lowest one. Table III is printed for one step
/// more, m^(N-1); `printed` is that reading.
pub fn stream(end: End, printed: bool, rtts: f64) -> f64 {
    let (low, high) = Stream::new(0, LENGTH, SPREAD, Rate::from_mbps(1.0), Layout::AverageFirst).range();
    let highest = high.as_mbps() * if printed { SPREAD } else { 1.0 };
    let average = libm::pow(highest, rtts);
    average * if end == End::Lowest { low.as_mbps() } else { highest }
}

/// The highest rate that slow start probes for in a round trip, counted from 1 and rounded, in Mbps.
pub fn slow_start(rtt: f64) -> f64 {
    let SlowStart { first, longest, spread } = SlowStart::RAPID_2009;
    let lengths = std::iter::successors(Some(first), |len| Some((2 * len).min(longest)));
    let top = |first: Rate, len: u16| Stream::starting_at(0, len, spread, first).range().1;
    lengths.take(libm::round(rtt) as usize).fold(Rapid2009::default().0.initial_rate, top).as_mbps()
}
