//! What a drawn path may have beside its rate, round-trip time, buffer and flows. docs/score.md has the same list.

use super::base::Base;
use super::document::{Document, table, text};
use super::random::{Random, rounded};
use control::{Bytes, Duration, Rate};
use toml::Value;

/// The kinds of features. All are equally probable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Flows with round-trip times of their own.
    RttMixture,
    /// Senders that are late.
    Jitter,
    /// Receivers that coalesce interrupts.
    Coalescing,
    /// Senders that cannot time short gaps.
    Quantum,
    /// Packets lost at random, each for itself.
    RandomLoss,
    /// Packets lost in bursts.
    BurstyLoss,
    /// Packets that others overtake.
    Reordering,
    /// A token bucket.
    Policer,
    /// Packets that arrive in batches.
    Aggregation,
    /// Changes of the link's rate.
    RateSteps,
    /// Changes of the link's delay.
    DelaySteps,
    /// Flows the other way.
    Reverse,
    /// Web sessions.
    Web,
    /// A Tmix.
    Tmix,
    /// Short transfers of the controller that is judged.
    Short,
    /// CUBIC flows beside.
    Cubic,
    /// BBR flows beside.
    Bbr,
    /// Reno flows beside.
    Reno,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 18] = [
        Kind::RttMixture,
        Kind::Jitter,
        Kind::Coalescing,
        Kind::Quantum,
        Kind::RandomLoss,
        Kind::BurstyLoss,
        Kind::Reordering,
        Kind::Policer,
        Kind::Aggregation,
        Kind::RateSteps,
        Kind::DelaySteps,
        Kind::Reverse,
        Kind::Web,
        Kind::Tmix,
        Kind::Short,
        Kind::Cubic,
        Kind::Bbr,
        Kind::Reno,
    ];

    /// The controller of long flows beside those that are judged; none for other kinds.
    pub fn competitor(self) -> Option<&'static str> {
        match self {
            Kind::Cubic => Some("cubic"),
            Kind::Bbr => Some("bbr"),
            Kind::Reno => Some("reno"),
            _ => None,
        }
    }
}

/// A feature with its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Feature {
    /// Each flow has a round-trip time of its own between these two.
    RttMixture(Duration, Duration),
    /// Senders are late by up to this time.
    Jitter(Duration),
    /// Receivers coalesce interrupts for this time.
    Coalescing(Duration),
    /// Senders cannot keep shorter times between departures.
    Quantum(Duration),
    /// Each packet is lost with this probability.
    RandomLoss(f64),
    /// Losses in bursts: the mean share of packets lost, and the mean length of a burst.
    BurstyLoss {
        /// Share of packets lost.
        mean: f64,
        /// Packets.
        length: f64,
    },
    /// Packets are overtaken with this probability, and are this late.
    Reordering(f64, Duration),
    /// A token bucket of this rate and burst.
    Policer(Rate, Bytes),
    /// Packets arrive in batches.
    Aggregation(Duration),
    /// New rates of the link, and when.
    RateSteps(Vec<(Duration, Rate)>),
    /// New one-way delays of the link, and when; and its delay at first.
    DelaySteps(Duration, Vec<(Duration, Duration)>),
    /// A number of CUBIC flows that send the other way.
    Reverse(u64),
    /// Web sessions of this load.
    Web(Rate),
    /// A Tmix of this load.
    Tmix(Rate),
    /// Short transfers of the controller that is judged, of this load.
    Short(Rate),
    /// Flows of another controller.
    Beside(&'static str, u64),
}

/// The most load of connections that come and go.
const MOST_LOAD: Rate = Rate::from_mbps(500.0);

