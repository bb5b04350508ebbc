//! `thalweg cp` and `thalweg serve`.

mod place;
mod serve;
mod show;

pub use serve::serve;

use crate::args::{Cp, Drive};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use copy::message::Manner;
use copy::{Copy, Event, Job, Peer, ssh};
use place::{Place, Remote};
use scenario::reason;
use show::Show;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use wire::Choice;

/// How often Ctrl-C is looked for, and progress shown.
const OFTEN: Duration = Duration::from_millis(100);

/// Copies.
pub fn cp(args: &Cp) -> Result<(), Failure> {
    copy::umask(); // before there are threads
    if args.server {
        return server();
    }
    let (copy, show) = (plan(args)?, Arc::new(Show::new(args.quiet, args.verbose)));
    let interrupt = Interrupt::catch();
    let runtime = runtime()?;
    let heard = show.clone();
    let watch: copy::Watch = Arc::new(move |event| heard.hear(event));
    let outcome = runtime.block_on(async {
        let outcome = tokio::select! {
            outcome = copy.run(&watch) => Some(outcome),
            () = until(&interrupt, || show.tick()) => None,
        };
        copy.close().await;
        outcome
    });
    // Threads that read or write at this moment end when they notice.
    runtime.shutdown_timeout(Duration::from_secs(2));
    show.end();
    match outcome {
        None => Err(Failure::Interrupted),
        Some(Err(why)) => Err(Failure::Failed(why)),
        Some(Ok(farewell)) => show.outcome(&farewell),
    }
}

/// Waits for Ctrl-C.
async fn until(interrupt: &Interrupt, mut meanwhile: impl FnMut()) {
    while !interrupt.came() {
        meanwhile();
        tokio::time::sleep(OFTEN).await;
    }
}

fn runtime() -> Result<Runtime, Failure> {
    Builder::new_current_thread().enable_all().build().map_err(|e| Failure::Failed(reason(&e)))
}

/// What ssh runs on the other host. Standard error is the user's terminal there, and says nothing that the client does not.
fn server() -> Result<(), Failure> {
    let watch: copy::Watch = Arc::new(|_: Event| {});
    let runtime = runtime()?;
    let served = runtime.block_on(ssh::serve(&watch));
    runtime.shutdown_timeout(Duration::from_secs(2));
    served.map_err(Failure::Failed)
}

impl Drive {
    /// The controller that was chosen.
    fn choice(&self) -> Result<Choice, Failure> {
        let parameters = self.sets.iter().map(|set| (set.path.to_string(), set.value.clone())).collect();
        let name = self.controller.as_deref().unwrap_or("thalweg-hybrid");
        Choice::new(name, &parameters).map_err(|why| Failure::Wrong(vec![format!("--controller: {why}")]))
    }

    fn is_default(&self) -> bool {
        self.controller.is_none() && self.sets.is_empty()
    }
}

/// What the arguments mean.
fn plan(args: &Cp) -> Result<Copy, Failure> {
    let wrong = |why: String| Failure::Wrong(vec![why]);
    let choice = args.drive.choice()?;
    let places: Result<Vec<_>, _> = args.paths.iter().map(Place::parse).collect();
    let mut sources = places.map_err(wrong)?;
    let destination = sources.pop().filter(|_| !sources.is_empty());
    let destination = destination.ok_or_else(|| wrong("there are no two paths; write SOURCE... DESTINATION".into()))?;
    let (job, remote) = match destination {
        Place::Remote(remote, destination) => {
            let sources: Option<Vec<PathBuf>> = sources.into_iter().map(Place::local).collect();
            let sources = sources.ok_or_else(|| {
                wrong("source and destination are both remote; run thalweg on one of the two hosts".into())
            })?;
            (Job::Push { sources, destination }, remote)
        }
        Place::Local(destination) => {
            let (mut paths, mut from) = (Vec::new(), None);
            for source in sources {
                let Place::Remote(remote, path) = source else {
                    return Err(wrong(
                        "neither source nor destination is remote; one of them is HOST:PATH or thalweg://...".into(),
                    ));
                };
                if from.as_ref().is_some_and(|from| *from != remote) {
                    return Err(wrong("the sources are on different hosts; copy from one after the other".into()));
                }
                from = Some(remote);
                paths.push(path);
            }
            let from = from.ok_or_else(|| wrong("there is no source".into()))?;
            (Job::Fetch { paths, destination }, from)
        }
    };
    if matches!((&job, &remote), (Job::Fetch { .. }, Remote::Served { .. })) && !args.drive.is_default() {
        return Err(wrong("--controller: here the server sends, and chooses; start it with serve --controller".into()));
    }
    let peer = match remote {
        Remote::Served { host, key } => Peer::Known { host, key },
        Remote::Host(name) => Peer::Ssh(ssh::Host {
            name,
            ssh: program(args),
            program: args.remote_program.clone(),
            ports: args.ports.clone().unwrap_or(0..=0),
        }),
    };
    let manner = Manner { recursive: args.recursive, preserve: args.preserve };
    let mut copy = Copy::new(job, peer, manner, choice);
    copy.silence = seconds("--timeout", args.timeout, 1.0)?;
    copy.patience = seconds("--patience", args.patience, 0.0)?;
    Ok(copy)
}

fn seconds(option: &str, time: control::Duration, least: f64) -> Result<Duration, Failure> {
    let fine = (least..=86_400.0).contains(&time.as_secs());
    let wrong =
        || Failure::Wrong(vec![format!("{option}: {time} is not within {least} s and a day; write one like 30s")]);
    fine.then(|| Duration::from_secs_f64(time.as_secs())).ok_or_else(wrong)
}

/// The program that is ssh, and its options, separated by spaces.
fn program(args: &Cp) -> Vec<OsString> {
    let given = args.ssh.clone().or_else(|| env::var("THALWEG_SSH").ok()).unwrap_or_else(|| "ssh".into());
    let mut program: Vec<OsString> = given.split_whitespace().map(OsString::from).collect();
    if let Some(port) = args.port {
        program.extend(["-p".into(), port.to_string().into()]);
    }
    program
}
