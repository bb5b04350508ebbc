//! Checks of the keys at the top of a scenario: the run's times, and what its hosts have in common.

use crate::checks;
use crate::key_path::KeyPath;
use crate::keys::Scenario;
use crate::problems::Problems;
use control::{Duration, Time};

/// The most samples of each time series. It bounds memory, and is more than a plot can show.
const MOST_SAMPLES: u64 = 10_000_000;

/// Checks the run's length, its sampling and its measured interval. Returns the measured interval; none if the run has
/// no length, so that nothing else can be checked against it.
pub(super) fn check(scenario: &Scenario, problems: &mut Problems) -> Option<(Time, Time)> {
    let Scenario { duration, sample, .. } = scenario;
    if *duration == Duration::ZERO {
        problems.add(KeyPath::of("duration"), "is zero; write one like \"60 s\"");
        return None;
    }
    let at = KeyPath::of("sample");
    if *sample == Duration::ZERO {
        problems.add(at, "is zero; write one like \"50 ms\"");
    } else if duration.0 / sample.0 > MOST_SAMPLES {
        let least = Duration(duration.0.div_ceil(MOST_SAMPLES));
        problems.add(
            at,
            format!("{sample} makes more than {MOST_SAMPLES} samples in {duration}; write at least \"{least}\""),
        );
    }

    let from = scenario.measure.from;
    let to = scenario.measure.to.unwrap_or(*duration);
    let at = KeyPath::of("measure");
    if to == Duration::ZERO {
        problems.add(at.key("to"), "is zero; write one like \"60 s\", or remove it");
    } else if to > *duration {
        problems.add(at.key("to"), format!("{to} is after the end of the run; write at most \"{duration}\""));
    } else if from >= to {
        problems.add(at.key("from"), format!("{from} is not before the interval's end; write less than \"{to}\""));
    }
    Some((Time(from.0), Time(to.0)))
}

/// Checks the packet sizes, acknowledgments and timers of hosts.
pub(super) fn check_hosts(scenario: &Scenario, problems: &mut Problems) {
    checks::packet(scenario.packet, KeyPath::of("packet"), problems);
    checks::packet(scenario.ack, KeyPath::of("ack"), problems);
    checks::delayed_ack(scenario.delayed_ack, KeyPath::of("delayed-ack"), problems);
    checks::host_time(scenario.coalesce, "100 us", KeyPath::of("coalesce"), problems);
    checks::host_time(scenario.jitter, "10 us", KeyPath::of("jitter"), problems);
    checks::pacing(scenario.pacing, KeyPath::of("pacing"), problems);
    checks::host_time(scenario.quantum, "50 us", KeyPath::of("quantum"), problems);
    let holds = scenario.min_rto > Duration::ZERO;
    problems.unless(holds, KeyPath::of("min-rto"), "is zero; write one like \"200 ms\"");
}
