//! One direction of a link, with the keys that it has of its own or from the other direction, checked.

use crate::checks;
use crate::files::trace::TraceFiles;
use crate::key_path::KeyPath;
use crate::keys::{self, Change, Link, Path, Reverse};
use crate::problems::Problems;
use crate::queue::Queue;
use crate::values::buffer::BufferSize;
use crate::values::packet_error::{Bursts, PacketError};
use crate::wording;
use control::{Duration, Rate, Time};
use path::{Errors, GilbertElliott, Jitter, Reorder, Shaper, Trace};
use std::sync::Arc;

/// The largest mean of an extra delay.
const LONGEST_JITTER: Duration = Duration::from_millis(1000);
/// The shortest correlation time of an extra delay. It bounds the random numbers that are drawn in a run.
const SHORTEST_CORRELATION: Duration = Duration::from_micros(100);

/// A direction of a link before its delay, its buffer and its queue are known.
pub(super) struct DraftDirection<'s> {
    /// Where its keys stand.
    pub at: Place,
    /// Its rate, or the mean rate of its trace.
    pub rate: Rate,
    /// Its trace, if it has one.
    pub trace: Option<Arc<Trace>>,
    /// A limit of its rate in the long run.
    pub shaper: Option<Shaper>,
    /// Its one-way delay. None: what the other links leave of the flows' RTTs.
    pub delay: Option<Duration>,
    /// The time between two batches in which it delivers.
    pub aggregate: Option<Duration>,
    /// Its extra delay that varies over time.
    pub jitter: Option<Jitter>,
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

impl DraftDirection<'_> {
    /// What it can carry in the long run.
    pub fn capacity(&self) -> Rate {
        self.shaper.map_or(self.rate, |shaper| shaper.limit(self.rate))
    }
}

/// Where the keys of a direction stand in the scenario.
pub(super) struct Place {
    /// The link's table.
    link: KeyPath,
    /// The keys that stand in the link's table `reverse`.
    own: Vec<&'static str>,
}

impl Place {
    /// The key called `name`.
    pub fn key(&self, name: &str) -> KeyPath {
        if self.own.contains(&name) { self.link.key("reverse").key(name) } else { self.link.key(name) }
    }
}

/// The keys of one direction of a link.
#[derive(Clone)]
pub(super) struct DirectionKeys<'s> {
    rate: Option<Rate>,
    trace: Option<&'s str>,
    shaper: Option<keys::Shaper>,
    delay: Option<Duration>,
    aggregate: Option<Duration>,
    jitter: Option<keys::Jitter>,
    buffer: BufferSize,
    queue: &'s Queue,
    packet_error: PacketError,
    corrupt: f64,
    reorder: Option<keys::Reorder>,
    duplicate: f64,
    change: &'s [Change],
    /// Those among them that stand in the link's table `reverse`.
    own: Vec<&'static str>,
}

/// The keys of the forward direction of `$link`, whose one-way delay is `$delay`.
macro_rules! forward {
    ($link:ident, $delay:expr) => {
        DirectionKeys {
            rate: $link.rate,
            trace: $link.trace.as_deref(),
            shaper: $link.shaper,
            delay: $delay,
            aggregate: $link.aggregate,
            jitter: $link.jitter,
            buffer: $link.buffer,
            queue: &$link.queue,
            packet_error: $link.packet_error,
            corrupt: $link.corrupt,
            reorder: $link.reorder,
            duplicate: $link.duplicate,
            change: &$link.change,
            own: Vec::new(),
        }
    };
}

