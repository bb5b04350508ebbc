//! Impairments: packets lost to transmission errors, alone or in bursts, corrupted, reordered and duplicated.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Hits each packet with the same probability, independently of the others.
#[derive(Clone, Debug)]
pub struct PacketErrors {
    rng: Xoshiro256PlusPlus,
    /// ln(1 - p)
    log_survival: f64,
    /// Packets that will pass before the next one that is hit.
    passing: u64,
}

impl PacketErrors {
    /// Hits packets with `probability`, in 0 to 1. Everything random follows from `seed`.
    pub fn new(probability: f64, seed: u64) -> PacketErrors {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut errors = PacketErrors { rng, log_survival: libm::log1p(-probability), passing: 0 };
        errors.passing = errors.run_length();
        errors
    }

    /// Whether the next packet is hit.
    pub fn hits(&mut self) -> bool {
        if self.passing > 0 {
            self.passing -= 1;
            return false;
        }
        self.passing = self.run_length();
        true
    }

    /// The number of packets between two that are hit, which is distributed geometrically: one draw per hit, not per
    /// packet.
    fn run_length(&mut self) -> u64 {
        if self.log_survival == 0.0 {
            return u64::MAX;
        }
        // Uniform in (0, 1], so that its logarithm is finite.
        let uniform = ((self.rng.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        (libm::log(uniform) / self.log_survival) as u64
    }
}

/// Errors in bursts: a channel that is good or bad, and loses with another probability in either state (E. N. Gilbert,
/// "Capacity of a Burst-Noise Channel", 1960; E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise
/// Channels", 1963). The channel changes with packets, not with time: after each packet, its state changes with
/// probability `p` or `r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// Probability per packet of the change from good to bad.
    pub p: f64,
    /// Probability per packet of the change from bad to good: a bad state lasts for 1/r packets on average.
    pub r: f64,
    /// Probability of a loss in the good state, in which the channel starts.
    pub good: f64,
    /// Probability of a loss in the bad state.
    pub bad: f64,
}

impl GilbertElliott {
    /// The share of packets lost in the long run.
    pub fn mean_loss(&self) -> f64 {
        let in_bad = if self.p > 0.0 { self.p / (self.p + self.r) } else { 0.0 };
        in_bad * self.bad + (1.0 - in_bad) * self.good
    }
}

/// The state of a [`GilbertElliott`] channel.
#[derive(Clone, Debug)]
struct Channel {
    parameters: GilbertElliott,
    bad: bool,
    rng: Xoshiro256PlusPlus,
}

impl Channel {
    fn hits(&mut self) -> bool {
        let GilbertElliott { p, r, good, bad } = self.parameters;
        let (loss, change) = if self.bad { (bad, r) } else { (good, p) };
        let lost = self.chance(loss);
        self.bad ^= self.chance(change);
        lost
    }

    fn chance(&mut self, probability: f64) -> bool {
        ((self.rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64) < probability
    }
}

/// What becomes of a packet that a link has transmitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives as it was sent.
    Intact,
    /// It does not arrive.
    Lost,
    /// It arrives with one bit flipped: the bit of this number, modulo the number of the packet's bits.
    Corrupted(u32),
    /// It takes a detour, on which later packets overtake it.
    Reordered,
    /// It arrives twice.
    Duplicated,
}

/// What a link does to packets at random. A packet has one fate: the first in [`Fate`]'s order that it is hit by.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    uniform: Option<PacketErrors>,
    bursts: Option<Channel>,
    corruption: Option<PacketErrors>,
    reordering: Option<PacketErrors>,
    duplication: Option<PacketErrors>,
}

/// The difference between the seeds of the impairments of one link.
const PARTS: u64 = 0xd1b5_4a32_d192_ed03;

impl Impairments {
    /// No impairments.
    pub fn new() -> Impairments {
        Impairments::default()
    }

    /// Loses packets with `probability`, in 0 to 1.
    pub fn with_errors(self, probability: f64, seed: u64) -> Impairments {
        Impairments { uniform: Some(PacketErrors::new(probability, seed)), ..self }
    }

