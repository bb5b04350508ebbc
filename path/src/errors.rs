//! What befalls packets by chance: errors, alone or in bursts, flipped bits, detours and copies.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Loses each packet with the same probability, independently of the others.
#[derive(Clone, Debug)]
pub struct PacketErrors {
    rng: Xoshiro256PlusPlus,
    /// ln(1 - p)
    log_survival: f64,
    /// Packets that will pass before the next error.
    passing: u64,
}

impl PacketErrors {
    /// Loses packets with `probability`, in 0 to 1, by the randomness of `seed`.
    pub fn new(probability: f64, seed: u64) -> PacketErrors {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut errors = PacketErrors { rng, log_survival: libm::log1p(-probability), passing: 0 };
        errors.passing = errors.run_length();
        errors
    }

    /// Whether the next packet is lost.
    pub fn strikes(&mut self) -> bool {
        if self.passing > 0 {
            self.passing -= 1;
            return false;
        }
        self.passing = self.run_length();
        true
    }

    /// Packets between two errors are distributed geometrically: one draw per error, not per packet.
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
/// "Capacity of a Burst-Noise Channel", 1960; E. O. Elliott, "Estimates of Error Rates for Codes on Burst-Noise Channels",
/// 1963). It moves per packet, not with time: each packet finds the state that it was left in, and then leaves it
/// changed with probability `p` or `r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// From good to bad, per packet.
    pub p: f64,
    /// From bad to good, per packet: a bad state lasts for 1/r packets on average.
    pub r: f64,
    /// Loss in the good state, from which it starts.
    pub good: f64,
    /// Loss in the bad state.
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
    fn strikes(&mut self) -> bool {
        let GilbertElliott { p, r, good, bad } = self.parameters;
        let (loss, change) = if self.bad { (bad, r) } else { (good, p) };
        let struck = self.chance(loss);
        self.bad ^= self.chance(change);
        struck
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

/// What a link does to packets by chance. Where several things could happen to one, the first in [`Fate`]'s order does.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    uniform: Option<PacketErrors>,
    bursts: Option<Channel>,
    corruption: Option<PacketErrors>,
    reordering: Option<PacketErrors>,
    duplication: Option<PacketErrors>,
}

/// The parts that chance has, each with a seed that follows from the one given.
const PARTS: u64 = 0xd1b5_4a32_d192_ed03;

impl Impairments {
    /// None so far.
    pub fn new() -> Impairments {
        Impairments::default()
    }

    /// Loses packets with `probability`, in 0 to 1.
    pub fn with_errors(self, probability: f64, seed: u64) -> Impairments {
        Impairments { uniform: Some(PacketErrors::new(probability, seed)), ..self }
    }

    /// Loses packets in bursts.
    pub fn with_bursts(self, parameters: GilbertElliott, seed: u64) -> Impairments {
        let rng = Xoshiro256PlusPlus::seed_from_u64(seed.wrapping_add(PARTS));
        Impairments { bursts: Some(Channel { parameters, bad: false, rng }), ..self }
    }

    /// Flips a bit of packets with `probability`, in 0 to 1.
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

    /// Whether there are any.
    pub(crate) fn any(&self) -> bool {
        let Impairments { uniform, bursts, corruption, reordering, duplication } = self;
        bursts.is_some() || [uniform, corruption, reordering, duplication].iter().any(|errors| errors.is_some())
    }

    /// The next packet's fate.
    #[inline]
    pub(crate) fn fate(&mut self) -> Fate {
        let strikes = |errors: &mut Option<PacketErrors>| errors.as_mut().is_some_and(PacketErrors::strikes);
        if strikes(&mut self.uniform) || self.bursts.as_mut().is_some_and(Channel::strikes) {
            Fate::Lost
        } else if let Some(corruption) = &mut self.corruption
            && corruption.strikes()
        {
            Fate::Corrupted(corruption.rng.next_u64() as u32)
        } else if strikes(&mut self.reordering) {
            Fate::Reordered
        } else if strikes(&mut self.duplication) {
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
    fn loses_the_share_it_was_told() {
        for p in [0.0, 1e-4, 1e-2, 0.5, 1.0] {
            let mut errors = PacketErrors::new(p, 7);
            let n = 2_000_000;
            let lost = (0..n).filter(|_| errors.strikes()).count() as f64;
            // Five standard deviations of a binomial.
            let allowed = 5.0 * (n as f64 * p * (1.0 - p)).sqrt();
            assert!((lost - n as f64 * p).abs() <= allowed, "p = {p}: {lost} of {n}");
        }
    }

    #[test]
    fn bursts_lose_the_share_and_have_the_length_of_the_model() {
        for parameters in [
            GilbertElliott { p: 0.001, r: 0.1, good: 0.0, bad: 1.0 },
            GilbertElliott { p: 0.01, r: 0.05, good: 0.001, bad: 0.5 },
            GilbertElliott { p: 0.0, r: 1.0, good: 0.01, bad: 1.0 },
        ] {
            let mut impairments = Impairments::new().with_bursts(parameters, 7);
            let (n, mut lost, mut bursts, mut before) = (4_000_000u64, 0u64, 0u64, false);
            for _ in 0..n {
                let struck = impairments.fate() == Fate::Lost;
                lost += u64::from(struck);
                bursts += u64::from(struck && !before);
                before = struck;
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
