//! How a player of adaptive video chooses the bitrate of the next segment.

use control::{Duration, Rate};

/// Number of segments whose throughputs count for [`BitrateRule::Throughput`].
pub(super) const AVERAGED: usize = 5;
/// The reservoir of [`BitrateRule::Buffer`], as a share of the buffer: 90 s of 240 s.
const RESERVOIR: f64 = 90.0 / 240.0;
/// Where its cushion ends, as a share of the buffer. The upper reservoir is the rest, 24 s of 240 s.
const CUSHION_END: f64 = 216.0 / 240.0;

/// How a bitrate is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitrateRule {
    /// The highest bitrate below the harmonic mean of the throughputs of the last five segments ("RB" in Yin, Jindal,
    /// Sekar, Sinopoli, "A control-theoretic approach for dynamic adaptive video streaming over HTTP", SIGCOMM 2015).
    Throughput,
    /// A linear function of the playing time in the buffer: BBA-0 (Huang, Johari, McKeown, Trunnell, Watson, "A
    /// buffer-based approach to rate adaptation", SIGCOMM 2014, algorithm 1). Reservoir and cushion have the same
    /// shares of the buffer as there.
    Buffer,
}

/// What a choice depends on.
pub(super) struct Known<'a> {
    /// The bitrates to choose from, rising; at least one.
    pub bitrates: &'a [Rate],
    /// The number of the bitrate that was chosen last; 0 before the first choice.
    pub before: usize,
    /// Throughputs of the last segments, in bits per second.
    pub throughputs: &'a [f64],
    /// Playing time in the buffer when the segment is asked for.
    pub level: Duration,
    /// The size of the buffer.
    pub buffer: Duration,
}

impl BitrateRule {
    /// The number of the bitrate of the next segment.
    pub(super) fn choose(self, known: &Known) -> usize {
        match self {
            BitrateRule::Throughput => below_throughput(known),
            BitrateRule::Buffer => by_buffer(known),
        }
    }
}

/// [`BitrateRule::Throughput`]; the lowest bitrate if none is below, or nothing is known yet.
fn below_throughput(known: &Known) -> usize {
    let inverse_sum: f64 = known.throughputs.iter().map(|throughput| 1.0 / throughput).sum();
    let mean = known.throughputs.len() as f64 / inverse_sum; // NaN without throughputs
    known.bitrates.iter().rposition(|bitrate| bitrate.as_bps() < mean).unwrap_or(0)
}

/// Algorithm 1 of BBA-0.
fn by_buffer(known: &Known) -> usize {
    let Known { bitrates, before, level, buffer, .. } = *known;
    let last = bitrates.len() - 1;
    let share = level.as_secs() / buffer.as_secs();
    if share <= RESERVOIR {
        return 0;
    }
    if share >= CUSHION_END {
        return last;
    }
    let (least, most) = (bitrates[0].as_bps(), bitrates[last].as_bps());
    let f = least + (most - least) * (share - RESERVOIR) / (CUSHION_END - RESERVOIR); // f(Buf)
    if f >= bitrates[(before + 1).min(last)].as_bps() {
        bitrates.iter().rposition(|bitrate| bitrate.as_bps() < f).unwrap_or(0)
    } else if f <= bitrates[before.saturating_sub(1)].as_bps() {
        bitrates.iter().position(|bitrate| bitrate.as_bps() > f).unwrap_or(last)
    } else {
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LADDER: [Rate; 4] = [Rate::from_mbps(1.0), Rate::from_mbps(2.0), Rate::from_mbps(4.0), Rate::from_mbps(9.0)];

    fn choose(rule: BitrateRule, before: usize, throughputs: &[f64], seconds: f64) -> usize {
        let (level, buffer) = (Duration::from_secs(seconds), Duration::from_secs(240.0));
        rule.choose(&Known { bitrates: &LADDER, before, throughputs, level, buffer })
    }

    #[test]
    fn the_throughput_rule_stays_below_the_harmonic_mean() {
        let by = |throughputs: &[f64]| choose(BitrateRule::Throughput, 3, throughputs, 100.0);
        assert_eq!(by(&[]), 0, "nothing is known");
        assert_eq!((by(&[4.1e6]), by(&[4.0e6]), by(&[0.5e6])), (2, 1, 0));
        // 2 / (1/3 + 1/15) = 5, while the mean is 9.
        assert_eq!(by(&[3e6, 15e6]), 2);
        assert_eq!(by(&[f64::INFINITY]), 3);
    }

    /// By hand: f(Buf) rises from 1 Mbps at 90 s to 9 Mbps at 216 s, by 1 Mbps in 15.75 s.
    #[test]
    fn the_buffer_rule_is_bba_0() {
        let by = |before, seconds| choose(BitrateRule::Buffer, before, &[], seconds);
        assert_eq!((by(3, 90.0), by(0, 216.0)), (0, 3), "the two reservoirs");
        let at = |mbps: f64| 90.0 + 15.75 * (mbps - 1.0);
        // Up once f reaches the next bitrate: to the highest below f.
        assert_eq!((by(0, at(1.9)), by(0, at(2.1)), by(0, at(4.1)), by(1, at(4.1))), (0, 1, 2, 2));
        // Down once f falls to the bitrate below: to the lowest above f.
        assert_eq!((by(3, at(4.1)), by(3, at(3.9)), by(2, at(2.1)), by(2, at(1.9)), by(3, at(1.5))), (3, 2, 2, 1, 1));
    }

    #[test]
    fn one_bitrate_is_chosen_always() {
        let bitrates = [Rate::from_mbps(3.0)];
        for rule in [BitrateRule::Throughput, BitrateRule::Buffer] {
            for seconds in [0.0, 120.0, 240.0] {
                let (level, buffer) = (Duration::from_secs(seconds), Duration::from_secs(240.0));
                let known = Known { bitrates: &bitrates, before: 0, throughputs: &[1e6], level, buffer };
                assert_eq!(rule.choose(&known), 0);
            }
        }
    }
}
