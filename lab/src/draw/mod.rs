//! Random paths: scenarios drawn from a distribution that `docs/score.md` describes, on which controllers are
//! [scored](crate::score).
//!
//! A path follows from its seed and its number alone, and has the same text on every machine. [Most](Base) of it is a
//! rate, a round-trip time and a duration; then a buffer and flows; and up to three [features](Feature).

mod base;
mod document;
mod feature;
mod random;

pub use base::Base;
pub use feature::{Feature, Kind};

use document::{Document, count, table, text};
use feature::counted;
use random::{Random, rounded};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use toml::Value;

/// Which path: number `number`, from 1, of `seed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId {
    /// The seed.
    pub seed: u64,
    /// The number, from 1.
    pub number: u64,
}

/// `seed 17 path 203`.
impl fmt::Display for PathId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seed {} path {}", self.seed, self.number)
    }
}

/// What stands before a path's seed and number where a file may be named, too.
const PREFIX: &str = "draw:";

/// `draw:17/203`.
impl FromStr for PathId {
    type Err = String;

    fn from_str(text: &str) -> Result<PathId, String> {
        let wrong = || format!("`{text}` names no drawn path; write its seed and its number, like {PREFIX}17/203");
        let (seed, number) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        let id = PathId { seed: seed.parse().map_err(|_| wrong())?, number: number.parse().map_err(|_| wrong())? };
        if id.number == 0 { Err(wrong()) } else { Ok(id) }
    }
}

impl PathId {
    /// Whether `text` is to name a drawn path.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with(PREFIX)
    }

    /// How to name it where a file may be named, too: `draw:17/203`.
    pub fn as_file(self) -> String {
        format!("{PREFIX}{}/{}", self.seed, self.number)
    }
}

/// A drawn path.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Which one.
    pub id: PathId,
    /// The seed of its run.
    pub seed: u64,
    /// Rate, round-trip time and duration.
    pub base: Base,
    /// The buffer, in packets.
    pub buffer: u64,
    /// How many flows are judged.
    pub flows: u64,
    /// What else it has.
    pub features: Vec<Feature>,
}

/// What a group of a path's flows is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The flows of the controller that is judged.
    Judged,
    /// Flows of this controller that compete with them.
    Beside(&'static str),
    /// Flows the other way.
    Reverse,
}

/// How often a path has no feature, one, two or three.
const FEATURES: [f64; 4] = [0.3, 0.4, 0.2, 0.1];
/// The fewest packets that a buffer has.
const LEAST_BUFFER: f64 = 5.0;
/// The most that a buffer has, in bandwidth-delay products and in packets: the larger of the two.
const MOST_BUFFER: (f64, f64) = (10.0, 50.0);
/// The most flows.
const MOST_FLOWS: u64 = 1000;
/// Packets per round-trip time that each flow has at its fair share, at least.
const PACKETS_PER_FLOW: f64 = 2.0;
/// The scenario's samples over the run.
const SAMPLES: f64 = 400.0;

/// Draws the path `id`.
pub fn path(id: PathId) -> Path {
    let mut random = Random::of(id.seed, id.number);
    // Which features a path has does not depend on its rate. So paths of all rates have them equally often.
    let kinds = kinds(&mut random);
    let seed = random.uniform(1.0, 1e9) as u64;
    loop {
        if let Some(path) = path_with(id, seed, &kinds, &mut random) {
            return path;
        }
    }
}

/// Draws kinds of features, all different.
fn kinds(random: &mut Random) -> Vec<Kind> {
    let mut left = random.uniform(0.0, 1.0);
    let enough = |share: &f64| {
        left -= share;
        left < 0.0
    };
    let n = FEATURES.iter().position(enough).unwrap_or(0);
    let mut all = Kind::ALL.to_vec();
    (0..n).map(|_| all.remove(random.place(all.len()))).collect()
}

