//! `thalweg run --real`: each run simulated, and then in real time on loopback.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::status::{Status, say_verdict};
use experiment::{Finished, Run};
use lab::qlog::QlogFolder;
use qlog::Event;
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

/// Makes the real runs, and returns them with the simulated ones. Their logs are written into the folder `qlog`, if
/// there is one.
pub fn run(
    runs: RealRuns,
    simulated: Vec<Finished>,
    qlog: Option<&QlogFolder>,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<Vec<Finished>, Failure> {
    let status = Status::new(interrupt, quiet, false);
    let runs = if qlog.is_some() { runs.recorded() } else { runs };
    let mut announce = |run: &Run| {
        status.begin();
        if !quiet {
            print::note(&format!("{}: {} s", run.name(), run.experiment.duration.as_secs()));
        }
    };
    let mut unwritten = None;
    let mut keep = |made: &Finished, recorded: &[Vec<Event>]| {
        let written = qlog.map_or(Ok(()), |folder| folder.write(&made.run, &made.outcome, recorded));
        unwritten = unwritten.take().or(written.err());
    };
    let all = runs.run(simulated, &status, &mut announce, &mut keep)?;
    if let Some(why) = unwritten {
        return Err(Failure::Failed(why));
    }
    all.iter().for_each(|finished| say_verdict(finished, quiet));
    Ok(all)
}