    /// Loses packets in bursts, as `parameters` describe.
    pub fn with_bursts(self, parameters: GilbertElliott, seed: u64) -> Impairments {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(PARTS));
        Impairments { bursts: Some(Channel { parameters, bad: false, rng }), ..self }
    }

    /// Flips a bit in packets with `probability`, in 0 to 1.
    pub fn with_corruption(self, probability: f64, seed: u64) -> Impairments {
        Impairments {
            corruption: Some(PacketErrors::new(probability, seed.wrapping_add(PARTS.wrapping_mul(4)))),
            ..self
        }
    }

    /// Reorders packets with `probability`, in 0 to 1.
    pub fn with_reordering(self, probability: f64, seed: u64) -> Impairments {
        Impairments {
            reordering: Some(PacketErrors::new(probability, seed.wrapping_add(PARTS.wrapping_mul(2)))),
            ..self
        }
    }

    /// Duplicates packets with `probability`, in 0 to 1.
    pub fn with_duplication(self, probability: f64, seed: u64) -> Impairments {
        Impairments {
            duplication: Some(PacketErrors::new(probability, seed.wrapping_add(PARTS.wrapping_mul(3)))),
            ..self
        }
    }

    /// Whether there are any impairments.
    pub(crate) fn any(&self) -> bool {
        let Impairments { uniform, bursts, corruption, reordering, duplication } = self;
        bursts.is_some() || [uniform, corruption, reordering, duplication].iter().any(|errors| errors.is_some())
    }

    /// The next packet's fate.
    #[inline]
    pub(crate) fn fate(&mut self) -> Fate {
        let hits = |errors: &mut Option<PacketErrors>| errors.as_mut().is_some_and(PacketErrors::hits);
        if hits(&mut self.uniform) || self.bursts.as_mut().is_some_and(Channel::hits) {
            Fate::Lost
        } else if let Some(corruption) = &mut self.corruption
            && corruption.hits()
        {
            Fate::Corrupted(corruption.rng.next_u64() as u32)
        } else if hits(&mut self.reordering) {
            Fate::Reordered
        } else if hits(&mut self.duplication) {
            Fate::Duplicated
        } else {
            Fate::Intact
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_packets_hit_is_the_probability() {
        for p in [0.0, 1e-4, 1e-2, 0.5, 1.0] {
            let mut errors = PacketErrors::new(p, 7);
            let n = 2_000_000;
            let lost = (0..n).filter(|_| errors.hits()).count() as f64;
            // Five standard deviations of a binomial.
            let allowed = 5.0 * (n as f64 * p * (1.0 - p)).sqrt();
            assert!((lost - n as f64 * p).abs() <= allowed, "p = {p}: {lost} of {n}");
        }
    }

    #[test]
    fn bursts_have_the_loss_rate_and_the_length_of_the_model() {
        for parameters in [
            GilbertElliott { p: 0.001, r: 0.1, good: 0.0, bad: 1.0 },
            GilbertElliott { p: 0.01, r: 0.05, good: 0.001, bad: 0.5 },
            GilbertElliott { p: 0.0, r: 1.0, good: 0.01, bad: 1.0 },
        ] {
            let mut impairments = Impairments::new().with_bursts(parameters, 7);
            let (n, mut lost, mut bursts, mut before) = (4_000_000u64, 0u64, 0u64, false);
            for _ in 0..n {
                let hit = impairments.fate() == Fate::Lost;
                lost += u64::from(hit);
                bursts += u64::from(hit && !before);
                before = hit;
            }
            let share = lost as f64 / n as f64;
            assert!((share / parameters.mean_loss() - 1.0).abs() < 0.05, "{parameters:?}: {share}");
            if parameters.bad == 1.0 && parameters.good == 0.0 {
                // Runs of losses are stays in the bad state: 1/r packets.
                let length = lost as f64 / bursts as f64;
                assert!((length * parameters.r - 1.0).abs() < 0.05, "{length}");
            }
        }
    }

    #[test]
    fn each_fate_has_its_share() {
        let impairments = Impairments::new().with_errors(0.1, 1).with_corruption(0.4, 1);
        let mut impairments = impairments.with_reordering(0.2, 1).with_duplication(0.3, 1);
        let n = 1_000_000;
        let (mut counts, mut low) = ([0; 4], 0);
        for _ in 0..n {
            counts[match impairments.fate() {
                Fate::Intact => continue,
                Fate::Lost => 0,
                Fate::Corrupted(bit) => {
                    low += u64::from(bit < u32::MAX / 4);
                    1
                }
                Fate::Reordered => 2,
                Fate::Duplicated => 3,
            }] += 1;
        }
        for (count, expected) in counts.iter().zip([0.1, 0.9 * 0.4, 0.9 * 0.6 * 0.2, 0.9 * 0.6 * 0.8 * 0.3]) {
            let share = *count as f64 / n as f64;
            assert!((share / expected - 1.0).abs() < 0.02, "{counts:?}: {share} instead of {expected}");
        }
        assert!((low as f64 / counts[1] as f64 - 0.25).abs() < 0.01, "any bit is as likely");
    }
}
