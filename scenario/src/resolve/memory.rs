//! An estimate of the memory that the runs need, and whether the machine has it. It is made before anything is
//! allocated.

use super::flows::FlowGroup;
use super::traffic::{Expected, PlannedWorkload};
use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::machine::Machine;
use crate::problems::Problems;
use control::{Bytes, Rate};
use path::{Buffer, LinkSetup};

/// Bytes for a packet in a queue or on a link: 64, in a ring that has up to twice the room, because it grows by
/// doubling.
const PER_PACKET: f64 = 2.0 * 64.0;
/// Bytes for all samples of one flow or link in one sampling interval.
const PER_SAMPLE: f64 = 50.0;
/// Bytes for a flow while it is simulated: its hosts and its controller.
const PER_FLOW: f64 = 2000.0;
/// Bytes for a flow in the plan, most of which are its parameters.
const PER_PLANNED_FLOW: f64 = 1000.0;
/// Bytes for a connection while it lasts, with two flows.
const PER_CONNECTION: f64 = 3000.0;
/// Bytes for the result of an exchange. While the run lasts, the list of results may have twice the room, because it
/// grows by doubling.
const PER_EXCHANGE: f64 = 56.0;
/// The assumed length of a connection, in seconds; the actual one is not known before the run.
const CONNECTION: f64 = 20.0;
/// Samples per flow above which the problem is with the sampling interval, and not with the number of flows.
const MANY_SAMPLES: f64 = 100_000.0;

/// The memory that the runs planned so far need.
pub(crate) struct Memory {
    /// The machine that makes the runs.
    machine: Machine,
    /// The number of runs.
    runs: usize,
    /// The most bytes that one of the runs needs while it lasts.
    largest: f64,
    /// The bytes that the plan and the results of all runs take.
    kept: f64,
    /// Whether the runs are of a shard, which keeps no time series.
    is_shard: bool,
}

impl Memory {
    /// The memory of no runs.
    pub fn new(machine: Machine, is_shard: bool) -> Memory {
        Memory { machine, runs: 0, largest: 0.0, kept: 0.0, is_shard }
    }

