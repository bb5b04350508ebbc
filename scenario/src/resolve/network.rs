//! The links of a scenario, and routes over them.

use super::buffer::BufferSize;
use super::flows::Table;
use super::impairments::{self, probability};
use super::key_path::KeyPath;
use super::keys::{Change, Direction, Link, Path, Scenario};
use super::queue::{Queue, Site};
use super::resolve::{self, Problems};
use super::trace::Traces;
use super::traffic::Planned;
use super::wording;
use control::{Bytes, Duration, Rate, Time};
use experiment::{Buffer, Errors, Reorder, Route};
use path::Trace;
use std::sync::Arc;

/// What results call the link of `[path]`.
const BOTTLENECK: &str = "bottleneck";

/// The scenario's links: that of `[path]` first, if there is one, then each `[[link]]`.
pub(super) struct Network<'s> {
    path: Option<&'s Path>,
    links: Vec<Named<'s>>,
}

/// A link before its buffer and delay are known.
struct Named<'s> {
    name: &'s str,
    at: KeyPath,
    /// Its capacity, or the mean of its trace.
    rate: Rate,
    trace: Option<Arc<Trace>>,
    /// None: what the flows' RTTs leave.
    delay: Option<Duration>,
    buffer: BufferSize,
    queue: &'s Queue,
    errors: Errors,
    corrupt: f64,
    reorder: Option<Reorder>,
    duplicate: f64,
    changes: Vec<path::Change>,
}

impl<'s> Network<'s> {
    /// Checks the links; none if there is no way to go on.
    pub fn new(scenario: &'s Scenario, traces: &Traces, problems: &mut Problems) -> Option<Network<'s>> {
        let mut links: Vec<Named> = Vec::new();
        if let Some(path) = &scenario.path {
            let Path {
                rate,
                trace,
                rtt,
                buffer,
                queue,
                packet_error,
                corrupt,
                reorder,
                duplicate,
                change,
                access,
                delay,
            } = path;
            let at = KeyPath::of("path");
            problems.unless(*rtt > Duration::ZERO, at.key("rtt"), "is zero; write one like \"100 ms\"");
            if let Some(access) = access {
                positive_access(*access, at.key("access"), problems);
            }
            let (rate, trace) = capacity(*rate, trace.as_deref(), &at, traces, problems);
            let errors = packet_error.errors(&at.key("packet-error"), problems);
            probability(*corrupt, at.key("corrupt"), problems);
            let (reorder, duplicate) = detours(*reorder, *duplicate, &at, problems);
            let changes = changes(change, trace.is_some(), &at, problems);
            let (delay, buffer) = (*delay, *buffer);
            let name = BOTTLENECK;
            let corrupt = *corrupt;
            links.push(Named {
                name,
                at,
                rate,
                trace,
                delay,
                buffer,
                queue,
                errors,
                corrupt,
                reorder,
                duplicate,
                changes,
            });
        }
        for (i, link) in scenario.link.iter().enumerate() {
            let Link { name, rate, trace, delay, buffer, queue, packet_error, corrupt, reorder, duplicate, change } =
                link;
            let at = KeyPath::of("link").index(i);
            let taken = links.iter().any(|other| other.name == name);
            problems.unless(
                !taken,
                at.key("name"),
                format!("there is another link `{name}`; give it a name of its own"),
            );
            resolve::name(name, at.key("name"), "write one like \"first\"", problems);
            let (rate, trace) = capacity(*rate, trace.as_deref(), &at, traces, problems);
            let errors = packet_error.errors(&at.key("packet-error"), problems);
            probability(*corrupt, at.key("corrupt"), problems);
            let (reorder, duplicate) = detours(*reorder, *duplicate, &at, problems);
            let changes = changes(change, trace.is_some(), &at, problems);
            let (delay, buffer) = (Some(*delay), *buffer);
            let corrupt = *corrupt;
            links.push(Named {
                name,
                at,
                rate,
                trace,
                delay,
                buffer,
                queue,
                errors,
                corrupt,
                reorder,
                duplicate,
                changes,
            });
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

    /// The route over the links of these names, or over the bottleneck; none if there is no such route.
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
                    problems.add(at.index(i), format!("`{name}` is crossed twice; remove one"));
                }
                Some(link) => links.push(link),
            }
        }
        (links.len() == names.len() && !links.is_empty()).then_some(Route { links, reverse })
    }

    /// Twice the delay of those of `links` whose delay the scenario gives.
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

    /// The round-trip delay of flows that give none.
    pub fn default_rtt(&self, links: &[usize]) -> Duration {
        match self.path {
            Some(path) if links.contains(&0) => path.rtt,
            _ => self.round_trip(links),
        }
    }

    /// Rate of the access links of flows that give none.
    pub fn default_access(&self) -> Option<Rate> {
        self.path?.access
    }

    /// The links, with the delays and the buffers that follow from the flows that cross them.
    pub fn links(
        &self,
        scenario: &Scenario,
        tables: &[Table],
        workloads: &[Planned],
        problems: &mut Problems,
    ) -> Vec<experiment::Link> {
        let finish = |(i, link): (usize, &Named)| {
            let crossing = || tables.iter().filter(move |table| table.route.links.contains(&i));
            let default = self.path.map_or(Duration::ZERO, |path| path.rtt);
            let delay = link.delay.unwrap_or_else(|| {
                // What the other links leave of the smallest RTT, so that all of it lies where flows meet.
                let others = workloads.iter().filter(|planned| planned.workload.route.links.contains(&i));
                let rest = |rtt: Duration, links: &[usize]| rtt - self.round_trip(links);
                let least = crossing().map(|table| rest(table.rtt.low, &table.route.links));
                let others = others.map(|planned| rest(planned.least_rtt, &planned.workload.route.links));
                Duration(least.chain(others).min().unwrap_or(default).0 / 2)
            });
            let packets = |seconds: f64| {
                let packets = seconds * link.rate.as_bps() / scenario.packet.as_bits();
                Buffer::Packets((packets.round() as u64).max(1))
            };
            let buffer = match link.buffer {
                BufferSize::Packets(packets) => Buffer::Packets(packets),
                BufferSize::Bytes(bytes) => {
                    let message = format!("{bytes} holds not even one packet; write at least \"{}\"", scenario.packet);
                    problems.unless(bytes >= scenario.packet, link.at.key("buffer"), message);
                    Buffer::Bytes(bytes)
                }
                BufferSize::Bdp(times) => {
                    let flows: f64 = crossing().map(|table| table.count as f64).sum();
                    let all: f64 = crossing().map(|table| table.count as f64 * table.rtt.mean_secs()).sum();
                    let rtt = if flows > 0.0 { all / flows } else { default.as_secs() };
                    packets(times * rtt)
                }
                BufferSize::Time(time) => packets(time.as_secs()),
            };
            let packet = scenario.packet;
            let holds = match buffer {
                Buffer::Packets(packets) => Bytes(packets.saturating_mul(packet.0)),
                Buffer::Bytes(bytes) => bytes,
            };
            let connections = workloads.iter().filter(|planned| planned.workload.route.links.contains(&i));
            let connections = connections.map(|planned| planned.workload.controller.as_str());
            let controllers = crossing().map(|table| table.controller.name).chain(connections).collect();
            let site = Site { rate: link.rate, packet, buffer: holds, controllers };
            let (queue, router) = link.queue.read(&site, link.at.key("queue"), problems);
            experiment::Link {
                name: link.name.to_string(),
                rate: link.rate,
                delay,
                changes: link.changes.clone(),
                trace: link.trace.clone(),
                buffer,
                queue,
                router,
                errors: link.errors,
                corrupt: link.corrupt,
                reorder: link.reorder,
                duplicate: link.duplicate,
            }
        };
        self.links.iter().enumerate().map(finish).collect()
    }
}

