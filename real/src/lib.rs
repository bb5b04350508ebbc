//! Experiments in real time: the [emulated](emulate) path, with real senders and receivers at its ends.
//!
//! What lives here: [`run`], which lets QUIC with the experiment's controllers, QUIC with quinn's own, or the kernel's
//! TCP carry an experiment's flows, and gives the results that a simulation gives; real runs [beside](RealRuns)
//! simulated ones; and the [emulation](Emulation) of a path for the packets of others. What does not: scenarios, files
//! and terminals.
//!
//! Commands and the kernel's TCP run in network namespaces, which takes root. A [`Helper`] says how their processes are
//! started.
//!
//! ```no_run
//! # fn example(experiment: &experiment::Experiment) -> Result<(), real::Error> {
//! use real::{Contestant, Helper};
//! let helper = Helper::new(vec!["/usr/bin/thalweg".into()]); // Not started for runs over QUIC.
//! let measured = real::run(experiment, &Contestant::Ours, &helper, &())?;
//! println!("{} bytes delivered", measured.outcome.flows[0].delivered.0);
//! # Ok(())
//! # }
//! ```

#![cfg(target_os = "linux")]

mod beside;
mod contestant;
mod emulation;
mod error;
mod flow_log;
mod guest;
mod helper;
mod kernel;
mod measured;
mod quic;
mod testbed;
mod unsupported;
mod watch;

pub use beside::RealRuns;
pub use contestant::{Congestion, Contestant};
pub use emulation::{CommandEnded, Emulation};
pub use error::Error;
pub use guest::Guest;
pub use helper::{Helper, answer};
pub use measured::{EMULATED, LATE_US, Measured};
pub use unsupported::unsupported;
pub use watch::{Progress, Watch};

use control::Bytes;
use experiment::Experiment;
use kernel::KernelSender;
use quic::Stack;
use std::sync::Arc;
use testbed::Testbed;

/// The size of full packets on the path, with `wire`'s header. An experiment must have packets of this size to run in
/// real time, so that its simulation compares.
pub const PACKET: Bytes = Bytes(wire::PACKET + wire::header::SIZE as u64);

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
        if let Some(why) = unsupported(experiment) {
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
            let name = contestant.to_string();
            experiment.flows.iter_mut().for_each(|flow| flow.controller.clone_from(&name));
        }
        Ok(Prepared { experiment, carrier })
    }

    /// Makes the run.
    ///
    /// # Errors
    /// If the run fails, or if `watch` ends it.
    pub fn run(self, watch: &dyn Watch) -> Result<Measured, Error> {
        let testbed = Arc::new(Testbed::new(&self.experiment));
        let (record, logs) = match self.carrier {
            Carrier::Quic(stack) => quic::carry(&testbed, stack, watch)?,
            Carrier::Kernel(name, kernel) => kernel.carry(&testbed, &name, watch)?,
        };
        match watch.go_on() {
            true => Ok(testbed.measured(&record, &logs)),
            false => Err(Error::Interrupted),
        }
    }
}
