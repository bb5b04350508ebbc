//! Checks that several tables of a scenario share. Each adds a problem if the value is out of its range.

use super::key_path::KeyPath;
use super::problems::Problems;
use super::values::size;
use control::{Bytes, Duration, Rate};

/// The longest time for which a network card or a host may hold a packet back.
const LONGEST_HOLD: Duration = Duration::from_millis(1000);
/// The largest packet on the wire, larger than any link layer's.
const LARGEST_PACKET: Bytes = Bytes(1_000_000);

/// Checks a name that results show. It must not be empty nor have control characters, which a terminal would obey.
pub(super) fn name(name: &str, at: KeyPath, help: &str, problems: &mut Problems) {
    problems.unless(!name.trim().is_empty(), at.clone(), format!("is empty; {help}"));
    let message = format!("`{}` has a character that cannot be shown; {help}", name.escape_debug());
    problems.unless(!name.chars().any(char::is_control), at, message);
}

/// Checks a probability, which may be 1.
pub(super) fn probability(value: f64, at: KeyPath, problems: &mut Problems) {
    problems.unless((0.0..=1.0).contains(&value), at, format!("{value} is not within 0 and 1; write one like 0.01"));
}

/// Checks the shape of a Pareto distribution, which must have a finite mean.
pub(super) fn pareto_shape(shape: f64, at: KeyPath, problems: &mut Problems) {
    problems.unless((1.01..=10.0).contains(&shape), at, size::not_a_shape(shape));
}

/// Checks the size of a packet on the wire.
pub(super) fn packet(size: Bytes, at: KeyPath, problems: &mut Problems) {
    let holds = size > Bytes(0) && size <= LARGEST_PACKET;
    problems.unless(holds, at, format!("{size} is not a packet size; write \"1 B\" to \"{LARGEST_PACKET}\""));
}

/// Checks the rate of an access link.
pub(super) fn access(rate: Rate, at: KeyPath, problems: &mut Problems) {
    problems.unless(rate.as_bps() > 0.0, at, "is zero; write one like \"10 Gbps\", or remove it");
}

/// Checks a limit in packets on what may be outstanding.
pub(super) fn receive_window(packets: Option<u64>, at: KeyPath, problems: &mut Problems) {
    problems.unless(packets != Some(0), at, "is zero; write 1 or more, or remove it");
}

/// Checks a limit in packets on what may leave together.
pub(super) fn max_burst(packets: Option<u64>, at: KeyPath, problems: &mut Problems) {
    problems.unless(packets != Some(0), at, "is zero; write 2 or more, or remove it");
}

/// Checks how many windows leave per round-trip time, for whichever controllers.
pub(super) fn pacing(windows: Option<f64>, at: KeyPath, problems: &mut Problems) {
    let message = "is not within 1 and 100; write one like 1.25, or remove it";
    problems.unless(windows.is_none_or(|windows| (1.0..=100.0).contains(&windows)), at, message);
}

/// Checks for how long an acknowledgment may be delayed.
pub(super) fn delayed_ack(delay: Option<Duration>, at: KeyPath, problems: &mut Problems) {
    problems.unless(delay != Some(Duration::ZERO), at, "is zero; write one like \"40 ms\", or remove it");
}

/// Checks one of the times by which hosts are not exact: for how long receivers coalesce interrupts (`coalesce`), by
/// how much senders are late (`jitter`), and the shortest time between two departures (`quantum`).
pub(super) fn host_time(time: Option<Duration>, example: &str, at: KeyPath, problems: &mut Problems) {
    let Some(time) = time else { return };
    let message =
        format!("{time} is not more than 0 and at most {LONGEST_HOLD}; write one like \"{example}\", or remove it");
    problems.unless(time > Duration::ZERO && time <= LONGEST_HOLD, at, message);
}

/// Checks that a sender starts before the end of the run.
pub(super) fn start(start: Duration, end: Duration, at: KeyPath, problems: &mut Problems) {
    problems.unless(start < end, at, format!("{start} is not before the end of the run; write less than \"{end}\""));
}

/// Checks that a sender stops after it has started.
pub(super) fn stop(stop: Option<Duration>, start: Duration, at: KeyPath, problems: &mut Problems) {
    let Some(stop) = stop else { return };
    problems.unless(stop > start, at, format!("{stop} is not after its start; write more than \"{start}\""));
}
