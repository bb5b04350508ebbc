//! From the arguments of `thalweg cp` to a copy.

use super::location::{Location, Remote};
use crate::args::{Cp, Drive};
use crate::failure::Failure;
use control::{EcnSupport, registry};
use copy::{Client, Job, Options, Peer, ssh};
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use wire::Choice;

/// The controller if none is given.
const DEFAULT_CONTROLLER: &str = "thalweg-hybrid";
/// Why copies cannot be sent with a controller that reacts to the share of marks. DCTCP is for data centres (RFC 8257,
/// section 1), and elsewhere such a controller must notice classic queues that mark (RFC 9331, section 4.3), which
/// Prague's does not do here.
const NOT_FOR_ALL_PATHS: &str = "is for paths whose queues are known (thalweg run --real), as it takes the share of \
                                 others where a queue marks as RFC 3168 says";
/// The longest time that `--timeout` and `--patience` accept, in seconds: a day.
const LONGEST: f64 = 86_400.0;

impl Drive {
    /// The controller that was chosen.
    pub(super) fn choice(&self) -> Result<Choice, Failure> {
        let parameters = self.sets.iter().map(|set| (set.path.to_string(), set.value.clone())).collect();
        let name = self.controller.as_deref().unwrap_or(DEFAULT_CONTROLLER);
        if registry::find(name).is_some_and(|controller| controller.ecn == EcnSupport::L4s) {
            return Err(wrong(format!("--controller: {name} {NOT_FOR_ALL_PATHS}; choose one like cubic")));
        }
        let choice = Choice::new(name, &parameters).map_err(|why| wrong(format!("--controller: {why}")))?;
        let ecn = |choice: Choice| choice.with_ecn().map_err(|why| wrong(format!("--ecn: {why}")));
        if self.ecn { ecn(choice) } else { Ok(choice) }
    }

    fn is_default(&self) -> bool {
        self.controller.is_none() && self.sets.is_empty() && !self.ecn
    }
}

/// The copy that the arguments describe.
pub(super) fn plan(args: &Cp) -> Result<Client, Failure> {
    let choice = args.drive.choice()?;
    let (job, remote) = job(args)?;
    let served = matches!(remote, Remote::Served { .. });
    if served && matches!(job, Job::Fetch { .. }) && !args.drive.is_default() {
        return Err(wrong(
            "--controller: in this copy the server sends and chooses the controller; use thalweg serve --controller",
        ));
    }
    let peer = match remote {
        Remote::Served { host, key } => Peer::Served { host, key },
        Remote::Host(name) => Peer::Ssh(ssh::Host {
            name,
            ssh: ssh_command(args),
            program: args.remote_program.clone(),
            ports: args.ports.clone().unwrap_or(0..=0),
        }),
    };
    let options = Options { recursive: args.recursive, preserve: args.preserve, sync: !args.no_sync };
    let mut client = Client::new(job, peer, options, choice);
    client.idle_timeout = seconds("--timeout", args.timeout, 1.0)?;
    client.retry_for = seconds("--patience", args.patience, 0.0)?;
    Ok(client)
}

/// What to copy, and the other host.
fn job(args: &Cp) -> Result<(Job, Remote), Failure> {
    let locations: Result<Vec<_>, _> = args.paths.iter().map(Location::parse).collect();
    let mut sources = locations.map_err(wrong)?;
    let destination = sources.pop().filter(|_| !sources.is_empty());
    let destination = destination.ok_or_else(|| wrong("one path is missing; write SOURCE... DESTINATION"))?;
    match destination {
        Location::Remote(remote, destination) => {
            let sources: Option<Vec<PathBuf>> = sources.into_iter().map(Location::local).collect();
            let sources = sources.ok_or_else(|| {
                wrong("source and destination are both remote; run thalweg cp on one of the two hosts")
            })?;
            Ok((Job::Push { sources, destination }, remote))
        }
        Location::Local(destination) => {
            let (mut paths, mut from) = (Vec::new(), None);
            for source in sources {
                let Location::Remote(remote, path) = source else {
                    return Err(wrong(
                        "neither source nor destination is remote; write one of them as HOST:PATH or thalweg://...",
                    ));
                };
                if from.as_ref().is_some_and(|from| *from != remote) {
                    return Err(wrong("the sources are on different hosts; copy from one host after the other"));
                }
                from = Some(remote);
                paths.push(path);
            }
            let from = from.ok_or_else(|| wrong("there is no source; write SOURCE... DESTINATION"))?;
            Ok((Job::Fetch { paths, destination }, from))
        }
    }
}

fn wrong(why: impl Into<String>) -> Failure {
    Failure::Wrong(vec![why.into()])
}

/// The value of a time option, if it is at least `least` seconds and at most a day.
fn seconds(option: &str, time: control::Duration, least: f64) -> Result<Duration, Failure> {
    if !(least..=LONGEST).contains(&time.as_secs()) {
        return Err(wrong(format!("{option}: {time} is not between {least} s and a day; write a time like 30s")));
    }
    Ok(Duration::from_secs_f64(time.as_secs()))
}

/// The ssh program and its options, which are separated by spaces in `--ssh` and `$THALWEG_SSH`.
fn ssh_command(args: &Cp) -> Vec<OsString> {
    let given = args.ssh.clone().or_else(|| env::var("THALWEG_SSH").ok()).unwrap_or_else(|| "ssh".into());
    let mut command: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
    if let Some(port) = args.port {
        command.extend(["-p".into(), port.to_string().into()]);
    }
    command
}
