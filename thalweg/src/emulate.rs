//! `thalweg emulate`.

use crate::args::Emulate;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Destination;
use crate::print;
use crate::status::{Status, say_verdict};
use emulate::relay::Relay;
use experiment::Run;
use real::{CommandEnded, Emulation, Error, Helper, Measured};
use scenario::{Machine, Plan, reason};
use std::ffi::OsString;
use std::net::{SocketAddr, ToSocketAddrs};

/// Lets real packets cross the path of a scenario. `program` begins a command that starts this program again.
pub fn emulate(args: &Emulate, program: &[OsString]) -> Result<(), Failure> {
    let machine = Machine::this(Some(std::num::NonZero::<usize>::MIN));
    let plan = scenario::load_path(&args.file, &args.sets, &machine)?;
    let run = only_run(args, &plan)?;
    let emulation = Emulation::new(&run.experiment, args.duration).map_err(|e| match e {
        Error::Unsupported(why) => wrong(args, &why),
        e => e.into(),
    })?;
    if args.command.is_empty() {
        let mut relay = relay(args)?;
        let interrupt = Interrupt::catch();
        let destination = Destination::prepare(&args.output)?;
        if !args.output.quiet {
            let address = relay.addresses().map_err(|e| Failure::Failed(format!("--listen: {}", reason(&e))))?[0];
            print::note(&format!("listening on {address}; time begins with the first datagram; Ctrl-C ends it"));
        }
        let status = Status::new(&interrupt, args.output.quiet, args.verbose);
        let measured = emulation.relay(&mut relay, &status)?;
        finish(&plan, run, destination, measured, args.output.quiet)
    } else {
        let guest = emulation.start(&args.command, &Helper::new(program.to_vec()))?;
        if !args.output.quiet {
            let (own, host) = (guest.address, guest.host);
            print::note(&format!("the command is at {own} and reaches this host at {host} ($THALWEG_HOST)"));
        }
        // Namespaces are made by a process of one thread, so that Ctrl-C is caught only now. Before, the kernel cleans
        // up.
        let interrupt = Interrupt::catch();
        let destination = Destination::prepare(&args.output)?;
        let status = Status::new(&interrupt, args.output.quiet, args.verbose);
        let CommandEnded { measured, code } = emulation.command(guest, &status)?;
        finish(&plan, run, destination, measured, args.output.quiet)?;
        match u8::try_from(code) {
            Ok(0) => Ok(()),
            Ok(code) => Err(Failure::Command(code)),
            Err(_) => Err(Failure::Command(1)),
        }
    }
}

/// The run whose path is emulated.
fn only_run<'p>(args: &Emulate, plan: &'p Plan) -> Result<&'p Run, Failure> {
    match plan.runs.first() {
        None => Err(wrong(args, "makes no run; write [path]")),
        Some(run) if !run.identity.settings.is_empty() => {
            Err(wrong(args, "sweep: there is one path to emulate; remove it, and --set the value that you want"))
        }
        Some(run) => Ok(run),
    }
}

fn wrong(args: &Emulate, why: &str) -> Failure {
    Failure::Wrong(vec![format!("{}: {why}", args.file.display())])
}

/// Writes and prints the results, and says whether they are to be trusted.
fn finish(plan: &Plan, run: &Run, destination: Destination, measured: Measured, quiet: bool) -> Result<(), Failure> {
    let finished = measured.into_finished(run);
    destination.finish(&plan.title, plan.seed, std::slice::from_ref(&finished), None)?;
    say_verdict(&finished, quiet);
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
