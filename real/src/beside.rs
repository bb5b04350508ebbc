//! Real runs beside simulated ones: each run of a plan again with its own controllers, and with those of others.

use crate::capture::Sinks;
use crate::contestant::Contestant;
use crate::error::Error;
use crate::helper::Helper;
use crate::measured::Measured;
use crate::run::Prepared;
use crate::watch::Watch;
use control::{EcnSupport, registry};
use experiment::{Finished, Identity, Place, Run};
use path::Ecn;
use serde_json::{Map, Value};
use std::io;

/// Takes a run that was made, what was recorded of its flows, and the number of packets that are missing in its
/// captures.
pub type Keep<'a> = dyn FnMut(&Finished, &[Vec<qlog::Event>], u64) + 'a;

/// Real runs that are ready to begin.
pub struct RealRuns {
    /// One for each of the simulated runs, with its controllers.
    ours: Vec<(Run, Prepared)>,
    /// One for each path and each contestant that the simulator does not know.
    others: Vec<(Run, Prepared)>,
}

impl RealRuns {
    /// Prepares a real run for each of `runs`, and one for each path among them and each of `contestants` that the
    /// simulator does not know: the others are among `runs` ([`simulated`]). The process must have a single thread if
    /// the kernel is among them; `helper` starts its processes.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn prepare(runs: &[Run], contestants: &[Contestant], helper: &Helper) -> Result<RealRuns, Error> {
        let prepare = |run: Run, contestant: &Contestant| {
            let prepared = Prepared::new(&run.experiment, contestant, helper)?;
            Ok::<_, Error>((run, prepared))
        };
        let prepare_own = |run: &Run| prepare(run.clone(), &Contestant::of(&run.experiment));
        let ours = runs.iter().map(prepare_own).collect::<Result<_, _>>()?;
        let named_before = |i: usize| contestants[..i].contains(&contestants[i]);
        let is_simulated = |contestant: &Contestant| registry::find(&contestant.to_string()).is_some();
        let contestants: Vec<&Contestant> = (0..contestants.len())
            .filter(|&i| !named_before(i) && !is_simulated(&contestants[i]))
            .map(|i| &contestants[i])
            .collect();
        let mut others = Vec::new();
        for run in one_for_each_path(runs) {
            for &contestant in &contestants {
                others.push(prepare(carried_by(run, contestant), contestant)?);
            }
        }
        Ok(RealRuns { ours, others })
    }

    /// The same runs, [recorded](Prepared::recorded).
    pub fn recorded(self) -> RealRuns {
        let recorded = |(run, prepared): (Run, Prepared)| (run, prepared.recorded());
        RealRuns { ours: self.ours.into_iter().map(recorded).collect(), ..self }
    }

    /// Makes the real runs, and returns each after the simulated run that it belongs to, then those of other
    /// contestants. Calls `begin` before each: if that returns something, the run is
    /// [captured](Prepared::captured) there. Calls `keep` after it.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `watch` ends a run; [`Error::Run`] for the first run that fails, or that `begin`
    /// refuses.
    pub fn run(
        self,
        simulated: Vec<Finished>,
        watch: &dyn Watch,
        begin: &mut dyn FnMut(&Run) -> io::Result<Option<Sinks>>,
        keep: &mut Keep,
    ) -> Result<Vec<Finished>, Error> {
        let mut make = |(run, prepared): (Run, Prepared)| {
            let run = Run { identity: run.identity.in_place(Place::Real), ..run };
            let sinks = begin(&run).map_err(|e| Error::Capture(e).of_run(run.name()))?;
            let prepared = if let Some(sinks) = sinks { prepared.captured(sinks) } else { prepared };
            let measured = prepared.run(watch).map_err(|e| e.of_run(run.name()))?;
            let Measured { experiment, outcome, emulator, wall_seconds, recorded, uncaptured } = measured;
            let run = Run { experiment, ..run };
            let finished = Finished { run, outcome, wall_seconds, emulator: Some(emulator) };
            keep(&finished, &recorded, uncaptured);
            Ok(finished)
        };
        let mut all = Vec::new();
        for (simulated, real) in simulated.into_iter().zip(self.ours) {
            all.push(simulated);
            all.push(make(real)?);
        }
        for real in self.others {
            all.push(make(real)?);
        }
        Ok(all)
    }
}

/// A run in the simulator for each path among `runs` and each of `contestants` that the simulator knows, with all flows
/// controlled by it; none that is among `runs` already.
pub fn simulated(runs: &[Run], contestants: &[Contestant]) -> Vec<Run> {
    let mut all: Vec<Run> = Vec::new();
    for run in one_for_each_path(runs) {
        for contestant in contestants {
            let Some(controller) = registry::find(&contestant.to_string()) else { continue };
            let mut run = carried_by(run, contestant);
            if runs.iter().chain(&all).any(|other| other.identity == run.identity) {
                continue;
            }
            run.parameters = controller.defaults().clone();
            for flow in &mut run.experiment.flows {
                flow.controller = controller.name.into();
                flow.parameters = controller.defaults().clone().into();
                flow.recovery = controller.recovery;
                if flow.ecn.is_capable() {
                    flow.ecn = match controller.ecn {
                        EcnSupport::None => Ecn::NotEct,
                        EcnSupport::Classic => Ecn::Ect0,
                        EcnSupport::L4s => Ecn::Ect1,
                    };
                }
            }
            all.push(run);
        }
    }
    all
}

/// A run for each setting of the sweep: the paths of other runs with this setting are the same.
fn one_for_each_path(runs: &[Run]) -> Vec<&Run> {
    let mut paths: Vec<&Run> = Vec::new();
    for run in runs {
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
    Run { identity, controller, parameters: Value::Object(Map::new()), experiment: run.experiment.clone() }
}
