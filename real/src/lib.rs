//! Experiments in real time: the [emulated](emulate) path, with real senders and receivers at its ends.
//!
//! What lives here: [`run`], which lets QUIC with the experiment's controllers, quinn with its own, or the kernel's TCP carry an
//! experiment's flows, and gives the results that a simulation would give; and the emulation of a path for datagrams and commands
//! of others ([`emulation`]). What does not: scenarios, files and terminals.
//!
//! Commands and the kernel's TCP run in network namespaces, whose processes a [`Helper`] starts.

#![cfg(target_os = "linux")]

mod contestant;
pub mod emulation;
mod error;
mod guest;
mod helper;
mod kernel;
mod log;
mod outcome;
mod quic;
mod refusal;
mod stage;
mod watch;
mod way;

pub use contestant::{Congestion, Contestant};
pub use error::Error;
pub use guest::{Guest, Pipes};
pub use helper::{Helper, answer};
pub use outcome::{EMULATED, LATE_US, Measured};
pub use refusal::of as refusal;
pub use watch::{Progress, Watch};

use control::Bytes;
use experiment::Experiment;
use kernel::Kernel;
use quic::Stack;
use stage::Stage;
use std::sync::Arc;

/// The size of full packets in runs over QUIC, on the path: real and simulated runs compare with packets of this size.
pub const PACKET: Bytes = Bytes(wire::PACKET + wire::header::SIZE as u64);

/// Runs `experiment` in real time, with its flows carried by `contestant`. The process must have a single thread if that is the
/// kernel, whose processes `helper` starts.
///
/// # Errors
/// If the experiment has what no real run can have, if the system refuses what the run needs, if the run fails, and if `watch` ends it.
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
    with: With,
}

/// Who carries the flows, with what has to be made for it before the process has threads.
enum With {
    Quic(Stack),
    Kernel(String, Box<Kernel>),
}

impl Prepared {
    /// Prepares what [`run`] runs, for later. The process must have a single thread if `contestant` is the kernel.
    ///
    /// # Errors
    /// If the experiment has what no real run can have, or if the system refuses what the run needs.
    pub fn new(experiment: &Experiment, contestant: &Contestant, helper: &Helper) -> Result<Prepared, Error> {
        if let Some(why) = refusal(experiment) {
            return Err(Error::Unsupported(why));
        }
        let with = match contestant {
            Contestant::Ours => With::Quic(Stack::Wire),
            Contestant::Quinn(congestion) => With::Quic(Stack::Quinn(*congestion)),
            Contestant::Kernel(name) => With::Kernel(name.clone(), Box::new(Kernel::prepare(experiment, helper)?)),
        };
        let mut experiment = experiment.clone();
        if !matches!(contestant, Contestant::Ours) {
            let name = contestant.to_string();
            experiment.flows.iter_mut().for_each(|flow| flow.controller.clone_from(&name));
        }
        Ok(Prepared { experiment, with })
    }

    /// Runs it.
    ///
    /// # Errors
    /// If the run fails, or if `watch` ends it.
    pub fn run(self, watch: &dyn Watch) -> Result<Measured, Error> {
        let stage = Arc::new(Stage::new(&self.experiment));
        let (record, logs) = match self.with {
            With::Quic(stack) => quic::play(&stage, stack, watch)?,
            With::Kernel(name, kernel) => kernel.play(&stage, &name, watch)?,
        };
        match watch.go_on() {
            true => Ok(stage.measured(&record, &logs)),
            false => Err(Error::Interrupted),
        }
    }
}
