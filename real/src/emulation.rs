//! A path in real time for the packets of others: datagrams through a relay, or all traffic of a command.

use crate::error::Error;
use crate::guest::Guest;
use crate::guest::Pipes;
use crate::helper::Helper;
use crate::measured;
use crate::measured::Measured;
use crate::watch::{Observer, Watch};
use control::{Duration, Time};
use emulate::{EmulatedPath, Ends, Record, relay::Relay};
use experiment::{Experiment, Flow};
use realtime::Clock;
use std::ffi::OsString;
use std::time::Instant;

/// How long a command may take to end by itself after the watch ended the run: Ctrl-C, for one, reaches the command,
/// too.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
/// The exit code of a command that did not end by itself: what shells say of a process that SIGINT ended.
const KILLED: i32 = 130;

/// A path to emulate: that of an experiment's first flow. Flows and traffic of the experiment are not simulated.
pub struct Emulation {
    experiment: Experiment,
    limit: Option<Duration>,
}

/// What the emulation of a path for a command gave.
pub struct CommandEnded {
    /// The results.
    pub measured: Measured,
    /// The command's exit code; 130 if it had to be killed.
    pub code: i32,
}

impl Emulation {
    /// The path of the first flow of `experiment`, for at most as long as `limit` says.
    ///
    /// # Errors
    /// If the experiment has no flow, or a link cannot be built.
    pub fn new(experiment: &Experiment, limit: Option<Duration>) -> Result<Emulation, Error> {
        if experiment.flows.is_empty() {
            let why = "flow: is missing; packets take the first flow's route, so write [[flow]] with a controller";
            return Err(Error::Unsupported(why.into()));
        }
        let emulation = Emulation { experiment: experiment.clone(), limit };
        emulation.path()?;
        Ok(emulation)
    }

    /// Starts `command` in a network namespace whose only way out is a path of this emulation. The process must have a
    /// single thread.
    ///
    /// # Errors
    /// If the system refuses: it takes root.
    pub fn start(&self, command: &[OsString], helper: &Helper) -> Result<Guest, Error> {
        Guest::start(command, helper, Pipes::Inherited, self.experiment.flows[0].packet)
    }

    /// Lets the datagrams of `relay` cross the path, from the first one on. It ends when the limit is reached or when
    /// `watch` ends it, neither of which is an error.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `watch` ends it before the first datagram; if the emulator fails.
    pub fn relay(&self, relay: &mut Relay, watch: &dyn Watch) -> Result<Measured, Error> {
        match relay.wait_for_clients(&mut || watch.go_on()).map_err(Error::Emulator)? {
            true => self.cross(relay, watch, &mut || watch.go_on()).map(|record| self.measured(&record)),
            false => Err(Error::Interrupted),
        }
    }

    /// Lets the traffic of the command in `guest` cross the path. It ends when the command does, when the limit is
    /// reached or when `watch` ends it, none of which is an error.
    ///
    /// # Errors
    /// If the emulator fails.
    pub fn command(&self, mut guest: Guest, watch: &dyn Watch) -> Result<CommandEnded, Error> {
        let Guest { tunnel, child, .. } = &mut guest;
        let mut ended = None;
        let mut stopped: Option<Instant> = None;
        let record = self.cross(tunnel, watch, &mut || {
            ended = child.try_wait().ok().flatten().map(|status| status.code().unwrap_or(1));
            stopped = stopped.or_else(|| (!watch.go_on()).then(Instant::now));
            ended.is_none() && stopped.is_none_or(|since| since.elapsed() < GRACE)
        })?;
        Ok(CommandEnded { measured: self.measured(&record), code: ended.unwrap_or(KILLED) })
    }

    fn path(&self) -> Result<EmulatedPath, Error> {
        let Experiment { links, flows, seed, .. } = &self.experiment;
        EmulatedPath::new(links, *seed, flows[..1].iter().map(Flow::hosts)).map_err(Error::Path)
    }

    /// Lets packets cross between `ends` until `go_on` says no or the limit is reached.
    fn cross(&self, ends: &mut dyn Ends, watch: &dyn Watch, go_on: &mut dyn FnMut() -> bool) -> Result<Record, Error> {
        let path = self.path()?;
        let clock = Clock::start();
        let end = self.limit.map(|limit| Time::ZERO + limit);
        let mut observer = Observer::new(measured::directions(&self.experiment));
        let mut go_on = || end.is_none_or(|end| clock.now() < end) && go_on();
        let mut tell = |second: &emulate::Progress| watch.progress(&observer.second(second));
        emulate::run(ends, clock, path, self.experiment.sample, &mut go_on, &mut tell).map_err(Error::Emulator)
    }

    fn measured(&self, record: &Record) -> Measured {
        measured::of_packets(&self.experiment, record)
    }
}
