//! `thalweg run --real`: each run simulated, and then in real time on loopback.

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
use crate::status::Status;
use experiment::{Finished, Identity, Place, Run};
use real::{Contestant, Error, Helper, Measured, Prepared};
use scenario::{Plan, Set};

/// What a scenario has to be given so that real and simulated packets have the same size.
pub fn packets() -> Set {
    format!("packet={} B", real::PACKET.0).parse().expect("KEY=VALUE")
}

/// Real runs that are ready to begin: one for each of the plan's runs, and then those of others.
pub struct Real {
    ours: Vec<(Run, Prepared)>,
    others: Vec<(Run, Prepared)>,
}

impl Real {
    /// Prepares the real runs of the plan in `file`, and of those who run `beside` them. The process must still have a single thread.
    pub fn prepare(file: &str, plan: &Plan, beside: &[Contestant]) -> Result<Real, Failure> {
        let helper =
            Helper::this_program().map_err(|e| Failure::Failed(format!("a process: {}", scenario::reason(&e))))?;
        let prepare = |run: Run, contestant: &Contestant| match Prepared::new(&run.experiment, contestant, &helper) {
            Ok(prepared) => Ok((run, prepared)),
            Err(Error::Unsupported(why)) => Err(Failure::Wrong(vec![format!("{file}: {why}")])),
            Err(e) => Err(e.into()),
        };
        let ours = plan.runs.iter().map(|run| prepare(run.clone(), &Contestant::Ours)).collect::<Result<_, _>>()?;
        let mut contestants = beside.to_vec();
        contestants.dedup();
        let mut others = Vec::new();
        for run in paths(plan) {
            for contestant in &contestants {
                others.push(prepare(carried_by(run, contestant), contestant)?);
            }
        }
        Ok(Real { ours, others })
    }

    /// Makes the real runs: after each of the `simulated`, which it returns with them, its own; then those of others.
    pub fn run(self, simulated: Vec<Finished>, interrupt: &Interrupt, quiet: bool) -> Result<Vec<Finished>, Failure> {
        let mut all = Vec::new();
        for (simulated, real) in simulated.into_iter().zip(self.ours) {
            all.push(simulated);
            all.push(make(real, interrupt, quiet)?);
        }
        for real in self.others {
            all.push(make(real, interrupt, quiet)?);
        }
        Ok(all)
    }
}

/// Makes a real run.
fn make((run, prepared): (Run, Prepared), interrupt: &Interrupt, quiet: bool) -> Result<Finished, Failure> {
    let identity = run.identity.in_place(Place::Real);
    let name = identity.to_string();
    if !quiet {
        print::note(&format!("{name}: {} s", run.experiment.duration.as_secs()));
    }
    let measured = prepared.run(&Status::new(interrupt, quiet, false)).map_err(|e| Failure::from(e).of(&run.name()))?;
    let Measured { experiment, outcome, emulator, wall_seconds } = measured;
    Ok(Finished { run: Run { identity, experiment, ..run }, outcome, wall_seconds, emulator: Some(emulator) })
}

/// A run for each of the plan's paths: contestants have controllers of their own.
fn paths(plan: &Plan) -> Vec<&Run> {
    let mut paths: Vec<&Run> = Vec::new();
    for run in &plan.runs {
        if paths.iter().all(|known| known.identity.settings != run.identity.settings) {
            paths.push(run);
        }
    }
    paths
}

/// The run with all its flows carried by `contestant`.
fn carried_by(run: &Run, contestant: &Contestant) -> Run {
    let controller = contestant.to_string();
    let identity = Identity { controllers: vec![controller.clone()], ..run.identity.clone() };
    Run { identity, controller, parameters: serde_json::Value::Object(Default::default()), ..run.clone() }
}