/// The key of link `i` of the experiment in the scenario.
pub(super) fn key_of(scenario: &Scenario, i: usize) -> KeyPath {
    match (&scenario.path, i) {
        (Some(_), 0) => KeyPath::of("path"),
        (path, i) => KeyPath::of("link").index(i - usize::from(path.is_some())),
    }
}

/// Checks the rate of an access link.
pub(super) fn positive_access(rate: Rate, at: KeyPath, problems: &mut Problems) {
    problems.unless(rate.as_bps() > 0.0, at, "is zero; write one like \"10 Gbps\", or remove it");
}

/// The capacity of the link at `at`, or its trace and the mean of that.
fn capacity(
    rate: Option<Rate>,
    trace: Option<&str>,
    at: &KeyPath,
    traces: &Traces,
    problems: &mut Problems,
) -> (Rate, Option<Arc<Trace>>) {
    let mut wrong = |key, message: String| {
        problems.add(at.key(key), message);
        (Rate::from_gbps(1.0), None)
    };
    match (rate, trace) {
        (None, None) => wrong("rate", format!("is missing; write {}", wording::example("rate"))),
        (Some(_), Some(_)) => wrong("rate", "there is a trace, too; remove one of them".into()),
        (Some(rate), None) if rate == Rate::ZERO => wrong("rate", "is zero; write one like \"1 Gbps\"".into()),
        (Some(rate), None) => (rate, None),
        (None, Some(name)) => match traces.get(name) {
            Ok(trace) => (trace.mean_rate(), Some(trace)),
            Err(message) => wrong("trace", message),
        },
    }
}

/// Checks packets that are late or doubled.
fn detours(
    reorder: Option<impairments::Reorder>,
    duplicate: f64,
    at: &KeyPath,
    problems: &mut Problems,
) -> (Option<Reorder>, f64) {
    probability(duplicate, at.key("duplicate"), problems);
    let reorder = reorder.map(|impairments::Reorder { probability: share, delay }| {
        let at = at.key("reorder");
        probability(share, at.key("probability"), problems);
        problems.unless(delay > Duration::ZERO, at.key("delay"), "is zero; write one like \"5 ms\"");
        Reorder { probability: share, delay }
    });
    (reorder, duplicate)
}

/// Checks the changes of the link at `at`, which has a trace or not.
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
        problems.unless(!both, at.key("rate"), "the link has a trace in place of a rate; remove this");
    }
    let change = |c: &Change| path::Change { at: Time(c.at.0), rate: c.rate, delay: c.delay };
    changes.iter().map(change).collect()
}
