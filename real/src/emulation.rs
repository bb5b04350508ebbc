//! A path in real time for the packets of others: datagrams through a relay, or all of a command's traffic.

use crate::outcome;
use crate::watch::{Observer, Watch};
use crate::way::Ways;
use crate::{Error, Guest, Helper, Measured, Pipes};
use control::{Duration, Time};
use emulate::{Ends, Record, relay::Relay};
use experiment::Experiment;
use realtime::Clock;
use std::ffi::OsString;
use std::time::Instant;

/// What a command has left to end by itself after the watch said to stop: Ctrl-C reaches the command, too.
const GRACE: std::time::Duration = std::time::Duration::from_secs(2);

/// A path to emulate: that of an experiment's first flow. Nothing of what the experiment sends is simulated.
pub struct Emulation {
    way: Ways,
    limit: Option<Duration>,
}

/// What the emulation of a path for a command gave.
pub struct Ended {
    /// The results.
    pub measured: Measured,
    /// The command's exit code; 130 if it had to be killed.
    pub code: i32,
}

impl Emulation {
    /// The path of the first flow of `experiment`, which lasts for `limit` at most.
    ///
    /// # Errors
    /// If the experiment has no flow, or a link cannot be built.
    pub fn new(experiment: &Experiment, limit: Option<Duration>) -> Result<Emulation, Error> {
        let way = Ways::first(experiment)?;
        way.path()?;
        Ok(Emulation { way, limit })
    }

    /// Starts `command` in a network namespace whose only way out is a path of this emulation. The process must have a single thread.
    ///
    /// # Errors
    /// If the system refuses: it takes root.
    pub fn start(&self, command: &[OsString], helper: &Helper) -> Result<Guest, Error> {
        Guest::start(command, helper, Pipes::Inherited, self.way.packet())
    }

    /// Lets the datagrams of `relay` cross, from the first one on, until the limit is reached or `watch` ends it, which is no error.
    ///
    /// # Errors
    /// [`Error::Interrupted`] if `watch` ends it before the first datagram; if the emulator fails.
    pub fn relay(&self, relay: &mut Relay, watch: &dyn Watch) -> Result<Measured, Error> {
        match relay.wait_for_clients(&mut || watch.go_on()).map_err(Error::Emulator)? {
            true => self.cross(relay, watch, &mut || watch.go_on()).map(|record| self.measured(&record)),
            false => Err(Error::Interrupted),
        }
    }

    /// Lets the traffic of the command in `guest` cross until it ends, the limit is reached or `watch` ends it, which is no error.
    ///
    /// # Errors
    /// If the emulator fails.
    pub fn command(&self, mut guest: Guest, watch: &dyn Watch) -> Result<Ended, Error> {
        let Guest { tunnel, child, .. } = &mut guest;
        let mut ended = None;
        let mut stopped: Option<Instant> = None;
        let record = self.cross(tunnel, watch, &mut || {
            ended = child.try_wait().ok().flatten().map(|status| status.code().unwrap_or(1));
            stopped = stopped.or_else(|| (!watch.go_on()).then(Instant::now));
            ended.is_none() && stopped.is_none_or(|since| since.elapsed() < GRACE)
        })?;
        Ok(Ended { measured: self.measured(&record), code: ended.unwrap_or(130) })
    }

    /// Lets packets cross between `ends` until `go_on` says no or the limit is reached.
    fn cross(&self, ends: &mut dyn Ends, watch: &dyn Watch, go_on: &mut dyn FnMut() -> bool) -> Result<Record, Error> {
        let path = self.way.path()?;
        let clock = Clock::start();
        let end = self.limit.map(|limit| Time::ZERO + limit);
        let mut observer = Observer::new(self.way.both_ways());
        let mut go_on = || end.is_none_or(|end| clock.now() < end) && go_on();
        let mut tell = |second: &emulate::Progress| watch.progress(&observer.second(second));
        let sample = self.way.experiment.sample;
        emulate::run(ends, clock, path, sample, &mut go_on, &mut tell).map_err(Error::Emulator)
    }

    fn measured(&self, record: &Record) -> Measured {
        outcome::measured_of(&self.way, record)
    }
}
