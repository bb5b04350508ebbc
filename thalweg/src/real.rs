//! `thalweg run --real`: each run simulated, and then in real time on loopback.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::status::{Status, say_verdict};
use experiment::Finished;
use real::{Contestant, Error, Helper, RealRuns};
use scenario::{Plan, Set};
use std::ffi::OsString;

/// The setting that gives simulated packets the size of real ones.
pub fn packets() -> Set {
    format!("packet={} B", real::PACKET.0).parse().expect("KEY=VALUE")
}

/// Prepares the real runs of the plan in `file`, and those with the contestants `beside`. The process must have a
/// single thread. `program` begins a command that starts this program again.
pub fn prepare(file: &str, plan: &Plan, beside: &[Contestant], program: &[OsString]) -> Result<RealRuns, Failure> {
    RealRuns::prepare(&plan.runs, beside, &Helper::new(program.to_vec())).map_err(|e| match e {
        Error::Unsupported(why) => Failure::Wrong(vec![format!("{file}: {why}")]),
        e => e.into(),
    })
}

/// Makes the real runs, and returns them with the simulated ones.
pub fn run(
    runs: RealRuns,
    simulated: Vec<Finished>,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Vec<Finished>, Failure> {
    let status = Status::new(interrupt, quiet, false);
    let all = runs.run(simulated, &status, &mut |run| {
        status.begin();
        if !quiet {
            print::note(&format!("{}: {} s", run.name(), run.experiment.duration.as_secs()));
        }
    });
    let all = all?;
    all.iter().for_each(|finished| say_verdict(finished, quiet));
    Ok(all)
}
