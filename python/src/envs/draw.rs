//! Paths drawn at random.

use control::{Bytes, Duration, Rate, Recovery, Time};
use experiment::{Experiment, Flow, FlowSettings};
use path::{Buffer, Errors, LinkSetup, Route};
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::Value;

/// Size of a packet on the wire.
pub const PACKET: Bytes = Bytes(1500);

/// The ranges from which the properties of a path are drawn, independently of each other.
#[derive(Clone, Copy)]
pub struct Ranges {
    /// Bits per second, uniform.
    pub rate: (f64, f64),
    /// Seconds, without queues, uniform.
    pub rtt: (f64, f64),
    /// How many packets may wait, uniform in its logarithm.
    pub buffer: (f64, f64),
    /// Share of packets lost to errors, uniform.
    pub loss: (f64, f64),
}

impl Ranges {
    /// What is wrong with them, in a line.
    pub fn check(&self) -> Result<(), String> {
        for (name, (low, high), least, most) in [
            ("rate", self.rate, 1e4, 1e12),
            ("rtt", self.rtt, 1e-5, 10.0),
            ("buffer", self.buffer, 1.0, 1e7),
            ("loss", self.loss, 0.0, 0.5),
        ] {
            if !(least <= low && low <= high && high <= most) {
                return Err(format!("{name}: ({low}, {high}) is no range within {least} and {most}"));
            }
        }
        Ok(())
    }

    /// The lowest and the highest rate that a sender may use: 0.4 of the lowest link's and twice the highest link's.
    pub fn rates(&self) -> (f64, f64) {
        (0.4 * self.rate.0, 2.0 * self.rate.1)
    }
}

/// A path, and the rate at which its sender begins.
pub struct Path {
    pub rate: f64,
    pub rtt: f64,
    buffer: u64,
    loss: f64,
    seed: u64,
    /// Bits per second: 0.3 to 1.5 of the path's rate.
    pub first_rate: f64,
}

impl Path {
    /// Draws a path.
    pub fn draw(ranges: &Ranges, random: &mut Random) -> Path {
        let rate = random.within(ranges.rate);
        let (low, high) = ranges.buffer;
        Path {
            rate,
            rtt: random.within(ranges.rtt),
            buffer: random.within((low.ln(), high.ln())).exp() as u64,
            loss: random.within(ranges.loss),
            seed: random.0.next_u64(),
            first_rate: rate * random.within((0.3, 1.5)),
        }
    }

    /// One flow over the path, without end.
    pub fn experiment(&self) -> Experiment {
        let (rate, rtt) = (Rate::from_bps(self.rate), Duration::from_secs(self.rtt));
        let mut link = LinkSetup::plain("path", rate, rtt.scale(0.5), Buffer::Packets(self.buffer.max(1)));
        link.forward.errors = Errors::Uniform(self.loss);
        let flow = Flow {
            start: Time::ZERO,
            rtt,
            settings: FlowSettings::plain(
                "agent",
                Value::Null,
                Recovery::Sack,
                Route { links: vec![0], reverse: false },
                PACKET,
            )
            .into(),
        };
        // Longer than any episode, and without samples, which nobody reads.
        let duration = Duration::from_secs(1e6);
        Experiment {
            seed: self.seed,
            duration,
            sample: duration,
            measure: (Time::ZERO, Time::ZERO + duration),
            links: vec![link],
            flows: vec![flow],
            cross: Vec::new(),
            workloads: Vec::new(),
        }
    }
}

/// Random numbers.
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// All numbers follow from `seed`.
    pub fn new(seed: u64) -> Random {
        Random(Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    /// A number within a range, uniform.
    fn within(&mut self, (low, high): (f64, f64)) -> f64 {
        let unit = (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        low + (high - low) * unit
    }
}
