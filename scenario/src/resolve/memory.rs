//! Whether the machine has the memory that the runs need, found out before anything is allocated.

use super::flows::Table;
use super::key_path::KeyPath;
use super::keys::Scenario;
use super::machine::Machine;
use super::network;
use super::resolve::Problems;
use super::traffic::Planned;
use control::{Bytes, Rate};
use experiment::{Buffer, Link};

/// A packet in a queue or on a link, and rings grow by doubling.
const PER_PACKET: f64 = 2.0 * 64.0;
/// All samples of one flow or link in one sampling interval.
const PER_SAMPLE: f64 = 50.0;
/// A flow while it is simulated: its hosts and its controller.
const PER_FLOW: f64 = 2000.0;
/// A flow in the plan: its parameters above all.
const PER_PLANNED_FLOW: f64 = 1000.0;
/// A connection while it lasts, with two flows; and what is kept of an exchange. While the run lasts, the list of these may have
/// twice the room, as it grows by doubling.
const PER_CONNECTION: f64 = 3000.0;
const PER_EXCHANGE: f64 = 56.0;
/// How long a connection lasts, for all that can be known, in seconds.
const CONNECTION: f64 = 20.0;
/// So many samples per flow that they are to blame, not the number of flows.
const MANY_SAMPLES: f64 = 100_000.0;

/// What the runs planned so far need.
pub(super) struct Memory {
    machine: Machine,
    runs: usize,
    /// The most that one of them needs while it runs, in bytes.
    largest: f64,
    /// What all of them leave behind, in bytes.
    kept: f64,
}

impl Memory {
    /// No run planned yet.
    pub fn new(machine: Machine) -> Memory {
        Memory { machine, runs: 0, largest: 0.0, kept: 0.0 }
    }

    /// Adds a run; a problem, with the key that asks for most, if it is too much.
    pub fn check(
        &mut self,
        scenario: &Scenario,
        links: &[Link],
        tables: &[Table],
        workloads: &[Planned],
        problems: &mut Problems,
    ) {
        // What asks for memory, and how much.
        let mut parts: Vec<(KeyPath, f64)> = Vec::new();
        let duration = scenario.duration.as_secs();
        for (i, link) in links.iter().enumerate() {
            let at = network::key_of(scenario, i);
            let crossing = || tables.iter().filter(move |table| table.route.links.contains(&i));
            let packet = crossing().map(|table| table.packet).min().unwrap_or(scenario.packet);
            let waiting = match link.buffer {
                Buffer::Packets(packets) => packets as f64,
                Buffer::Bytes(bytes) => packets(bytes.0 as f64, packet),
            };
            parts.push((at.key("buffer"), waiting * PER_PACKET));
            // As much as the link carries in a round trip, there as data and back as acknowledgments.
            let rtt = crossing().map(|table| table.rtt.high).max().unwrap_or_default().as_secs().min(duration);
            let fastest = link.changes.iter().filter_map(|change| change.rate);
            let fastest = fastest.fold(link.rate.as_bps(), |most, rate| most.max(rate.as_bps()));
            let slowest = link.changes.iter().filter_map(|change| change.delay).max().unwrap_or_default();
            let rtt = (rtt + 2.0 * slowest.as_secs()).min(duration);
            let flying = packets(bytes_in(Rate::from_bps(fastest), rtt), packet);
            parts.push((at.key("rate"), flying * 2.0 * PER_PACKET));
        }
        let flows: f64 = tables.iter().map(|table| table.count as f64).sum();
        let mut working = parts.iter().map(|(_, bytes)| bytes).sum::<f64>() + flows * PER_FLOW;
        let samples = duration / scenario.sample.as_secs();
        let kept_by_flow = PER_PLANNED_FLOW + samples * PER_SAMPLE;
        let mut kept = flows * kept_by_flow + samples * 2.0 * links.len() as f64 * PER_SAMPLE;
        for Planned { at, connections, exchanges, .. } in workloads {
            let at_once = connections * (CONNECTION / duration).min(1.0) * PER_CONNECTION;
            working += at_once + exchanges * PER_EXCHANGE;
            kept += exchanges * PER_EXCHANGE;
            parts.push((at.clone(), at_once + exchanges * 2.0 * PER_EXCHANGE));
        }
        if samples > MANY_SAMPLES {
            parts.push((KeyPath::of("sample"), kept));
        }
        for table in tables {
            let at = KeyPath::of("flow").index(table.index).key("count");
            parts.push((
                at,
                table.count as f64 * if samples > MANY_SAMPLES { PER_FLOW } else { PER_FLOW + kept_by_flow },
            ));
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
            let message =
                format!("its runs need about {needed} of memory and {available} are free; sweep fewer values");
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

fn packets(bytes: f64, packet: Bytes) -> f64 {
    bytes / packet.0.max(1) as f64
}

fn bytes_in(rate: Rate, seconds: f64) -> f64 {
    rate.as_bps() * seconds / 8.0
}

fn gigabytes(bytes: f64) -> String {
    let gb = bytes / 1e9;
    match gb {
        _ if gb >= 1e6 => format!("{gb:.0e} GB"),
        _ if gb >= 10.0 => format!("{gb:.0} GB"),
        _ => format!("{gb:.2} GB"),
    }
}