/// Draws a path with features of these `kinds`. None if the draw is rejected.
fn path_with(id: PathId, seed: u64, kinds: &[Kind], random: &mut Random) -> Option<Path> {
    let directions = if kinds.contains(&Kind::Reverse) { 2.0 } else { 1.0 };
    let base = Base::draw(directions, random)?;
    let buffer = random.log_uniform(LEAST_BUFFER, MOST_BUFFER.1.max(MOST_BUFFER.0 * base.bdp(base.rate)));
    let mut features: Vec<Feature> = kinds.iter().filter_map(|&kind| Feature::draw(kind, &base, random)).collect();
    let least = features.iter().map(|feature| feature.least_rate(base.rate));
    let least = least.fold(base.rate, |least, rate| if rate < least { rate } else { least });
    // All long flows together, of which each competitor has a part.
    let most = ((base.bdp(least) / PACKETS_PER_FLOW) as u64).min(MOST_FLOWS);
    let competitors: Vec<&str> = kinds.iter().filter_map(|kind| kind.competitor()).collect();
    let several_rtts = kinds.contains(&Kind::RttMixture);
    let needed = 1 + u64::from(several_rtts) + competitors.len() as u64;
    if most < needed {
        return None;
    }
    let mut flows = random.log_uniform_count(needed, most);
    for (i, controller) in competitors.iter().enumerate() {
        let others = needed - 1 - i as u64;
        let part = random.log_uniform_count(1, flows - others);
        flows -= part;
        features.push(Feature::Beside(controller, part));
    }
    Some(Path { id, seed, base, buffer: rounded(buffer) as u64, flows, features })
}

impl Path {
    /// What results call it: its number, and what was drawn.
    pub fn title(&self) -> String {
        let Base { rate, rtt, .. } = self.base;
        let bdp = rounded(self.buffer as f64 / self.base.bdp(rate));
        let flows = counted(self.flows, "flow");
        let mut title = format!("{}: {rate}, {rtt}, buffer of {bdp} BDP, {flows}", self.id);
        for feature in &self.features {
            title += &format!(", {}", feature.title());
        }
        title
    }

    /// Its flows in groups: the positions of each group's flows in the experiment.
    pub fn groups(&self) -> Vec<(Group, Range<usize>)> {
        let others = self.features.iter().filter_map(|feature| match *feature {
            Feature::Beside(controller, n) => Some((Group::Beside(controller), n)),
            Feature::Reverse(n) => Some((Group::Reverse, n)),
            _ => None,
        });
        let mut end = 0;
        let mut next = |(group, n): (Group, u64)| {
            let begin = end;
            end += n as usize;
            (group, begin..end)
        };
        [(Group::Judged, self.flows)].into_iter().chain(others).map(&mut next).collect()
    }

    /// Whether other traffic competes with the judged flows, so that what it gets is compared with what it gets beside
    /// CUBIC.
    pub fn has_others(&self) -> bool {
        let others = |feature: &Feature| {
            matches!(feature, Feature::Beside(..) | Feature::Web(_) | Feature::Tmix(_) | Feature::Short(_))
        };
        self.features.iter().any(others)
    }

    /// The scenario, a TOML file that `thalweg run` takes. The first `[[flow]]` is the controller's that `[compare]`
    /// names.
    pub fn scenario(&self) -> String {
        let Base { rate, rtt, packet, duration } = self.base;
        let sample = rounded(duration.as_secs() / SAMPLES);
        let mut document = Document {
            top: table([
                ("title", text(self.title())),
                ("duration", text(duration)),
                ("seed", count(self.seed)),
                ("sample", text(control::Duration::from_secs(sample))),
                ("measure", Value::Table(table([("from", text(self.base.measured_from()))]))),
                ("packet", text(packet)),
            ]),
            path: table([
                ("rate", text(rate)),
                ("rtt", text(rtt)),
                ("buffer", text(format!("{} packets", self.buffer))),
            ]),
            flows: vec![self.base.flows(None, self.flows)],
            traffic: Vec::new(),
            compare: table([("controllers", Value::Array(vec![text("cubic")]))]),
        };
        for feature in &self.features {
            feature.write(&self.base, &mut document);
        }
        let PathId { seed, number } = self.id;
        document.text(&format!("thalweg draw --seed {seed} --path {number}"))
    }
}

#[cfg(test)]
mod tests;
