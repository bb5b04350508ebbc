//! Experiments in real time: the [emulated](emulate) path, with real senders and receivers at its ends.
//!
//! What lives here: [`run`], which lets QUIC with the experiment's controllers, QUIC with quinn's own, or the kernel's
//! TCP carry an experiment's flows, and gives the results that a simulation gives; real runs [beside](RealRuns)
//! simulated ones; the [emulation](Emulation) of a path for the packets of others; and captures of a run's packets.
//! What does not: scenarios, terminals, and which files there are.
//!
//! Commands and the kernel's TCP run in network namespaces, which takes root. A [`Helper`] says how their processes are
//! started.
//!
//! ```no_run
//! # fn example(experiment: &experiment::Experiment) -> Result<(), thalweg_real::Error> {
//! use thalweg_real::{Contestant, Helper};
//! let helper = Helper::new(vec!["/usr/bin/thalweg".into()]); // Not started for runs over QUIC.
//! let measured = thalweg_real::run(experiment, &Contestant::Ours, &helper, &())?;
//! println!("{} bytes delivered", measured.outcome.flows[0].delivered.0);
//! # Ok(())
//! # }
//! ```

#![cfg(target_os = "linux")]

mod answer;
mod beside;
mod capture;
mod contestant;
mod emulation;
mod error;
mod flow_log;
mod guest;
mod helper;
mod kernel;
mod measured;
mod quic;
mod run;
mod testbed;
mod unsupported;
mod watch;

pub use answer::answer;
pub use beside::{Keep, RealRuns, simulated};
pub use capture::Sinks;
pub use contestant::{Congestion, Contestant};
pub use emulation::{CommandEnded, Emulation};
pub use error::Error;
pub use guest::Guest;
pub use helper::Helper;
pub use measured::{LATE_US, Measured};
pub use run::{Prepared, run};
pub use unsupported::{PACKET, unsupported};
pub use watch::{Progress, Watch};