    /// Adds a run. If all runs so far need more memory than is free, adds a problem with the key that asks for most of
    /// it.
    pub(super) fn check(
        &mut self,
        scenario: &Scenario,
        links: &[LinkSetup],
        groups: &[FlowGroup],
        workloads: &[PlannedWorkload],
        problems: &mut Problems,
    ) {
        // The keys that ask for memory, with the bytes that each asks for.
        let mut parts: Vec<(KeyPath, f64)> = Vec::new();
        let duration = scenario.duration.as_secs();
        for (i, link) in links.iter().enumerate() {
            let at = key_of(scenario, i);
            let crossing = || groups.iter().filter(move |group| group.route().links.contains(&i));
            let packet = crossing().map(|group| group.packet()).min().unwrap_or(scenario.packet);
            let rtt = crossing().map(|group| group.rtt.high).max().unwrap_or_default().as_secs().min(duration);
            // A link whose directions are alike counts once, as its acknowledgments hardly ever wait.
            for (direction, at) in link.each().zip([at.clone(), at.key("reverse")]) {
                let waiting = match direction.buffer {
                    Buffer::Packets(packets) => packets as f64,
                    Buffer::Bytes(bytes) => packets(bytes.0 as f64, packet),
                };
                parts.push((at.key("buffer"), waiting * PER_PACKET));
                // Packets in flight: what it carries in a round trip, as data there and as acknowledgments back.
                let fastest = direction.changes.iter().filter_map(|change| change.rate);
                let fastest = fastest.fold(direction.rate.as_bps(), |most, rate| most.max(rate.as_bps()));
                let slowest = direction.changes.iter().filter_map(|change| change.delay).max().unwrap_or_default();
                // Jitter beyond ten times its mean is as good as never.
                let jitter = direction.jitter.map_or(0.0, |jitter| 10.0 * jitter.mean.as_secs());
                let rtt = (rtt + 2.0 * slowest.as_secs() + jitter).min(duration);
                let (fastest, burst) = match direction.shaper {
                    Some(shaper) => (shaper.limit(Rate::from_bps(fastest)), shaper.burst),
                    None => (Rate::from_bps(fastest), Bytes(0)),
                };
                let flying = packets(bytes_in(fastest, rtt) + burst.0 as f64, packet);
                parts.push((at.key("rate"), flying * 2.0 * PER_PACKET));
            }
        }
        let flows: f64 = groups.iter().map(|group| group.count as f64).sum();
        let mut working = parts.iter().map(|(_, bytes)| bytes).sum::<f64>() + flows * PER_FLOW;
        let samples = duration / scenario.sample.as_secs();
        let result_of_flow = samples * PER_SAMPLE;
        let mut result = flows * result_of_flow + samples * 2.0 * links.len() as f64 * PER_SAMPLE;
        for PlannedWorkload { at, expected, .. } in workloads {
            let Expected { connections, exchanges, .. } = *expected;
            let at_once = connections * (CONNECTION / duration).min(1.0) * PER_CONNECTION;
            working += at_once + exchanges * PER_EXCHANGE;
            result += exchanges * PER_EXCHANGE;
            parts.push((at.clone(), at_once + exchanges * 2.0 * PER_EXCHANGE));
        }
        if samples > MANY_SAMPLES {
            parts.push((KeyPath::of("sample"), result));
        }
        for group in groups {
            let at = KeyPath::of("flow").index(group.index).key("count");
            parts.push((
                at,
                group.count as f64
                    * if samples > MANY_SAMPLES { PER_FLOW } else { PER_FLOW + PER_PLANNED_FLOW + result_of_flow },
            ));
        }
        let mut kept = flows * PER_PLANNED_FLOW;
        if self.is_shard {
            // Once as it is made, and once as the Parquet file that it becomes with `--series`.
            working += 2.0 * result;
        } else {
            kept += result;
        }

        self.runs += 1;
        self.largest = self.largest.max(working);
        self.kept += kept;
        let jobs = self.runs.min(self.machine.jobs.get());
        let needed = self.largest * jobs as f64 + self.kept;
        let available = self.machine.memory as f64;
        if needed <= available {
            return;
        }
        let (needed, available) = (gigabytes(needed), gigabytes(available));
        let alone = working + kept;
        if alone <= self.machine.memory as f64 / 2.0 && self.kept > self.largest * jobs as f64 {
            let change = if self.is_shard { "use more shards" } else { "sweep fewer values" };
            let message = format!("its runs need about {needed} of memory and {available} are free; {change}");
            problems.add(KeyPath::of("sweep"), message);
        } else if let Some((key, _)) = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)) {
            let together = if jobs > 1 { format!(", {jobs} runs at a time,") } else { String::new() };
            let fewer = if jobs > 1 { ", or use fewer --jobs" } else { "" };
            let change = if key == KeyPath::of("sample") { "write more" } else { "write less" };
            let message =
                format!("this needs about {needed} of memory{together} and {available} are free; {change}{fewer}");
            problems.add(key, message);
        }
    }
}

/// The number of packets in this many bytes.
fn packets(bytes: f64, packet: Bytes) -> f64 {
    bytes / packet.0.max(1) as f64
}

/// The bytes that `rate` sends in this time.
fn bytes_in(rate: Rate, seconds: f64) -> f64 {
    rate.as_bps() * seconds / 8.0
}

/// `bytes` in the unit that problems use.
fn gigabytes(bytes: f64) -> String {
    let gb = bytes / 1e9;
    match gb {
        _ if gb >= 1e6 => format!("{gb:.0e} GB"),
        _ if gb >= 10.0 => format!("{gb:.0} GB"),
        _ => format!("{gb:.2} GB"),
    }
}

/// The table of the scenario that link `i` of the experiment comes from.
fn key_of(scenario: &Scenario, i: usize) -> KeyPath {
    match (&scenario.path, i) {
        (Some(_), 0) => KeyPath::of("path"),
        (path, i) => KeyPath::of("link").index(i - usize::from(path.is_some())),
    }
}