impl Feature {
    /// Draws the values of a feature of a path. `base` has its rate, round-trip time and duration. Competitors are
    /// drawn with the flows: none for them.
    pub fn draw(kind: Kind, base: &Base, random: &mut Random) -> Option<Feature> {
        let rtt = base.rtt.as_secs();
        let mut time = |low: f64, high: f64| Duration::from_secs(rounded(random.log_uniform(low, high)));
        Some(match kind {
            Kind::RttMixture => {
                let low = time((rtt / 2.0).max(Base::RTT.0), rtt);
                Feature::RttMixture(low, time(rtt, (4.0 * rtt).min(Base::RTT.1)))
            }
            Kind::Jitter => Feature::Jitter(time(10e-6, (rtt / 4.0).min(5e-3))),
            Kind::Coalescing => Feature::Coalescing(time(10e-6, (rtt / 4.0).min(2e-3))),
            Kind::Quantum => Feature::Quantum(time(10e-6, (rtt / 4.0).min(2e-3))),
            Kind::RandomLoss => Feature::RandomLoss(rounded(random.log_uniform(1e-6, 1e-2))),
            Kind::BurstyLoss => Feature::BurstyLoss {
                mean: rounded(random.log_uniform(1e-5, 1e-2)),
                length: rounded(random.log_uniform(2.0, 30.0)),
            },
            Kind::Reordering => {
                let delay = time(0.01 * rtt, 0.5 * rtt);
                Feature::Reordering(rounded(random.log_uniform(1e-4, 1e-1)), delay)
            }
            Kind::Policer => {
                let rate = rounded(base.rate.as_bps() * random.uniform(0.3, 0.95));
                let packet = base.packet.0 as f64;
                let burst = random.log_uniform(10.0 * packet, rate / 8.0 * rtt);
                Feature::Policer(Rate::from_bps(rate), Bytes(rounded(burst) as u64))
            }
            Kind::Aggregation => Feature::Aggregation(time(0.2e-3, (rtt / 2.0).min(10e-3))),
            Kind::RateSteps => Feature::RateSteps(
                base.step_times(random)
                    .map(|at| (at, Rate::from_bps(rounded(base.rate.as_bps() * random.log_uniform(0.25, 1.0)))))
                    .collect(),
            ),
            Kind::DelaySteps => {
                // There and back it is less than half of the round-trip time, which the shortest of a mixture may be.
                let delay = 0.24 * rtt;
                let steps = base.step_times(random);
                let step = |at| (at, Duration::from_secs(rounded(delay * random.log_uniform(0.2, 3.0))));
                Feature::DelaySteps(Duration::from_secs(rounded(delay)), steps.map(step).collect())
            }
            Kind::Reverse => Feature::Reverse(random.log_uniform_count(1, 8)),
            Kind::Web => Feature::Web(load(base, random)),
            Kind::Tmix => Feature::Tmix(load(base, random)),
            Kind::Short => Feature::Short(load(base, random)),
            Kind::Cubic | Kind::Bbr | Kind::Reno => return None,
        })
    }

    /// The least rate at which the feature lets a path of `rate` carry data.
    pub fn least_rate(&self, rate: Rate) -> Rate {
        let least = |a: Rate, b: Rate| if a < b { a } else { b };
        match self {
            Feature::Policer(policed, _) => *policed,
            Feature::RateSteps(steps) => steps.iter().fold(rate, |least_so_far, step| least(least_so_far, step.1)),
            _ => rate,
        }
    }

    /// What titles say of it.
    pub fn title(&self) -> String {
        match self {
            Feature::RttMixture(low, high) => format!("RTTs of {low} to {high}"),
            Feature::Jitter(time) => format!("jitter of {time}"),
            Feature::Coalescing(time) => format!("coalescing of {time}"),
            Feature::Quantum(time) => format!("quantum of {time}"),
            Feature::RandomLoss(p) => format!("random loss of {} %", percent(*p)),
            Feature::BurstyLoss { mean, .. } => format!("bursty loss of {} %", percent(*mean)),
            Feature::Reordering(p, delay) => format!("{} % reordered by {delay}", percent(*p)),
            Feature::Policer(rate, burst) => format!("policer of {rate} and {burst}"),
            Feature::Aggregation(time) => format!("aggregation of {time}"),
            Feature::RateSteps(steps) => format!("{} of the rate", counted(steps.len() as u64, "step")),
            Feature::DelaySteps(_, steps) => format!("{} of the delay", counted(steps.len() as u64, "step")),
            Feature::Reverse(n) => format!("{} in reverse", counted(*n, "CUBIC flow")),
            Feature::Web(load) => format!("web load of {load}"),
            Feature::Tmix(load) => format!("Tmix load of {load}"),
            Feature::Short(load) => format!("short flows of {load}"),
            Feature::Beside(controller, n) => format!("beside {}", counted(*n, &format!("{controller} flow"))),
        }
    }

