//! `thalweg emulate`.

pub mod guest;
pub mod outcome;
pub mod progress;
pub mod way;

use crate::args::{Emulate, Format};
use crate::failure::Failure;
use crate::folder::Folder;
use crate::interrupt::Interrupt;
use crate::print;
use emulate::{Ends, Path, Record, namespace, relay::Relay};
use experiment::Finished;
use guest::{Guest, Pipes};
use lab::results;
use progress::Lines;
use realtime::Clock;
use scenario::{self, Machine};
use scenario::{Plan, reason};
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::{Duration, Instant};
use way::Ways;

/// What a command has left to end by itself after Ctrl-C, which it heard too.
const GRACE: Duration = Duration::from_secs(2);

/// Lets real packets cross the path of a scenario.
pub fn emulate(args: &Emulate) -> Result<(), Failure> {
    let machine = Machine::this(Some(std::num::NonZero::<usize>::MIN));
    let plan = scenario::load_path(&args.file, &args.sets, &machine)?;
    let way = Ways::first(&args.file.display().to_string(), &plan)?;
    let path = way.path()?;
    if args.command.is_empty() {
        let mut relay = relay(args)?;
        let interrupt = Interrupt::catch();
        let folder = args.out.as_deref().map(Folder::prepare).transpose()?;
        if !args.quiet {
            let address = relay.addresses().map_err(|e| Failure::Failed(format!("--listen: {}", reason(&e))))?[0];
            print::note(&format!("listening on {address}; time begins with the first datagram; Ctrl-C ends it"));
        }
        if !relay.wait_for_clients(&mut || !interrupt.came()).map_err(broken)? {
            return Err(Failure::Interrupted);
        }
        let record = cross(args, &way, &mut relay, path, &mut || !interrupt.came())?;
        finish(args, &plan, folder, &way, &record)
    } else {
        let mut guest = Guest::start(&args.command, Pipes::Inherited, way.packet())?;
        if !args.quiet {
            let (own, host) = (guest.address, guest.host);
            print::note(&format!("the command is at {own} and reaches this host at {host} ($THALWEG_HOST)"));
        }
        // Only now, since namespaces are made by a process of one thread; until here the kernel cleans up.
        let interrupt = Interrupt::catch();
        let folder = args.out.as_deref().map(Folder::prepare).transpose()?;
        let Guest { tunnel, child, ended, .. } = &mut guest;
        let mut interrupted: Option<Instant> = None;
        let record = cross(args, &way, tunnel, path, &mut || {
            *ended = child.try_wait().ok().flatten().map(|status| status.code().unwrap_or(1));
            let since = interrupted.or_else(|| interrupt.came().then(Instant::now));
            interrupted = since;
            ended.is_none() && since.is_none_or(|since| since.elapsed() < GRACE)
        })?;
        let code = guest.ended.unwrap_or(130);
        drop(guest);
        finish(args, &plan, folder, &way, &record)?;
        match u8::try_from(code) {
            Ok(0) => Ok(()),
            Ok(code) => Err(Failure::Command(code)),
            Err(_) => Err(Failure::Command(1)),
        }
    }
}

/// The first process in a command's namespaces.
pub fn init(parent: u32, command: &[OsString]) -> Result<(), Failure> {
    let shown = command.first().map_or(String::new(), |program| program.to_string_lossy().into_owned());
    match namespace::init(parent, command) {
        Ok(code) => Err(Failure::Command(code)),
        Err(e) => {
            print::note(&format!("{shown}: cannot be run ({}); check its name and permissions", reason(&e)));
            // As shells say it.
            Err(Failure::Command(if e.kind() == ErrorKind::NotFound { 127 } else { 126 }))
        }
    }
}

fn broken(error: io::Error) -> Failure {
    Failure::Failed(format!("the emulation broke off: {}", reason(&error)))
}

/// Runs until `go_on` says no or the time is up.
fn cross(
    args: &Emulate,
    way: &Ways,
    ends: &mut dyn Ends,
    path: Path,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<Record, Failure> {
    let clock = Clock::start();
    let end = args.duration.map(|duration| control::Time::ZERO + duration);
    let links = way.both_ways().into_iter().map(|(hop, _)| hop).collect();
    let mut lines = Lines::new(args.quiet, args.verbose, links);
    let sample = way.run.experiment.sample;
    let mut go_on = || end.is_none_or(|end| clock.now() < end) && go_on();
    emulate::run(ends, clock, path, sample, &mut go_on, &mut |progress| lines.tell(progress)).map_err(broken)
}

/// Prints and writes the results, as `thalweg run` does.
fn finish(args: &Emulate, plan: &Plan, folder: Option<Folder>, way: &Ways, record: &Record) -> Result<(), Failure> {
    let finished: [Finished; 1] = [outcome::finished(way, record)];
    let Plan { title, seed, .. } = plan;
    if let (Some(folder), Some(name)) = (folder, &args.out) {
        let written = report::write(folder.path(), title, *seed, &finished);
        written
            .map_err(|e| Failure::Failed(format!("--out {}: cannot be written ({})", name.display(), reason(&e))))?;
        folder.publish()?;
        if !args.quiet {
            print::note(&format!("report: {}", name.join("report.html").display()));
        }
    }
    let summary = results::summary(title, *seed, &finished);
    match args.format {
        Format::Table => print::text(&results::table(&summary))?,
        Format::Json => print::json(&summary)?,
    }
    if let Some(emulator) = summary.runs.first().and_then(|run| run.emulator.as_ref())
        && !emulator.kept_up
    {
        let remedy = if emulator.realtime { "" } else { ", or run it as root, which the system schedules in time" };
        print::note(&format!(
            "THE EMULATOR DID NOT KEEP UP: {:.2} % of packets left more than {} us late, {} were missed, {} unsent; these \
             results are not the path's alone: emulate a slower path, or leave it a core of its own{remedy}",
            100.0 * emulator.late_share,
            outcome::LATE_US,
            emulator.missed,
            emulator.unsent
        ));
    }
    Ok(())
}

fn relay(args: &Emulate) -> Result<Relay, Failure> {
    let listen = address("--listen", args.listen.as_deref().unwrap_or_default())?;
    let server = address("--to", args.to.as_deref().unwrap_or_default())?;
    if server.port() == 0 {
        return Err(Failure::Wrong(vec![format!("--to {server}: nobody is at port 0; write HOST:PORT")]));
    }
    Relay::new(&[listen], server, args.clients.into()).map_err(|e| {
        Failure::Wrong(vec![format!("--listen {listen}: cannot be listened on ({}); name another address", reason(&e))])
    })
}

/// The address in `text`, the value of `option`.
fn address(option: &str, text: &str) -> Result<SocketAddr, Failure> {
    let wrong =
        |why: String| Failure::Wrong(vec![format!("{option} {text}: {why}; write HOST:PORT, like 127.0.0.1:4433")]);
    let mut found = text.to_socket_addrs().map_err(|e| wrong(format!("is no address ({})", reason(&e))))?;
    found.next().ok_or_else(|| wrong("has no address".into()))
}
