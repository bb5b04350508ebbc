//! `thalweg run`.

use crate::args::Run;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output::Destination;
use crate::progress::Bar;
#[cfg(all(feature = "real", target_os = "linux"))]
use crate::real;
use crate::source;
use experiment::Finished;
use lab::qlog::QlogFolder;
use lab::runner::{self, RunCache, Stopped};
use scenario::{Machine, Plan, reason};
use std::ffi::OsString;
use std::path::Path;

/// Simulates a scenario, runs it in real time if asked to, and prints the results. `program` begins a command that
/// starts this program again.
#[cfg_attr(not(all(feature = "real", target_os = "linux")), allow(unused_variables))]
pub fn run(args: &Run, program: &[OsString]) -> Result<(), Failure> {
    let machine = Machine::this(args.scenario.jobs);
    let plan = plan(args, &machine)?;
    #[cfg(all(feature = "real", target_os = "linux"))]
    let real = match args.real {
        true => Some(real::prepare(&args.scenario.file.display().to_string(), &plan, &args.beside, program)?),
        false => None,
    };
    if let Some(out) = args.output.out.as_ref().filter(|out| lab::shards::is_object_store(out)) {
        return Err(Failure::Wrong(vec![format!(
            "--out {}: reports go into folders; name one, or add --shard 1/1 for the metrics alone",
            out.display()
        )]));
    }
    // Ctrl-C is caught before there is a folder to remove, and after processes for real runs were started.
    let interrupt = Interrupt::catch();
    let destination = Destination::prepare(&args.output)?;
    let qlog = args.qlog.as_ref().map(|folder| qlog_folder(folder, &plan)).transpose()?;
    #[cfg(all(feature = "real", target_os = "linux"))]
    let captures = args.pcapng.clone().map(real::Captures::prepare).transpose()?;
    let cache: &dyn RunCache = qlog.as_ref().map_or(&(), |folder| folder);

    let finished = simulate(&plan, &machine, cache, &interrupt, args.output.quiet, &Ok)?;
    #[cfg(all(feature = "real", target_os = "linux"))]
    let finished = match real {
        Some(runs) => real::run(runs, finished, qlog.as_ref(), captures, &interrupt, args.output.quiet)?,
        None => finished,
    };
    destination.finish(&plan.title, plan.seed, &finished, Some(&interrupt)).map(drop)
}

/// The folder for logs.
fn qlog_folder(folder: &Path, plan: &Plan) -> Result<QlogFolder, Failure> {
    QlogFolder::prepare(folder.into(), &plan.title).map_err(|e| {
        let (folder, why) = (folder.display(), reason(&e));
        Failure::Wrong(vec![format!("--qlog {folder}: cannot be written ({why}); name another folder")])
    })
}

/// The runs of the scenario. If they are made in real time, too, packets have the size of real ones.
fn plan(args: &Run, machine: &Machine) -> Result<Plan, Failure> {
    #[allow(unused_mut)]
    let mut sets = args.scenario.sets.clone();
    #[cfg(all(feature = "real", target_os = "linux"))]
    if args.real {
        sets.push(real::packets());
    }
    #[allow(unused_mut)]
    let mut plan = source::load(&args.scenario.file, &sets, machine, None)?;
    #[cfg(all(feature = "real", target_os = "linux"))]
    plan.runs.extend(::real::simulated(&plan.runs, &args.beside));
    Ok(plan)
}

/// Simulates the runs of `plan` that are not in `cache`, and returns what `keep` makes of each.
pub fn simulate<T: Send>(
    plan: &Plan,
    machine: &Machine,
    cache: &dyn RunCache,
    interrupt: &Interrupt,
    quiet: bool,
    keep: &(dyn Fn(Finished) -> Result<T, String> + Sync),
) -> Result<Vec<T>, Failure> {
    let bar = Bar::new(plan.runs.len(), runner::total_seconds(plan), quiet);
    let go_on = |progress| {
        bar.show(progress);
        !interrupt.came()
    };
    runner::map(plan, machine.jobs, cache, &go_on, keep).map_err(|stopped| match stopped {
        Stopped::Cancelled => Failure::Interrupted,
        Stopped::Refused(why) => Failure::Failed(why),
    })
}