    /// Writes its keys. The first of the document's flows are those that are judged.
    pub fn write(&self, base: &Base, document: &mut Document) {
        let Document { top, path, flows, traffic, .. } = document;
        let mut set = |key: &str, value| path.insert(key.to_string(), value);
        match self {
            Feature::RttMixture(low, high) => {
                let range = Value::Array(vec![text(low), text(high)]);
                flows[0].insert("rtt".into(), Value::Table(table([("uniform", range)])));
            }
            Feature::Jitter(time) => drop(top.insert("jitter".into(), text(time))),
            Feature::Coalescing(time) => drop(top.insert("coalesce".into(), text(time))),
            Feature::Quantum(time) => drop(top.insert("quantum".into(), text(time))),
            Feature::RandomLoss(p) => drop(set("packet-error", Value::Float(*p))),
            Feature::BurstyLoss { mean, length } => {
                // Bad for `length` packets on average, in which all are lost: r = 1 / length, and p / (p + r) = mean.
                let r = rounded(1.0 / length);
                let p = rounded(mean * r / (1.0 - mean));
                set("packet-error", Value::Table(table([("p", Value::Float(p)), ("r", Value::Float(r))])));
            }
            Feature::Reordering(p, delay) => {
                let detour = table([("probability", Value::Float(*p)), ("delay", text(delay))]);
                set("reorder", Value::Table(detour));
            }
            Feature::Policer(rate, burst) => {
                let policer = table([("kind", text("policer")), ("rate", text(rate)), ("burst", text(burst))]);
                set("queue", Value::Table(policer));
            }
            Feature::Aggregation(time) => drop(set("aggregate", text(time))),
            Feature::RateSteps(steps) => {
                let change = |(at, rate): &(Duration, Rate)| table([("at", text(at)), ("rate", text(rate))]);
                add_changes(path, steps.iter().map(change).collect());
            }
            Feature::DelaySteps(delay, steps) => {
                set("delay", text(delay));
                let change = |(at, delay): &(Duration, Duration)| table([("at", text(at)), ("delay", text(delay))]);
                add_changes(path, steps.iter().map(change).collect());
            }
            Feature::Reverse(n) => {
                flows.push(base.flows(Some("cubic"), *n));
                flows.last_mut().map(|flow| flow.insert("direction".into(), text("reverse")));
            }
            Feature::Web(load) => traffic.push(table([("kind", text("web")), ("load", text(load))])),
            Feature::Tmix(load) => traffic.push(table([("kind", text("tmix")), ("load", text(load))])),
            Feature::Short(load) => {
                let size = table([("pareto", text(Bytes(50_000))), ("shape", Value::Float(1.2))]);
                let keys = [("kind", text("flows")), ("load", text(load)), ("size", Value::Table(size))];
                traffic.push(table(keys));
            }
            Feature::Beside(controller, n) => flows.push(base.flows(Some(controller), *n)),
        }
    }
}

/// Adds `changes` to those of the link, in the order of time; those at the same time become one.
fn add_changes(path: &mut toml::Table, changes: Vec<toml::Table>) {
    let Value::Array(all) = path.entry("change").or_insert_with(|| Value::Array(Vec::new())) else { return };
    all.extend(changes.into_iter().map(Value::Table));
    let at = |change: &Value| change.get("at").and_then(Value::as_str).and_then(|at| at.parse::<Duration>().ok());
    all.sort_by_key(at);
    all.dedup_by(|later, first| {
        let same = at(later) == at(first);
        if let (true, Value::Table(first), Value::Table(later)) = (same, first, later) {
            first.extend(std::mem::take(later));
        }
        same
    });
}

/// A load of 2 to 40 % of the rate.
fn load(base: &Base, random: &mut Random) -> Rate {
    let share = random.log_uniform(0.02, 0.4);
    Rate::from_bps(rounded((base.rate.as_bps() * share).min(MOST_LOAD.as_bps())))
}

/// A share in per cent, with three digits.
fn percent(share: f64) -> f64 {
    rounded(100.0 * share)
}

/// `n` and a noun.
pub fn counted(n: u64, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}
