//! The links of a scenario, and routes over them, before the flows that cross them are known.

use crate::checks;
use crate::files::trace::TraceFiles;
use crate::key_path::KeyPath;
use crate::keys::{self, Change, Direction, Link, Path, Scenario};
use crate::problems::Problems;
use crate::queue::Queue;
use crate::values::buffer::BufferSize;
use crate::values::packet_error::{Bursts, PacketError};
use crate::values::time_range::TimeRange;
use crate::wording;
use control::{Duration, Rate, Time};
use path::{Errors, GilbertElliott, Reorder, Route, Trace};
use std::sync::Arc;

/// What results and routes call the link of `[path]`.
const BOTTLENECK: &str = "bottleneck";

/// The links of a scenario: that of `[path]` first, if there is one, then each `[[link]]`.
pub(super) struct Network<'s> {
    /// `[path]`.
    path: Option<&'s Path>,
    /// The links, in the order in which the experiment has them.
    pub links: Vec<DraftLink<'s>>,
}

/// A link before its delay, its buffer and its queue are known.
pub(super) struct DraftLink<'s> {
    /// What results and routes call it.
    pub name: &'s str,
    /// Its table in the scenario.
    pub at: KeyPath,
    /// Its rate, or the mean rate of its trace.
    pub rate: Rate,
    /// Its trace, if it has one.
    pub trace: Option<Arc<Trace>>,
    /// Its one-way delay. None: what the other links leave of the flows' RTTs.
    pub delay: Option<Duration>,
    /// The time between two batches in which it delivers.
    pub aggregate: Option<Duration>,
    /// The size of its buffer.
    pub buffer: BufferSize,
    /// The discipline or the router at its buffer.
    pub queue: &'s Queue,
    /// Its transmission errors.
    pub errors: Errors,
    /// Probability that a packet arrives with a flipped bit.
    pub corrupt: f64,
    /// Packets that take a detour.
    pub reorder: Option<Reorder>,
    /// Probability that a packet arrives twice.
    pub duplicate: f64,
    /// Its changes, in the order of time.
    pub changes: Vec<path::Change>,
}

/// The keys that `[path]` and `[[link]]` have in common.
struct LinkKeys<'s> {
    name: &'s str,
    rate: Option<Rate>,
    trace: Option<&'s str>,
    delay: Option<Duration>,
    aggregate: Option<Duration>,
    buffer: BufferSize,
    queue: &'s Queue,
    packet_error: &'s PacketError,
    corrupt: f64,
    reorder: Option<keys::Reorder>,
    duplicate: f64,
    change: &'s [Change],
}

impl Path {
    fn link(&self) -> LinkKeys<'_> {
        LinkKeys {
            name: BOTTLENECK,
            rate: self.rate,
            trace: self.trace.as_deref(),
            delay: self.delay,
            aggregate: self.aggregate,
            buffer: self.buffer,
            queue: &self.queue,
            packet_error: &self.packet_error,
            corrupt: self.corrupt,
            reorder: self.reorder,
            duplicate: self.duplicate,
            change: &self.change,
        }
    }
}

impl Link {
    fn link(&self) -> LinkKeys<'_> {
        LinkKeys {
            name: &self.name,
            rate: self.rate,
            trace: self.trace.as_deref(),
            delay: Some(self.delay),
            aggregate: self.aggregate,
            buffer: self.buffer,
            queue: &self.queue,
            packet_error: &self.packet_error,
            corrupt: self.corrupt,
            reorder: self.reorder,
            duplicate: self.duplicate,
            change: &self.change,
        }
    }
}

impl<'s> LinkKeys<'s> {
    /// Checks the keys, which are below `at`.
    fn check(self, at: KeyPath, traces: &TraceFiles, problems: &mut Problems) -> DraftLink<'s> {
        let LinkKeys { name, delay, aggregate, buffer, queue, corrupt, duplicate, .. } = self;
        let (rate, trace) = capacity(self.rate, self.trace, &at, traces, problems);
        let errors = errors(self.packet_error, &at.key("packet-error"), problems);
        checks::host_time(aggregate, "4 ms", at.key("aggregate"), problems);
        checks::probability(corrupt, at.key("corrupt"), problems);
        checks::probability(duplicate, at.key("duplicate"), problems);
        let reorder = self.reorder.map(|reorder| detour(reorder, &at.key("reorder"), problems));
        let changes = changes(self.change, trace.is_some(), &at, problems);
        DraftLink {
            name,
            at,
            rate,
            trace,
            delay,
            aggregate,
            buffer,
            queue,
            errors,
            corrupt,
            reorder,
            duplicate,
            changes,
        }
    }
}

