//! `thalweg run --real`: each run simulated, and then for real on loopback.
//!
//! A real run has the scenario's path in real time (`emulate`), an endpoint of QUIC at either end for each of its flows (`quic`), or the
//! kernel's TCP (`kernel`), and its results are those of a simulated run.

mod contestant;
mod kernel;
mod log;
mod quic;
mod refusal;
mod stage;

use crate::emulate::progress::Lines;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::print;
pub use contestant::Contestant;
use experiment::{Finished, Place, Run};
use kernel::Kernels;
pub use kernel::send as tcp_send;
use quic::Stack;
use scenario::Plan;
use scenario::Set;
use stage::Stage;
use std::sync::Arc;

/// What makes real and simulated packets alike: they have the size of `wire`'s.
pub fn packets() -> Set {
    let size = wire::PACKET + wire::header::SIZE as u64;
    format!("packet={size} B").parse().expect("KEY=VALUE")
}

/// Real runs that are ready to go.
pub struct Real {
    contestants: Vec<Contestant>,
    kernels: Kernels,
}

impl Real {
    /// Prepares the real runs of the plan in `file`, and of those who run `beside` them. The process must still have a single thread.
    pub fn prepare(file: &str, plan: &Plan, beside: &[Contestant]) -> Result<Real, Failure> {
        let refusals: Vec<String> = plan.runs.iter().filter_map(|run| refusal::of(&run.experiment)).collect();
        if let Some(why) = refusals.first() {
            return Err(Failure::Wrong(vec![format!("{file}: {why}")]));
        }
        let mut contestants = beside.to_vec();
        contestants.dedup();
        let kernels = Kernels::prepare(&contestants, &paths(plan))?;
        Ok(Real { contestants, kernels })
    }

    /// Makes the real runs: after each of the `simulated`, which it returns with them, its own.
    pub fn run(
        mut self,
        plan: &Plan,
        simulated: Vec<Finished>,
        interrupt: &Interrupt,
        quiet: bool,
    ) -> Result<Vec<Finished>, Failure> {
        let mut all = Vec::new();
        for (run, simulated) in plan.runs.iter().zip(simulated) {
            all.push(simulated);
            all.push(self.play(run, &Contestant::Ours, interrupt, quiet)?);
        }
        for run in paths(plan) {
            for contestant in self.contestants.clone() {
                all.push(self.play(&played_by(run, &contestant), &contestant, interrupt, quiet)?);
            }
        }
        Ok(all)
    }

    fn play(
        &mut self,
        run: &Run,
        contestant: &Contestant,
        interrupt: &Interrupt,
        quiet: bool,
    ) -> Result<Finished, Failure> {
        let identity = run.identity.in_place(Place::Real);
        let name = identity.to_string();
        if !quiet {
            print::note(&format!("{name}: {} s", run.experiment.duration.as_secs()));
        }
        let stage = Arc::new(Stage::new(run));
        let links = stage.links();
        let mut lines = Lines::new(quiet, false, links);
        let (record, logs) = match contestant {
            Contestant::Ours => quic::play(&stage, Stack::Wire, interrupt, &mut lines)?,
            Contestant::Quinn(congestion) => quic::play(&stage, Stack::Quinn(*congestion), interrupt, &mut lines)?,
            Contestant::Kernel(name) => self.kernels.play(&stage, name, interrupt, &mut lines)?,
        };
        if interrupt.came() {
            return Err(Failure::Interrupted);
        }
        Ok(stage.finished(identity, &record, &logs))
    }
}

/// A run per path: those who run beside have controllers of their own.
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
fn played_by(run: &Run, contestant: &Contestant) -> Run {
    let controller = contestant.to_string();
    let mut run = run.clone();
    run.experiment.flows.iter_mut().for_each(|flow| flow.controller = controller.clone());
    run.identity.controllers = vec![controller.clone()];
    Run { controller, parameters: serde_json::Value::Object(Default::default()), ..run }
}