impl<'s> DirectionKeys<'s> {
    /// Those of the forward direction of `[path]`.
    pub fn of_path(path: &'s Path) -> DirectionKeys<'s> {
        forward!(path, path.delay)
    }

    /// Those of the forward direction of a `[[link]]`.
    pub fn of_link(link: &'s Link) -> DirectionKeys<'s> {
        forward!(link, Some(link.delay))
    }

    /// Those of the reverse direction, which has what `reverse` does not give from the forward one.
    pub fn reversed(self, reverse: &'s Reverse) -> DirectionKeys<'s> {
        let Reverse { rate, trace, shaper, delay, aggregate, jitter, buffer, queue, .. } = reverse;
        let Reverse { packet_error, corrupt, reorder, duplicate, change, .. } = reverse;
        let own = [
            ("rate", rate.is_some()),
            ("trace", trace.is_some()),
            ("shaper", shaper.is_some()),
            ("delay", delay.is_some()),
            ("aggregate", aggregate.is_some()),
            ("jitter", jitter.is_some()),
            ("buffer", buffer.is_some()),
            ("queue", queue.is_some()),
            ("packet-error", packet_error.is_some()),
            ("corrupt", corrupt.is_some()),
            ("reorder", reorder.is_some()),
            ("duplicate", duplicate.is_some()),
            ("change", change.is_some()),
        ];
        let own: Vec<&str> = own.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
        let capacity =
            if rate.is_some() || trace.is_some() { (*rate, trace.as_deref()) } else { (self.rate, self.trace) };
        DirectionKeys {
            rate: capacity.0,
            trace: capacity.1,
            shaper: shaper.or(self.shaper),
            delay: delay.or(self.delay),
            aggregate: aggregate.or(self.aggregate).filter(|period| *period > Duration::ZERO),
            jitter: jitter.or(self.jitter).filter(|jitter| jitter.mean > Duration::ZERO),
            buffer: buffer.unwrap_or(self.buffer),
            queue: queue.as_ref().unwrap_or(self.queue),
            packet_error: packet_error.unwrap_or(self.packet_error),
            corrupt: corrupt.unwrap_or(self.corrupt),
            reorder: reorder.or(self.reorder),
            duplicate: duplicate.unwrap_or(self.duplicate),
            change: change.as_deref().unwrap_or(self.change),
            own,
        }
    }

    /// Checks the keys of the link at `link`.
    pub fn check(self, link: KeyPath, traces: &TraceFiles, problems: &mut Problems) -> DraftDirection<'s> {
        let DirectionKeys { delay, aggregate, buffer, queue, corrupt, duplicate, .. } = self;
        let at = Place { link, own: self.own.clone() };
        let (rate, trace) = capacity(self.rate, self.trace, &at, traces, problems);
        let errors = errors(&self.packet_error, &at.key("packet-error"), problems);
        checks::host_time(aggregate, "4 ms", at.key("aggregate"), problems);
        let shaper = self.shaper.map(|shaper| token_bucket(shaper, &at.key("shaper"), problems));
        let jitter = self.jitter.map(|jitter| extra_delay(jitter, &at.key("jitter"), problems));
        checks::probability(corrupt, at.key("corrupt"), problems);
        checks::probability(duplicate, at.key("duplicate"), problems);
        let reorder = self.reorder.map(|reorder| detour(reorder, &at.key("reorder"), problems));
        let changes = if self.own.is_empty() || self.own.contains(&"change") {
            check_changes(self.change, trace.is_some(), &at, problems);
            plain(self.change)
        } else {
            self.inherited_changes()
        };
        DraftDirection {
            at,
            rate,
            trace,
            shaper,
            delay,
            aggregate,
            jitter,
            buffer,
            queue,
            errors,
            corrupt,
            reorder,
            duplicate,
            changes,
        }
    }

    /// The forward direction's changes as far as they apply to the reverse one: not to what that has of its own.
    fn inherited_changes(&self) -> Vec<path::Change> {
        let own = |name: &str| self.own.contains(&name);
        let applying = plain(self.change).into_iter().map(|change| path::Change {
            rate: change.rate.filter(|_| !own("rate") && !own("trace")),
            delay: change.delay.filter(|_| !own("delay")),
            ..change
        });
        applying.filter(|change| change.rate.is_some() || change.delay.is_some()).collect()
    }
}

/// The rate of the direction at `at`, with its trace if it has one; then the rate is the mean of the trace.
fn capacity(
    rate: Option<Rate>,
    trace: Option<&str>,
    at: &Place,
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

/// Checks the shaper at `at`, but not whether a packet passes it.
fn token_bucket(shaper: keys::Shaper, at: &KeyPath, problems: &mut Problems) -> Shaper {
    let keys::Shaper { rate, burst } = shaper;
    problems.unless(rate > Rate::ZERO, at.key("rate"), "is zero; write one like \"50 Mbps\"");
    Shaper { rate, burst }
}

/// Checks the jitter at `at`.
fn extra_delay(jitter: keys::Jitter, at: &KeyPath, problems: &mut Problems) -> Jitter {
    let keys::Jitter { mean, correlation } = jitter;
    let message = format!("{mean} is not more than 0 and at most 1 s; write one like \"5 ms\"");
    problems.unless(mean > Duration::ZERO && mean <= LONGEST_JITTER, at.key("mean"), message);
    let least = mean.max(SHORTEST_CORRELATION);
    let message = format!("{correlation} is too short; write at least \"{least}\", and better ten times the mean");
    problems.unless(correlation >= least, at.key("correlation"), message);
    Jitter { mean, correlation }
}

/// Checks the detour at `at`.
fn detour(detour: keys::Reorder, at: &KeyPath, problems: &mut Problems) -> Reorder {
    let keys::Reorder { probability, delay } = detour;
    checks::probability(probability, at.key("probability"), problems);
    problems.unless(delay > Duration::ZERO, at.key("delay"), "is zero; write one like \"5 ms\"");
    Reorder { probability, delay }
}

/// Checks the changes of the direction at `at`.
fn check_changes(changes: &[Change], has_trace: bool, at: &Place, problems: &mut Problems) {
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
}

/// The changes as the link takes them.
fn plain(changes: &[Change]) -> Vec<path::Change> {
    let change = |c: &Change| path::Change { at: Time(c.at.0), rate: c.rate, delay: c.delay };
    changes.iter().map(change).collect()
}