impl<'s> Network<'s> {
    /// Checks the links. None if there is no link.
    pub fn new(scenario: &'s Scenario, traces: &TraceFiles, problems: &mut Problems) -> Option<Network<'s>> {
        let mut links: Vec<DraftLink> = Vec::new();
        if let Some(path) = &scenario.path {
            let at = KeyPath::of("path");
            problems.unless(path.rtt > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
            if let Some(access) = path.access {
                checks::access(access, at.key("access"), problems);
            }
            links.push(path.link().check(at, traces, problems));
        }
        for (i, link) in scenario.link.iter().enumerate() {
            let (at, name) = (KeyPath::of("link").index(i), &link.name);
            let taken = links.iter().any(|other| other.name == name);
            let message = format!("there is another link called `{name}`; give this one a name of its own");
            problems.unless(!taken, at.key("name"), message);
            checks::name(name, at.key("name"), "write one like \"first\"", problems);
            links.push(link.link().check(at, traces, problems));
        }
        if links.is_empty() {
            problems.add(
                KeyPath::of("path"),
                "is missing, and there is no [[link]]; write [path] with its rate, rtt and buffer",
            );
            return None;
        }
        Some(Network { path: scenario.path.as_ref(), links })
    }

    /// The route over the links called `names`, or over the bottleneck if no names are given. None if there is no such
    /// route; the problem is that of the key `route` below `at`.
    pub fn route(
        &self,
        names: Option<&[String]>,
        direction: Direction,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> Option<Route> {
        let at = at.key("route");
        let reverse = direction == Direction::Reverse;
        let known: Vec<&str> = self.links.iter().map(|link| link.name).collect();
        let Some(names) = names else {
            problems.unless(self.path.is_some(), at, format!("is missing; write one like route = [\"{}\"]", known[0]));
            return self.path.map(|_| Route { links: vec![0], reverse });
        };
        problems.unless(!names.is_empty(), at.clone(), format!("has no link; write one like [\"{}\"]", known[0]));
        let mut links = Vec::new();
        for (i, name) in names.iter().enumerate() {
            match known.iter().position(|k| k == name) {
                None => problems.add(at.index(i), wording::unknown("link", name, &known)),
                Some(link) if links.contains(&link) => {
                    problems.add(at.index(i), format!("`{name}` is crossed twice; remove one of the two"));
                }
                Some(link) => links.push(link),
            }
        }
        (links.len() == names.len() && !links.is_empty()).then_some(Route { links, reverse })
    }

    /// The round-trip delay of `links`, as far as the scenario gives their delays.
    pub fn round_trip(&self, links: &[usize]) -> Duration {
        let delays = links.iter().filter_map(|link| self.links[*link].delay);
        let once: Duration = delays.sum();
        once + once
    }

    /// The rate of the narrowest of `links`.
    pub fn narrowest(&self, links: &[usize]) -> Rate {
        let rates = links.iter().map(|link| self.links[*link].rate);
        rates.reduce(|least, rate| if rate < least { rate } else { least }).unwrap_or(Rate::ZERO)
    }

    /// The RTT of flows over `links` that do not give one.
    pub fn default_rtt(&self, links: &[usize]) -> Duration {
        match self.path {
            Some(path) if links.contains(&0) => path.rtt,
            _ => self.round_trip(links),
        }
    }

    /// The rate of the access links of flows that do not give one; none for no limit.
    pub fn default_access(&self) -> Option<Rate> {
        self.path?.access
    }

    /// The RTTs of flows over `route` whose table is `at`: those `given`, or else the route's. Adds a problem if an RTT
    /// is shorter than the delays of the links, there and back.
    pub fn flow_rtt(
        &self,
        given: Option<TimeRange>,
        route: &Route,
        at: &KeyPath,
        problems: &mut Problems,
    ) -> TimeRange {
        let rtt = given.unwrap_or_else(|| TimeRange::fixed(self.default_rtt(&route.links)));
        let links = self.round_trip(&route.links);
        if rtt.low < links {
            let message =
                format!("{} is less than its links' delays, there and back; write at least \"{links}\"", rtt.low);
            problems.add(at.key("rtt"), message);
        } else {
            problems.unless(rtt.low > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
        }
        rtt
    }

    /// The RTT of `[path]`; zero if there is none.
    pub fn path_rtt(&self) -> Duration {
        self.path.map_or(Duration::ZERO, |path| path.rtt)
    }
}

/// The rate of the link at `at`, with its trace if it has one; then the rate is the mean of the trace.
fn capacity(
    rate: Option<Rate>,
    trace: Option<&str>,
    at: &KeyPath,
    traces: &TraceFiles,
    problems: &mut Problems,
) -> (Rate, Option<Arc<Trace>>) {
    let mut wrong = |key, message: String| {
        problems.add(at.key(key), message);
        (Rate::from_gbps(1.0), None)
    };
    match (rate, trace) {
        (None, None) => wrong("rate", format!("is missing; write {}", wording::example("rate"))),
        (Some(_), Some(_)) => wrong("rate", "is given together with `trace`; remove one of the two".into()),
        (Some(rate), None) if rate == Rate::ZERO => wrong("rate", "is zero; write one like \"1 Gbps\"".into()),
        (Some(rate), None) => (rate, None),
        (None, Some(name)) => match traces.get(name) {
            Ok(trace) => (trace.mean_rate(), Some(trace)),
            Err(message) => wrong("trace", message),
        },
    }
}

/// Checks the transmission errors at `at`.
fn errors(errors: &PacketError, at: &KeyPath, problems: &mut Problems) -> Errors {
    match *errors {
        PacketError::Uniform(p) => {
            let message = format!("{p} is not a probability below 1; write one like 1e-6");
            problems.unless((0.0..1.0).contains(&p), at.clone(), message);
            Errors::Uniform(p)
        }
        PacketError::Bursts(Bursts { p, r, good, bad }) => {
            for (key, value) in [("p", p), ("r", r), ("good", good), ("bad", bad)] {
                checks::probability(value, at.key(key), problems);
            }
            let stuck = p > 0.0 && r == 0.0 && bad == 1.0;
            let message = "is zero, so that no packet would pass once the channel is bad; write one like 0.1";
            problems.unless(!stuck, at.key("r"), message);
            Errors::Bursts(GilbertElliott { p, r, good, bad })
        }
    }
}

/// Checks the detour at `at`.
fn detour(detour: keys::Reorder, at: &KeyPath, problems: &mut Problems) -> Reorder {
    let keys::Reorder { probability, delay } = detour;
    checks::probability(probability, at.key("probability"), problems);
    problems.unless(delay > Duration::ZERO, at.key("delay"), "is zero; write one like \"5 ms\"");
    Reorder { probability, delay }
}

/// Checks the changes of the link at `at`.
fn changes(changes: &[Change], has_trace: bool, at: &KeyPath, problems: &mut Problems) -> Vec<path::Change> {
    for (i, change) in changes.iter().enumerate() {
        let at = at.key("change").index(i);
        if let Some(before) = i.checked_sub(1).map(|before| changes[before].at) {
            let message = format!("{} is not after the change before it; write more than \"{before}\"", change.at);
            problems.unless(change.at > before, at.key("at"), message);
        }
        let empty = change.rate.is_none() && change.delay.is_none();
        problems.unless(!empty, at.clone(), "changes nothing; write a rate, or a delay, or both");
        let both = has_trace && change.rate.is_some();
        problems.unless(
            !both,
            at.key("rate"),
            "the link has a trace in place of a rate; remove the change of the rate",
        );
    }
    let change = |c: &Change| path::Change { at: Time(c.at.0), rate: c.rate, delay: c.delay };
    changes.iter().map(change).collect()
}
