//! A run of an experiment in real time, with one contestant.

use crate::capture::{Capture, Sinks};
use crate::contestant::Contestant;
use crate::error::Error;
use crate::helper::Helper;
use crate::kernel::KernelSender;
use crate::measured::Measured;
use crate::quic::{self, Stack};
use crate::testbed::Testbed;
use crate::unsupported::unsupported;
use crate::watch::Watch;
use experiment::Experiment;
use std::sync::Arc;

/// Runs `experiment` in real time, with its flows carried by `contestant`. If that is the kernel, the process must have
/// a single thread, and `helper` starts the sender's processes.
///
/// # Errors
/// If the experiment has what no run in real time can have, if the system refuses what the run needs, if the run fails,
/// and if `watch` ends it.
pub fn run(
    experiment: &Experiment,
    contestant: &Contestant,
    helper: &Helper,
    watch: &dyn Watch,
) -> Result<Measured, Error> {
    Prepared::new(experiment, contestant, helper)?.run(watch)
}

/// A run that is ready to begin.
pub struct Prepared {
    experiment: Experiment,
    carrier: Carrier,
    recorded: bool,
    capture: Option<Sinks>,
}

/// Who carries the flows, with what it needs that must be made before the process has threads.
enum Carrier {
    Quic(Stack),
    /// The kernel's TCP, with the name of its congestion control.
    Kernel(String, Box<KernelSender>),
}

impl Prepared {
    /// Prepares a [`run`] to begin it later, when the process has threads. Until here it must have a single one if
    /// `contestant` is the kernel.
    ///
    /// # Errors
    /// If the experiment has what no run in real time can have, or if the system refuses what the run needs.
    pub fn new(experiment: &Experiment, contestant: &Contestant, helper: &Helper) -> Result<Prepared, Error> {
        if let Some(why) = unsupported(experiment, contestant) {
            return Err(Error::Unsupported(why));
        }
        let carrier = match contestant {
            Contestant::Ours => Carrier::Quic(Stack::Wire),
            Contestant::Quinn(congestion) => Carrier::Quic(Stack::Quinn(*congestion)),
            Contestant::Kernel(name) => {
                Carrier::Kernel(name.clone(), Box::new(KernelSender::start(experiment, helper)?))
            }
        };
        let mut experiment = experiment.clone();
        if !matches!(contestant, Contestant::Ours) {
            let name: Arc<str> = contestant.to_string().into();
            experiment.flows.iter_mut().for_each(|flow| flow.controller.clone_from(&name));
        }
        Ok(Prepared { experiment, carrier, recorded: false, capture: None })
    }

    /// The same run, in which what the experiment's controllers hear and do is recorded. The controllers of others are
    /// not recorded.
    pub fn recorded(self) -> Prepared {
        Prepared { recorded: matches!(self.carrier, Carrier::Quic(Stack::Wire)), ..self }
    }

    /// The same run, whose packets are captured into `sinks`, in the format pcapng. docs/qlog.md describes it.
    pub fn captured(self, sinks: Sinks) -> Prepared {
        Prepared { capture: Some(sinks), ..self }
    }

    /// Makes the run.
    ///
    /// # Errors
    /// If the run fails, or if `watch` ends it.
    pub fn run(self, watch: &dyn Watch) -> Result<Measured, Error> {
        let testbed = Arc::new(Testbed::new(&self.experiment, self.recorded, self.capture.map(Capture::start)));
        let (record, logs) = match self.carrier {
            Carrier::Quic(stack) => quic::carry(&testbed, stack, watch)?,
            Carrier::Kernel(name, kernel) => kernel.carry(&testbed, &name, watch)?,
        };
        let uncaptured = testbed.capture.as_ref().map_or(Ok(0), Capture::finish).map_err(Error::Capture)?;
        match watch.go_on() {
            true => Ok(testbed.measured(&record, &logs, uncaptured)),
            false => Err(Error::Interrupted),
        }
    }
}
